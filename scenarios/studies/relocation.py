"""A run's overlays on a changed network, workload or simulation: what every replay simulates."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from scenarios.config.error_context import changed_errors, located
from scenarios.config.link_rules import ALL_ACCESS, ALL_CORE
from scenarios.config.network import (
    SOURCES,
    NetworkConfig,
    build_network,
    build_underlay,
    build_workload,
    silo_routers,
    stated_compute,
    work_name,
)
from scenarios.config.overhead import overhead_factor
from scenarios.config.overlap import overlap_share
from scenarios.config.replay_changes import (
    TARGET,
    ReplayChanges,
    merged_tables,
    network_keys,
    with_target,
)
from scenarios.config.scenario import Scenario, read_toml, scenario_of, with_task_stated
from scenarios.config.toml import computing_keys, tables_text
from scenarios.runfile.reader import OverlayRecord, RunRecord, read_drawn, read_run
from scenarios.runfile.recorded_schedule import RecordedOverlay
from scenarios.runfile.simulated_rounds import SimulationWriter
from scenarios.simulation.runner import Outcome, check_simulation, job_of, run_job
from simulator import Job
from topologies import (
    Connectivity,
    InputError,
    Overlay,
    PeriodicOverlay,
    Workload,
    build_overlay,
    build_periodic,
)
from topologies.errors import Field
from topologies.networks.route_table import with_routes
from topologies.quantities import parse_quantity

_MOST_NAMED = 3
"""Silos with another label that a note names."""
_BY_LABEL = ("compute_at", "local_steps_at")
"""Keys of ``[workload]`` with values of silos by their labels."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RecordedRun:
    """The file of a run that is to be replayed.

    Attributes
    ----------
    path : Path
    record : RunRecord
    tables : mapping
        Of the run's scenario, with the network that the file states and the settings that a task stands for.
    scenario : Scenario
        Of these tables.
    """

    path: Path
    record: RunRecord
    tables: Mapping[str, Any]
    scenario: Scenario

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the file of a run or of a replay, complete or interrupted.

        Raises
        ------
        InputError
            If it cannot be read, or its scenario needs an extension that is not installed.
        """
        record = read_run(path)
        source = f"{path} (scenario)"
        tables = read_toml(record.scenario, source)
        if isinstance(tables.get("training"), dict):
            # A task's settings may depend on the network, which a replay changes.
            with located(source):
                tables = with_task_stated(tables)
        tables = {**tables, "network": record.network.table()}
        return cls(
            path=path,
            record=record,
            tables=tables,
            scenario=with_files_beside(path.parent, scenario_of(tables, source=source, recorded=True)),
        )

    @property
    def trained(self) -> int:
        """Rounds that have a wall-clock time in any case."""
        rows = [int(each.history["round"][-1]) for each in self.record.overlays if each.history]
        training = self.scenario.training
        return max([*rows, 0 if training is None else training.rounds])

    def goal(self, scenario: Scenario) -> float | None:
        """Test accuracy that times are to; None for the last row of each training, as there is no accuracy or target.

        Parameters
        ----------
        scenario : Scenario
            The run's with changes.

        Raises
        ------
        InputError
            If it has another target, but the rows of the run have no test accuracy.
        """
        target = scenario.target_accuracy
        if target is None or any(
            np.isfinite(each.history["test_accuracy"]).any() for each in self.record.overlays if each.history
        ):
            return target
        if target != self.scenario.target_accuracy:
            raise InputError(
                f"needs a test accuracy, which the rows of {self.path} do not have.",
                field=Field(TARGET, value=target),
            )
        return None

    def changed(self, changes: ReplayChanges) -> tuple[dict[str, Any], Scenario]:
        """Tables and scenario with other values of some keys.

        Raises
        ------
        InputError
            If a key does not exist or would alter the learning, or a value breaks a rule.
        """
        with changed_errors(changes.located):
            tables = with_target(
                merged_tables(self.tables, changes.tables, keeps_events=changes.keeps_events)
            )
            scenario = scenario_of(tables, source=None, recorded=True)
        return tables, with_files_beside(self.path.parent, scenario)

    def relocated(self, changes: ReplayChanges) -> "Relocation":
        """The overlays as `changes` asks for; see `relocate`."""
        keys = network_keys(changes.tables)
        tables, scenario = self.changed(changes)
        with changed_errors(changes.located):
            moved = relocate(self, scenario, keys)
        if not changes.tables and changes.keeps_events:
            return moved
        # What measured pairs leave out of the network is left out of the text, too.
        tables["network"] = moved.scenario.network.table()
        workload = tables.get("workload", {})
        kept = {name: value for name, value in workload.items() if name not in _BY_LABEL}
        if not SOURCES.isdisjoint(keys) and (kept != workload or np.ndim(moved.work.compute_s)):
            # Other silos have other labels and times.
            tables["workload"] = kept | computing_keys(moved.work, moved.graph.labels)
        return replace(moved, text=tables_text(tables))


def with_files_beside(folder: Path, scenario: Scenario) -> Scenario:
    """The scenario with the files of its simulation found in a folder, if they are nowhere else."""
    return replace(scenario, simulation=scenario.simulation.beside(folder))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RelocatedOverlay:
    """One of a run's overlays elsewhere.

    Attributes
    ----------
    recorded : OverlayRecord
        In the run.
    overlay : Overlay, PeriodicOverlay or RecordedOverlay
        With the arcs and weights of the run.
    job : Job
        Its simulation.
    """

    recorded: OverlayRecord
    overlay: Overlay | PeriodicOverlay | RecordedOverlay
    job: Job

    @property
    def kind(self) -> str:
        """Its name."""
        return self.recorded.kind

    def reached(self, outcome: Outcome, accuracy: float | None) -> tuple[int, float] | None:
        """Rounds and time after which a test accuracy is first reached; None if it never is, or nothing was trained.

        Only rounds in which silos compute count.

        Parameters
        ----------
        outcome : Outcome
            Of the simulation.
        accuracy : float or None
            None for the last row of the training.
        """
        if not self.recorded.history:
            return None
        row = -1 if accuracy is None else self.recorded.first_row_at(accuracy)
        if row is None:
            return None
        round_ = int(self.recorded.history["round"][row])
        return int(self.recorded.computed_rounds[row]), float(outcome.last_start_s[round_])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Relocation:
    """A run's overlays elsewhere, ready to be simulated.

    Attributes
    ----------
    run : RecordedRun
    scenario : Scenario
        As it is replayed.
    text : str
        Its TOML text.
    graph : Connectivity
    work : Workload
    rounds : int
        To simulate; of a randomized overlay no more than are recorded.
    overlays : tuple of RelocatedOverlay
    left : mapping from str to str
        Why an overlay cannot be replayed, by its name.
    notes : tuple of str
        Sentences on settings of the run's network that the other one cannot have, on silos with another label, and on
        computing times that the other network states.
    """

    run: RecordedRun
    scenario: Scenario
    text: str
    graph: Connectivity
    work: Workload
    rounds: int
    overlays: tuple[RelocatedOverlay, ...]
    left: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def not_replayed(self) -> tuple[str, ...]:
        """A sentence for each overlay that cannot be replayed."""
        return tuple(f"not replayed: {rule}" for rule in self.left.values())

    def check_some(self) -> None:
        """Raise an InputError if no overlay can be replayed."""
        if not self.overlays:
            raise InputError(next(iter(self.left.values()), f"{self.run.path} has no overlay to replay."))

    def simulate(
        self, moved: RelocatedOverlay, *, title: str | None = "", writer: SimulationWriter | None = None
    ) -> Outcome:
        """Simulate one of the overlays, for as many rounds as the training has in any case; see `run_job`."""
        settings = self.scenario.simulation
        return run_job(
            moved.job,
            moved.kind,
            title=title,
            until_ci=settings.until_ci,
            least_rounds=self.run.trained,
            engine=settings.engine,
            writer=writer,
        )

    def short(self, moved: RelocatedOverlay, outcome: Outcome) -> tuple[str, ...]:
        """A sentence where the file holds too few rounds of an overlay."""
        if not outcome.rounds == moved.job.rounds < self.rounds:
            return ()
        return (f"{moved.kind}: {self.run.path} holds {moved.job.rounds:,} rounds, so no more are replayed.",)


def relocate(run: RecordedRun, scenario: Scenario, keys: Collection[str] = ()) -> Relocation:
    """Put the overlays of a run onto the network of a changed scenario, with its workload and simulation.

    Parameters
    ----------
    run : RecordedRun
    scenario : Scenario
        The run's with changes that keep the learning.
    keys : collection of str
        Keys of ``[network]`` that are stated anew. Without a new underlay or tables, the run's underlay is taken from
        its file, and so are its routes without new ones.

    Returns
    -------
    Relocation

    Raises
    ------
    InputError
        If the network cannot be built or has another number of silos, or the workload or the simulation does not fit
        it. What is wrong with single overlays is in `Relocation.left`.

    Notes
    -----
    The arcs and consensus matrices are those of the run, since the training rows belong to them; they are not designed
    again for the other network. Updates of synchronous DPASGD do not depend on timing, so the rows stay valid.
    """
    record = run.record
    is_other = not SOURCES.isdisjoint(keys)
    network, dropped = scenario.network, tuple[str, ...]()
    if is_other:
        network, places = _without_places(run.scenario.network, network, keys)
        network, rules = _without_core_rules(network, keys)
        dropped = (*places, *rules)
    scenario = replace(scenario, network=network)
    underlay = None if is_other else record.underlay
    if underlay is not None and "routes" in keys and network.routes is not None:
        underlay = with_routes(underlay, network.routes)
    graph = build_network(network, underlay)
    _check_silos(run, graph)
    work = _workload(run, scenario, graph)
    times: tuple[str, ...] = ()
    same = [(each.workload.compute, each.workload.compute_at) for each in (run.scenario, scenario)]
    if is_other and same[0] == same[1]:
        work, times = _with_stated_times(run, work, graph)
    settings, trained = scenario.simulation, run.trained
    _check_learning(run.scenario, scenario)
    rounds = max(settings.rounds, trained)
    check_simulation(settings, graph, work, seed=scenario.seed, rounds=rounds)
    overlays, left = [], {}
    for recorded in record.overlays:
        try:
            overlays.append(_relocated(run, recorded, scenario, graph, work, rounds=rounds, trained=trained))
        except InputError as error:
            left[recorded.kind] = str(error)
    return Relocation(
        run=run,
        scenario=scenario,
        text=record.scenario,
        graph=graph,
        work=work,
        rounds=rounds,
        overlays=tuple(overlays),
        left=left,
        notes=(*dropped, *_renamed(record.silo_labels, graph.labels), *times),
    )


def recorded_job(run: RecordedRun, recorded: OverlayRecord, graph: Connectivity, *, rounds: int) -> Job:
    """The simulation of a run's overlay as it was, made again of the scenario and the overlay in the file.

    Parameters
    ----------
    run : RecordedRun
    recorded : OverlayRecord
    graph : Connectivity
        The run's network.
    rounds : int
        Of the simulation, or its first ones; of a randomized overlay with `until_ci` no more than are recorded.

    Raises
    ------
    InputError
        If the file does not hold the rounds of a randomized overlay, or the scenario needs an extension that is not
        installed.
    """
    return _relocated(
        run,
        recorded,
        run.scenario,
        graph,
        run.record.work,
        rounds=rounds,
        trained=min(rounds, run.trained),
        most_drawn=rounds,
    ).job


def _check_silos(run: RecordedRun, graph: Connectivity) -> None:
    """Raise an error unless silos have the numbers that they have in the run."""
    record = run.record
    silos = len(record.network.silo_at or record.underlay.labels)
    if silos != graph.silos:
        raise InputError(f"{graph.underlay.name} has {graph.silos} silos, but the run has {silos}.")
    there, here = record.silo_labels, graph.labels
    if there != here and sorted(there) == sorted(here):
        raise InputError(
            f"{run.path} numbers the silos of {graph.underlay.name} in another order than that of their labels, as "
            "files of older versions do; run its scenario again."
        )


def _renamed(there: Sequence[str], here: Sequence[str]) -> tuple[str, ...]:
    """A sentence on which silo of the run is which one here, where labels differ: silos keep their numbers."""
    pairs = [f"{before} is {after}" for before, after in zip(there, here, strict=True) if before != after]
    if not pairs:
        return ()
    more = len(pairs) - _MOST_NAMED
    shown = ", ".join([*pairs[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])
    moved = [label for label in here if label in there and there.index(label) != here.index(label)]
    warning = (
        f" {moved[0]} is on both networks, but not the same silo: a network whose labels sort alike keeps it."
        if moved
        else ""
    )
    return (f"silos keep their numbers, by the order of their labels: {shown}.{warning}",)


def _with_stated_times(
    run: RecordedRun, work: Workload, graph: Connectivity
) -> tuple[Workload, tuple[str, ...]]:
    """The workload with the computing times that another network states, for silos whose own the run's network had."""
    record, own = run.record, run.scenario.workload
    before_s = stated_compute(record.underlay, silo_routers(record.underlay, record.network.silo_at))
    stated_s = stated_compute(graph.underlay, graph.router.tolist())
    # What is stated beside the network goes before it.
    unstated = own.compute is None and ~np.isin(record.silo_labels, list(own.compute_at or {}))
    takes = ~np.isnan(stated_s) & ((before_s == work.compute_s) | unstated)
    if not takes.any():
        return work, ()
    compute_s = np.where(takes, stated_s, work.compute_s)
    sentence = f"computing times of {takes.sum()} silos are those that {graph.underlay.name} states."
    return replace(work, compute_s=compute_s), (sentence,)


