"""Whole studies in Python: what the commands do, without printing."""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.config.designer_options import WrittenOptions
from scenarios.config.network import (
    NetworkConfig,
    WorkloadConfig,
    build_network,
    build_underlay,
    build_workload,
)
from scenarios.config.overlay_config import chosen_overlays, default_overlays, left_out_note
from scenarios.config.overlays import design_any
from scenarios.config.replay_changes import replay_changes
from scenarios.config.scenario import Scenario, load_scenario, validated
from scenarios.config.seeds import seeds_of
from scenarios.config.simulation import SimulationConfig
from scenarios.config.study import load_study
from scenarios.config.upgrade import UpgradeConfig
from scenarios.metrics_import.columns import ColumnNames
from scenarios.pages.files import default_page, write_page, write_seeds_page
from scenarios.pages.files import report as write_report
from scenarios.report.figure_formats import FIGURES
from scenarios.report.figure_style import DEFAULT_STYLE, figure_style
from scenarios.report.tables import Table
from scenarios.runfile.artifacts import drop_checkpoints, is_complete
from scenarios.runfile.claims import claimed
from scenarios.runfile.paths import check_new_run
from scenarios.runfile.reader import RunRecord, read_run
from scenarios.runfile.study_table import read_study
from scenarios.runtime.workers import process_pool, worker_count
from scenarios.simulation.experiment import Experiment, graph_experiment, load_experiment, network_experiment
from scenarios.studies.export import export_run
from scenarios.studies.import_metrics import LEAST_ROUNDS, import_file
from scenarios.studies.relocation import RecordedRun
from scenarios.studies.replay import replay as replay_run
from scenarios.studies.replay_times import replay_times as times_of_replays
from scenarios.studies.run import run_scenario
from scenarios.studies.run_seeds import SeedFiles
from scenarios.studies.run_seeds import run_seeds as seeds_study
from scenarios.studies.study import run_study
from scenarios.studies.sweep import sweep as sweep_access
from scenarios.studies.timeline import timeline as timeline_tables
from scenarios.studies.underlay import UnderlayFacts, convert, draw, underlay_facts
from scenarios.studies.upgrade import upgrade_table
from scenarios.trackers.tracker import MakeTracker
from scenarios.validation.table import validation_table
from scenarios.validation.validation_request import DEFAULT_ROUNDS, validation_experiment
from scenarios.validation.validation_study import validate as validate_overlays
from topologies import (
    Connectivity,
    InputError,
    Overlay,
    PeriodicOverlay,
    Underlay,
    Variant,
    Workload,
    workload_presets,
)
from topologies.errors import Field, unknown_name
from topologies.networks.network_files import is_network_file

if TYPE_CHECKING:
    import pandas

StrPath = str | os.PathLike[str]
Network = StrPath | NetworkConfig
"""A name, or the path of a file or of tables (see `load_underlay`), with access links as stated there, else of
10 Gbps; or a whole description."""


Events = StrPath | Mapping[str, Sequence[Mapping[str, Any]]]
"""A TOML file of events, or their tables by name."""


def describe_underlay(network: Network | Underlay) -> UnderlayFacts:
    """Say what was understood of a network: size, capacities, lengths, measured pairs, coordinates.

    Parameters
    ----------
    network : str, path, NetworkConfig or Underlay

    Returns
    -------
    UnderlayFacts
        ``print`` shows it as text, ``json`` gives it as JSON.

    Raises
    ------
    InputError
        If the network cannot be read.

    Examples
    --------
    >>> import silosim
    >>> facts = silosim.describe_underlay("geant")
    >>> facts.sites, facts.links.links, facts.links.capacity_assumed
    (40, 61, 22)
    """
    return underlay_facts(_underlay(network))


def draw_underlay(
    network: Network | Underlay, output: StrPath, *, width: str | None = None, force: bool = False
) -> None:
    """Draw a network on a map.

    Parameters
    ----------
    network : str, path, NetworkConfig or Underlay
    output : str or path
        PNG, SVG or PDF; or HTML, a page with the facts and a table of all links.
    width : str, optional
        Of a picture, with its unit, as in ``"3.5in"``; by default 7 inches.
    force : bool
        Whether an existing file is replaced.

    Raises
    ------
    InputError
        If the network cannot be read, or the file has another ending, exists or cannot be written.

    Examples
    --------
    >>> import silosim
    >>> silosim.draw_underlay("gaia", "gaia.svg")
    """
    path = Path(output)
    style = figure_style(width, draws=path.suffix.lower() in FIGURES)
    draw(_underlay(network), path, style=style, force=force)


def convert_underlay(network: Network | Underlay, output: StrPath, *, force: bool = False) -> None:
    """Write a network into a file that reads back as the same one.

    Parameters
    ----------
    network : str, path, NetworkConfig or Underlay
    output : str or path
        GML of routers and links; CSV of measured pairs: ``from,to,bandwidth_bps,latency_ms``.
    force : bool
        Whether an existing file is replaced.

    Raises
    ------
    InputError
        If the network cannot be read, or the file has the wrong ending, exists or cannot be written.

    Notes
    -----
    A warning says what the file cannot hold, such as the coordinates of sites in CSV.

    Examples
    --------
    >>> import silosim
    >>> silosim.convert_underlay("gaia", "gaia.gml")
    >>> silosim.load_underlay("gaia.gml").routers
    11
    """
    for sentence in convert(_underlay(network), Path(output), force=force):
        warnings.warn(sentence, stacklevel=2)


