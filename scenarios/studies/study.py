"""A study: many points computed by several workers, into one tidy table."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from scenarios.config.access_links import up_down
from scenarios.config.error_context import changed_errors, in_table, located
from scenarios.config.label_shares import PartitionLabels
from scenarios.config.network import SOURCES, NetworkConfig
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import check_hubs, check_silos_named
from scenarios.config.scenario import Scenario, workload_of
from scenarios.config.study import (
    FigureConfig,
    Study,
    column_of,
    identity,
    shared_ending,
    split_key,
)
from scenarios.config.training_files import files_of
from scenarios.config.used_values import used_value
from scenarios.report.column_labels import value_text
from scenarios.report.study_lines import study_lines
from scenarios.runfile.paths import check_new, check_output
from scenarios.runfile.study_rows import ERROR, POINT, RowsFile, finished_points
from scenarios.runfile.study_table import RANGES, TEXTS, check_study_path, table_lines, write_study
from scenarios.simulation.runner import check_simulation
from scenarios.studies import trained_points
from scenarios.studies.parallel_points import compute_all
from scenarios.studies.replay_points import COLUMNS, check_replay, compute_replays, open_replays
from scenarios.studies.study_comparison import check_published
from scenarios.studies.study_points import Networks, Point, PointResult, ReplayOf, compute_points
from scenarios.studies.trained_points import check_alone, compute_trained
from topologies import InputError, MachineError
from topologies.errors import Field, unknown_name
from topologies.networks.network_files import read_files
from topologies.networks.traffic_files import sequence_files
from topologies.regular_files import is_folder
from training.history import DIVERGED

_INPUTS = (
    *("network", "silos", "access_up_bps", "access_down_bps", "core_bps", "model_bits", "compute_s"),
    *("local_steps", RANGES, "seed", "overlay", "kind", "options"),
)
_DESIGNED = (
    *("arcs", "max_degree", "paper_s", "serialized_s", "load_bound_s", "paper_below_load", "spectral_gap"),
    *("hub", "busiest_link"),
)
_SIMULATED = (
    "sharing",
    "queueing",
    "engine",
    "rounds",
    "simulated_s",
    "simulated_half_width_s",
    "simulated_is_exact",
    "over_paper",
)
_TRUTHS = ("paper_below_load", "simulated_is_exact")
_PIECE_BYTES = 2**20
_MOST_CHECKED = 20
"""Networks that are built before any point is computed."""
_WITHOUT_EFFECT = ("ranks", "checkpoint_every", "gpu_aware_mpi")
"""Settings of a training that change no number."""
_MANY = 10
"""Points from which compiled designs save more time than they take to begin."""


def study_points(study: Study) -> list[Point]:
    """All points, each checked.

    Raises
    ------
    InputError
        If a key does not exist, or a value breaks its rule.
    """
    digests: dict[str, str] = {}
    points, seen = [], dict[str, Mapping[str, Any]]()
    replays = open_replays(study)
    all_changes = [*study.config.changes()]
    keys = dict.fromkeys(key for changes in all_changes for key in changes)
    scenarios = [study.scenario(each) if replays is None else replays.scenario(each) for each in all_changes]
    _check_training(study, scenarios)
    # A point of a list may leave a key to the scenario, whose own value is that of the point.
    own = [
        {key: used_value(scenario, split_key(key), study.base) for key in keys if key not in changes}
        for changes, scenario in zip(all_changes, scenarios, strict=True)
    ]
    endings = {}
    for key in keys:
        left = {repr(values[key]): values[key] for values in own if values.get(key) is not None}
        endings[key] = shared_ending([*study.config.values(key), *left.values()])
    for changes, scenario, values in zip(all_changes, scenarios, own, strict=True):
        used = {key: changes[key] if key in changes else values[key] for key in keys}
        replay = None if replays is None else replays.of(changes)
        simulates = study.config.simulate or study.config.train
        hashed = point_identity(scenario, simulates, digests, replay, trains=study.config.train)
        varied = dict(column_of(key, value, endings[key]) for key, value in used.items() if value is not None)
        unsaid = {
            column_of(key, "", "")[0] + endings[key]: key for key, value in used.items() if value is None
        }
        # One value may be written in two ways.
        same = sorted((name, _capacities(value)) for name, value in varied.items())
        for known in (hashed, repr((same, sorted(unsaid)))):
            if known in seen:
                raise InputError(
                    f"must give different points; {changes} and {seen[known]} are the same.",
                    field=Field("study"),
                    source=study.source,
                )
            seen[known] = changes
        rows = len(scenario.overlays.overlays) if replays is None else replays.overlays
        points.append(
            Point(
                identity=hashed,
                varied=varied,
                unsaid=unsaid,
                scenario=scenario,
                rows=rows,
                replay=replay,
                text=study.text(changes) if study.config.train else "",
            )
        )
    return points


def _check_training(study: Study, scenarios: Sequence[Scenario]) -> None:
    """Raise an `InputError` for a training that no point needs: a study takes nothing but the labels of its data."""
    varied = [key for key in study.config.keys if split_key(key)[0] == "training"]
    if study.config.train:
        if any(each.training is None for each in scenarios):
            rule = "goes with a scenario that has [training]."
            raise InputError(rule, field=Field("study", "train", value=True), source=study.source)
        with located(study.source):
            for each in scenarios:
                check_hubs(each)
        return
    if study.config.run is not None or not (varied or "training" in study.base):
        return
    if any(_sizes_messages(each) for each in scenarios):
        return
    if any(config.takes_label_shares for each in scenarios for config in each.overlays.overlays):
        return
    if varied:
        place = "grid" if varied[0] in study.config.grid else "points"
        raise InputError(
            "changes nothing that a study without train = true computes: none of its overlays takes the labels of the "
            "silos, and the size of messages is stated.",
            field=Field("study", place, varied[0]),
            source=study.source,
        )
    raise InputError(
        "training goes with silosim run or train = true in [study], unless an overlay takes the labels of the silos.",
        source=study.source,
    )


def _sizes_messages(scenario: Scenario) -> bool:
    """Whether the size of a scenario's messages depends on its training."""
    stated, training = scenario.workload, scenario.training
    return training is not None and (
        training.compression != "none" or (stated.preset is None and stated.model_size is None)
    )


