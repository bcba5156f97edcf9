"""Workers compute with one thread each, as they share the processors."""

import subprocess
import sys
import threading
from concurrent.futures import BrokenExecutor
from multiprocessing import Pipe

import pytest
import scipy.linalg  # noqa: F401  (loaded before its threads are counted)
from threadpoolctl import threadpool_info, threadpool_limits

from scenarios.runtime import processes
from scenarios.runtime.processes import Processes, _serve
from scenarios.runtime.workers import process_pool

PROGRAM = """
from scenarios.runtime.workers import process_pool

if __name__ == "__main__":
    with process_pool(2) as pool:
        text = "__import__('scipy.linalg') and __import__('threadpoolctl').threadpool_info()"
        print(pool.submit(eval, text).result())
"""

FORGETS = """
from scenarios.runtime.processes import Processes

if __name__ == "__main__":
    pool = Processes(1, int)
    print(pool.submit(int, "5").result())
"""


UNGUARDED = """
from pathlib import Path

import silosim

Path("grid.toml").write_text(
    '[network]\\nunderlay = "gaia"\\n[workload]\\npreset = "femnist"\\n'
    '[study.grid]\\n"network.access" = ["1 Gbps", "2 Gbps"]'
)
silosim.study("grid.toml", "grid.csv", workers=2)
"""


def threads():
    """Threads of each library that is loaded; some have one thread whatever they are told."""
    return {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}


def test_this_process_as_the_only_worker_has_one_thread_until_it_is_done():
    with threadpool_limits(2):
        before = threads()
        assert max(before.values()) == 2
        with process_pool(1) as pool:
            assert {*pool.submit(threads).result().values()} == {1}
        assert threads() == before


def test_an_error_gives_the_threads_back():
    with threadpool_limits(2):
        before = threads()
        with pytest.raises(ZeroDivisionError), process_pool(1) as pool:
            pool.submit(divmod, 1, 0).result()
        assert threads() == before


def test_a_program_that_does_not_shut_its_processes_down_ends_all_the_same(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(FORGETS)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("5\n", "")


@pytest.mark.slow
def test_a_program_that_would_start_itself_in_each_worker_is_told_what_is_missing(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    told = 'InputError: each worker imports this program, which must start them below `if __name__ == "__main__":`'
    assert told in done.stderr
    assert "is being written" not in done.stderr


@pytest.mark.slow
def test_libraries_that_a_worker_loads_later_have_one_thread_too(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    # Numba's own threads have a limit of theirs.
    found = [pool["num_threads"] for pool in eval(done.stdout) if pool["user_api"] == "blas"]
    assert len(found) >= 2
    assert {*found} == {1}


@pytest.fixture
def served(monkeypatch):
    """A pool whose one worker is a thread of this process, and whether it has begun."""
    monkeypatch.setattr(processes, "_ends_with_parent", lambda: True)
    here, there = Pipe()
    begun = []
    worker = threading.Thread(target=_serve, args=(there, lambda: begun.append(1)))
    worker.start()
    pool = Processes(1, lambda: None)
    monkeypatch.setattr(pool, "_start", lambda: None)
    pool._idle.put(here)
    yield pool, begun
    pool._threads.shutdown()
    here.close()
    worker.join(10)
    assert not worker.is_alive()


def test_a_worker_gives_results_and_errors_one_after_the_other(served):
    pool, begun = served
    assert [pool.submit(pow, 2, power).result(10) for power in range(3)] == [1, 2, 4]
    with pytest.raises(ZeroDivisionError):
        pool.submit(divmod, 1, 0).result(10)
    assert pool.submit(int, "11", base=2).result(10) == 3
    assert begun == [1]


def test_a_worker_whose_program_was_killed_begins_nothing(monkeypatch):
    monkeypatch.setattr(processes, "_ends_with_parent", lambda: False)
    begun = []
    _serve(Pipe()[1], lambda: begun.append(1))
    assert not begun


def test_a_worker_that_ended_is_said_to_every_call():
    pool = Processes(1, lambda: None)
    here, there = Pipe()
    pool._idle.put(here)
    there.close()
    for _ in range(2):
        with pytest.raises(BrokenExecutor, match="a worker process ended"):
            pool._call(abs, (1,), {})