def validate(
    network: Network | Connectivity,
    workload: str | Workload | None = None,
    *,
    kinds: Sequence[str] | None = None,
    rounds: int | None = None,
    until_ci: str | None = None,
    compute_times: str | None = None,
    engine: str | None = None,
    options: WrittenOptions | None = None,
    seed: int | None = None,
) -> Table:
    """Compare the closed forms of overlays with their simulation, and say why they differ.

    Parameters
    ----------
    network : str, path, NetworkConfig or Connectivity
        The name of a network, or the path of its file or of tables (see `load_underlay`), with access links
        as stated there, else of 10 Gbps; a `NetworkConfig`, or what `connectivity` returns, for other links; or the
        path of a scenario (.toml).
    workload : str or Workload, optional
        A preset of the paper's, by default ``"inaturalist"``; not with a scenario, which has its own.
    kinds : sequence of str, optional
        Overlays; by default the scenario's, or those of `scenarios.config.overlay_config.default_overlays`.
    rounds : int, optional
        Simulated rounds, at least 100. By default the scenario's; or 2,000, 1,000 of randomized overlays, and more
        where a confidence interval takes more.
    until_ci : str, optional
        Half width of the 95 % confidence interval at which a simulation ends, such as ``"0.1%"``.
    compute_times : str, optional
        Random or measured computing times, such as ``"lognormal 0.3"`` or ``"FILE.csv"``.
    engine : {"auto", "simpy", "compiled"}, optional
        By default the scenario's, or ``"auto"``.
    options : mapping from kind to mapping, optional
        Options of designers, such as ``{"star": {"hub": "Dublin"}}``.
    seed : int, optional
        Of everything random; by default the scenario's, or 0.

    Returns
    -------
    Table
        One row for each overlay.

    Raises
    ------
    InputError
        If a value is wrong, or an overlay cannot be designed or simulated.

    Examples
    --------
    >>> import silosim
    >>> table = silosim.validate("gaia", kinds=["ring"], rounds=200)
    >>> [row["overlay"] for row in table.rows]
    ['ring']
    >>> f"{table.rows[0]['paper_s']:.3f} s, simulated {table.rows[0]['maxmin_s']:.2f} s"
    '0.956 s, simulated 3.59 s'
    """
    made, from_scenario = _experiment(network, workload, rounds=DEFAULT_ROUNDS)
    experiment, randomized_rounds = validation_experiment(
        made.naming(kinds),
        {"rounds": rounds, "until_ci": until_ci, "engine": engine},
        overlays=chosen_overlays(kinds, made.overlays, options),
        seed=seed,
        compute_times=compute_times,
        from_scenario=from_scenario,
    )
    return validation_table(experiment, validate_overlays(experiment, randomized_rounds=randomized_rounds))


def sweep(
    network: Network,
    access: Sequence[str],
    workload: str | Workload | None = None,
    *,
    kinds: Sequence[str] | None = None,
    rounds: int = 200,
    sharing: str = "maxmin",
    queueing: str = "fifo",
    engine: str = "auto",
    seed: int = 0,
    options: WrittenOptions | None = None,
    workers: int = 1,
) -> Table:
    """Design and simulate overlays at several access capacities: the short form of `study`.

    Parameters
    ----------
    network : str, path or NetworkConfig
        The name of a network, the path of its file or of tables, or a `NetworkConfig`, whose access links are
        replaced.
    access : sequence of str
        Capacities with units.
    workload : str or Workload, optional
        A preset of the paper's, by default ``"inaturalist"``.
    kinds : sequence of str, optional
        Overlays, by default those of `scenarios.config.overlay_config.default_overlays`.
    rounds : int
        Simulated rounds.
    sharing : {"maxmin", "equal", "rtt_weighted"}
    queueing : {"fifo", "overlap"}
    engine : {"auto", "simpy", "compiled"}
    seed : int
        Of everything random.
    options : mapping from kind to mapping, optional
        Options of designers.
    workers : int
        Processes that compute capacities; with 1 none but this one.

    Returns
    -------
    Table
        One row for each capacity and overlay, capacities in ascending order.

    Raises
    ------
    InputError
        If a value is wrong, or an overlay cannot be designed or simulated.

    Examples
    --------
    >>> import silosim
    >>> table = silosim.sweep("gaia", ["100 Mbps", "10 Gbps"], kinds=["star", "ring"], rounds=50)
    >>> [(row["access_bps"], row["overlay"]) for row in table.rows]
    [(100000000.0, 'star'), (100000000.0, 'ring'), (10000000000.0, 'star'), (10000000000.0, 'ring')]
    """
    if isinstance(access, str):
        raise InputError(f"access(={access!r}) must be a sequence of capacities.")
    config = _network(network)
    simulation = validated(
        SimulationConfig, {"rounds": rounds, "sharing": sharing, "queueing": queueing, "engine": engine}
    )
    graph = build_network(config)
    work = _workload(workload, config.variant, graph)
    return sweep_access(
        config,
        work,
        chosen_overlays(kinds, default_overlays(graph), options),
        access,
        simulation,
        pool=process_pool(worker_count(workers)),
        workers=workers,
        seed=seed,
        left_out=() if kinds else left_out_note(graph),
    )