def _capacities(value: object) -> object:
    """A text such as ``"1 Gbps up, 1 Gbps down"`` as numbers; any other value as it is."""
    if isinstance(value, str):
        with suppress(InputError):
            return repr(sorted(up_down(("capacity",), value).items()))
    return value


def point_identity(
    scenario: Scenario,
    simulate: bool,
    digests: dict[str, str],
    replay: ReplayOf | None = None,
    *,
    trains: bool = False,
) -> str:
    """Hash of all inputs of a point: where files lie is none; digests that are known already are not made again.

    Data sets, which may be large, count by their name and folder.
    """
    paths = [*_files(scenario, replay), *files_of(scenario.training, runs_code=trains)]
    files = [(Path(path).name, _digest(path, digests)) for path in paths]
    tables = _by_name(
        asdict(scenario), {path: Path(path).name for path in (*paths, *scenario.simulation.files)}
    )
    # None of these is an input of what is computed.
    del tables["name"]
    for key in _WITHOUT_EFFECT if tables["training"] else ():
        del tables["training"][key]
    if not simulate and replay is None:
        del tables["simulation"]
    return identity([tables, simulate, _version()], files)


@cache
def _version() -> str:
    """Of the package, whose numbers may be others in another version."""
    return version("silosim")


def _by_name(value: Any, names: Mapping[str, str]) -> Any:
    """Tables with the names of files in place of their paths."""
    if isinstance(value, dict):
        return {key: _by_name(inner, names) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_by_name(inner, names) for inner in value]
    return names.get(value, value) if isinstance(value, str) else value


def _files(scenario: Scenario, replay: ReplayOf | None) -> Iterator[str]:
    """Files whose content a point depends on: a replay has overlays, and a network that stays, from that of the run."""
    network = scenario.network
    if replay is not None:
        yield str(replay.path)
    if replay is None or not SOURCES.isdisjoint(replay.network_keys):
        yield from filter(None, (network.sites, network.links, network.pairs, network.bandwidth_matrix))
        yield from filter(None, (network.latency_matrix, network.underlay))
    if network.routes is not None and (
        replay is None or not {*SOURCES, "routes"}.isdisjoint(replay.network_keys)
    ):
        yield network.routes
    for config in () if replay is not None else scenario.overlays.overlays:
        yield from filter(None, (config.file, config.consensus if config.consensus_is_file else None))
    for path in scenario.simulation.files:
        yield from map(str, sequence_files(Path(path))) if is_folder(Path(path)) else [path]


def _digest(path: str, known: dict[str, str]) -> str:
    """Digest of a file, or of all that a folder or a TOML file of a network names; empty of a shipped network."""
    if path not in known:
        digest = hashlib.sha256()
        files = read_files(Path(path))
        for file in files:
            digest.update(f"{file.name} {file.stat().st_size}\0".encode())
            with file.open("rb") as opened:  # the file of a run may be larger than the memory
                while piece := opened.read(_PIECE_BYTES):
                    digest.update(piece)
        known[path] = digest.hexdigest() if files else ""
    return known[path]


