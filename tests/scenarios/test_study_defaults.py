"""What functions of studies, simulations and validations do unless they are asked for something else."""

import inspect
import pkgutil
from importlib import import_module

import pytest

import scenarios.simulation
import scenarios.studies
import scenarios.validation

DEFAULTS = {
    # Nothing that is there is replaced, and no run goes on, unless a user says so.
    "force": False,
    "resume": False,
    "anew": False,
    # Whatever is drawn is that of seed 0.
    "seed": 0,
    "bound": False,
    "percent": False,
    "streams": 1,
    # An arc sends one message after the other.
    "fifo": True,
    "messages": False,
    "cycle_time_only": False,
    "least_rounds": 0,
    "detailed": True,
    "compiled": False,
    "trains": False,
    "is_told": False,
    "done": 0,
    "per_round": 0,
}


def functions():
    """All functions of the packages that have defaults which are numbers or truths, those of classes too."""
    for package in (scenarios.studies, scenarios.validation, scenarios.simulation):
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            module = import_module(found.name)
            own = [each for each in vars(module).values() if getattr(each, "__module__", "") == found.name]
            methods = [method for each in own if inspect.isclass(each) for method in vars(each).values()]
            for function in (*own, *methods):
                function = getattr(function, "__func__", function)
                if inspect.isfunction(function) and function.__name__ != "__init__":
                    yield function


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_of_functions(name):
    found = {
        function.__qualname__: parameter.default
        for function in functions()
        if (parameter := inspect.signature(function).parameters.get(name)) is not None
        and parameter.default is not inspect.Parameter.empty
    }
    assert found
    for function, default in found.items():
        assert default is DEFAULTS[name] or default is None, function
