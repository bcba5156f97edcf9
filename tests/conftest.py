"""A network and a workload that tests of several packages share."""

import gc
import importlib
import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from coverage import Coverage
from hypothesis import settings

from topologies import AccessLinks, Connectivity, Workload, connectivity, load_underlay
from topologies.compiled_designs import many_designs

LARGE = {"exodus", "ebone"}
TRACED_S = 0.2
"""Processor time of one test that coverage traces."""

# Without a profile named, the examples are random and differ between runs. Those of `quick` and `ci` do not.
settings.register_profile("random", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, max_examples=100)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=20)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "random"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on the two networks of 79 and 87 silos are slow ones: smaller networks stay in their place."""
    for item in items:
        case = getattr(item, "callspec", None)
        if case is not None and any(
            isinstance(value, str) and value in LARGE for value in case.params.values()
        ):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The garbage collector rests until all tests are there: it took a fifth of the time in which they are imported."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Modules and tests live to the end: the garbage collector need not go through them; that took 8 % of the time.

    What tests leave are mostly few and small cycles, or figures: looking for them less often saves a fifth of the rest.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@contextmanager
def _traced_at_first(config: pytest.Config) -> Iterator[None]:
    """Let coverage trace the first part of a test and its fixtures: what takes longer mostly repeats the same lines.

    Traced to their end, long tests would take several times as long. Contexts, which say what runs a line, need it all.
    """
    if Coverage.current() is None or config.getoption("cov_context", None):
        yield
        return
    stopped: list[Coverage] = []

    def stop(*_: object) -> None:
        # In a process of xdist pytest-cov has started two, of which the first goes on when the second stops.
        while (coverage := Coverage.current()) is not None:
            coverage.stop()
            stopped.append(coverage)

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, TRACED_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        for coverage in reversed(stopped):
            coverage.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool | None, bool | None]:
    """Designs take compiled code, which chooses as the plain code does, but where the plain code is tested."""
    designs = nullcontext() if item.path.parent.name == "topologies" else many_designs()
    with designs, _traced_at_first(item.config):
        return (yield)


class _FewReports:
    """A process of xdist sends what a test did, not that it began and that it was prepared and cleared away as well.

    Four messages of each of many thousand short tests took a tenth of the time of all.
    """

    @pytest.hookimpl
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test as pytest does, and report its call and what else did not pass."""
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def pytest_configure(config: pytest.Config) -> None:
    """Reports of every step remain where an option asks for them."""
    asked = config.getoption("xmlpath") or config.getoption("durations") is not None
    if hasattr(config, "workerinput") and not asked:
        config.pluginmanager.register(_FewReports())


@pytest.fixture
def compiled_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``auto`` take the compiled engine for few messages, too: for modules whose subject is something else.

    Both engines have the same dates, to a relative 1e-9; its code is loaded once for all tests of a process. Files that
    several modules share are made before.
    """
    monkeypatch.setattr("simulator.engines._MANY_MESSAGES", 0)


def _command_modules() -> dict[str, Any]:
    """Loaded modules of the command line."""
    return {name: module for name, module in sys.modules.items() if f"{name}.".startswith("scenarios.cli.")}


@pytest.fixture
def commands_of_a_new_process() -> Iterator[Callable[[], None]]:
    """Import the commands again when called: they have the options of the designers that are installed then."""
    before: list[dict[str, Any]] = []

    def forget() -> None:
        loaded = _command_modules()
        before.append(loaded)
        for name in loaded:
            del sys.modules[name]

    yield forget
    for loaded in before[:1]:
        for name in _command_modules():
            del sys.modules[name]
        sys.modules.update(loaded)
        package = importlib.import_module("scenarios")
        if "scenarios.cli" in loaded:
            package.cli = loaded["scenarios.cli"]  # type: ignore[attr-defined]


@pytest.fixture
def install_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Let the entry points of a package be found as after ``pip install``; its modules are forgotten afterwards."""
    forgotten: list[str] = []

    def install(name: str, entry_points: str, modules: Mapping[str, str] | None = None) -> Path:
        """Install a package with the texts of its modules; give the folder that holds it."""
        site = tmp_path / "site"
        info = site / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(entry_points)
        for module, text in (modules or {}).items():
            (site / f"{module}.py").write_text(text, "utf-8")
            sys.modules.pop(module, None)
            forgotten.append(module)
        monkeypatch.syspath_prepend(site)
        return site

    yield install
    for module in forgotten:
        sys.modules.pop(module, None)


@pytest.fixture(scope="session")
def graph() -> Connectivity:
    """Gaia with access links of 1 Gbps."""
    return connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))


@pytest.fixture(scope="session")
def work() -> Workload:
    """A model of 1 Mbit and three local steps of 10 ms."""
    return Workload(model_bits=1e6, compute_s=0.01, local_steps=3)


@pytest.fixture
def processor_time_below() -> Callable[[float], AbstractContextManager[None]]:
    """Fail what takes more seconds of the processor; what is traced, as for coverage, may take ten times as long."""

    @contextmanager
    def below(limit_s: float) -> Iterator[None]:
        began_s = time.process_time()
        yield
        assert time.process_time() - began_s < (limit_s if sys.gettrace() is None else 10 * limit_s)

    return below


@pytest.fixture
def processes_naming() -> Callable[[Path], list[int]]:
    """Find the processes whose command line names a path (Linux)."""

    def find(path: Path) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    command = (entry / "cmdline").read_bytes()
                except OSError:  # it ended in the meantime
                    continue
                if str(path).encode() in command:
                    found.append(int(entry.name))
        return found

    return find
