"""The three joins, one small file each, and the one keyed aggregation that serves them."""

from evergrid.model.join import JoinType
from evergrid.pipeline.joins.asof import AsOf
from evergrid.pipeline.joins.inner import Inner
from evergrid.pipeline.joins.left import Left
from evergrid.pipeline.joins.rule import Rule

RULES: dict[JoinType, Rule] = {
    JoinType.ASOF: AsOf(),
    JoinType.LEFT: Left(),
    JoinType.INNER: Inner(),
}