def _without_places(
    before: NetworkConfig, network: NetworkConfig, keys: Collection[str]
) -> tuple[NetworkConfig, tuple[str, ...]]:
    """Another network with the run's rules of all links of a kind; a sentence on those that name its places."""
    kept = {}
    for name in ("half_duplex", "fat_pipes"):
        stated = getattr(before, name) or ()
        if name not in keys and stated and {ALL_ACCESS, ALL_CORE}.issuperset(stated):
            kept[name] = stated
    network = replace(network, **kept)
    lost = [
        f"{name}(={getattr(before, name)!r})"
        for name in ("half_duplex", "shared_access", "fat_pipes")
        if name not in keys and getattr(before, name) and not getattr(network, name)
    ]
    if not lost:
        return network, ()
    return network, (f"left out, as they name places of {before.name}: {', '.join(lost)}.",)


def _without_core_rules(
    network: NetworkConfig, keys: Collection[str]
) -> tuple[NetworkConfig, tuple[str, ...]]:
    """Another network without the run's rules of a routed core where it has measured pairs; what is left out."""
    rules = {
        "variant": "corrected",
        "core": None,
        "bandwidth": "hop_share",
        "latency": "per_path",
        "routing": "distance",
        "multipath_seed": None,
        "split_flows": False,
        "fat_pipes": None,
    }
    # Tables, which were not published, do not take the other variant.
    if build_underlay(replace(network, variant="corrected")).measured is None:
        return network, ()
    of_the_run: dict[str, Any] = {
        name: value for name, value in rules.items() if name not in keys and getattr(network, name) != value
    }
    if not of_the_run:
        return network, ()
    left = ", ".join(f"{name}(={getattr(network, name)!r})" for name in of_the_run)
    return replace(network, **of_the_run), (
        f"left out, as the pairs of {network.name} are measured: {left} of the run's network.",
    )


