"""A rank that writes its reports to a pipe, or only takes part; no MPI is started."""

import json
import os
import threading
from types import SimpleNamespace

import pytest

from training.engine.progress import Stage
from training.mpi import worker
from training.mpi.rank_progress import make_board, read_board
from training.notice import Notice, from_line

REPORTS = [Notice("one"), Notice("two", "in detail")]


@pytest.fixture
def rank(monkeypatch):
    """A function that trains as a rank of two; it gives the calls in their order."""

    def train(number, directory, pipe, *, reports=tuple(REPORTS), gpu_aware=False, local=None):
        calls = []
        job = SimpleNamespace(config=SimpleNamespace(gpu_aware_mpi=gpu_aware, device="cuda"))
        communicator = SimpleNamespace(rank=number, size=2)

        def train_rank(given, on, progress):
            assert (given, on) == (job, communicator)
            progress.step()
            for report in reports:
                calls.append(report)
                yield report

        monkeypatch.setattr("training.mpi.job_file.read_job", lambda path: calls.append(path.name) or job)
        monkeypatch.setattr("training.mpi_environment.start_mpi", lambda **ranks: calls.append(ranks))
        monkeypatch.setattr("training.mpi.mpi_communicator.MpiCommunicator", lambda **_: communicator)
        monkeypatch.setattr("training.dpasgd.train_rank", train_rank)
        monkeypatch.setattr("training.engine.device.select_gpu", lambda *place: calls.append(place))
        make_board(directory / worker.PROGRESS, 2)
        if local is None:
            monkeypatch.setenv("PMI_RANK", str(number))
            monkeypatch.setenv("PMI_SIZE", "2")
        elif local >= 0:
            monkeypatch.setenv("MPI_LOCALRANKID", str(local))
        worker._train(directory, 2, pipe)
        return calls

    return train


@pytest.mark.parametrize(("number", "written"), [(0, REPORTS), (1, [])])
def test_all_ranks_train_and_the_first_one_writes(rank, tmp_path, number, written):
    read, write = os.pipe()
    calls = rank(number, tmp_path, write)
    os.close(write)
    with os.fdopen(read) as lines:
        assert [from_line(line) for line in lines] == written

    # The job is read before MPI starts: it says which GPU is to be selected first.
    assert calls == ["job.npz", {"started": 2}, *REPORTS]
    # Only the end of MPI is left, in which ranks wait for each other.
    state, other = [
        read_board((tmp_path / worker.PROGRESS).read_bytes())[place] for place in (number, 1 - number)
    ]
    assert (state.process, state.steps, state.stage) == (os.getpid(), 1, Stage.WAITING)
    assert (other.process, other.stage) == (0, Stage.HOST)


@pytest.mark.parametrize(
    ("number", "local", "gpu"),
    [(1, None, 1), (0, None, 0), (0, 3, 3), (0, -1, 0)],
)
def test_the_gpu_of_a_rank_is_selected_before_an_mpi_for_gpus_starts(rank, tmp_path, number, local, gpu):
    read, write = os.pipe()
    calls = rank(number, tmp_path, write, gpu_aware=True, local=local)
    os.close(write)
    os.close(read)
    assert calls[:3] == ["job.npz", ("cuda", gpu), {"started": 2}]
    # Without what a launcher says, a rank has the first place.
    states = read_board((tmp_path / worker.PROGRESS).read_bytes())
    assert [state.process for state in states] == [os.getpid() * (place == number) for place in (0, 1)]


def test_the_pipe_to_a_reader_waits_where_it_is_full(tmp_path):
    os.mkfifo(tmp_path / worker.ROWS)
    read = os.open(tmp_path / worker.ROWS, os.O_RDONLY | os.O_NONBLOCK)
    write = worker._open_pipe(tmp_path)
    assert os.get_blocking(write)
    os.write(write, b"a row\n")
    assert os.read(read, 100) == b"a row\n"
    os.close(write)
    os.close(read)


