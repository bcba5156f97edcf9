"""What `silosim doctor` finds: good and broken packages, another MPI's launcher, full disks, checks that crash."""

import configparser
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest

from scenarios.doctor.check_process import findings
from scenarios.doctor.checks import CHECKS, _launcher
from scenarios.doctor.examination import _answer, _running, examine
from scenarios.doctor.finding import Finding
from scenarios.doctor.version_ranges import Requirement, is_in, parse_requirements
from training import World, mpiexec_path, try_launcher
from training.mpi.trial import LauncherTrial

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("version", "ranges", "satisfied"),
    [
        ("2.9", ">=2.9", True),
        ("2.9.0", "<=2.9", True),
        ("2.10", ">=2.9", True),
        ("2.8.9", ">=2.9", False),
        ("4.1.2", "<5,>=4.1", True),
        ("5", "<5,>=4.1", False),
        ("5.0rc1", "<5", True),
        ("2.9.0.dev3", ">=2.9", False),
        ("2.9.0+cu128", ">=2.9", True),
        ("2.9.post1", ">=2.9", True),
        ("1.0", "==1", True),
        ("1.0", "!=1.0.0", False),
        ("1.0", ">1", False),
        ("anything", ">=1", True),
        ("4.10.2", "==4.*", True),
        ("4", "==4.0.*", True),
        ("4.1", "==4.0.*", False),
        ("40.1", "==4.*", False),
        ("4.1", ">=4,!=4.1.*", False),
        ("4.2", ">=4,!=4.1.*", True),
        ("5.0", "==4.*", False),
        ("1.0", "~=1.0", True),
        ("1.0", "", True),
    ],
)
def test_versions_in_ranges(version, ranges, satisfied):
    assert is_in(version, ranges) == satisfied


def test_requirements_of_the_metadata_are_read():
    lines = ["simpy<5,>=4.1", 'pyarrow>=16; extra == "parquet"', "torch", "mypy[faster-cache] (>=1.10)"]

    assert parse_requirements(lines) == [
        Requirement(name="simpy", ranges=">=4.1,<5"),
        Requirement(name="pyarrow", ranges=">=16", extra="parquet"),
        Requirement(name="torch", ranges=""),
        Requirement(name="mypy", ranges=">=1.10"),
    ]


def test_every_range_of_setup_cfg_is_understood():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    lines = setup["options"]["install_requires"].strip().splitlines()
    requirements = parse_requirements(lines)

    assert len(requirements) == len(lines) == len({each.name for each in requirements})
    # Version 0 is below every range, so that no clause was passed over.
    assert [each.name for each in requirements if is_in("0", each.ranges)] == []


def _only(name: str, scratch: Path) -> SimpleNamespace:
    (found,) = findings(name, scratch)
    return SimpleNamespace(**found.row())


def test_packages_that_are_missing_or_too_old_are_errors_with_the_command(monkeypatch, tmp_path):
    needed = ["numpy>=99", "not-there>=2,<3", "h5py>=1", 'sphinx>=99; extra == "docs"']
    monkeypatch.setattr("scenarios.doctor.checks.metadata.requires", lambda _: needed)
    found = findings("packages", tmp_path / "scratch")

    assert [(each.status, each.action) for each in found] == [
        ("error", "python -m pip install 'numpy>=99'"),
        ("error", "python -m pip install 'not-there>=2,<3'"),
        ("ok", ""),
    ]
    assert found[1].text == "not-there is not installed, must be >=2,<3"
    assert found[2].text.startswith("1 of 3 packages are installed in their ranges: h5py ")


def test_packages_that_cannot_be_imported_are_errors(monkeypatch, tmp_path):
    needed = ["networkx>=3", "geographiclib>=2", "torch>=2", 'sphinx>=99; extra == "docs"']
    monkeypatch.setattr("scenarios.doctor.checks.metadata.requires", lambda _: needed)
    monkeypatch.setitem(sys.modules, "geographiclib", None)
    found = findings("imports", tmp_path / "scratch")

    assert [each.status for each in found] == ["error", "ok"]
    assert found[0].text.startswith("geographiclib cannot be imported: ModuleNotFoundError: ")
    assert found[0].action.endswith("--force-reinstall geographiclib")
    assert found[1].details == {"imported": ["networkx"]}


