"""The health of the pipeline that writes the tables, as the gateway sees it."""

from __future__ import annotations

import enum

import msgspec

from evergrid.changelog.manifest import Manifest

RUNS = "The pipeline runs."


class PipelineHealth(enum.Enum):
    """`unknown`: Kafka cannot be read, or no pipeline has written a heartbeat yet."""

    LIVE = "live"
    BEHIND = "behind"
    GONE = "gone"
    UNKNOWN = "unknown"


class PipelineInfo(msgspec.Struct, frozen=True):
    """`message` is a sentence for people; `manifest` is the newest that was read."""

    health: PipelineHealth
    message: str
    manifest: Manifest


def pipeline_info(manifest: Manifest, down: str, silent: str) -> PipelineInfo:
    """`down` says why Kafka cannot be read, `silent` that the heartbeat has stopped; or empty."""
    if down:
        return PipelineInfo(PipelineHealth.UNKNOWN, until_back(down), manifest)
    if not manifest.heartbeat:
        return PipelineInfo(PipelineHealth.UNKNOWN, "No pipeline has been seen yet.", manifest)
    if silent:
        return PipelineInfo(PipelineHealth.GONE, silent, manifest)
    if manifest.behind.why:
        return PipelineInfo(PipelineHealth.BEHIND, manifest.behind.why, manifest)
    return PipelineInfo(PipelineHealth.LIVE, RUNS, manifest)


def until_back(reason: str) -> str:
    """The reason for a pause, and that it ends by itself."""
    return f"{reason} Going on when it is back."