def upgrade(
    network: Network | Connectivity | Overlay | PeriodicOverlay,
    workload: str | Workload | None = None,
    *,
    kind: str | None = None,
    budget: float | None = None,
    cycle_time: str | None = None,
    prices: StrPath | None = None,
    factor: float | None = None,
    to: str | None = None,
    by: str = "load",
    rounds: int | None = None,
    sharing: str = "maxmin",
    queueing: str = "fifo",
    engine: str = "auto",
    seed: int = 0,
    options: WrittenOptions | None = None,
) -> Table:
    """Say which links to buy for an overlay whose arcs stay: sets by price and cycle time.

    Parameters
    ----------
    network : str, path, NetworkConfig, Connectivity, Overlay or PeriodicOverlay
        As `validate` takes it, but no scenario; or an overlay, which brings its network, workload and kind.
    workload : str or Workload, optional
        A preset of the paper's, by default ``"inaturalist"``.
    kind : str, optional
        A static or periodic overlay, by default ``"ring"``.
    budget : float, optional
        Most links to raise, or with `prices` most money. Either it or `cycle_time` is given.
    cycle_time : str, optional
        Cycle time to reach at the lowest price, such as ``"50 ms"``.
    prices : str or path, optional
        CSV of prices per added Gbps; see `topologies.analysis.link_prices.read_prices`. By default each link costs 1.
    factor : float, optional
        Of a link's capacity, by default 2.
    to : str, optional
        Capacity that links are raised to instead, such as ``"10 Gbps"``.
    by : {"load", "paper", "serialized"}
        Closed form that links are chosen by; ``"load"`` is the larger of `paper` and `load`.
    rounds : int, optional
        Simulated rounds; by default as many as an interval needs, or as take a second or two.
    sharing : {"maxmin", "equal", "rtt_weighted"}
    queueing : {"fifo", "overlap"}
    engine : {"auto", "simpy", "compiled"}
    seed : int
        Of everything random.
    options : mapping from kind to mapping, optional
        Options of designers.

    Returns
    -------
    Table
        One row for each set that is the fastest for its price, the cheapest, which raises nothing, first.

    Raises
    ------
    InputError
        If a value is wrong, the cycle time cannot be reached, or the overlay cannot be designed or simulated.

    Examples
    --------
    >>> import silosim
    >>> table = silosim.upgrade("gaia", budget=2)
    >>> for row in table.rows:
    ...     print(row["links"], row["raised"], f"{row['gain_s']:.3f} s, simulated {row['simulated_gain_s']:.3f} s")
    0  0.000 s, simulated 0.000 s
    1 core link Sao Paulo - Sydney 1.795 s, simulated 1.795 s
    """
    asked = validated(
        UpgradeConfig,
        {
            "budget": budget,
            "cycle_time": cycle_time,
            "prices": None if prices is None else os.fspath(prices),
            "factor": factor,
            "to": to,
            "by": by,
        },
    )
    simulation = validated(
        SimulationConfig,
        {
            "rounds": 1 if rounds is None else rounds,
            "sharing": sharing,
            "queueing": queueing,
            "engine": engine,
        },
    )
    if isinstance(network, Overlay | PeriodicOverlay):
        for name, value in (("workload", workload), ("kind", kind), ("options", options)):
            if value is not None:
                raise InputError(
                    "must not be given with an overlay, which has one.", field=Field(name, value=value)
                )
        return upgrade_table(network, asked, simulation, rounds=rounds, seed=seed)
    graph = network if isinstance(network, Connectivity) else build_network(_network(network))
    work = _workload(workload, graph.underlay.variant, graph)
    (chosen,) = chosen_overlays([kind or "ring"], (), options)
    overlay = design_any(chosen, graph, work, seed=seed)
    if not isinstance(overlay, Overlay | PeriodicOverlay):
        raise InputError(
            "is a randomized overlay, which has no fixed arcs.",
            field=Field("kind", value=kind),
        )
    return upgrade_table(overlay, asked, simulation, rounds=rounds, seed=seed)


def study(
    file: StrPath,
    output: StrPath,
    *,
    workers: int | None = None,
    engine: str | None = None,
    force: bool = False,
) -> "pandas.DataFrame":
    """Compute a grid of points over the keys of a scenario.

    Parameters
    ----------
    file : str or path
        TOML file: a scenario, and ``[study]`` with what varies.
    output : str or path
        CSV or Parquet file to write. Where rows of the same study are there, or in ``<output>.partial``, they are not
        computed again.
    workers : int, optional
        Processes; by default one for each processor, and with 1 none but this one.
    engine : {"auto", "simpy", "compiled"}, optional
        Of the simulations; by default the scenario's.
    force : bool
        Whether the table of another study, and what one left in ``<output>.partial``, are replaced.

    Returns
    -------
    pandas.DataFrame
        One row for each point and overlay, see `open_study`. A warning names each point with an error.

    Raises
    ------
    InputError
        If the study is wrong, or the table cannot be written.

    Notes
    -----
    Processes import the program that calls this, which therefore calls it below ``if __name__ == "__main__":``.

    Examples
    --------
    >>> import silosim
    >>> table = silosim.study("grid.toml", "grid.csv", workers=1)
    >>> table.groupby("overlay").paper_s.min().round(4).to_dict()
    {'ring': 0.1485, 'star': 1.0968}
    """
    count = worker_count(workers)
    path = Path(output)
    wanted = load_study(Path(file)).simulated_by(engine)
    outcome = run_study(wanted, path, pool=process_pool(count), workers=count, force=force)
    for error in outcome.errors:
        warnings.warn(error, stacklevel=2)
    return read_study(path)