def test_extras_of_developers_are_left_out_and_a_missing_one_is_no_warning(monkeypatch, tmp_path):
    needed = ['sphinx>=99; extra == "docs"', 'not-there>=2; extra == "special"', 'h5py>=99; extra == "other"']
    monkeypatch.setattr("scenarios.doctor.checks.metadata.requires", lambda _: needed)
    found = findings("extras", tmp_path / "scratch")

    assert [each.status for each in found] == ["warning", "ok", "ok"]
    assert found[1].text == "optional: not-there is not there (python -m pip install 'silosim[special]')"


@pytest.mark.parametrize(
    ("ranges", "classifiers", "status"),
    [
        (">=3.11", ("3.11", "3.12", "3.13", "3.14"), "ok"),
        (">=99", (), "error"),
        (">=3.11", ("3.1",), "warning"),
    ],
)
def test_a_python_out_of_range_is_an_error_and_an_untested_one_a_warning(
    monkeypatch, tmp_path, ranges, classifiers, status
):
    listed = [f"Programming Language :: Python :: {version}" for version in classifiers]
    about = SimpleNamespace(json={"requires_python": ranges, "classifier": listed})
    monkeypatch.setattr("scenarios.doctor.checks.metadata.metadata", lambda _: about)
    found = findings("python", tmp_path / "scratch")

    assert found[0].status == status
    assert bool(found[0].action) == (status != "ok")
    assert (found[1].check, found[1].status) == ("silosim", "ok")


