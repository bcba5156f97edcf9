"""Every file that an option of a command writes: kept unless told otherwise, one writer at a time, links replaced."""

import contextlib
import inspect
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from scenarios.cli.commands import SUMMARIES, Commands
from scenarios.runfile.paths import open_locked, partial_path

PUBLISHED = """
[study.figure]
x = "access_bps"
[[study.published]]
what = "RING"
at = { overlay = "ring", access_bps = "1 Gbps" }
value = "100 ms"
"""
STUDY = """
[network]
underlay = "gaia"
[workload]
preset = "femnist"
[overlays]
kinds = ["ring"]
[study.grid]
"network.access" = ["100 Mbps", "1 Gbps"]
"""
TRAINED = """
[study]
[[study.published]]
what = "RING"
at = { overlay = "ring" }
column = "paper_s"
value = "100 ms"
"""
METRICS = "round,test_accuracy,loss\n0,0.1,2\n1,0.2,1\n"
COMPUTING = (
    "/topologies/routing.py",
    "/topologies/overlay.py",
    "/topologies/howard.py",
    "/simulator/stream.py",
    "/training/dpasgd.py",
    "/training/step_time.py",
    "/training/mpi/launcher.py",
    "/scenarios/report/figure_parts.py",
)
"""Ends of the paths of the files that hold what takes time."""


class Writer(NamedTuple):
    """A command and the files that it writes.

    Attributes
    ----------
    words : str
        ``o`` stands for the output without its ending, ``run``, ``table`` and so on for inputs.
    outputs : tuple of str
        Of ``o``.
    force : str
    is_forced : bool
        Whether the command replaces its own files without being told.
    """

    words: str
    outputs: tuple[str, ...]
    force: str = "--force"
    is_forced: bool = False


WRITERS = {
    "init": Writer("init o.toml", (".toml",), force=""),
    "underlay": Writer("underlay gaia -o o.png", (".png",)),
    "underlay, page": Writer("underlay gaia -o o.html", (".html",)),
    "underlay --convert": Writer("underlay gaia --convert o.gml", (".gml",)),
    "simulate": Writer("simulate gaia --kind ring --rounds 60 -o o.h5 -o o.json", (".h5", ".json")),
    "validate": Writer("validate gaia --kind ring -o o.csv", (".csv",)),
    "validate, folder": Writer(
        "validate gaia --kind ring -o o",
        ("/validation-gaia.csv", "/validation-gaia.h5", "/validation-gaia.png"),
    ),
    "sweep": Writer("sweep gaia --access 1Gbps --kind ring --rounds 20 -o o", (".csv", ".png")),
    "upgrade": Writer("upgrade gaia --kind ring --budget 1 -o o", (".csv", ".png")),
    "study": Writer("study study.toml --workers 1 -o o.csv", (".csv", ".png", "-published.csv")),
    "study that trains": Writer("study trained.toml -o o.h5", (".h5", ".png", "-published.csv")),
    "run": Writer("run small.toml --report -o o.h5", (".h5", ".html")),
    "run --seeds": Writer(
        "run small.toml --seeds 2 --report -o o.h5",
        ("-seed-3.h5", "-seed-4.h5", "-seeds.csv", "-seeds.png", "-seeds.html"),
    ),
    "plot": Writer("plot run.h5 -o o.png", (".png",)),
    "plot of a study": Writer("plot table.csv -o o.png", (".png",)),
    "timeline": Writer("timeline run.h5 -o o.png", (".png",)),
    "timeline, trace": Writer("timeline run.h5 -o o.json", (".json",)),
    "timeline, table": Writer("timeline run.h5 -o o.csv", (".csv",)),
    "report": Writer("report run.h5 -o o.html", (".html",)),
    "replay": Writer("replay run.h5 --access 1Gbps -o o.h5", (".h5", ".png")),
    "replay, times": Writer("replay run.h5 --access 1Gbps 2Gbps -o o", (".csv", ".png")),
    "import-metrics": Writer(
        "import-metrics metrics.csv --on gaia --workload femnist --kind ring -o o.h5", (".h5",)
    ),
    "partition": Writer("partition gaia -o o.png -o o.csv", (".png", ".csv")),
    "calibrate": Writer("calibrate small.toml --steps 1 -o o.toml --times o.csv", (".toml", ".csv")),
    "tables": Writer("tables --network gaia -o o.csv", (".csv",)),
    "demo": Writer("demo -o o", ("/demo.h5", "/demo.png"), force="", is_forced=True),
    "export": Writer("export run.h5 -o o", ("",)),
}
"""Every option that names a file to write, and every file beside those."""
READS_FIRST = ("study", ".csv")
"""A table that may hold some points of the study, of which the networks are read to know."""
OUTPUTS = [(name, ending) for name, writer in WRITERS.items() for ending in writer.outputs]
IDS = [f"{name}: o{ending}" for name, ending in OUTPUTS]


