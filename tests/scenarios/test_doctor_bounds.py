"""Checks of a machine at their bounds."""

import configparser
import platform
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from scenarios.doctor import check_process, checks
from scenarios.doctor.finding import Finding, one_line
from training import World
from training.mpi.trial import LauncherTrial


@pytest.mark.parametrize(
    ("free", "status"),
    [
        (checks.LITTLE_SPACE_BYTES, "ok"),
        (checks.LITTLE_SPACE_BYTES - 1, "warning"),
        (checks.NO_SPACE_BYTES, "warning"),
        (checks.NO_SPACE_BYTES - 1, "error"),
        (0, "error"),
    ],
)
def test_space_is_little_below_its_bound(monkeypatch, tmp_path, free, status):
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: SimpleNamespace(free=free))
    found = checks._space("disk", "results", tmp_path)
    assert (found.status, found.details["free_bytes"]) == (status, free)
    assert (found.action == "") == (status == "ok")
    assert found.text.startswith(f"{free / 1e9:.3g} GB are free")


@pytest.mark.parametrize("name", ["no_such_package_there", "folder_of_no_package"])
def test_a_package_that_is_not_there_or_only_a_folder_is_an_import_error(monkeypatch, tmp_path, name):
    (tmp_path / "folder_of_no_package").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match=f"{name} is not there"):
        checks._package_folder(name)


def test_code_is_more_than_an_empty_package(tmp_path):
    assert not checks._has_code(tmp_path)
    (tmp_path / "__init__.py").touch()
    assert not checks._has_code(tmp_path)
    (tmp_path / "b.py").touch()
    assert checks._has_code(tmp_path)


def test_the_first_folder_that_can_be_made_is_taken(tmp_path):
    file = tmp_path / "file"
    file.touch()
    there, other = tmp_path / "a" / "b", tmp_path / "c"
    assert checks._first_writable([file / "x", there, other]) == there
    assert checks._first_writable([file / "x"]) is None
    assert checks._existing(there) == tmp_path


def test_what_is_said_of_pythons_and_of_where_silosim_is(monkeypatch, tmp_path):
    version = platform.python_version()

    def found(ranges, *tested):
        listed = [f"Programming Language :: Python :: {each}" for each in tested]
        about = SimpleNamespace(json={"requires_python": ranges, "classifier": [*listed, "License :: x"]})
        monkeypatch.setattr(checks.metadata, "metadata", lambda _: about)
        first, own = checks.python(tmp_path)
        assert (
            own.text == f"silosim {checks.metadata.version('silosim')} in {Path(checks.__file__).parents[2]}"
        )
        assert set(own.details["folders"].values()) == {str(Path(checks.__file__).parents[2])}
        assert first.details["tested"] == [*tested]
        return first.status, first.text.partition(": ")[0], first.action

    assert found(
        "",
    ) == ("ok", f"Python {version} (any)", "")
    assert found(">=3.8") == ("ok", f"Python {version} (>=3.8)", "")
    assert found(">=99", "99", "100") == (
        "error",
        f"Python {version} (>=99)",
        "make an environment with Python 99, 100",
    )
    assert found(">=99")[2] == "make an environment with Python >=99"
    assert found("", "2.1", "2.2")[::2] == (
        "warning",
        "if something fails, use one of the tested versions, 2.1 or 2.2",
    )


def test_what_is_said_of_packages_and_extras(monkeypatch, tmp_path):
    installed = {"a": "1.5", "b": "0.9", "p": "2.0", "q": "0.1"}
    needed = [
        *("a>=1", "b>=1", "c", 'p>=1; extra == "x"', 'q<0; extra == "x"', 'r; extra == "y"'),
        *(f'z; extra == "{name}"' for name in ("docs", "test", "release")),
    ]
    monkeypatch.setattr(checks.metadata, "requires", lambda _: needed)
    monkeypatch.setattr(checks, "_version", installed.get)
    monkeypatch.setattr(checks.ctypes.util, "find_library", lambda _: None)
    b, c, all_of_them = checks.packages(tmp_path)
    assert (b.text, b.status, b.action) == (
        "b 0.9 is installed, must be >=1",
        "error",
        "python -m pip install 'b>=1'",
    )
    assert c.text == "c is not installed, must be there"
    assert c.details == {"name": "c", "version": None, "range": ""}
    assert all_of_them.text == "1 of 3 packages are installed in their ranges: a 1.5"
    assert {name: each["is_in_range"] for name, each in all_of_them.details.items()} == {
        "a": True,
        "b": False,
        "c": False,
    }
    q, optional, simgrid = checks.extras(tmp_path)
    assert (q.text, q.status) == ("q 0.1 is installed, must be <0", "warning")
    assert optional.text == "optional: p 2.0, r is not there (python -m pip install 'silosim[y]')"
    assert optional.details["r"] == {"version": None, "range": "", "extra": "y"}
    assert simgrid.text == "SimGrid: not there; only silosim's own tests compare with it"


