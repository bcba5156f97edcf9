"""Which process of an outer launcher speaks, and which are called."""

import numpy as np
import pytest

import training
from scenarios.runtime import launcher
from topologies import InputError, MachineError, TrainingError
from training import World


@pytest.mark.parametrize(
    ("place", "calls", "first"),
    [
        (None, [], True),
        (World(rank=0, size=1), [], True),
        (World(rank=0, size=3), [True], True),
        (World(rank=2, size=3), [], False),
    ],
)
def test_process_0_calls_the_others_and_speaks(monkeypatch, place, calls, first):
    called = []
    monkeypatch.setattr(launcher, "world", lambda: place)
    monkeypatch.setattr(launcher, "_call", lambda *, wanted: called.append(wanted))
    launcher.call_others()

    assert called == calls
    assert launcher.is_first() is first


class Stopped(BaseException):
    """Instead of the end of all processes."""


@pytest.fixture
def together(monkeypatch):
    """Run a command as one process of two, where process 0 calls the others so often; what happened."""

    def run(command, rank, calls=0, size=2):
        happened = []
        answers = [1.0] * calls + [0.0]

        class Communicator:
            def __init__(self):
                self.size = size

            def sum(self, values):
                happened.append(("met", values.tolist()))
                return np.array([answers.pop(0)]) if rank else values

        def abort(code):
            happened.append(("abort", code))
            raise Stopped

        monkeypatch.setattr(launcher, "start_mpi", lambda *, started: happened.append(("start", started)))
        monkeypatch.setattr(training, "MpiCommunicator", Communicator)
        monkeypatch.setattr(launcher, "abort", abort)
        monkeypatch.setattr(launcher.time, "sleep", lambda seconds: happened.append(("sleep", seconds > 0)))
        with pytest.raises((Stopped, SystemExit)) as ended:
            launcher.run_together(lambda: command(happened), World(rank=rank, size=2))
        return [*happened, *(("exit", stop.code) for stop in [ended.value] if isinstance(stop, SystemExit))]

    return run


def ends(code):
    def command(happened):
        happened.append("run")
        raise SystemExit(code)

    return command


def test_process_0_runs_the_command_once_and_lets_the_others_end(together):
    assert together(ends(0), 0) == [("start", 2), "run", ("met", [0.0]), ("exit", 0)]
    assert together(ends(None), 0)[-1] == ("exit", 0)
    assert together(lambda happened: happened.append("run"), 0)[1:3] == ["run", ("met", [0.0])]


def test_the_others_run_the_command_as_often_as_they_are_called(together):
    met = ("met", [0.0])
    assert together(ends(0), 1, 0) == [("start", 2), met, ("exit", 0)]
    assert together(ends(0), 1, 2) == [("start", 2), met, "run", met, "run", met, ("exit", 0)]


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("x must be 1."), 2, "silosim: error: x must be 1.\n"),
        (MachineError("no MPI."), 3, "silosim: error: no MPI.\n"),
        (TrainingError("it diverged."), 1, "silosim: error: it diverged.\n"),
        (SystemExit(2), 2, ""),
        (SystemExit("words"), 1, ""),
        (KeyboardInterrupt(), 130, ""),
        (ZeroDivisionError("odd"), 1, "ZeroDivisionError: odd\n\n"),
    ],
)
@pytest.mark.parametrize("rank", [0, 1])
def test_an_error_ends_all_processes_and_process_0_speaks_first(together, capsys, rank, error, code, said):
    def command(_):
        raise error

    happened = together(command, rank, 1)
    assert happened[-1] == ("abort", code)
    # Any other error is not one that process 0 most likely has, too.
    assert (("sleep", True) in happened) == (rank > 0 and not isinstance(error, ZeroDivisionError))
    err = capsys.readouterr().err
    assert err.endswith(said)
    assert err.startswith(f"process {rank} failed:" if isinstance(error, ZeroDivisionError) else said)


@pytest.mark.parametrize("rank", [0, 1])
def test_another_mpis_launcher_is_said_once(together, capsys, rank):
    assert together(ends(0), rank, size=1)[-1] == ("exit", 3)
    assert capsys.readouterr().err.count("silosim: error: ") == (1 if rank == 0 else 0)