def test_packages_of_others_that_have_our_names_are_an_error(monkeypatch, tmp_path):
    (tmp_path / "simulator").mkdir()
    (tmp_path / "simulator" / "__init__.py").touch()
    monkeypatch.delitem(sys.modules, "simulator", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    own = findings("python", tmp_path / "scratch")[1]

    assert own.status == "error"
    assert f"simulator: {tmp_path};" in own.text


PARTS = """
from dataclasses import dataclass, field
from typing import Literal

@dataclass
class Reader:
    label: str = field(metadata={"help": "name of the column of labels"})
    sep: Literal[",", ";"] = ","
    rows: int | None = field(default=None, metadata={"help": "rows to read"})
    whole: bool = True
    notes: str = field(default_factory=str)

@dataclass
class Listed:
    names: list[str] = field(default_factory=list)

def plain():
    pass
"""


def test_parts_of_other_packages_are_imported_and_their_options_shown(install_package, tmp_path):
    groups = {
        "silosim.datasets": ("table = parts:Reader", "listed = parts:Listed"),
        "silosim.models": ("plain = parts:plain",),
        "silosim.training_backends": ("gone = parts:Gone",),
        "others.datasets": ("no = parts:Gone",),
    }
    text = "\n".join(f"[{group}]\n" + "\n".join(lines) for group, lines in groups.items())
    install_package("some-parts", text, {"parts": PARTS})
    listed, table, plain, gone = findings("parts", tmp_path / "scratch")

    assert [each.status for each in (listed, table, plain, gone)] == ["warning", "ok", "ok", "warning"]
    assert table.text == (
        "dataset table (parts:Reader): dataset_options label: name of the column of labels [a text; required]; "
        "sep [one of ',', ';'; default: ',']; rows: rows to read [an integer; default: none]; "
        "whole [true or false; default: true]; notes [a text]"
    )
    assert table.details["options"]["rows"] == {"help": "rows to read", "values": "an integer"}
    assert plain.text == "model plain (parts:plain)"
    assert gone.text.startswith("the training backend gone (parts:Gone) cannot be imported: AttributeError: ")
    assert gone.action.endswith("--force-reinstall some-parts, or remove it")
    assert listed.text.startswith(
        "the dataset listed (parts:Listed): dataset_options: Listed.names must be decl"
    )


@pytest.mark.parametrize("name", ["Reader", "plain"])
def test_a_backend_that_cannot_train_is_not_ok(install_package, tmp_path, name):
    install_package("some-parts", f"[silosim.training_backends]\nlab = parts:{name}\n", {"parts": PARTS})
    found = _only("parts", tmp_path / "scratch")

    assert found.status == "warning"
    assert found.text == f"the training backend lab (parts:{name}): must be a class with check and train."


def test_the_documented_backend_tells_its_options(install_package, tmp_path):
    example = (ROOT / "docs" / "extending" / "training_backend.py").read_text("utf-8")
    entry = "[silosim.training_backends]\nnumpy_logistic = training_backend:NumpyLogistic\n"
    install_package("numpy-logistic", entry, {"training_backend": example})
    assert _only("parts", tmp_path / "scratch").text == (
        "training backend numpy_logistic (training_backend:NumpyLogistic): backend_options "
        "sent_as: type of the numbers that silos send [one of 'float64', 'float32'; default: 'float64']; "
        "bias: whether each class has a constant, too [true or false; default: true]"
    )


def test_without_parts_of_other_packages_that_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(
        "scenarios.doctor.checks.metadata.entry_points", lambda: EntryPoints([EntryPoint("a", "b:c", "d")])
    )
    assert _only("parts", tmp_path / "scratch").text == "no parts of other packages"


def test_torch_that_is_not_there_is_one_error(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", None)
    found = _only("torch", tmp_path / "scratch")

    assert found.status == "error"
    assert found.text.startswith("torch: ModuleNotFoundError: import of torch halted")
    assert "pip install --force-reinstall torch" in found.action


def test_torch_multiplies(tmp_path):
    found = _only("torch", tmp_path / "scratch")

    assert (found.status, found.check) == ("ok", "torch")
    assert found.details["threads"] >= 1


def test_a_gpu_that_cannot_multiply_is_a_warning(monkeypatch, tmp_path):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "H0")
    found = findings("torch", tmp_path / "scratch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")

    assert [each.status for each in found] == ["ok", "warning"]
    assert found[0].text.endswith(", H0")
    assert found[1].text.startswith("GPU 0 (H0) cannot multiply: ")


def test_hdf5_writes_in_the_folder_that_it_gets_and_reads_back(tmp_path):
    scratch = tmp_path / "scratch"
    found = _only("hdf5", scratch)

    assert found.status == "ok"
    assert [path.name for path in scratch.iterdir()] == ["run.h5"]


def test_a_folder_that_cannot_be_written_is_a_warning(tmp_path):
    found = _only("hdf5", tmp_path / "missing" / "scratch")

    assert found.status == "warning"
    assert f"{tmp_path / 'missing'} cannot be written: No such file or directory" in found.text


@pytest.mark.parametrize(
    ("free", "status"),
    [(1e9, "ok"), (1e9 - 1, "warning"), (1e7, "warning"), (1e7 - 1, "error"), (0, "error")],
)
def test_little_space_is_a_warning_and_none_an_error(monkeypatch, tmp_path, free, status):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    here, temporary = findings("disk", tmp_path / "scratch")

    assert here.status == temporary.status == status
    assert here.details["folder"] == str(tmp_path)


def test_the_cache_is_looked_for_and_not_made(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "chosen"))
    found, space = findings("cache", tmp_path / "scratch")

    assert found.status == space.status == "ok"
    assert found.details["compiled_parts"] == 0
    assert found.details["parts"] == 5
    assert all(Path(folder).parent == tmp_path / "chosen" for folder in found.details["folders"])
    assert list(tmp_path.iterdir()) == []

    folder = Path(found.details["folders"][0]) / "deeper"
    folder.mkdir(parents=True)
    (folder / "events.py311.nbi").touch()

    assert findings("cache", tmp_path / "scratch")[0].details["compiled_parts"] == 1


