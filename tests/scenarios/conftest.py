"""The command line in this process, a scenario that takes seconds, and the modules beside tests."""

import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import h5py
import pytest
from matplotlib.figure import Figure

from scenarios.cli.main import main
from scenarios.config.network import NetworkConfig
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.scenario import parse_scenario
from scenarios.metrics_import.columns import ColumnNames
from scenarios.simulation.experiment import network_experiment
from scenarios.studies.import_metrics import import_file
from scenarios.studies.run import run_scenario
from topologies import Workload

# The modules beside these tests, and those beside the tests of topologies.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "topologies"))


class Result(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    def __repr__(self) -> str:
        """Exit code and standard error, which say why an assertion fails."""
        return f"exit code {self.code}, standard error: {self.err!r}"

    def failed(self, code: int) -> "Result":
        """This result, which must have this exit code."""
        if self.code != code:
            pytest.fail(f"exit code {self.code}, not {code}; standard error:\n{self.err}")
        return self

    def ok(self) -> "Result":
        """This result, which must be that of a success."""
        return self.failed(0)


SMALL = """
name = "small"
seed = 3

[network]
underlay = "gaia"
access = "100 Mbps"

[workload]
compute = "10 ms"

[overlays]
kinds = ["star", "ring"]

[simulation]
rounds = 30

[training]
ranks = 1
model = "softmax"
rounds = 12
log_every = 5
learning_rate = 0.5
target_accuracy = 0.3
"""


@pytest.fixture
def silosim(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run one command; gives exit code, standard output and standard error.

    Read the output of `silosim(...).ok()` or `.failed(code)`, or assert the code first.
    """

    def run(*arguments: object) -> Result:
        monkeypatch.setattr("sys.argv", ["silosim", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "80")
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return Result(int(stopped.value.code or 0), out, err)

    return run


@pytest.fixture
def terminal_signals() -> Iterator[None]:
    """Hear SIGINT and SIGHUP, in this process and in those that it starts, also where the tests were started without.

    nohup and a shell's background jobs ignore them, and a program hands that on to all that it starts.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    hung_up = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGINT, before)
    signal.signal(signal.SIGHUP, hung_up)


@pytest.fixture(scope="session")
def small_scenario() -> str:
    """TOML text of a scenario that takes seconds, all in this process."""
    return SMALL


@pytest.fixture
def scenario(tmp_path: Path, small_scenario: str) -> Path:
    """The small scenario's file."""
    path = tmp_path / "small.toml"
    path.write_text(small_scenario)
    return path


@pytest.fixture
def scenario_of_two_ranks(scenario: Path, small_scenario: str) -> Path:
    """The small scenario's file, trained by two MPI ranks."""
    scenario.write_text(small_scenario.replace("ranks = 1", 'ranks = 2\nexecutor = "loop"'))
    return scenario


@pytest.fixture(scope="session")
def run_file(tmp_path_factory: pytest.TempPathFactory, small_scenario: str) -> Path:
    """The file of the small scenario's run; not to be changed."""
    path = tmp_path_factory.mktemp("run") / "small.h5"
    run_scenario(
        parse_scenario(small_scenario, source="small.toml"), small_scenario, path, force=False, resume=False
    )
    return path


@pytest.fixture(scope="session")
def imported_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a run of star, ring and MATCHA, with rows of another program's training; not to be changed."""
    folder = tmp_path_factory.mktemp("imported")
    rows = [f"{k},{1 - 0.9**k:.3f},{0.8**k:.3f}" for k in range(0, 21, 2)]
    (folder / "metrics.csv").write_text("\n".join(["round,test_accuracy,loss", *rows]) + "\n")
    made = network_experiment(
        NetworkConfig(underlay="gaia", access="100 Mbps"), Workload(model_bits=1e6, compute_s=0.01), rounds=30
    )
    kinds = ("star", "ring", "matcha")
    experiment = made.changed(
        overlays=[OverlayConfig(kind=kind) for kind in kinds], seed=5, simulation=made.simulation
    )
    import_file(
        experiment,
        folder / "metrics.csv",
        folder / "run.h5",
        names=ColumnNames(round=None, unit=None, metrics={}, silo_loss=None),
        local_steps=1,
        target_accuracy=0.5,
        percent=False,
        force=False,
    )
    return folder / "run.h5"


@pytest.fixture
def file_in_memory() -> Iterator[h5py.File]:
    """An HDF5 file that is empty and never written to disk."""
    with h5py.File("x.h5", "w", driver="core", backing_store=False) as made:
        yield made


@pytest.fixture
def placeholder_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a few bytes in place of each figure, where a test asks for its file but not for what it shows."""
    monkeypatch.setattr(Figure, "savefig", lambda _self, file, **_options: file.write(b"figure"))


@pytest.fixture
def coarse_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw figures with few dots, where a test needs no more than that they are drawn."""
    monkeypatch.setattr("scenarios.report.figure_parts.DPI", 40)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that were saved, laid out."""
    figures: list[Figure] = []

    def keep(figure: Figure, _path: Path) -> None:
        figure.draw_without_rendering()
        figures.append(figure)

    for module in ("plots", "study_plot"):
        monkeypatch.setattr(f"scenarios.report.{module}.save_figure", keep)
    return figures