def open_study(path: StrPath) -> "pandas.DataFrame":
    """Read the table of a study.

    Parameters
    ----------
    path : str or path
        CSV or Parquet file, or the ``.partial`` of a study that is still running.

    Returns
    -------
    pandas.DataFrame
        One row for each point and overlay: what varies, all other inputs, the closed forms, and the simulation where
        the study has one; units are in the names of the columns.

    Raises
    ------
    InputError
        If there is no such file, or it is not that of a study.

    Examples
    --------
    >>> import silosim
    >>> table = silosim.study("grid.toml", "grid.csv", workers=1)
    >>> list(silosim.open_study("grid.csv").columns[:4])
    ['access_bps', 'network', 'silos', 'access_up_bps']
    """
    return read_study(Path(path))


def plot_study(
    table: "pandas.DataFrame | StrPath",
    output: StrPath,
    *,
    x: str | None = None,
    y: str | None = None,
    facet: str | None = None,
    where: Mapping[str, object] | None = None,
    log_x: bool | None = None,
    log_y: bool | None = None,
    width: str | None = None,
    force: bool = False,
) -> None:
    """Draw any column of a study's table against any other, one line for each overlay.

    Parameters
    ----------
    table : DataFrame, str or path
        Of `open_study`, with columns of your own if you like; or the file.
    output : str or path
        PNG, PDF or SVG, by its ending.
    x : str, optional
        Column; one of texts has a place for each text. By default the first key with numbers that the study varies.
    y : str, optional
        Column with numbers; by default ``simulated_s``, in a study without simulations ``paper_s``. The former has
        ``paper_s`` as a thin line beside it, and bars of 95 % where there is one seed.
    facet : str, optional
        Column with a panel for each value. By default the one key that varies besides, if it has at most 6 values.
    where : mapping from str to value or list of values, optional
        Only rows with these values, numbers or texts with units: ``{"access_bps": "1 Gbps", "local_steps": [1, 5]}``.
    log_x, log_y : bool, optional
        Whether an axis is logarithmic; by default where its values span more than a decade.
    width : str, optional
        Of the figure, with its unit: ``"3.5in"`` or ``"89 mm"`` for a column of a paper; by default 7 inches.
    force : bool
        Whether an existing file is replaced.

    Raises
    ------
    InputError
        If the file cannot be written, a column or value does not exist, or anything but seeds varies besides.

    Notes
    -----
    A point of several seeds is their mean, in a band from the lowest to the highest. A warning says what was left out:
    points with an error, and points without a value for each seed, such as those that did not reach a target.

    Examples
    --------
    >>> import silosim
    >>> table = silosim.study("grid.toml", "grid.csv", workers=1)
    >>> silosim.plot_study(table, "grid.pdf", y="spectral_gap")
    """
    # Here since matplotlib takes long to import.
    from scenarios.report.study_plot import plot_study as draw_study

    values = {
        column: [*value] if isinstance(value, list | tuple | set) else [value]
        for column, value in (where or {}).items()
    }
    source = Path(table) if isinstance(table, str | os.PathLike) else table
    notes = draw_study(
        source,
        Path(output),
        x=x,
        y=y,
        facet=facet,
        where=values,
        log_x=log_x,
        log_y=log_y,
        force=force,
        style=figure_style(width) or DEFAULT_STYLE,
    )
    for note in notes:
        warnings.warn(note, stacklevel=2)


def run(
    scenario: StrPath,
    output: StrPath,
    *,
    resume: bool = False,
    force: bool = False,
    trackers: Sequence[str | MakeTracker] = (),
    report: bool = False,
) -> RunRecord:
    """Design, simulate and train the overlays of a scenario, and write the file of the run.

    Parameters
    ----------
    scenario : str or path
        A TOML file.
    output : str or path
        The HDF5 file to write.
    resume : bool
        Whether a run that was cut short goes on from its checkpoints; a complete one is left as it is.
    force : bool
        Whether an existing file is replaced.
    trackers : sequence of str or callable
        What else gets the rows of the trainings as they come: ``"tensorboard"``, the name of one that a package
        registers or of one in a file (``"mine.py:Print"``), or the class itself; see
        `scenarios.trackers.tracker.Tracker`.
    report : bool
        Whether the page for a browser is written, too, beside the file, with its name and ``.html``.

    Returns
    -------
    RunRecord
        What is in the file.

    Raises
    ------
    InputError
        If the scenario or a tracker is wrong, or the file cannot be written.
    MachineError
        If the machine lacks what the training needs.
    TrainingError
        If a training or a tracker fails; the finished rounds stay in ``<output>.partial``.

    Notes
    -----
    Trainings start their own ranks. A program that is itself started by `mpiexec` runs the command instead. Notices and
    progress of trainings go to standard error.

    Examples
    --------
    >>> import silosim
    >>> record = silosim.run("study.toml", "study.h5")
    >>> [overlay.kind for overlay in record.overlays]
    ['star', 'ring']
    """
    path, target = Path(scenario), Path(output)
    loaded, text = load_scenario(path)
    page = default_page(target)
    replaces = force or resume
    with claimed([page] if report else [], force=replaces):
        if resume and not force and is_complete(target, loaded, text):
            drop_checkpoints(target)  # a kill may have come between the last row and their removal
        else:
            run_scenario(
                loaded, text, target, force=force, resume=resume, source=str(path), trackers=trackers
            )
        if report:
            write_page(target, page, force=replaces)
    return read_run(target)


