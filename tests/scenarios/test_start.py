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
sys.argv = ['silosim', {!r}]
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


@pytest.mark.parametrize("name", [name for name in HEAVY if name != "pandas"])
def test_what_is_called_heavy_exists(name):
    assert find_spec(name) is not None
