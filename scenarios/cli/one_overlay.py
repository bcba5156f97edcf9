"""The one static or periodic overlay that a command is about."""

from scenarios.cli.designer_options import GivenOptions
from scenarios.cli.options import Study
from scenarios.config.overlay_config import OverlayConfig, asked_overlays
from scenarios.simulation.design_bar import design_with_bar
from topologies import (
    DESIGNERS,
    PERIODIC_DESIGNERS,
    RANDOM_DESIGNERS,
    InputError,
    Overlay,
    PeriodicOverlay,
)

DEFAULT_KIND = "ring"
KIND_HELP = f"{', '.join((*DESIGNERS, *PERIODIC_DESIGNERS))}. [default: {DEFAULT_KIND}]"


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

    Raises
    ------
    InputError
        If there are two, or it is a randomized one.
    """
    if kind in RANDOM_DESIGNERS:
        raise InputError(
            f"kind(={kind!r}) is a randomized overlay, {why}; {command} takes a static or periodic one: "
            f"{', '.join((*DESIGNERS, *PERIODIC_DESIGNERS))}."
        )
    files = [file for file in (arcs, weights, schedule) if file is not None]
    if len(files) + (kind is not None) > 1:
        raise InputError(f"{command} takes one overlay: --kind, --arcs, --weights or --schedule.")
    (config,) = asked_overlays(
        None if files else [kind or DEFAULT_KIND],
        options,
        (),
        arcs=[arcs] if arcs else None,
        weights=[weights] if weights else None,
        schedules=[schedule] if schedule else None,
        both_ways=both_ways,
    )
    return config


def designed(study: Study, config: OverlayConfig, *, seed: int) -> Overlay | PeriodicOverlay:
    """Design the overlay of `one_overlay` on a network."""
    graph = study.graph()
    overlay = design_with_bar(config, graph, study.work(graph), seed=seed)
    assert isinstance(overlay, Overlay | PeriodicOverlay)
    return overlay