def run_seeds(
    scenario: StrPath,
    output: StrPath,
    seeds: int | Sequence[int],
    *,
    resume: bool = False,
    force: bool = False,
    trackers: Sequence[str | MakeTracker] = (),
    report: bool = False,
) -> Table:
    """Run a scenario once for each of several seeds, and write their table of means and its figure.

    Parameters
    ----------
    scenario : str or path
        A TOML file with ``[training]``.
    output : str or path
        ``study.h5`` for ``study-seed-0.h5`` and so on, ``study-seeds.csv`` and ``study-seeds.png``.
    seeds : int or sequence of int
        So many from the scenario's seed on, or these.
    resume : bool
        Whether complete runs are kept, and interrupted ones go on from their checkpoints.
    force : bool
        Whether existing files are replaced.
    trackers : sequence of str or callable
        As `run` takes them; each training has its own.
    report : bool
        Whether the page of all seeds is written, too: ``study-seeds.html``.

    Returns
    -------
    Table
        Mean and half width of Student's 95 % interval, of each overlay; ``further["runs"]`` has the values of each run.

    Raises
    ------
    InputError
        As `run`, or if a seed is wrong.
    MachineError, TrainingError
        As `run`.

    Examples
    --------
    >>> import silosim
    >>> table = silosim.run_seeds("study.toml", "spread.h5", 5)  # doctest: +SKIP
    >>> table.rows[0]["test_accuracy_mean"], table.rows[0]["test_accuracy_half_width"]  # doctest: +SKIP
    (0.739, 0.021)
    """
    path = Path(scenario)
    loaded, text = load_scenario(path)
    stated = str(seeds) if isinstance(seeds, int) else "".join(f"{seed}," for seed in seeds)

    def run_one(own: Scenario, own_text: str, target: Path, goes_on: bool) -> None:
        run_scenario(own, own_text, target, force=force, resume=goes_on, source=str(path), trackers=trackers)

    files = SeedFiles.of(Path(output), seeds_of(stated, loaded.seed))
    replaces = force or resume
    with claimed([files.page] if report else [], force=replaces):
        table = seeds_study(
            loaded, text, files, run_one, resume=resume, force=force, source=str(path), trackers=trackers
        )
        if report:
            write_seeds_page(files, force=replaces)
    return table


def replay(
    source: StrPath,
    output: StrPath,
    *,
    underlay: StrPath | None = None,
    access: str | None = None,
    access_up: str | None = None,
    access_down: str | None = None,
    access_at: Mapping[str, str] | None = None,
    silo_at: Sequence[str] | None = None,
    blocked: Sequence[str] | None = None,
    window: str | None = None,
    window_at: Mapping[str, str] | None = None,
    streams: int | None = None,
    streams_at: Mapping[str, int] | None = None,
    slow_start: str | None = None,
    core: str | None = None,
    internal_only: bool = False,
    largest_component: bool = False,
    model_size: str | None = None,
    overhead: str | None = None,
    compute: str | None = None,
    compute_at: Mapping[str, str] | None = None,
    overlap: str | None = None,
    compute_times: str | None = None,
    sharing: str | None = None,
    queueing: str | None = None,
    engine: str | None = None,
    events: Events | None = None,
    target_accuracy: float | None = None,
    force: bool = False,
) -> RunRecord:
    """Replay a run on another network: the same overlays and training rows at other times.

    Parameters
    ----------
    source : str or path
        The HDF5 file of a run, or of a replay.
    output : str or path
        The HDF5 file to write.
    underlay : str or path, optional
        Another network with as many silos.
    access, access_up, access_down, access_at, silo_at, blocked, core : optional
    window, window_at, streams, streams_at, slow_start : optional
        As in `NetworkConfig`; None for what stays. A new `access` is that of all links for which nothing else is given.
    internal_only, largest_component : bool
        What is left out of another network's file; see `load_underlay`.
    model_size : str, optional
        Size of the messages, for instance ``"42.9 MB"``; the trained model stays as it is.
    overhead : str, optional
        What headers add to them: ``"tcp"``, ``"tls"`` or a share such as ``"5 %"``.
    compute, compute_at : optional
        Computing time of a local step, of all silos or by label; a new `compute` is that of all others.
    overlap : str, optional
        ``"backward"`` or a share of a local step such as ``"50 %"``: in which part of it the models leave already.
    compute_times : str, optional
        ``"lognormal 0.3"``, ``"exponential"``, ``"times.csv"`` or ``"times.csv repeat"``.
    sharing, queueing : str, optional
        As `simulate` takes them.
    engine : {"auto", "simpy", "compiled"}, optional
        By default the one that the run's scenario names.
    events : str, path or mapping, optional
        TOML file of events, or their tables by name, ``{"capacity": [{"link": ..., ...}]}``, in place of the run's;
        ``{}`` for none.
    target_accuracy : float, optional
        Test accuracy that tables of the new file give times to.
    force : bool
        Whether an existing file is replaced.

    Returns
    -------
    RunRecord
        What is in the new file. A warning names each overlay that cannot be replayed, for instance since the network
        blocks one of its arcs.

    Raises
    ------
    InputError
        If the run cannot be read, the file cannot be written, a value is wrong or would alter the learning, or no
        overlay can be replayed.

    Examples
    --------
    >>> import silosim
    >>> slow = silosim.replay("small.h5", "slow.h5", access="10 Mbps")
    >>> fast = silosim.open_run("small.h5")
    >>> bool(slow.overlays[0].wall_clock_s[-1] > fast.overlays[0].wall_clock_s[-1])
    True
    """
    changes = replay_changes(
        underlay=None if underlay is None else os.fspath(underlay),
        access=access,
        access_up=access_up,
        access_down=access_down,
        access_at=access_at,
        silo_at=silo_at,
        blocked=blocked,
        window=window,
        window_at=window_at,
        streams=streams,
        streams_at=streams_at,
        slow_start=slow_start,
        core=core,
        internal_only=internal_only,
        largest_component=largest_component,
        model_size=model_size,
        overhead=overhead,
        compute=compute,
        compute_at=compute_at,
        overlap=overlap,
        compute_times=compute_times,
        sharing=sharing,
        queueing=queueing,
        engine=engine,
        events=_events(events),
        target_accuracy=target_accuracy,
    )
    target = Path(output)
    for sentence in replay_run(RecordedRun.open(Path(source)), target, changes, force=force):
        warnings.warn(sentence, stacklevel=2)
    return read_run(target)


