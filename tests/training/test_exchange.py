import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training import HistoryRow, MixingPlan, load_backend
from training.engine.communicator import STEP, SingleRank, pieces
from training.engine.exchange import plan_exchange, remote_rows, silo_blocks
from training.mpi_environment import mpiexec_path, rank_environment

EXCHANGE = """
import sys
import time
from training.mpi_environment import start_mpi
start_mpi(started=3)
import torch
from training.engine.communicator import MESSAGE, STEP
from training.mpi.mpi_communicator import MpiCommunicator
ours = MpiCommunicator()
rank, size = ours.rank, ours.size

def row_of(silo, width, round_index):
    return torch.arange(width, dtype=torch.float32) + 1e7 * silo + 1e6 * round_index

for round_index, width in enumerate([16, MESSAGE - 16, 2 * MESSAGE + 16, 656, 0]):
    # Two silos a rank: the first goes to all other ranks, the second to the next one.
    own = {silo: row_of(silo, width, round_index) for silo in (2 * rank, 2 * rank + 1)}
    sends = [(peer, 2 * rank, own[2 * rank]) for peer in range(size) if peer != rank]
    sends.append(((rank + 1) % size, 2 * rank + 1, own[2 * rank + 1]))
    sources = [2 * peer for peer in range(size) if peer != rank] + [2 * ((rank - 1) % size) + 1]
    receives = [(silo // 2, silo, torch.full((width,), torch.nan)) for silo in sources]
    stop = 0
    for columns in ours.exchange(sends, receives, width):
        assert columns.start == stop and 0 < columns.stop - columns.start <= STEP
        stop = columns.stop
        for _, silo, row in receives:
            assert torch.equal(row[columns], row_of(silo, width, round_index)[columns])
    assert stop == width
# At once: print writes the end of a line apart, maybe after another rank's line.
sys.stdout.write(f"all rows of rank {rank}\\n")

# Of two ranks the second is late.
row = torch.zeros(64)
if rank < 2:
    for late_s in (0.0, 1.5):
        if rank == 1:
            time.sleep(late_s)
        began, busy = time.perf_counter(), time.process_time()
        for _ in ours.exchange([(1 - rank, rank, row)], [(1 - rank, 1 - rank, row.clone())], 64):
            pass
else:
    time.sleep(1.5)  # in MPI's end it would wait on the processor
if rank == 0:
    print("waited", time.perf_counter() - began, time.process_time() - busy)
"""


@pytest.fixture(scope="module")
def printed() -> list[str]:
    """What the program above prints on three ranks."""
    done = subprocess.run(
        [str(mpiexec_path()), "-n", "3", sys.executable, "-P", "-m", "mpi4py", "-c", EXCHANGE],
        env=rank_environment(os.environ),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@given(silos=st.integers(0, 50), ranks=st.integers(1, 20))
def test_blocks_hold_every_silo_once_and_are_even(silos, ranks):
    blocks = silo_blocks(silos, ranks)
    assert len(blocks) == ranks
    assert [silo for block in blocks for silo in block] == list(range(silos))
    assert max(map(len, blocks)) - min(map(len, blocks)) <= 1


@given(
    silos=st.integers(1, 12), ranks=st.integers(1, 14), density=st.floats(0, 1), seed=st.integers(0, 10**6)
)
def test_exactly_the_rows_that_cross_ranks_travel_once(silos, ranks, density, seed):
    matrix = (np.random.default_rng(seed).random((silos, silos)) < density) * 1.0
    blocks = silo_blocks(silos, ranks)
    plans = [plan_exchange(matrix, blocks, rank) for rank in range(ranks)]
    host = {silo: rank for rank, block in enumerate(blocks) for silo in block}
    crossing = {(host[j], host[i], j) for i, j in np.argwhere(matrix != 0) if host[i] != host[j]}
    sent = [(rank, peer, silo) for rank, plan in enumerate(plans) for peer, silo in plan.sends]
    received = [(peer, rank, silo) for rank, plan in enumerate(plans) for peer, silo in plan.receives]
    assert sorted(sent) == sorted(received) == sorted(crossing)
    for rank, plan in enumerate(plans):
        columns = {silo for _, silo in plan.receives} | set(blocks[rank])
        assert plan.columns.tolist() == sorted(columns)


def test_there_is_room_for_the_round_that_receives_most():
    matrices = np.stack([np.eye(6), np.full((6, 6), 1 / 6), np.eye(6)])
    own = range(2, 4)
    assert remote_rows(MixingPlan(matrices=matrices, index=np.array([0, 2])), own) == (0, 0)
    assert remote_rows(MixingPlan(matrices=matrices, index=np.array([0, 1])), own) == (2, 2)
    assert remote_rows(MixingPlan(matrices=matrices, index=np.array([1])), range(6, 6)) == (0, 0)


@given(start=st.integers(0, 50), size=st.integers(0, 100), length=st.integers(1, 120))
def test_pieces_cover_all_columns_in_order(start, size, length):
    found = pieces(slice(start, start + size), length)
    assert [column for piece in found for column in range(piece.start, piece.stop)] == [
        *range(start, start + size)
    ]
    assert all(piece.stop - piece.start == length for piece in found[:-1])
    assert all(0 < piece.stop - piece.start <= length for piece in found)


def test_a_process_alone_has_all_columns_at_once():
    assert list(SingleRank().exchange([], [], STEP + 1)) == [slice(0, STEP), slice(STEP, STEP + 1)]


@pytest.mark.slow
def test_rows_of_any_length_arrive_column_by_column_on_three_ranks(printed):
    assert {f"all rows of rank {rank}" for rank in range(3)} < set(printed)


@pytest.mark.slow
def test_silos_lose_the_same_to_the_last_bit_on_any_number_of_ranks(make_job):
    weights = np.random.default_rng(3).random((5, 5))
    weights[[0, 1, 4], [3, 4, 2]] = 0
    mixing = MixingPlan.constant(weights / weights.sum(axis=1, keepdims=True), 4)

    def losses(ranks):
        job = make_job(
            silos=5,
            rounds=4,
            local_steps=2,
            mixing=mixing,
            model="cnn",
            executor="loop",
            momentum=0.9,
            ranks=ranks,
        )
        rows = [row for row in load_backend("mpi").train(job) if isinstance(row, HistoryRow)]
        return [row.silo_loss for row in rows]

    alone = losses(1)
    assert len(set(alone)) == 5
    assert losses(3) == alone


@pytest.mark.slow
def test_waiting_for_a_late_rank_leaves_the_core_to_others(printed):
    (line,) = (line for line in printed if line.startswith("waited "))
    waited_s, busy_s = map(float, line.split()[1:])
    assert waited_s > 1
    assert busy_s < 0.2 * waited_s