def test_another_rank_may_have_cleaned_up_before(monkeypatch, tmp_path):
    with pytest.raises(BrokenPipeError, match="the program that started the ranks has ended"):
        worker.main(tmp_path / "gone", 2)
    left = []
    read, write = os.pipe()
    os.close(read)
    monkeypatch.setattr(os, "_exit", left.append)
    monkeypatch.setattr(worker, "GUARD_S", 0.0)
    worker._end_without_reader(write, tmp_path / "gone")
    os.close(write)
    assert left == [1]


def test_the_pipe_stays_open_for_the_watch_on_its_reader(rank, tmp_path):
    read, write = os.pipe()
    rank(0, tmp_path, write)
    os.write(write, b"more")

    os.close(write)
    os.close(read)


def test_the_watch_on_the_reader_begins_first_and_keeps_no_rank_alive(monkeypatch, tmp_path):
    calls = []

    def thread(**settings):
        calls.append(settings)
        return SimpleNamespace(start=lambda: calls.append("start"))

    monkeypatch.setattr(worker.threading, "Thread", thread)
    monkeypatch.setattr(worker, "_open_pipe", lambda _directory: 7)
    monkeypatch.setattr(worker, "_train", lambda *given: calls.append(given))
    worker.main(tmp_path, 2)

    watch = {"target": worker._end_without_reader, "args": (7, tmp_path), "daemon": True}
    assert calls == [watch, "start", (tmp_path, 2, 7)]


def test_a_rank_whose_reader_has_gone_cleans_up_and_ends_with_an_error(monkeypatch, tmp_path):
    folder, left = tmp_path / "training", []
    folder.mkdir()
    read, write = os.pipe()
    os.close(read)
    monkeypatch.setattr(os, "_exit", left.append)
    monkeypatch.setattr(worker, "GUARD_S", 0.0)
    worker._end_without_reader(write, folder)
    os.close(write)

    assert left == [1]
    assert not folder.exists()


def test_a_rank_with_a_reader_goes_on_whatever_has_been_written(monkeypatch, tmp_path):
    folder, left = tmp_path / "training", []
    folder.mkdir()
    read, write = os.pipe()
    monkeypatch.setattr(os, "_exit", left.append)
    monkeypatch.setattr(worker, "GUARD_S", 0.0)
    watch = threading.Thread(target=worker._end_without_reader, args=(write, folder), daemon=True)
    watch.start()
    os.write(write, b"a row\n")
    watch.join(0.05)
    assert (watch.is_alive(), left, folder.exists()) == (True, [], True)

    os.close(read)
    watch.join(5.0)
    os.close(write)
    assert (watch.is_alive(), left, folder.exists()) == (False, [1], False)


def test_an_error_is_reported_in_a_file_of_the_process(monkeypatch, tmp_path):
    def fail(*_):
        raise ValueError("broken")

    pipe = os.open(os.devnull, os.O_WRONLY)
    monkeypatch.setattr(worker, "_open_pipe", lambda _directory: pipe)
    monkeypatch.setattr(worker, "_end_without_reader", lambda _pipe, _directory: None)
    monkeypatch.setattr(worker, "_train", fail)
    with pytest.raises(ValueError, match="broken"):
        worker.main(tmp_path, 2)
    os.close(pipe)

    (file,) = tmp_path.iterdir()
    assert file.name == f"error-{os.getpid()}.json"
    report = json.loads(file.read_text())
    assert (report["kind"], report["message"]) == ("ValueError", "broken")
    assert report["traceback"].startswith("Traceback")


@pytest.mark.parametrize("there", [True, False])
def test_a_pipe_without_a_reader_ends_the_rank_and_takes_the_directory_away(tmp_path, there):
    folder = tmp_path / "training"
    folder.mkdir()
    if there:
        os.mkfifo(folder / worker.ROWS)
    with pytest.raises(BrokenPipeError, match="the program that started the ranks has ended"):
        worker.main(folder, 2)

    assert not folder.exists()