def replay_times(
    source: StrPath,
    access: Sequence[str],
    *,
    underlay: StrPath | None = None,
    access_up: str | None = None,
    access_down: str | None = None,
    access_at: Mapping[str, str] | None = None,
    silo_at: Sequence[str] | None = None,
    blocked: Sequence[str] | None = None,
    window: str | None = None,
    window_at: Mapping[str, str] | None = None,
    streams: int | None = None,
    streams_at: Mapping[str, int] | None = None,
    slow_start: str | None = None,
    core: str | None = None,
    internal_only: bool = False,
    largest_component: bool = False,
    model_size: str | None = None,
    overhead: str | None = None,
    compute: str | None = None,
    compute_at: Mapping[str, str] | None = None,
    overlap: str | None = None,
    compute_times: str | None = None,
    sharing: str | None = None,
    queueing: str | None = None,
    engine: str | None = None,
    events: Events | None = None,
    target_accuracy: float | None = None,
) -> Table:
    """Replay a run at several access capacities, and say when each overlay reaches the target accuracy.

    Parameters
    ----------
    source : str or path
        The HDF5 file of a run that trained, or of a replay.
    access : sequence of str
        Capacities of every access link, with units, for instance ``"100 Mbps"``.
    target_accuracy : float, optional
        By default the run's; times are to the last recorded round where neither is there.
    underlay, access_up, access_down, access_at, silo_at, blocked, window, window_at, streams, streams_at : optional
    slow_start, core, internal_only, largest_component : optional
    model_size, overhead, compute, compute_at, overlap, compute_times, sharing, queueing, engine, events : optional
        As `replay` takes them.

    Returns
    -------
    Table
        One row for each capacity, in ascending order, and overlay: ``access_bps``, ``simulated_s`` (the cycle time)
        with ``simulated_half_width_s``, ``rounds_to_target``, ``time_to_target_s`` and ``speedup`` over the STAR; None
        where the overlay never reaches the target. A warning names each overlay that cannot be replayed.

    Raises
    ------
    InputError
        As `replay`; or if the run has no training, or no overlay that can be replayed reaches the target.

    Examples
    --------
    >>> import silosim
    >>> table = silosim.replay_times("small.h5", ["100 Mbps", "10 Mbps"], target_accuracy=0.05)
    >>> [(row["access_bps"], row["overlay"]) for row in table.rows]
    [(10000000.0, 'star'), (10000000.0, 'ring'), (100000000.0, 'star'), (100000000.0, 'ring')]
    """
    if isinstance(access, str):
        raise InputError(f"access(={access!r}) must be a sequence of capacities.")
    changes = replay_changes(
        underlay=None if underlay is None else os.fspath(underlay),
        access_up=access_up,
        access_down=access_down,
        access_at=access_at,
        silo_at=silo_at,
        blocked=blocked,
        window=window,
        window_at=window_at,
        streams=streams,
        streams_at=streams_at,
        slow_start=slow_start,
        core=core,
        internal_only=internal_only,
        largest_component=largest_component,
        model_size=model_size,
        overhead=overhead,
        compute=compute,
        compute_at=compute_at,
        overlap=overlap,
        compute_times=compute_times,
        sharing=sharing,
        queueing=queueing,
        engine=engine,
        events=_events(events),
        target_accuracy=target_accuracy,
    )
    table, left = times_of_replays(Path(source), access, changes)
    for sentence in left:
        warnings.warn(sentence, stacklevel=2)
    return table