def _workload(run: RecordedRun, scenario: Scenario, graph: Connectivity) -> Workload:
    """The run's workload with another model size or other computing times, where these change."""
    before, after, work = run.scenario.workload, scenario.workload, run.record.work
    if after == before:
        return work
    # The size of a trained model is in the file; the model itself, which its backend knows, is not needed.
    bits, compute_s = work.model_bits, work.compute_s
    if after.model_size != before.model_size:
        bits = parse_quantity("model_size", after.model_size, "bit", zero=True) * overhead_factor(
            after.overhead
        )
        bits *= work.message_share
    elif after.overhead != before.overhead:
        bits = bits / overhead_factor(before.overhead) * overhead_factor(after.overhead)
    if (after.compute, after.compute_at) != (before.compute, before.compute_at):
        stated = replace(after, model_size=f"{bits!r} bit")
        compute_s = build_workload(stated, scenario.network.variant, graph=graph).compute_s
    own_compute = after.preset is None or bool(np.any(compute_s != Workload.preset(after.preset).compute_s))
    return replace(
        work,
        name=work_name(after, own_compute=own_compute),
        model_bits=bits,
        compute_s=compute_s,
        overlap=overlap_share(after.overlap),
    )


def _check_learning(before: Scenario, after: Scenario) -> None:
    """Raise an error for a new event that alters what silos learn; those of the run did not alter its rows either."""
    known = list(before.simulation.learning_events().values())
    for place, entry in after.simulation.learning_events().items():
        if entry not in known:
            raise InputError(
                f"would alter the learning ({entry.describe()}), whose rows a replay keeps; an absence for which the "
                "others wait, policy = 'wait', does not.",
                field=place,
            )


