"""What importing the package and starting the command load."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

HEAVY = (
    *("torch", "scipy", "matplotlib", "numba", "networkx", "pydantic", "pint", "h5py", "cvxpy", "simpy"),
    *("mpi4py", "pandas", "rich"),
)
COMMAND = """
import sys
from scenarios.cli.main import main
sys.argv = ['silosim', *{!r}.split()]
try:
    main()
except SystemExit:
    pass
"""
LISTED = "import sys; print('loaded:', *sorted({name.split('.')[0] for name in sys.modules}))"


@pytest.mark.parametrize(
    "code",
    ["import silosim", COMMAND.format("--help"), COMMAND.format("--version")],
    ids=["import", "help", "version"],
)
def test_no_heavy_module_is_loaded(code):
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{LISTED}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    head, *loaded = done.stdout.splitlines()[-1].split()

    assert head == "loaded:"
    assert {"sys", "topologies"} <= set(loaded)
    assert [name for name in HEAVY if name in loaded] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "left_out"),
    [
        ("import training.mpi.worker, training.dpasgd", {"pint", "pandas", "matplotlib", "simpy", "cvxpy"}),
        (
            COMMAND.format("simulate gaia --kind ring"),
            {"scipy.optimize", "torch", "numba", "cvxpy", "matplotlib", "pandas"},
        ),
    ],
    ids=["rank", "simulate"],
)
def test_what_a_rank_and_a_short_simulation_do_not_need_is_not_loaded(code, left_out):
    listed = "import sys; print('loaded:', *sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{listed}"], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert {"training.dpasgd", "simulator.engines"} & loaded
    assert left_out & loaded == set()


@pytest.mark.parametrize("name", [name for name in HEAVY if name != "pandas"])
def test_what_is_called_heavy_exists(name):
    assert find_spec(name) is not None
