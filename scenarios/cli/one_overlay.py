"""The one static or periodic overlay that a command is about."""

from collections.abc import Sequence

from scenarios.cli.designer_options import GivenOptions
from scenarios.config.overlay_config import OverlayConfig, asked_overlays
from topologies import (
    DESIGNERS,
    PERIODIC_DESIGNERS,
    RANDOM_DESIGNERS,
    InputError,
)

DEFAULT_KIND = "ring"
_KINDS = ", ".join((*DESIGNERS, *PERIODIC_DESIGNERS))
SCENARIO_KIND_HELP = (
    f"{_KINDS}. stl_fw needs a scenario with [training]. [default: {DEFAULT_KIND}, or the only one of the "
    "scenario]"
)


def one_overlay(
    command: str,
    options: GivenOptions,
    *,
    kind: str | None,
    arcs: str | None,
    weights: str | None,
    schedule: str | None,
    both_ways: bool,
    why: str,
    known: Sequence[OverlayConfig] = (),
) -> OverlayConfig:
    """The overlay that is asked for by its kind or by a file, of which there is one at most.

    Parameters
    ----------
    command : str
        For messages.
    options, kind, arcs, weights, schedule, both_ways
        Of the command line.
    why : str
        What a randomized overlay lacks.
    known : sequence of OverlayConfig
        Those of a scenario, which may be called by name; where there is one, it is the default.

    Raises
    ------
    InputError
        If there are two, or it is a randomized one.
    """
    files = [file for file in (arcs, weights, schedule) if file is not None]
    if kind is None and known and not files:
        if len(known) > 1:
            others = ", ".join(config.name for config in known)
            raise InputError(f"{command} takes one overlay; --kind names it: {others}, or another kind.")
        kind = known[0].name
    if {config.name: config.kind for config in known}.get(kind or "", kind) in RANDOM_DESIGNERS:
        raise InputError(
            f"kind(={kind!r}) is a randomized overlay, {why}; {command} takes a static or periodic one: {_KINDS}."
        )
    if len(files) + (kind is not None) > 1:
        raise InputError(f"{command} takes one overlay: --kind, --arcs, --weights or --schedule.")
    (config,) = asked_overlays(
        None if files else [kind or DEFAULT_KIND],
        options,
        () if files else known,
        arcs=[arcs] if arcs else None,
        weights=[weights] if weights else None,
        schedules=[schedule] if schedule else None,
        both_ways=both_ways,
    )
    return config
