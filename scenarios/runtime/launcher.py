"""The processes of an outer `mpiexec` or `srun`: process 0 runs the command, the others wait for its trainings."""

import sys
import time
import traceback
from collections.abc import Callable
from typing import NoReturn

from scenarios.runtime.signals import interrupted_code
from scenarios.runtime.streams import OutputError
from topologies import InputError, MachineError, SilosimError, TrainingError
from training import World, world
from training.mpi_environment import abort, check_size, start_mpi

EXIT_TRAINING, EXIT_INPUT, EXIT_MACHINE = 1, 2, 3
EXIT_OUTPUT = 1
_GRACE_S = 1.0


def run_together(command: Callable[[], None], place: World) -> NoReturn:
    """Run a command on every process that a launcher started, and end them all as soon as one fails.

    Parameters
    ----------
    command : callable
        Process 0 runs it once. The others run it each time that process 0 calls them with `call_others`, and
        otherwise wait: so only process 0 reads, prints and writes where nothing is trained.
    place : World
        This process.

    Notes
    -----
    MPI is started before anything else: a process that failed earlier could not tell the others, which would wait
    for it in MPI's start for ever. Another MPI's launcher is found out here too.
    """
    try:
        start_mpi(started=place.size)
        from training import MpiCommunicator

        check_size(started=place.size, found=MpiCommunicator().size)
    except MachineError as error:
        # Every process finds this, and MPI cannot end the others.
        if place.rank == 0:
            report(error)
        sys.exit(EXIT_MACHINE)
    try:
        if place.rank == 0:
            _run_to_the_end(command)
            _call(wanted=False)
        else:
            while _call(wanted=False):
                _run_to_the_end(command)
    except SilosimError as error:
        _let_the_first_speak(place)
        report(error)
        abort(exit_code(error))
    except SystemExit as stopped:
        # The command line was wrong, which has been said.
        _let_the_first_speak(place)
        abort(stopped.code if isinstance(stopped.code, int) else EXIT_TRAINING)
    except KeyboardInterrupt:
        _let_the_first_speak(place)
        abort(interrupted_code())
    except BaseException:
        print(f"process {place.rank} failed:\n{traceback.format_exc()}", file=sys.stderr)
        abort(EXIT_TRAINING)
    sys.exit(0)


def call_others() -> None:
    """Let the other processes run the command too; process 0 calls this."""
    place = world()
    if place is not None and place.size > 1 and place.rank == 0:
        _call(wanted=True)


def is_first() -> bool:
    """Whether this process prints and writes: all but process 0 of an outer `mpiexec` only train."""
    place = world()
    return place is None or place.rank == 0


def exit_code(error: SilosimError) -> int:
    """Exit code of a known error."""
    codes = {
        InputError: EXIT_INPUT,
        MachineError: EXIT_MACHINE,
        TrainingError: EXIT_TRAINING,
        OutputError: EXIT_OUTPUT,
    }
    return next((code for kind, code in codes.items() if isinstance(error, kind)), EXIT_INPUT)


def report(error: SilosimError) -> None:
    """Print a known error: one line, but for the traceback of a training's rank."""
    print(f"silosim: error: {error}", file=sys.stderr, flush=True)


def _let_the_first_speak(place: World) -> None:
    """Wait, as process 0 most likely has the same error: it reports it and ends this process."""
    if place.rank > 0:
        time.sleep(_GRACE_S)


def _run_to_the_end(command: Callable[[], None]) -> None:
    """Run a command that ends by leaving the program."""
    try:
        command()
    except SystemExit as stopped:
        if stopped.code:
            raise


def _call(*, wanted: bool) -> bool:
    """Meet all processes; whether process 0 wants the others."""
    # Here since numpy takes a while, and only several processes meet.
    import numpy as np

    from training import MpiCommunicator

    return bool(MpiCommunicator().sum(np.array([float(wanted)]))[0] > 0)