def _relocated(
    run: RecordedRun,
    recorded: OverlayRecord,
    scenario: Scenario,
    graph: Connectivity,
    work: Workload,
    *,
    rounds: int,
    trained: int,
    most_drawn: int | None = None,
) -> RelocatedOverlay:
    """One of a run's overlays on another network, and its simulation there; of a randomized one so many rounds."""
    arcs = recorded.arcs[:, :2].tolist()
    if recorded.states is not None:
        overlay: Overlay | PeriodicOverlay | RecordedOverlay = build_periodic(
            recorded.kind, graph, work, recorded.states, negative_weights=recorded.negative_weights
        )
    elif recorded.consensus is None:
        drawn = read_drawn(run.path, recorded, graph, work, most=most_drawn)
        overlay = drawn
        if scenario.simulation.until_ci is not None:
            # The run has ended where its interval was narrow enough, and its file holds no rounds beyond.
            rounds = min(rounds, max(drawn.rounds, trained))
        for i, j in arcs:
            if not graph.may_send[i, j]:
                names = f"{graph.labels[i]} -> {graph.labels[j]}"
                raise InputError(f"{recorded.kind} has the arc {names}, which {graph.underlay.name} blocks.")
    else:
        overlay = build_overlay(
            recorded.kind,
            graph,
            work,
            arcs,
            hub=recorded.hub,
            consensus=recorded.consensus,
            negative_weights=recorded.negative_weights,
        )
    job = job_of(overlay, scenario.simulation, rounds=rounds, seed=scenario.seed)
    return RelocatedOverlay(recorded=recorded, overlay=overlay, job=job)