def columns_of(study: Study, points: Sequence[Point]) -> list[str]:
    """Columns of a study's table: what varies, further inputs, results."""
    varied = dict.fromkeys(name for point in points for name in point.varied)
    config = study.config
    simulated = _SIMULATED if config.simulate or config.run or config.train else ()
    to_target = COLUMNS if config.run or config.train else ()
    trained = trained_points.COLUMNS if config.train else ()
    results = (*_DESIGNED, *simulated, *to_target, *trained, "speedup", ERROR, POINT)
    return list(dict.fromkeys((*varied, *_INPUTS, *results)))


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyOutcome:
    """What became of a study.

    Attributes
    ----------
    errors : tuple of str
        One line for each point and error.
    is_written : bool
        Whether its table was written; else it was complete before.
    """

    errors: tuple[str, ...]
    is_written: bool


def run_study(
    study: Study,
    path: Path,
    *,
    pool: AbstractContextManager[Executor | None],
    workers: int,
    force: bool = False,
) -> StudyOutcome:
    """Compute all points of a study, and write its table.

    Parameters
    ----------
    study : Study
    path : Path
        CSV or Parquet file.
    pool : context manager of Executor
        See `scenarios.runtime.workers`; entered when there is something to compute.
    workers : int
    force : bool
        Whether the table of another study, and rows of one that was cut short, are replaced. A table to which this
        study only adds points is replaced without.

    Returns
    -------
    StudyOutcome

    Raises
    ------
    InputError
        If the study or a point is wrong, or the table cannot be written, is being written by another process, or it or
        ``<path>.partial`` holds points that the study does not have.
    MachineError
        If a worker's process ended; finished points stay in ``<path>.partial``.
    KeyboardInterrupt
        After Ctrl-C; finished points stay in ``<path>.partial``.

    Notes
    -----
    Points are computed by the same functions whatever the number of workers, and the table has them in the order of the
    study, so that it is the same bytes.
    """
    check_study_path(path)
    if study.config.train:
        with located(study.source):
            check_alone()
    points = study_points(study)
    columns = columns_of(study, points)
    _check_outputs(study, points, columns)
    _check_scenarios(study, points)
    expected = {point.identity: point.rows for point in points}
    check_output(path)
    with closing(RowsFile(path, columns)) as file:
        table = {} if force else _table_rows(path, columns, expected)
        known = {} if force else table | file.found(expected)
        check_new(path, force=force or bool(known), resume=True)
        # Points with an error are computed again: what was missing on the machine may be there now.
        done = {name: rows for name, rows in known.items() if not any(_is_new(row[ERROR]) for row in rows)}
        file.begin(done)
        if study.config.train:
            left = [point for point in points if point.identity not in file.done]
            compute_trained(left, partial(_add, file), table=path, source=study.source, anew=force)
        else:
            _compute_left(study, points, file, pool, workers)
        is_new = len(done) < len(points) or list(table) != [point.identity for point in points]
        if is_new:
            write_study(path, columns, [row for point in points for row in file.done[point.identity]])
        file.remove()
    return StudyOutcome(errors=tuple(_errors(points, file.done)), is_written=is_new)


def _compute_left(
    study: Study,
    points: Sequence[Point],
    file: RowsFile,
    pool: AbstractContextManager[Executor | None],
    workers: int,
) -> None:
    """Compute the points that are not finished into the file of rows."""
    left = sorted((point for point in points if point.identity not in file.done), key=_design_key)
    if not left:
        return
    replays = study.config.run is not None
    compute = partial(compute_points, simulate=study.config.simulate, compiled=len(left) >= _MANY)
    try:
        compute_all(
            left,
            compute_replays if replays else compute,
            partial(_add, file),
            pool=pool,
            workers=workers,
            title="study",
            done=len(points) - len(left),
        )
    except MachineError as error:
        kept = f"; the finished points are in {file.path}, and the same command goes on" if file.done else ""
        raise MachineError(f"{str(error).removesuffix('.')}{kept}.") from None


def _is_new(error: str) -> bool:
    """Whether a point with this error may have another result next time: a training that diverged has not."""
    return bool(error) and not error.startswith(DIVERGED)


def _add(file: RowsFile, result: PointResult) -> None:
    """Write the rows of a point."""
    file.add(result.identity, result.rows)