@pytest.fixture(autouse=True)
def inputs(tmp_path, monkeypatch, small_scenario, run_file):
    """The files that commands read, in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(small_scenario)
    (tmp_path / "study.toml").write_text(STUDY + PUBLISHED)
    (tmp_path / "trained.toml").write_text(small_scenario + TRAINED)
    (tmp_path / "metrics.csv").write_text(METRICS)
    (tmp_path / "table.csv").write_text("point,overlay,access_bps,paper_s\na,ring,1e9,1\nb,ring,2e9,2\n")
    shutil.copy(run_file, tmp_path / "run.h5")


@contextlib.contextmanager
def nothing_computed():
    """Fail where a function of `COMPUTING` is called."""
    called = set()

    def seen(frame, event, _):
        code = frame.f_code
        # Not the body of a module or of a class, which an import runs.
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_filename.endswith(COMPUTING):
            called.add(f"{code.co_filename}: {code.co_name}")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        yield
    finally:
        sys.setprofile(before)
    assert not called, f"computed: {sorted(called)}"


def guard(name, ending):
    """`nothing_computed`, where a refusal needs no network."""
    return contextlib.nullcontext() if (name, ending) == READS_FIRST else nothing_computed()


def files():
    """All files, with what they hold."""
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize(("name", "ending"), [each for each in OUTPUTS if not WRITERS[each[0]].is_forced])
def test_an_existing_file_is_refused_before_anything_is_computed(silosim, name, ending):
    output = Path(f"o{ending}")
    output.parent.mkdir(exist_ok=True)
    output.write_text("mine")
    before = files()
    with guard(name, ending):
        refused = silosim(*WRITERS[name].words.split()).failed(2)
    assert refused.err.startswith("silosim: error: ")
    # Of a study's table it is said what it holds.
    said = (
        f"{output} exists already",
        f"{str(output)!r}) is a file",
        f"{output}: holds the rows of another study",
    )
    assert any(each in refused.err for each in said)
    assert (refused.err.count("\n"), refused.out) == (1, "")
    assert files() == before


@pytest.mark.parametrize(("name", "ending"), OUTPUTS, ids=IDS)
def test_a_file_that_another_command_writes_is_refused_before_anything_is_computed(silosim, name, ending):
    writer, output = WRITERS[name], Path(f"o{ending}")
    output.parent.mkdir(exist_ok=True)
    lock = open_locked(partial_path(output))
    before = files()
    try:
        for force in [[], [writer.force]] if writer.force else [[]]:
            with guard(name, ending):
                refused = silosim(*writer.words.split(), *force).failed(2)
            assert refused.err.endswith(f"{partial_path(output)} is being written by another process.\n")
            assert refused.err.count("\n") == 1
            assert refused.out == ""
            assert files() == before
    finally:
        os.close(lock)


@pytest.mark.slow
@pytest.mark.usefixtures("placeholder_figures")
@pytest.mark.parametrize("name", [name for name, writer in WRITERS.items() if writer.force])
def test_symbolic_links_are_replaced_and_not_written_through_by_each_command_in_seconds(silosim, name):
    writer = WRITERS[name]
    for ending in writer.outputs:
        output = Path(f"o{ending}")
        output.parent.mkdir(exist_ok=True)
        mine = Path(f"mine{len(ending)}{output.suffix}")
        if ending:
            mine.write_text("mine")
        else:
            mine.mkdir()
        output.symlink_to(mine.resolve())
    silosim(*writer.words.split(), "--force").ok()
    for ending in writer.outputs:
        output = Path(f"o{ending}")
        assert not output.is_symlink()
        assert output.is_dir() if not ending else output.stat().st_size > len("mine")
    for mine in Path().glob("mine*"):
        assert not [*mine.iterdir()] if mine.is_dir() else mine.read_text() == "mine"


def test_every_command_that_replaces_files_is_here():
    commands = Commands()
    writes = {
        name
        for name in SUMMARIES
        if {"--force", "--output"} & {option for each in commands[name].params for option in each.opts}
    }
    assert writes | {"init"} == {writer.words.split()[0] for writer in WRITERS.values()}