def test_a_cache_that_can_be_kept_nowhere_is_a_warning(monkeypatch, tmp_path):
    monkeypatch.setattr("scenarios.doctor.checks._is_writable", lambda _: False)
    found = _only("cache", tmp_path / "scratch")

    assert found.status == "warning"
    assert "NUMBA_CACHE_DIR" in found.action


SCRIPT = """
import json, os, sys, time
name, scratch = sys.argv[1:]
os.mkdir(scratch + name)
os.rename(scratch + name, scratch) if name == "torch" else os.rmdir(scratch + name)
if name == "torch":
    time.sleep(60)
if name == "mpi":
    os.abort()
if name == "cache":
    sys.exit(7)
print(json.dumps([{"check": name, "status": "ok", "text": "fine"}]))
"""


@pytest.mark.slow
def test_a_check_that_hangs_or_crashes_does_not_end_the_others_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    began = time.monotonic()
    names = ("torch", "mpi", "hdf5", "cache", "disk")
    found = examine(names, limit_s=1.5, process=(sys.executable, "-c", SCRIPT))

    assert time.monotonic() - began < 6
    assert [each.check for each in found] == [*names]
    assert [each.status for each in found] == ["warning", "error", "ok", "error", "ok"]
    assert found[0].text == "torch: the check took longer than 1.5 s: the machine or its disk is busy"
    assert found[0].action == "run silosim doctor again"
    assert found[1].text == "mpi: the check ended with SIGABRT and no answer"
    assert found[3].text == "cache: the check ended with status 7 and no answer"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_torch_that_ends_python_is_an_error_of_its_own(tmp_path, monkeypatch):
    site = tmp_path / "site"
    site.mkdir()
    (site / "torch.py").write_text("import os; print('noise'); os._exit(3)")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]))
    torch, disk, _ = examine(("torch", "disk"))

    assert (torch.status, torch.text) == ("error", "torch: the check ended with status 3 and no answer")
    assert disk.status == "ok"


@pytest.mark.slow
def test_the_command_works_where_all_packages_but_those_of_the_command_line_are_broken(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    for name in ("torch", "numpy", "pint", "numba", "h5py", "scipy"):
        (site / f"{name}.py").write_text(f"raise ImportError('{name} is broken')")
    done = subprocess.run(
        [sys.executable, "-c", "from scenarios.cli.main import main; main()", "doctor", "--json"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *filter(None, sys.path)])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    rows = json.loads(done.stdout)["rows"]
    bad = [row for row in rows if row["status"] == "error"]
    errors = {row["check"]: row["text"] for row in bad if row["check"] != "imports"}
    unusable = {row["details"]["name"] for row in bad if row["check"] == "imports"}

    assert done.returncode == 3
    assert errors == {
        "torch": "torch: ImportError: torch is broken",
        "hdf5": "hdf5: ImportError: h5py is broken",
        "cache": "cache: ImportError: numba is broken",
    }
    assert {"numpy", "pint", "scipy"} <= unusable
    assert not {"rich", "simpy", "typer"} & unusable
    assert "site" in [path.name for path in tmp_path.iterdir()]


def test_a_folder_that_is_gone_is_one_line(silosim, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert silosim("doctor").failed(2).err.startswith("silosim: error: the current folder cannot be used: ")


@pytest.mark.slow
def test_two_ranks_of_the_launcher_beside_python_count_each_other():
    trial = try_launcher(mpiexec_path(), ranks=2, limit_s=30.0)

    assert (trial.sizes, trial.failure) == ((2, 2), "")
    assert trial.library.startswith("MPICH Version: ")


@pytest.fixture
def foreign(tmp_path):
    """A launcher that starts each rank alone, as that of another MPI does."""
    launcher = tmp_path / "bin" / "mpiexec"
    launcher.parent.mkdir()
    launcher.write_text('#!/bin/sh\nshift 2\n"$@" && "$@"\n')
    launcher.chmod(0o755)
    return launcher


@pytest.mark.slow
def test_the_launcher_of_another_mpi_is_explained(foreign, monkeypatch, tmp_path):
    trial = try_launcher(foreign, ranks=2, limit_s=30.0)
    monkeypatch.setenv("PATH", os.pathsep.join([str(foreign.parent), os.environ["PATH"]]))
    own, on_path = findings("mpi", tmp_path / "scratch")

    assert trial.sizes == (1, 1)
    assert trial.failure == "it started 2 ranks, but each sees itself alone: it belongs to another MPI"
    assert (own.status, on_path.status) == ("ok", "warning")
    assert on_path.text.startswith(
        f"{foreign}, first on PATH: it started 2 ranks, but each sees itself alone"
    )
    assert str(mpiexec_path()) in on_path.action


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "failure"),
    [
        ("sleep 60", "the ranks did not count each other within 0.5 s"),
        ("echo no slots >&2; exit 4", "it ended with status 4: no slots"),
        ("exit 0", "0 of 2 ranks answered"),
    ],
)
def test_a_launcher_that_starts_nothing_is_said(foreign, script, failure):
    foreign.write_text(f"#!/bin/sh\n{script}\n")

    assert try_launcher(foreign, ranks=2, limit_s=0.5 if "sleep" in script else 20.0).failure == failure


