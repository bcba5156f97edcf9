"""The one static or periodic overlay that a command is about."""

from collections.abc import Sequence

from scenarios.cli.designer_options import GivenOptions
from scenarios.cli.options import Study
from scenarios.config.overlay_config import OverlayConfig, asked_overlays
from scenarios.simulation.design_bar import design_with_bar
from topologies import DESIGNERS, PERIODIC_DESIGNERS, RANDOM_DESIGNERS, InputError, Overlay

DEFAULT_KIND = "ring"
PERIODIC_KIND_HELP = (
    f"{', '.join((*DESIGNERS, *PERIODIC_DESIGNERS))}. stl_fw needs a scenario with [training]. [default: "
    f"{DEFAULT_KIND}, or the scenario's only one]"
)
KIND_HELP = f"{', '.join(DESIGNERS)}. [default: {DEFAULT_KIND}]"


def one_overlay(
    command: str,
    options: GivenOptions,
    *,
    kind: str | None,
    arcs: str | None,
    weights: str | None,
    both_ways: bool,
    why: str,
    schedule: str | None = None,
    periodic: bool = False,
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
    periodic : bool
        Whether the command takes periodic overlays.
    known : sequence of OverlayConfig
        Those of a scenario, which may be called by name; where there is one, it is the default.

    Raises
    ------
    InputError
        If there are two, or it is one that the command does not take.
    """
    files = [file for file in (arcs, weights, schedule) if file is not None]
    if kind is None and known and not files:
        if len(known) > 1:
            others = ", ".join(config.name for config in known)
            raise InputError(f"{command} takes one overlay; --kind names it: {others}, or another kind.")
        kind = known[0].name
    what, own = None, {config.name: config.kind for config in known}.get(kind or "", kind)
    if own in RANDOM_DESIGNERS:
        what = f"randomized overlay, {why}"
    elif own in PERIODIC_DESIGNERS and not periodic:
        what = "periodic overlay, whose arcs change"
    if what is not None:
        takes = "static or periodic" if periodic else "static"
        names = (*DESIGNERS, *(PERIODIC_DESIGNERS if periodic else ()))
        raise InputError(f"kind(={kind!r}) is a {what}; {command} takes a {takes} one: {', '.join(names)}.")
    if len(files) + (kind is not None) > 1:
        ways = "--arcs, --weights or --schedule" if periodic else "--arcs or --weights"
        raise InputError(f"{command} takes one overlay: --kind, {ways}.")
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


def static_overlay(study: Study, config: OverlayConfig, *, seed: int) -> Overlay:
    """Design the overlay of `one_overlay` on a network, for a command that takes static ones."""
    graph = study.graph()
    overlay = design_with_bar(config, graph, study.work(graph), seed=seed)
    assert isinstance(overlay, Overlay)
    return overlay
