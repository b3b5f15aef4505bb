"""What a gateway knows of the pipeline behind its tables: how it is, and what it has made."""

from __future__ import annotations

import enum

import msgspec

from evergrid.changelog.manifest import Manifest

RUNS = "The pipeline runs."


class Health(enum.Enum):
    """`unknown`: it cannot be asked, or has never said a word."""

    LIVE = "live"
    BEHIND = "behind"
    GONE = "gone"
    UNKNOWN = "unknown"


class PipelineInfo(msgspec.Struct, frozen=True):
    """`message` is a sentence; the manifest is the one that was read last."""

    health: Health
    message: str
    manifest: Manifest


def pipeline_info(manifest: Manifest, down: str, silent: str) -> PipelineInfo:
    """`down` says why Kafka cannot be read, `silent` that the pipeline gives no sign of life."""
    if down:
        return PipelineInfo(Health.UNKNOWN, f"{down} Going on when it is back.", manifest)
    if not manifest.pulse:
        return PipelineInfo(Health.UNKNOWN, "No pipeline has been seen yet.", manifest)
    if silent:
        return PipelineInfo(Health.GONE, silent, manifest)
    if manifest.behind.why:
        return PipelineInfo(Health.BEHIND, manifest.behind.why, manifest)
    return PipelineInfo(Health.LIVE, RUNS, manifest)
