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
