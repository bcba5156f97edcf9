"""Names of packages that are imported when they are used."""

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

PACKAGES = ("topologies", "simulator", "training", "silosim")


def imported() -> dict[str, ModuleType]:
    """The modules of all our packages that are imported."""
    ours = {*PACKAGES, "scenarios"}
    return {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ours}


@pytest.fixture
def of_a_new_process() -> Iterator[None]:
    """No module of ours is imported, as in a new process; afterwards those of before are there again."""
    before = imported()
    for name in before:
        del sys.modules[name]
    yield
    for name in imported():
        del sys.modules[name]
    sys.modules.update(before)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there_and_listed(package):
    module = importlib.import_module(package)

    assert len(set(module.__all__)) == len(module.__all__)
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("package", ["topologies", "simulator", "training"])
@pytest.mark.usefixtures("of_a_new_process")
def test_a_package_imports_nothing_but_how_it_is_lazy(package):
    importlib.import_module(package)

    assert {*imported()} == {package, "topologies", "topologies.lazy_exports"}


@pytest.mark.parametrize("package", PACKAGES)
def test_an_unknown_name_is_an_attribute_error(package):
    module = importlib.import_module(package)

    with pytest.raises(AttributeError, match=rf"module '{package}' has no attribute 'nosuch'"):
        _ = module.nosuch


@pytest.mark.parametrize(
    ("package", "name"),
    [("topologies", "connectivity"), ("simulator", "simulate"), ("simulator", "stream")],
)
@pytest.mark.parametrize("first", ["submodule", "name"])
@pytest.mark.usefixtures("of_a_new_process")
def test_an_export_goes_before_the_submodule_of_its_name(package, name, first):
    orders = {
        "submodule": f"import {package}.{name}; from {package} import {name}",
        "name": f"from {package} import {name}; import {package}.{name}",
    }
    assert f"{package}.{name}" not in sys.modules
    exec(orders[first], names := {})

    assert callable(names[name])
    assert getattr(names[package], name) is names[name]


def test_what_a_package_exports_is_what_it_imports_for_type_checkers(tmp_path, monkeypatch):
    package = tmp_path / "lazy_example"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "from topologies.lazy_exports import lazy_exports\n"
        "if TYPE_CHECKING:\n"
        "    import nosuch\n"
        "    from . import relative\n"
        "    from lazy_example.inner import answer, inner\n"
        "    from lazy_example.other import late\n"
        "if __debug__ is None:\n"
        "    from lazy_example.inner import hidden\n"
        "known = 1\n"
        "__getattr__, __dir__ = lazy_exports(__name__)\n"
    )
    (package / "inner.py").write_text("answer, hidden = 42, 0\ndef inner():\n    return answer\n")
    (package / "other.py").write_text("late = 7\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("lazy_example", "lazy_example.inner", "lazy_example.other"):
        # Forgotten again at the end.
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, name)
    lazy = importlib.import_module("lazy_example")

    names = [name for name in dir(lazy) if not name.startswith("_")]
    assert names == ["TYPE_CHECKING", "answer", "inner", "known", "late", "lazy_exports"]
    assert "lazy_example.inner" not in sys.modules
    assert (lazy.answer, lazy.inner()) == (42, 42)
    for unknown in ("hidden", "relative", "nosuch"):
        with pytest.raises(AttributeError, match=f"module 'lazy_example' has no attribute '{unknown}'"):
            getattr(lazy, unknown)
    # A submodule hides no export of its name, and is there where nothing has its name.
    assert importlib.import_module("lazy_example.inner") is not lazy.inner
    assert importlib.import_module("lazy_example.other") is lazy.other
    assert lazy.late == 7