def import_metrics(
    file: StrPath,
    output: StrPath,
    network: Network,
    workload: str | Workload | None = None,
    *,
    kinds: Sequence[str] | None = None,
    round: str | None = None,
    unit: str | None = None,
    shift: int | None = None,
    loss: str | None = None,
    accuracy: str | None = None,
    train_accuracy: str | None = None,
    test_loss: str | None = None,
    silo_loss: str | None = None,
    client: str | None = None,
    examples: str | None = None,
    first_silo: int | None = None,
    run: str | None = None,
    percent: bool = False,
    target_accuracy: float | None = None,
    engine: str | None = None,
    options: WrittenOptions | None = None,
    force: bool = False,
) -> RunRecord:
    """Join the metrics of another program's training with simulated overlays, and write the file of a run.

    Parameters
    ----------
    file : str or path
        CSV, JSON lines, Flower's ``History`` or ``Result`` as JSON, TensorBoard event file, or folder of these.
    output : str or path
        The HDF5 file to write.
    network : str, path or NetworkConfig
        As `validate` takes it, but no `Connectivity`, which the file cannot hold.
    workload : str or Workload, optional
        The model and hardware that the metrics are of: a preset of the paper's, or a `Workload` with the same computing
        time for all silos, whose local steps make a round. Not with a scenario, which has its own.
    kinds : sequence of str, optional
        Overlays; by default the scenario's, or those of `scenarios.config.overlay_config.default_overlays`.
    round : str, optional
        Column of the round: how many are done. By default a usual name.
    unit : {"rounds", "steps", "epochs"}, optional
        What that column counts; by default as its name says.
    shift : int, optional
        Added to every number in that column; by default 1 where steps or epochs are seen to begin with 0, else 0.
    loss, accuracy, train_accuracy, test_loss : str, optional
        Columns of the training loss, test accuracy, training accuracy and test loss; by default usual names.
    silo_loss : str, optional
        Columns of the silos' losses, with ``{silo}`` for a label or a number.
    client, examples : str, optional
        Columns of the client and of its number of examples, where a round has a row for each client; by default usual
        names. A mean by examples is taken, and clients that are silos give the silos' values.
    first_silo : {0, 1}, optional
        Number of the first silo, where clients or columns of silos have numbers; by default 0 if the file has it, else
        1 if it has that of the last silo.
    run : str, optional
        Which run of a TensorBoard folder with several.
    percent : bool
        Whether the file's accuracies are in percent.
    target_accuracy : float, optional
        Test accuracy whose first round and time tables and figures show.
    engine : {"auto", "simpy", "compiled"}, optional
        By default the scenario's, or ``"auto"``.
    options : mapping from kind to mapping, optional
        Options of designers.
    force : bool
        Whether an existing file is replaced.

    Returns
    -------
    RunRecord
        What is in the file.

    Raises
    ------
    InputError
        If a value is wrong, the metrics cannot be read, or the file cannot be written.

    Examples
    --------
    >>> import silosim
    >>> work = silosim.Workload(model_bits=10e6, compute_s=0.01)
    >>> record = silosim.import_metrics("metrics.csv", "imported.h5", "gaia", work, kinds=["ring"])
    >>> record.overlays[0].history["test_accuracy"].tolist()
    [0.5, 0.75]
    """
    target = Path(output)
    check_new_run(target, force=force)
    made, from_scenario = _experiment(network, workload, rounds=LEAST_ROUNDS, needs_workload=True)
    experiment = made.changed(
        overlays=chosen_overlays(kinds, made.overlays, options),
        seed=made.seed,
        simulation=made.simulation if engine is None else replace(made.simulation, engine=engine),
    )
    names = ColumnNames.of_options(
        round=round,
        unit=unit,
        silo_loss=silo_loss,
        client=client,
        examples=examples,
        first_silo=first_silo,
        loss=loss,
        accuracy=accuracy,
        train_accuracy=train_accuracy,
        test_loss=test_loss,
    )
    import_file(
        experiment,
        Path(file),
        target,
        names=names,
        # A preset says nothing about the steps of this training.
        local_steps=experiment.work.common_steps if from_scenario or isinstance(workload, Workload) else None,
        shift=shift,
        percent=percent,
        target_accuracy=target_accuracy,
        run=run,
        force=force,
    )
    return read_run(target)


def open_run(path: StrPath, *, verify: bool = True) -> RunRecord:
    """Read the file of a run, complete or cut short.

    Parameters
    ----------
    path : str or path
        HDF5 file that `run`, `replay`, `import_metrics` or ``silosim simulate`` wrote.
    verify : bool
        Whether a complete file is compared with its checksum, for which all of it is read once.

    Returns
    -------
    RunRecord
        Network, workload, and of each overlay the closed forms, the simulation, and the training rows with their
        wall-clock times. Its methods `rounds`, `messages`, `metrics` and `links` give DataFrames, which they read from
        the file.

    Raises
    ------
    InputError
        If there is no such file, it is not that of a run, or is damaged.

    Examples
    --------
    >>> import silosim
    >>> record = silosim.open_run("small.h5")
    >>> record.overlays[1].kind, record.overlays[1].simulation.rounds
    ('ring', 30)
    """
    return read_run(Path(path), verify=verify)


def export(
    path: StrPath,
    output: StrPath,
    *,
    format: str = "csv",
    only: str | Sequence[str] | None = None,
    overlay: str | Sequence[str] | None = None,
    rounds: slice | None = None,
    force: bool = False,
) -> tuple[Path, ...]:
    """Write a run into files that other programs read.

    Parameters
    ----------
    path : str or path
        HDF5 file of a run, complete or cut short.
    output : str or path
        Folder to write; it appears when it is complete.
    format : {"csv", "parquet"}
        Of the tables, which are those of `open_run`'s methods.
    only : str or sequence of str, optional
        Some of ``"rounds"``, ``"messages"``, ``"metrics"``, ``"metrics_by_silo"``, ``"links"``, ``"tensorboard"`` and
        ``"jsonl"``; by default all that the run has.
    overlay : str or sequence of str, optional
        By default all overlays.
    rounds : slice, optional
        Of the numbers of rounds, such as ``slice(0, 100)``; by default all.
    force : bool
        Whether an earlier export is replaced; never a folder that holds anything else.

    Returns
    -------
    tuple of Path
        The files.

    Raises
    ------
    InputError
        If a name is unknown, the run has nothing of what is asked for, or the folder exists or cannot be written.
    MachineError
        If pyarrow, which writes Parquet, is not installed.

    Notes
    -----
    A warning says what was left out, such as the metrics of a run without a training. Memory: a piece of a table at a
    time.

    Examples
    --------
    >>> import silosim
    >>> files = silosim.export("small.h5", "data", only=["rounds", "tensorboard"])
    >>> [file.as_posix() for file in files][:2]
    ['data/rounds.csv', 'data/tensorboard/star/events.out.tfevents.0.silosim']
    """
    written = export_run(
        Path(path),
        Path(output),
        table_format=format,
        only=only,
        overlay=overlay,
        rounds=rounds,
        force=force,
    )
    for note in written.notes:
        warnings.warn(note, stacklevel=2)
    return tuple(written.files)


