"""Names of packages that are imported when they are used."""

import importlib
import subprocess
import sys

import pytest

PACKAGES = ("topologies", "simulator", "training", "silosim")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there_and_listed(package):
    module = importlib.import_module(package)

    assert len(set(module.__all__)) == len(module.__all__)
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is not None


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
def test_an_export_goes_before_the_submodule_of_its_name(package, name, first):
    orders = {
        "submodule": f"import {package}.{name}; from {package} import {name}",
        "name": f"from {package} import {name}; import {package}.{name}",
    }
    code = f"{orders[first]}\nassert callable({name}) and {package}.{name} is {name}, {name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
