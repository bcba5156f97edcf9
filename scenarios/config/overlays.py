"""Static, periodic and randomized overlays by name."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from scenarios.config.designer_options import label_share_values, option_values, progress_values, seed_values
from scenarios.config.error_context import changed_errors, located
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.scenario import Scenario
from topologies import (
    ClosedForms,
    Connectivity,
    InputError,
    Overlay,
    PeriodicOverlay,
    RandomOverlay,
    Workload,
    build_overlay,
    build_periodic,
    design,
    design_periodic,
    design_random,
)
from topologies.arrays import FloatArray, IntArray, freeze
from topologies.consensus import NEGATIVE_RULES, check_consensus, consensus_matrix, weight_pattern
from topologies.designers.star import HUB_RULES, hub_silo
from topologies.errors import Field
from topologies.given_arcs import mixing_arcs
from topologies.overlay_files import read_matrix, read_overlay
from topologies.periodic.schedule_file import read_schedule
from topologies.random_cycle_time import RANDOM_ROUNDS, random_cycle_time
from topologies.schedule import NamedRandomOverlay

AnyOverlay: TypeAlias = Overlay | PeriodicOverlay | RandomOverlay
"""What a configuration may describe."""


def design_any(
    config: OverlayConfig,
    graph: Connectivity,
    work: Workload,
    *,
    seed: int,
    consensus: str = "",
    progress: Callable[[float], None] | None = None,
    label_shares: Callable[[], FloatArray] | None = None,
) -> AnyOverlay:
    """Design an overlay, or read it from its file.

    Parameters
    ----------
    config : OverlayConfig
    graph : Connectivity
    work : Workload
    seed : int
        For the designers that take one, such as the search of ``best``, where the configuration has none.
    consensus : str
        Rule of the mixing weights where the configuration has none: for static overlays of designers, without a hub.
    progress : callable, optional
        Is called with the share that is done, by designers that report it.
    label_shares : callable, optional
        Returns the shares of labels at the silos, shape (silos, classes), for designers that ask for them; such as
        `scenarios.config.label_shares.PartitionLabels`.

    Returns
    -------
    Overlay, PeriodicOverlay or RandomOverlay
        Under the configuration's name.

    Raises
    ------
    InputError
        As `topologies.design`, if a file is wrong, or as `check_hub`.
    """
    config.check_designer()
    check_hub(config, is_compressed=work.message_share < 1)
    if config.schedule is not None:
        return _scheduled(config, config.schedule, graph, work)
    if not config.kind:
        return weighted(_file_overlay(config, graph, work), config)
    own_seed = seed if config.seed is None else config.seed
    options = {**seed_values(config.kind, own_seed), **option_values(config.kind, config.options)}
    if progress is not None:
        options |= progress_values(config.kind, progress)
    if label_shares is not None:
        options |= label_share_values(config.kind, label_shares)
    if config.is_periodic:
        return replace(design_periodic(config.kind, graph, work, **options), kind=config.name)
    if config.is_randomized:
        overlay = design_random(config.kind, graph, work, **options)
        if config.name == config.kind and config.seed is None:
            return overlay
        return NamedRandomOverlay(kind=config.name, base=overlay, seed=config.seed)
    return weighted(replace(design(config.kind, graph, work, **options), kind=config.name), config, consensus)


def check_hubs(scenario: Scenario) -> None:
    """Raise an `InputError` for a STAR in a scenario whose training compresses its messages; see `check_hub`."""
    is_compressed = scenario.training is not None and scenario.training.compression != "none"
    for config in scenario.overlays.overlays:
        check_hub(config, is_compressed=is_compressed)


def check_hub(config: OverlayConfig, *, is_compressed: bool) -> None:
    """Raise an `InputError` for a STAR with compressed messages: its hub sends back means, which are none."""
    if config.kind == "star" and is_compressed:
        raise InputError(
            f"{config.name}: its hub sends back a mean of models, which is not compressed; with compression leave it "
            "out of the overlays."
        )


def check_silos_named(config: OverlayConfig, graph: Connectivity) -> None:
    """Check that the silos that an overlay's files, or its hub, name are there, before it is designed.

    Raises
    ------
    InputError
        If one is not, or a file cannot be read.
    """
    if config.schedule is not None:
        read_schedule(Path(config.schedule), graph.labels)
    elif not config.kind:
        _read_arcs(config, graph)
    if config.consensus is not None and config.consensus_is_file:
        read_matrix(Path(config.consensus), graph.labels)
    hub = option_values(config.kind, config.options).get("hub") if config.kind == "star" else None
    if hub is not None and hub not in HUB_RULES:
        hub_silo(graph, hub)


def _read_arcs(config: OverlayConfig, graph: Connectivity) -> tuple[IntArray, FloatArray | None]:
    """Arcs, and weights where there are any, of an overlay's file."""
    file = config.file
    assert file is not None
    if config.arcs is not None:
        return read_overlay(Path(file), graph.labels, both_ways=config.both_ways)
    matrix = read_matrix(Path(file), graph.labels)
    with located(file):
        return mixing_arcs(matrix, graph.labels)


