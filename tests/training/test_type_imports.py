"""What only types name is not imported: torch alone takes seconds, which most commands need not wait."""

import sys
from importlib.util import find_spec, module_from_spec

import pytest

TORCH = (
    "training.checkpoints.model_export",
    "training.compression",
    "training.engine.communicator",
    "training.engine.data_checks",
    "training.engine.hardware",
    "training.engine.initial_model",
    "training.memory.memory_budget",
    "training.models.named_models",
    "training.mpi.staging",
    "training.optimization.clipping",
    "training.optimization.losses",
    "training.optimization.optimizers",
)


@pytest.mark.parametrize(
    ("module", "unneeded"),
    [
        *((module, "torch") for module in TORCH),
        ("training.memory.memory_budget", "training.memory.memory_plan"),
        ("training.models.pooled_convolution", "training.models.compiled.pooled_convolution_kernels"),
        ("training.mpi_environment", "mpi4py"),
    ],
)
def test_a_module_loads_without_what_only_its_types_name(module, unneeded, monkeypatch):
    spec = find_spec(module)
    # What it imports besides is there already, so that nothing but its own lines is tried.
    spec.loader.exec_module(module_from_spec(spec))
    monkeypatch.setitem(sys.modules, unneeded, None)
    spec.loader.exec_module(module_from_spec(spec))