@pytest.mark.parametrize("beside", [False, True])
def test_the_launcher_on_path_is_tried_where_it_is_another_one(monkeypatch, tmp_path, beside):
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own, other):
        folder.mkdir()
        (folder / "mpiexec").write_text("")
        (folder / "mpiexec").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(own / "python"))
    monkeypatch.setenv("PATH", str(own if beside else other))
    monkeypatch.setattr("training.mpiexec_path", lambda: own / "mpiexec")
    monkeypatch.setattr("training.world", lambda: World(rank=1, size=4))
    monkeypatch.setattr(
        "training.try_launcher",
        lambda path, **_: LauncherTrial(sizes=(), library="", failure=f"no {path.parent.name}"),
    )
    counted, *tried = CHECKS["mpi"].run(tmp_path / "scratch")

    assert counted.text == "this program is process 1 of 4, and MPI sees as many"
    assert (counted.status, counted.details) == ("ok", {"size": 4})
    found = [(finding.status, finding.text) for finding in tried]
    expected = [("error", f"{own / 'mpiexec'}: no own")]
    if not beside:
        expected.append(("warning", f"{other / 'mpiexec'}, first on PATH: no other"))
    assert found == expected


def test_a_missing_launcher_is_an_error_with_the_command(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    found = _only("mpi", tmp_path / "scratch")

    assert found.status == "error"
    assert "mpich" in found.action


@pytest.mark.parametrize(
    ("statuses", "code", "last"),
    [
        (("ok", "ok"), 0, "no errors, no warnings"),
        (("ok", "warning"), 0, "no errors, 1 warning"),
        (("error", "error"), 3, "2 errors, no warnings"),
    ],
)
def test_errors_end_with_the_code_of_a_machine(silosim, monkeypatch, statuses, code, last):
    from scenarios.doctor.finding import Finding

    found = [Finding(check="disk", status=each, text="text", action="do this") for each in statuses]
    monkeypatch.setattr("scenarios.cli.doctor.examine", lambda: found)
    shown = silosim("doctor").failed(code).out.splitlines()
    rows = json.loads(silosim("doctor", "--json").failed(code).out)

    assert shown == [line for each in statuses for line in (f"{each:<9}text", f"{'':<9}-> do this")] + [last]
    assert [row["status"] for row in rows["rows"]] == [*statuses]
    assert rows["notes"] == [last]


@pytest.mark.slow
def test_the_command_looks_at_everything_and_leaves_nothing(silosim, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    rows = json.loads(silosim("doctor", "--json").ok().out)["rows"]

    assert {row["check"] for row in rows} == {*CHECKS, "silosim", "simgrid"}
    assert {row["status"] for row in rows} <= {"ok", "warning"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("status", "sizes", "failure", "found", "text"),
    [
        ("error", (2, 2), "", "ok", "2 ranks count each other under /x/mpiexec: MPICH"),
        ("warning", (2, 2), "", "ok", "2 ranks count each other under /x/mpiexec, first on PATH: MPICH"),
        ("error", (), "it hangs", "error", "/x/mpiexec: it hangs"),
        ("warning", (2,), "it hangs", "warning", "/x/mpiexec, first on PATH: it hangs"),
        (
            "warning",
            (1, 1),
            "it is another",
            "warning",
            "/x/mpiexec, first on PATH: it is another; each process would train a run of its own",
        ),
    ],
)
def test_what_is_said_of_a_launcher(status, sizes, failure, found, text):
    trial = LauncherTrial(sizes=sizes, library="MPICH", failure=failure)
    finding = _launcher(Path("/x/mpiexec"), trial, status, "do it")

    assert (finding.check, finding.status, finding.text) == ("mpi", found, text)
    assert finding.action == ("do it" if failure else "")
    assert finding.details == {"launcher": "/x/mpiexec", "sizes": list(sizes), "library": "MPICH"}


@pytest.mark.parametrize(
    ("end", "written", "status", "text"),
    [
        (0, "", "error", "hdf5: the check ended with status 0 and no answer"),
        (3, "no JSON", "error", "hdf5: the check ended with status 3 and no answer"),
        (-11, "", "error", "hdf5: the check ended with SIGSEGV and no answer"),
        (-199, "", "error", "hdf5: the check ended with signal 199 and no answer"),
        (None, "", "warning", "hdf5: the check took longer than 2.5 s: the machine or its disk is busy"),
        (1, '[{"check": "hdf5", "status": "ok", "text": "fine"}]', "ok", "fine"),
    ],
)
def test_the_answer_of_a_check(end, written, status, text):
    waited = []

    def wait(timeout):
        waited.append(timeout)
        if end is None:
            raise subprocess.TimeoutExpired("check", timeout)
        return end

    answer = io.BytesIO()
    answer.write(written.encode())
    (finding,) = _answer("hdf5", SimpleNamespace(wait=wait), answer, time.monotonic() + 100, 2.5)
    assert (finding.check, finding.status, finding.text) == ("hdf5", status, text)
    expected = {"ok": "", "error": CHECKS["hdf5"].remedy, "warning": "run silosim doctor again"}
    assert finding.action == expected[status]
    assert 90 < waited[0] <= 100
    _answer("hdf5", SimpleNamespace(wait=wait), answer, time.monotonic() - 1, 2.5)
    assert waited[1] == 0


def test_checks_are_started_with_their_name_and_folder_and_ended(monkeypatch, tmp_path):
    started, killed, scratch = [], [], tmp_path / "scratch"
    scratch.mkdir()

    def start(command, **given):
        process = SimpleNamespace(
            pid=len(started), poll=lambda: None if command[1] == "b" else 0, wait=lambda: None
        )
        started.append((command, given["start_new_session"], given["stdin"], given["stderr"]))
        return process

    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setattr(os, "killpg", lambda group, number: killed.append((group, number)))
    with _running(["a", "b"], scratch, ["run"]) as running:
        assert list(running) == ["a", "b"]
        assert [process.pid for process, _ in running.values()] == [0, 1]
    quiet = (True, subprocess.DEVNULL, subprocess.DEVNULL)
    assert started == [(["run", name, str(scratch)], *quiet) for name in "ab"]
    assert killed == [(1, signal.SIGKILL)]
    assert not scratch.exists()


def test_findings_are_in_the_order_of_the_names(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def start(command, stdout, **_):
        time.sleep(0 if command[-2] == "python" else 0.01)
        stdout.write(json.dumps([{"check": command[-2], "status": "ok", "text": "fine"}]).encode())
        return SimpleNamespace(pid=0, poll=lambda: 0, wait=lambda **_: 0)

    monkeypatch.setattr(subprocess, "Popen", start)
    found = examine(["torch", "python"])
    assert found == [Finding(check=name, status="ok", text="fine") for name in ("torch", "python")]