def timeline(
    path: StrPath,
    *,
    rounds: slice | None = None,
    overlay: str | Sequence[str] | None = None,
    engine: str | None = None,
    output: StrPath | None = None,
    width: str | None = None,
    force: bool = False,
) -> tuple[Table, ...]:
    """Say who computes, sends, receives and waits in some rounds of a run, and for whom.

    Parameters
    ----------
    path : str or path
        HDF5 file of a run, complete or cut short.
    rounds : slice, optional
        Rounds one after the other, such as ``slice(0, 6)``; by default the first six.
    overlay : str or sequence of str, optional
        By default all overlays that were simulated.
    engine : {"auto", "simpy", "compiled"}, optional
        Of rounds that are simulated again; by default the run's.
    output : str or path, optional
        A figure (.png, .svg, .pdf), a trace for Perfetto and Chrome (.json) or a table (.csv, .txt), by its ending.
    width : str, optional
        Of the figure, with its unit (in, cm, mm or pt); by default 7 inches.
    force : bool
        Whether an existing file is replaced.

    Returns
    -------
    tuple of Table
        One for each overlay with a row for each silo: ``computing_s``, ``waiting_s`` and ``away_s``, which are together
        the time from ``begin_s`` to ``end_s``; ``sending_s`` and ``receiving_s`` beside them; the in-neighbour for
        which it waits most (``waits_most_for``, ``waits_most_s``); each also as a share of that time
        (``computing_share`` and so on). ``further`` names the rounds, their dates and the critical circuit.

    Raises
    ------
    InputError
        If the file is not that of a run, has no such overlay or fewer rounds, or the output cannot be written.

    Notes
    -----
    What waiting means is in `simulator.activity.activity`. Without ``messages = true`` the rounds are simulated again:
    see `scenarios.studies.timeline.timelines`.

    Examples
    --------
    >>> import silosim
    >>> star, ring = silosim.timeline("small.h5", rounds=slice(0, 4))
    >>> row = ring.rows[0]
    >>> row["silo"], row["waits_most_for"]
    ('California', 'Virginia')
    >>> abs(row["computing_share"] + row["waiting_share"] - 1) < 1e-12
    True
    """
    return timeline_tables(
        Path(path),
        rounds=rounds,
        overlay=overlay,
        engine=engine,
        output=None if output is None else Path(output),
        width=width,
        force=force,
    )


def report(source: StrPath, output: StrPath, *, force: bool = False) -> None:
    """Write a run, a study or a validation as one page for a browser, which opens from disk without a network.

    Parameters
    ----------
    source : str or path
        HDF5 file of a run, complete or cut short; table of seeds (``NAME-seeds.csv``, beside its runs) or of a study
        (CSV or Parquet); folder or HDF5 file of a validation.
    output : str or path
        The page, ``.html``.
    force : bool
        Whether an existing file is replaced.

    Raises
    ------
    InputError
        If the source is none of these, or the page has another ending, exists or cannot be written.

    Examples
    --------
    >>> import silosim
    >>> silosim.report("small.h5", "small.html")
    """
    write_report(Path(source), Path(output), force=force)


def _experiment(
    network: Network | Connectivity,
    workload: str | Workload | None,
    *,
    rounds: int,
    needs_workload: bool = False,
) -> tuple[Experiment, bool]:
    """Experiment on a network and a workload or of a scenario, and whether it is the latter."""
    if not isinstance(network, NetworkConfig | Connectivity) and _is_scenario(network):
        path = Path(network)
        if workload is not None:
            raise InputError(
                f"workload(={workload!r}) must not be given with a scenario; change it in {path}."
            )
        return load_experiment(path), True
    if workload is None and needs_workload:
        raise InputError(
            "workload(=None) must be given: the metrics are of a model and hardware that only you know."
        )
    if isinstance(network, Connectivity):
        work = _workload(workload, network.underlay.variant, network)
        return graph_experiment(network, work, rounds=rounds), False
    given = workload if isinstance(workload, Workload) else _preset(workload)
    return network_experiment(_network(network), given, rounds=rounds), False


def _events(events: Events | None) -> Path | Mapping[str, Any] | None:
    """Events of a replay: a file, or tables."""
    return events if events is None or isinstance(events, Mapping) else Path(events)


def _is_scenario(network: StrPath) -> bool:
    """Whether a network is that of a scenario's file, and no TOML file of tables."""
    return os.fspath(network).endswith(".toml") and not is_network_file(network)


def _underlay(network: Network | Underlay) -> Underlay:
    """The underlay itself, or the one that is named."""
    return network if isinstance(network, Underlay) else build_underlay(_network(network))


def _network(network: Network) -> NetworkConfig:
    """Description of a network that is no scenario."""
    if isinstance(network, NetworkConfig):
        return network
    name = os.fspath(network)
    if _is_scenario(name):
        raise InputError(f"network(={name!r}) must be the name or the file of a network, not a scenario.")
    return NetworkConfig(underlay=name)


def _workload(workload: str | Workload | None, variant: Variant, graph: Connectivity) -> Workload:
    """Workload of a preset on a network, or the one that is given."""
    return (
        workload
        if isinstance(workload, Workload)
        else build_workload(_preset(workload), variant, graph=graph)
    )


def _preset(name: str | None) -> WorkloadConfig:
    """Configuration of a preset."""
    if name is not None and name not in workload_presets():
        raise unknown_name("workload", name, workload_presets())
    return WorkloadConfig(preset=name or "inaturalist")