def _file_overlay(config: OverlayConfig, graph: Connectivity, work: Workload) -> Overlay:
    """The overlay of a file of arcs or weights."""
    file = config.file
    assert file is not None
    arcs, weights = _read_arcs(config, graph)
    negative = weights is not None and bool((weights < 0).any())
    with changed_errors(lambda error: _of_file(error, file, config.name)):
        return build_overlay(config.name, graph, work, arcs, consensus=weights, negative_weights=negative)


def _scheduled(config: OverlayConfig, file: str, graph: Connectivity, work: Workload) -> PeriodicOverlay:
    """The periodic overlay of a file of states."""
    states = read_schedule(Path(file), graph.labels)
    negative = any(bool((state.weight < 0).any()) for state in states)
    with changed_errors(lambda error: _of_file(error, file, config.name)):
        return build_periodic(config.name, graph, work, states, negative_weights=negative)


def _of_file(error: InputError, file: str, name: str) -> InputError:
    """The error of an overlay's file, which does not repeat a name that the overlay has from it."""
    if Path(file).stem == name and str(error).startswith(f"{name}: "):
        return InputError(str(error).removeprefix(f"{name}: "), source=file)
    return error.located(file)


def weighted(overlay: Overlay, config: OverlayConfig, consensus: str = "") -> Overlay:
    """The overlay with the mixing weights that its configuration asks for.

    Parameters
    ----------
    overlay : Overlay
    config : OverlayConfig
    consensus : str
        Rule where the configuration has none; an overlay with a hub, which averages all models, keeps its weights then.

    Raises
    ------
    InputError
        If the configuration has a rule and the overlay a hub, or the rule or matrix does not fit the overlay.
    """
    rule = config.consensus or consensus
    if not rule or (overlay.hub is not None and config.consensus is None):
        return overlay
    if overlay.hub is not None:
        raise InputError(
            f"goes with an overlay without a hub; the hub of {config.name} averages all models.",
            field=Field("consensus", value=rule),
        )
    silos, source, target = overlay.graph.silos, overlay.source, overlay.target
    if config.consensus_is_file:
        matrix = read_matrix(Path(rule), overlay.graph.labels)
        pattern = weight_pattern(silos, source, target)
        with located(rule):
            _, matrix = mixing_arcs(matrix, overlay.graph.labels)
            check_consensus(
                matrix, columns=False, negative_weights=True, pattern=pattern, labels=overlay.graph.labels
            )
        negative = bool((matrix < 0).any())
    else:
        with located(config.name):
            matrix = consensus_matrix(rule, silos, source, target)
        negative = rule in NEGATIVE_RULES
    freeze(matrix)
    return replace(overlay, consensus=matrix, negative_weights=negative)


def forms_of(overlay: AnyOverlay, seed: int) -> ClosedForms:
    """Closed forms of an overlay; of a randomized one the `barrier` form as `paper`, and NaN for the others.

    Parameters
    ----------
    overlay : Overlay, PeriodicOverlay or RandomOverlay
    seed : int
        Of the rounds that are drawn.

    Returns
    -------
    ClosedForms
    """
    if isinstance(overlay, Overlay | PeriodicOverlay):
        return overlay.closed_forms
    barrier_s = random_cycle_time(overlay, RANDOM_ROUNDS, seed).barrier.mean
    nan = float("nan")
    return ClosedForms(paper_s=barrier_s, serialized_s=nan, load_bound_s=nan, busiest_link=None)


def expected_gap(overlay: RandomOverlay) -> float | None:
    """Spectral gap of a randomized overlay, ``1 - sqrt(norm of E[W'W] - 11'/silos)``; None where that is not known."""
    base = overlay.base if isinstance(overlay, NamedRandomOverlay) else overlay
    norm = getattr(base, "spectral_norm", None)
    return None if norm is None else 1 - math.sqrt(max(norm, 0.0))
