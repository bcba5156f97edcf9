"""A scenario's runs with several seeds: a file each, and the table and figure of all."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scenarios.config.scenario import Scenario, recorded_scenario
from scenarios.config.seeds import with_seed
from scenarios.report.seeds_table import seeds_table
from scenarios.report.table_formats import write_tables
from scenarios.report.tables import Table
from scenarios.runfile.artifacts import check_resume, drop_checkpoints, is_complete
from scenarios.runfile.checkpoint_folders import has_checkpoint
from scenarios.runfile.claims import claimed
from scenarios.runfile.paths import RUN_ENDINGS, check_new, partial_path
from scenarios.runfile.reader import RunRecord, read_run
from scenarios.simulation.event_notes import simulated_with
from scenarios.trackers.tensorboard import check_event_files
from scenarios.trackers.tracker import MakeTracker
from topologies import InputError
from topologies.errors import Field
from training import world


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedFiles:
    """The files of a scenario's runs with several seeds.

    Attributes
    ----------
    runs : dict of int to Path
        The run of each seed.
    table, figure, page : Path
    """

    runs: dict[int, Path]
    table: Path
    figure: Path
    page: Path

    @classmethod
    def of(cls, output: Path, seeds: Sequence[int]) -> "SeedFiles":
        """Files for ``study.h5``: ``study-seed-0.h5`` and so on, ``study-seeds.csv``, ``.png`` and ``.html``."""
        base = output.with_suffix("")
        runs = {seed: base.with_name(f"{base.name}-seed-{seed}{output.suffix}") for seed in seeds}
        table, figure, page = (
            base.with_name(f"{base.name}-seeds{ending}") for ending in (_TABLE, ".png", ".html")
        )
        return cls(runs=runs, table=table, figure=figure, page=page)

    @classmethod
    def beside(cls, table: Path) -> "SeedFiles":
        """Files of a table ``study-seeds.csv``: those of its runs that lie beside it, in the order of seeds.

        Raises
        ------
        InputError
            If the table has another name, or there is no run beside it.
        """
        name = table.name.removesuffix(f"-seeds{_TABLE}")
        if name == table.name:
            rule = "is the table of runs with several seeds: it must be called NAME-seeds.csv, beside NAME-seed-0.h5."
            raise InputError(rule, source=str(table))
        pattern = re.compile(rf"{re.escape(name)}-seed-(0|[1-9]\d*)")
        endings = {
            (int(found[1]), path.suffix)
            for path in table.parent.iterdir()
            if path.suffix in RUN_ENDINGS and (found := pattern.fullmatch(path.stem))
        }
        if not endings:
            rule = (
                f"is the table of runs with several seeds, of which none lies beside it: no {name}-seed-0.h5."
            )
            raise InputError(rule, source=str(table))
        return cls.of(
            table.with_name(f"{name}{min(ending for _, ending in endings)}"),
            sorted(seed for seed, ending in endings if ending == min(each for _, each in endings)),
        )


_TABLE = ".csv"
RunOne = Callable[[Scenario, str, Path, bool], None]
"""Runs a scenario with its text into a file; the last argument says whether an interrupted run goes on."""


def run_seeds(
    scenario: Scenario,
    text: str,
    files: SeedFiles,
    run_one: RunOne,
    *,
    resume: bool,
    force: bool,
    source: str,
    trackers: Collection[str | MakeTracker] = (),
) -> Table:
    """Run a scenario once for each seed, and write the table and the figure of all runs.

    Parameters
    ----------
    scenario : Scenario
        That trains.
    text : str
        Its TOML text.
    files : SeedFiles
        With the seeds.
    run_one : callable
    resume : bool
        Whether complete runs are kept, and interrupted ones go on from their checkpoints.
    force : bool
        Whether existing files are replaced.
    source : str
        The scenario's file, for error messages.
    trackers : collection of str or callable
        Those that `run_one` takes, of which nothing is replaced either.

    Returns
    -------
    Table
        See `scenarios.report.seeds_table`.

    Raises
    ------
    InputError
        If the scenario does not train, a file exists already, or an outer launcher has started several processes: each
        run would wait for all of them.
    """
    place = world()
    if place is not None and place.size > 1:
        rule = "goes without an outer launcher: start a run for each seed there."
        raise InputError(rule, field=Field("seeds"))
    if scenario.training is None:
        raise InputError("goes with a scenario that has [training].", field=Field("seeds"))
    if resume:
        check_resume(scenario.training)
    for path in (files.table, files.figure, *(() if resume else files.runs.values())):
        check_new(path, force=force or resume)
    for path in files.runs.values():
        check_event_files(path, trackers, force=force, resume=resume and (path.exists() or _goes_on(path)))
    with claimed([files.table, files.figure], force=force or resume):
        return _run_all(scenario, text, files, run_one, resume=resume, force=force, source=source)


def _run_all(
    scenario: Scenario,
    text: str,
    files: SeedFiles,
    run_one: RunOne,
    *,
    resume: bool,
    force: bool,
    source: str,
) -> Table:
    """Run every seed that has no complete run, and write table and figure; see `run_seeds`."""
    assert scenario.training is not None
    records = {}
    for seed, path in files.runs.items():
        own, own_text = replace(scenario, seed=seed), with_seed(text, seed, source=source)
        if resume and not force and is_complete(path, own, own_text):
            drop_checkpoints(path)  # a kill may have come between the last row and their removal
        else:
            run_one(own, own_text, path, resume and _goes_on(path))
        records[seed] = read_run(path)
    # Here since matplotlib takes long to import.
    from scenarios.report.seeds_plot import plot_seeds

    table = seeds_summary(records)
    write_tables(files.table, [table])
    title = table.caption.splitlines()[0]
    plot_seeds(records, files.figure, title=f"{title}: means, with bands from the lowest to the highest")
    return table


def seeds_summary(records: Mapping[int, RunRecord]) -> Table:
    """The table of the runs of one scenario by their seeds; see `scenarios.report.seeds_table`."""
    first = next(iter(records.values()))
    scenario = recorded_scenario(first.scenario)
    return seeds_table(
        records,
        f"{scenario.name}: {len(records)} seed{'' if len(records) == 1 else 's'}\n{first.about}",
        scenario.target_accuracy,
        events=simulated_with(scenario.events),
    )


def _goes_on(path: Path) -> bool:
    """Whether there is something of an interrupted run."""
    return partial_path(path).exists() or has_checkpoint(path)
