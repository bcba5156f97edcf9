"""A study: many points computed by several workers, into one tidy table."""

import hashlib
import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scenarios.config.scenario import Scenario
from scenarios.config.study import Study, column_of, identity
from scenarios.runfile.paths import check_new, partial_path
from scenarios.runfile.study_rows import ERROR, POINT, RowsFile, finished_points
from scenarios.runfile.study_table import check_study_path, is_csv, write_study
from scenarios.runtime.progress import bar
from scenarios.runtime.signals import check_interrupts
from scenarios.studies.study_points import Point, PointResult, compute_points
from topologies import InputError
from topologies.errors import Field

_INPUTS = (
    *("network", "silos", "access_up_bps", "access_down_bps", "core_bps", "model_bits", "compute_s"),
    *("local_steps", "seed", "overlay", "kind", "options"),
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
    "half_width_s",
    "is_exact",
    "over_paper",
)
_MOST_DESIGNED, _MOST_SIMULATED = 64, 4
"""Points that a worker computes at a time: a kill loses no more of each worker."""
_MANY = 10
"""Points from which compiled designs save more time than they take to begin."""
_SHARE = 3
"""A worker takes no more than one in so many of its share of what is left, so that all end at one time."""


def study_points(study: Study) -> list[Point]:
    """All points, each checked.

    Raises
    ------
    InputError
        If a key does not exist, or a value breaks its rule.
    """
    digests: dict[str, str] = {}
    points, seen = [], dict[str, Mapping[str, Any]]()
    for changes in study.config.changes():
        scenario = study.scenario(changes)
        hashed = identity(
            [asdict(scenario), study.config.simulate],
            {path: _digest(path, digests) for path in _files(scenario)},
        )
        if hashed in seen:
            raise InputError(
                f"must give different points; {changes} and {seen[hashed]} are the same.",
                field=Field("study"),
                source=study.source,
            )
        seen[hashed] = changes
        varied = dict(column_of(key, value) for key, value in changes.items())
        points.append(Point(identity=hashed, varied=varied, scenario=scenario))
    return points


def _files(scenario: Scenario) -> Iterator[str]:
    """Files whose content a scenario depends on."""
    network = scenario.network
    yield from filter(None, (network.sites, network.links, network.pairs, network.bandwidth_matrix))
    yield from filter(None, (network.latency_matrix, network.underlay))
    for config in scenario.overlays.overlays:
        yield from filter(
            None, (config.arcs, config.weights, config.consensus if config.consensus_is_file else None)
        )
    if scenario.simulation.compute is not None and scenario.simulation.compute.trace is not None:
        yield scenario.simulation.compute.trace


def _digest(path: str, known: dict[str, str]) -> str:
    """Digest of a file's or folder's content; empty where it is neither, as of a shipped network."""
    if path not in known:
        place = Path(path)
        files = sorted(place.glob("*.csv")) if place.is_dir() else [place] if place.is_file() else []
        known[path] = (
            hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest() if files else ""
        )
    return known[path]


def columns_of(study: Study, points: Sequence[Point]) -> list[str]:
    """Columns of a study's table: what varies, further inputs, results."""
    varied = dict.fromkeys(name for point in points for name in point.varied)
    results = (*_DESIGNED, *(_SIMULATED if study.config.simulate else ()), ERROR, POINT)
    return list(dict.fromkeys((*varied, *_INPUTS, *results)))


def run_study(
    study: Study,
    path: Path,
    *,
    pool: AbstractContextManager[Executor | None],
    workers: int,
    force: bool = False,
) -> list[str]:
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
    list of str
        One line for each point with an error.

    Raises
    ------
    InputError
        If the study or a point is wrong, or the table cannot be written.
    KeyboardInterrupt
        After Ctrl-C; finished points stay in ``<path>.partial``.

    Notes
    -----
    Points are computed by the same functions whatever the number of workers, and the table has them in the order of the
    study, so that it is the same bytes.
    """
    check_study_path(path)
    points = study_points(study)
    columns = columns_of(study, points)
    expected = {point.identity: len(point.scenario.overlays.overlays) for point in points}
    done = {} if force else _known_rows(path, columns, expected)
    if path.exists() and len(done) == len(points):
        return _errors(points, done)
    check_new(path, force=force or bool(done), resume=True)
    file = RowsFile(path, columns, done)
    try:
        left = sorted((point for point in points if point.identity not in file.done), key=_design_key)
        if left:
            _compute(left, file, study.config.simulate, pool, workers, done=len(points) - len(left))
    finally:
        file.close()
    rows = [row for point in points for row in file.done[point.identity]]
    write_study(path, columns, rows)
    file.remove()
    return _errors(points, file.done)


def _known_rows(
    path: Path, columns: Sequence[str], expected: Mapping[str, int]
) -> dict[str, list[dict[str, str]]]:
    """Rows of points that need not be computed again: of a table that the study only adds to, and of a cut one."""
    known: dict[str, list[dict[str, str]]] = {}
    if path.exists() and is_csv(path):
        known |= finished_points(path, columns, expected, whole=True)
    if partial_path(path).exists():
        known |= finished_points(partial_path(path), columns, expected)
    return known


def _design_key(point: Point) -> str:
    """Points of one network and workload lie side by side, so that a worker designs for them once."""
    return repr((point.scenario.network, point.scenario.workload, point.scenario.overlays))


def _compute(
    points: Sequence[Point],
    file: RowsFile,
    simulate: bool,
    pool: AbstractContextManager[Executor | None],
    workers: int,
    *,
    done: int,
) -> None:
    """Compute points by the workers, and write each as it is finished."""
    most = _MOST_SIMULATED if simulate else _MOST_DESIGNED
    chunks = _chunks(points, most, workers)
    started, computed = time.monotonic(), 0
    with pool as executor, bar("study", done + len(points)) as advance:
        assert executor is not None
        waiting: set[Future[list[PointResult]]] = set()
        while True:
            # No more than are soon computed: what waits in a pool would be lost with it.
            for chunk in itertools.islice(chunks, max(0, 2 * workers - len(waiting))):
                waiting.add(executor.submit(compute_points, chunk, simulate, len(points) >= _MANY))
            if not waiting:
                return
            finished, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            check_interrupts()
            for future in finished:
                for result in future.result():
                    file.add(result.identity, result.rows)
                    computed += 1
            advance(done + computed, f"{computed / max(1e-9, time.monotonic() - started):.3g} points/s")


def _chunks(points: Sequence[Point], most: int, workers: int) -> Iterator[Sequence[Point]]:
    """Points that workers compute at a time: fewer towards the end."""
    first = 0
    while first < len(points):
        size = max(1, min(most, (len(points) - first) // (workers * _SHARE)))
        yield points[first : first + size]
        first += size


def _errors(points: Sequence[Point], done: Mapping[str, Sequence[Mapping[str, str]]]) -> list[str]:
    """One line for each point with an error."""
    lines = []
    for point in points:
        if error := done[point.identity][0][ERROR]:
            where = ", ".join(f"{name} {value}" for name, value in point.varied.items())
            lines.append(f"{where}: {error}")
    return lines