def test_extras_that_developers_install_are_not_offered_to_users():
    setup = configparser.ConfigParser()
    setup.read(Path(checks.__file__).parents[2] / "setup.cfg")
    assert set(setup["options.extras_require"]) - set(checks.NOT_FOR_USERS) == {
        "parquet",
        "tensorboard",
        "topohub",
    }


@pytest.mark.parametrize(
    ("compiled", "said"),
    [
        (2, "all is compiled"),
        (1, "1 of 2 parts are compiled, the others at their first use (about 10 s in all)"),
        (0, "0 of 2 parts are compiled, the others at their first use (about 10 s in all)"),
    ],
)
def test_what_is_said_of_compiled_code(monkeypatch, tmp_path, compiled, said):
    for name in ("one", "two"):
        (tmp_path / name / "compiled").mkdir(parents=True)
        (tmp_path / name / "compiled" / "x.py").touch()
    (tmp_path / "one" / "deeper" / "compiled").mkdir(parents=True)
    monkeypatch.setattr(checks, "OWN_PACKAGES", ("one", "two"))
    monkeypatch.setattr(checks, "_package_folder", lambda name: tmp_path / name)
    monkeypatch.setattr("topologies.jit.cache_folders", lambda folder, _: [folder])
    for name in ("one", "two")[:compiled]:
        (tmp_path / name / "compiled" / "x.nbi").touch()
    found, space = checks.cache(tmp_path)
    assert found.text.endswith(f" keeps compiled code below {tmp_path}, which can be written: {said}")
    assert (found.details["parts"], found.details["compiled_parts"]) == (2, compiled)
    assert space.text.endswith(f" GB are free for compiled code: {tmp_path / 'one' / 'compiled'}")
    monkeypatch.setattr(checks, "_first_writable", lambda _: None)
    (alone,) = checks.cache(tmp_path)
    assert (alone.status, alone.details["folders"]) == ("warning", [])


def test_a_matrix_product_that_is_wrong_is_an_error(monkeypatch):
    torch = pytest.importorskip("torch")
    checks._multiply("cpu")
    right = torch.arange
    monkeypatch.setattr(torch, "arange", lambda *given, **how: right(*given, **how) + 1)
    with pytest.raises(ArithmeticError, match=r"^the product of two matrices is wrong on cpu$"):
        checks._multiply("cpu")


@pytest.mark.parametrize(("size", "said"), [(1, 0), (2, 1)])
def test_a_single_process_is_not_counted(monkeypatch, tmp_path, size, said):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("training.world", lambda: World(rank=0, size=size))
    monkeypatch.setattr("training.mpiexec_path", lambda: tmp_path / "mpiexec")
    trial = LauncherTrial(sizes=(2, 2), library="L", failure="")
    asked = []
    monkeypatch.setattr("training.try_launcher", lambda path, **how: asked.append((path, how)) or trial)
    found = list(checks.mpi(tmp_path))
    assert [each.text for each in found][:said] == [
        f"this program is process 0 of {size}, and MPI sees as many"
    ] * said
    assert found[said:] == [checks._launcher(tmp_path / "mpiexec", trial, "error", "")]
    assert asked == [(tmp_path / "mpiexec", {"ranks": 2, "limit_s": 7.0})]


def test_an_error_of_a_check_is_its_type_and_first_line():
    assert [one_line(error) for error in (ValueError("a\nb"), KeyError(), OSError("\n  c  \n"))] == [
        *("ValueError: a", "KeyError", "OSError: c")
    ]


def test_what_a_check_found_before_it_failed_stays(monkeypatch, tmp_path):
    first = Finding(check="disk", status="ok", text="fine")

    def run(_):
        yield first
        raise ValueError("then\nit broke")

    monkeypatch.setitem(checks.CHECKS, "disk", checks.Check(run=run, remedy="mend it"))
    assert check_process.findings("disk", tmp_path) == [
        first,
        Finding(check="disk", status="error", text="disk: ValueError: then", action="mend it"),
    ]
