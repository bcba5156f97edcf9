"""The launcher of this process, and the environment for ranks. Only `start_mpi` starts MPI."""

import os
import sys
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from topologies.errors import Field, InputError, MachineError
from topologies.input_limits import MOST_DIGITS
from training.processes import remove_shared_files

if TYPE_CHECKING:
    from mpi4py import MPI

LAUNCHER_PREFIXES = ("PMI", "OMPI_COMM_WORLD_", "HYDI_", "MPI_LOCAL", "SLURM", "PBS_", "LSB_")
"""Variables of a launcher or a batch system about its own processes; ranks that `mpiexec` starts must not read them."""

LOCAL_RANKS = ("MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")
"""Where launchers state a process' index on its machine; Slurm last, as `mpiexec` may run inside one of its steps."""

FORWARDING_S = 0.5
"""Time that an aborting process gives its launcher to forward its output."""


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """One process among those that a launcher started.

    Parameters
    ----------
    rank : int
        ``0 .. size - 1``; process 0 writes files and prints.
    size : int
        Number of processes.
    """

    rank: int
    size: int


def world(environ: Mapping[str, str] | None = None) -> World | None:
    """Return this process' rank if `mpiexec` or `srun` started the program as several processes.

    Parameters
    ----------
    environ : mapping of str to str, optional
        Environment to read, by default this process' own.

    Returns
    -------
    World or None
        Rank and size as the launcher states them; None without a launcher.

    Raises
    ------
    InputError
        If a variable is no such number.

    Notes
    -----
    Reads only the environment, so that a program without a launcher never starts MPI (it could not call `mpiexec`
    afterwards). Known: Open MPI's ``OMPI_COMM_WORLD_*``, MPICH's and PMI-2's ``PMI_*``, Slurm steps of several
    tasks. Slurm also sets SLURM_PROCID in a batch script, which runs once: only a step has SLURM_STEP_NUM_TASKS.
    """
    environ = os.environ if environ is None else environ
    for rank, size in (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE")):
        if rank in environ and size in environ:
            return _place(environ, rank, size)
    rank, size = "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"
    if rank in environ and size in environ and _stated(environ, size) > 1:
        return _place(environ, rank, size)
    return None


def _place(environ: Mapping[str, str], rank: str, size: str) -> World:
    """The process that two variables state."""
    place = World(rank=_stated(environ, rank), size=_stated(environ, size))
    if place.rank >= place.size:
        rule = ("must be < ", Field(size, value=environ[size]), ", as mpiexec and srun set them.")
        raise InputError(*rule, field=Field(rank, value=environ[rank]))
    return place


def _stated(environ: Mapping[str, str], name: str) -> int:
    """The number in a variable that a launcher sets."""
    text = environ[name]
    if not (text.isascii() and text.isdigit()):
        rule = "must be a whole number, as mpiexec and srun set it; without one of them the variable must not be set."
        raise InputError(rule, field=Field(name, value=text))
    if len(text) > MOST_DIGITS:
        raise InputError(f"must have at most {MOST_DIGITS} digits.", field=Field(name, value=text))
    return int(text)


def local_rank(rank: int, environ: Mapping[str, str] | None = None) -> int:
    """Return this process' index among those on its machine.

    Parameters
    ----------
    rank : int
        Its index among all, the result where no launcher states the other.
    environ : mapping of str to str, optional
        Environment to read, by default this process' own.

    Notes
    -----
    Launchers may assign ranks to machines cyclically, so `rank` does not tell.
    """
    environ = os.environ if environ is None else environ
    return next((_stated(environ, name) for name in LOCAL_RANKS if name in environ), rank)


def mpiexec_path() -> Path:
    """Return the `mpiexec` beside this Python interpreter, the one of the MPI that was installed with silosim.

    Returns
    -------
    pathlib.Path
        The path. Symbolic links of the interpreter are not followed: a virtual environment's `python` is one.

    Raises
    ------
    MachineError
        If there is none, or no mpi4py, with which ranks are started.
    """
    path = Path(sys.executable).parent / "mpiexec"
    if not path.is_file():
        raise MachineError(f"mpiexec(={path}) must exist; install it with: pip install mpich")
    try:
        found = find_spec("mpi4py")
    except ModuleNotFoundError:
        found = None
    if found is None:
        raise MachineError("more than one rank needs mpi4py; install it with: pip install mpi4py mpich")
    return path


def check_size(*, started: int, found: int) -> None:
    """Raise MachineError unless MPI sees as many processes as were started.

    Parameters
    ----------
    started : int
        Processes that the launcher started.
    found : int
        Size of MPI's world in this process.

    Notes
    -----
    Under the launcher of another MPI every process sees a world of one and would train a run of its own.
    """
    if started != found:
        raise MachineError(
            f"the launcher started {started} processes but MPI sees {found}: mpiexec belongs to another MPI; "
            f"use {Path(sys.executable).parent / 'mpiexec'}"
        )


def start_mpi(*, started: int) -> None:
    """Start MPI in this process, unless another MPI's launcher started it.

    Parameters
    ----------
    started : int
        Processes that the launcher started.

    Raises
    ------
    MachineError
        If there is no MPI library, or the launcher belongs to another one.

    Notes
    -----
    Under Open MPI's launcher, which uses PMIx, MPICH's start would end the process with pages of output. So the name of
    the library is checked before it starts. Does nothing where MPI runs already: under a launcher a program calls this
    first, so that no process that fails later leaves the others waiting in MPI's start, and the backend calls it again.
    """
    try:
        import mpi4py
    except ImportError as error:
        raise MachineError(f"ranks need mpi4py: {error}; install it with: pip install mpi4py mpich") from None
    mpi4py.rc.initialize, mpi4py.rc.finalize = False, True
    try:
        with warnings.catch_warnings():
            # mpi4py warns of another MPI's launcher, which is an error here.
            warnings.filterwarnings("ignore", message="suspicious MPI execution environment")
            from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        # mpi4py says in a second line which file it looked for.
        said = "; ".join(filter(None, map(str.strip, str(error).splitlines())))
        raise MachineError(
            f"mpi4py finds no MPI library: {said}; install one with: pip install mpich"
        ) from None
    if MPI.Is_initialized():
        return
    library = MPI.Get_library_version()
    if "OMPI_COMM_WORLD_SIZE" in os.environ and not library.startswith("Open MPI"):
        raise MachineError(
            f"Open MPI's launcher started {started} processes but mpi4py uses {library.split(maxsplit=1)[0]}: "
            f"mpiexec belongs to another MPI; use {Path(sys.executable).parent / 'mpiexec'}"
        )
    MPI.Init_thread()
    _remove_shared_names(MPI.COMM_WORLD)


def _remove_shared_names(world: "MPI.Intracomm") -> None:
    """Take the names of MPICH's shared memory away once all ranks have it open: however they end, nothing is left."""
    # Only after this has every rank of the machine opened it.
    world.Barrier()
    remove_shared_files()


def rank_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for ranks that `mpiexec` starts from here.

    Parameters
    ----------
    environ : mapping of str to str
        This process' environment.

    Returns
    -------
    dict of str to str
        A copy without the variables of an outer launcher or batch system, with the interpreter's folder first on
        PATH and one thread per rank.
    """
    inherited = {name: value for name, value in environ.items() if not name.startswith(LAUNCHER_PREFIXES)}
    path = os.pathsep.join([str(Path(sys.executable).parent), *filter(None, [environ.get("PATH")])])
    return {**inherited, "PATH": path, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def abort(status: int) -> NoReturn:
    """End every process of this MPI job now, with an exit status; for programs that run under `mpiexec`.

    Parameters
    ----------
    status : int
        The job's exit status.

    Notes
    -----
    A process that has not started MPI only ends itself: starting MPI now would wait for processes that may be gone.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    # The launcher forwards output through pipes, and drops what it has not read when the job is aborted.
    time.sleep(FORWARDING_S)
    if "mpi4py.MPI" in sys.modules:
        from mpi4py import MPI

        if MPI.Is_initialized() and not MPI.Is_finalized():
            MPI.COMM_WORLD.Abort(status)
    # MPICH's Abort can return before the launcher's signal arrives; nothing may run in between.
    os._exit(status)
