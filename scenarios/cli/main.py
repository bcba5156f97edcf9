"""Entry point of the command ``silosim``."""

import errno
import sys
from pathlib import Path

from scenarios.runtime.signals import check_interrupts, interrupted_code, recorded_interrupts, was_interrupted
from scenarios.runtime.streams import guarded_streams

_CLOSED = (errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG)
"""Errors of the system about a path of the user's."""


def main() -> None:
    """Run the command; a known error is one line on standard error and an exit code.

    Notes
    -----
    1: a training failed (with the traceback of the rank), or standard output cannot be written. 2: wrong input. 3: the
    machine lacks something. 130: the user pressed Ctrl-C. 143: SIGTERM, as a batch system sends it. 129: SIGHUP, as
    a terminal that is closed sends it.
    """
    with recorded_interrupts(sigterm=True), guarded_streams():
        try:
            _main()
        except KeyboardInterrupt:
            sys.exit(interrupted_code())
        except Exception:
            # Imports in C may turn a KeyboardInterrupt into an error of their own.
            if was_interrupted():
                sys.exit(interrupted_code())
            raise


def _main() -> None:
    """Import the commands and run the one that is asked for."""
    # Here since imports take a second, in which Ctrl-C is to be heard too.
    from scenarios.cli.app import app
    from scenarios.runfile.paths import FULL
    from scenarios.runtime.launcher import exit_code, report, run_together
    from scenarios.runtime.note_warnings import warnings_as_notes
    from topologies import MachineError, SilosimError
    from topologies.regular_files import unreadable
    from training import world

    check_interrupts()

    def command() -> None:
        try:
            with warnings_as_notes():
                app(prog_name="silosim")
        except SystemExit as stopped:
            # Typer turns a KeyboardInterrupt into the exit code of Ctrl-C, whichever signal came.
            if stopped.code:
                check_interrupts()
            if sys.stdout is not None:
                # Not left to the interpreter, whose last flush can but complain.
                sys.stdout.flush()
            raise

    try:
        place = world()
        if place is not None and place.size > 1:
            run_together(command, place)
        command()
    except SilosimError as error:
        check_interrupts()
        report(error)
        sys.exit(exit_code(error))
    except OSError as error:
        # Of what is no output: what libraries keep, such as compiled code. Of inputs: those that no reader of ours asks
        # for by `topologies.regular_files`.
        problem: SilosimError
        if error.errno in FULL:
            problem = MachineError(
                f"{error.filename or 'a temporary file'} cannot be written: {error.strerror}."
            )
        elif error.errno in _CLOSED and isinstance(error.filename, str):
            problem = unreadable(Path(error.filename), error)
        else:
            raise
        report(problem)
        sys.exit(exit_code(problem))