def _check_scenarios(study: Study, points: Sequence[Point]) -> None:
    """Raise an `InputError` for what cannot be: networks of the first points, as each takes time, and what is on them.

    That is a workload, events, computing times, hubs, overlays of files, and where a run is replayed its silos. What a
    designer cannot do there, or this machine lacks, is a row with its error.
    """
    networks, cores, checked = Networks(), set[str](), set[tuple[object, ...]]()
    for point in points:
        scenario, network, workload = point.scenario, point.scenario.network, point.scenario.workload
        core = repr(network.without_access)
        # Capacities and times have been read; whether the silos that have them are there, has not.
        places = (network.access_at, workload.compute_at, workload.local_steps_at)
        labels = tuple(frozenset(place or ()) for place in places)
        placed = tuple(config for config in scenario.overlays.overlays if _is_placed(config))
        simulates = study.config.simulate or study.config.train
        simulation = repr(scenario.simulation) if simulates or point.replay else ""
        takes_labels = any(config.takes_label_shares for config in scenario.overlays.overlays)
        own = (
            network.access_hub is None,
            workload.preset,
            workload.compute is None,
            simulation,
            repr(placed),
            takes_labels and _data_of(scenario),
        )
        shape = (core, *labels, *own)
        if shape in checked:
            continue
        checked.add(shape)
        cores.add(core)
        if len(cores) > _MOST_CHECKED:
            return
        with suppress(MachineError), located(study.source):
            if point.replay is not None:
                check_replay(point)
                continue
            with in_table("network", NetworkConfig):
                graph = networks.of(network)
            work = workload_of(scenario, graph)
            if simulates:
                settings = scenario.simulation
                check_simulation(settings, graph, work, seed=scenario.seed, rounds=settings.rounds)
            for config in placed:
                with changed_errors(partial(_of_overlay, config.name)):
                    check_silos_named(config, graph)
            if takes_labels and scenario.training is not None:
                PartitionLabels(graph=graph, training=scenario.training, seed=scenario.seed)()


def _data_of(scenario: Scenario) -> str:
    """What tells data sets, kinds of partitions and what says the size of messages apart."""
    training = scenario.training
    if training is None:
        return ""
    backend = training.backend, training.backend_options
    return repr((training.data_options, training.dataset, training.partition, backend))


def _of_overlay(name: str, error: InputError) -> InputError:
    """The error with the table of the overlay's options, where it is of one of them and not of a file."""
    return error.within("overlays", name) if error.path and error.source is None else error


def _is_placed(config: OverlayConfig) -> bool:
    """Whether an overlay names silos, in a file or as the hub."""
    return not config.kind or config.consensus_is_file or "hub" in config.options


def _check_outputs(study: Study, points: Sequence[Point], columns: Sequence[str]) -> None:
    """Raise an `InputError` for a figure, or a comparison, that the table cannot have, as far as inputs say so."""
    figure, published = study.config.figure, study.config.published
    inputs = [
        {
            **point.varied,
            "overlay": config.name,
            "kind": config.kind or "file",
            # Rounds of a randomized overlay have no circuit in which one model waits for another.
            **({"serialized_s": None} if config.is_randomized else {}),
        }
        for point in points
        for config in point.scenario.overlays.overlays
    ]
    with located(study.source):
        varied = {name for point in points for name, value in point.varied.items() if isinstance(value, str)}
        check_published(published, columns, inputs, texts={*TEXTS, *varied})
        if figure is not None:
            _check_figure(figure, columns, inputs)


def _check_figure(
    figure: FigureConfig, columns: Sequence[str], inputs: Sequence[Mapping[str, object]]
) -> None:
    """Choose the lines of the figure of a table in which all results are alike."""
    for name in ("x", "y", "facet"):
        column = getattr(figure, name)
        if column is not None and column not in columns:
            raise unknown_name(f"study.figure.{name}", column, columns)
    if figure.y is not None and figure.y in (*TEXTS, "overlay"):
        raise InputError("must hold numbers.", field=Field("study", "figure", "y", value=figure.y))
    # Here since pandas takes long to import.
    import pandas

    results = {column: _example(column) for column in columns if column != "silos"}
    rows = [{**results, "silos": 1, **row} for row in inputs]
    with changed_errors(lambda error: error.within("study", "figure") if error.path else error):
        study_lines(pandas.DataFrame(rows, columns=list(columns)), x=figure.x, y=figure.y, facet=figure.facet)


def _example(column: str) -> float | bool | None:
    """A value that a result may have."""
    return None if column in TEXTS else True if column in _TRUTHS else 1.0


def _table_rows(
    path: Path, columns: Sequence[str], expected: Mapping[str, int]
) -> dict[str, list[dict[str, str]]]:
    """Rows of the points of a finished table."""
    return finished_points(table_lines(path), str(path), columns, expected) if path.exists() else {}


def _design_key(point: Point) -> str:
    """Points of one network and workload lie side by side, so that a worker designs for them once."""
    return repr((point.scenario.network, point.scenario.workload, point.scenario.overlays))


def _errors(points: Sequence[Point], done: Mapping[str, Sequence[Mapping[str, str]]]) -> list[str]:
    """One line for each point and error."""
    lines = []
    for point in points:
        where = ", ".join(f"{name} {value_text(name, value)}" for name, value in point.varied.items())
        errors = dict.fromkeys(row[ERROR] for row in done[point.identity] if row[ERROR])
        lines += [f"{where}: {error}" for error in errors]
    return lines
