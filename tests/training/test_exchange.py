import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from training import MixingPlan
from training.exchange import plan_exchange, remote_rows, silo_blocks


@given(silos=st.integers(0, 50), ranks=st.integers(1, 20))
@settings(deadline=None)
def test_blocks_hold_every_silo_once_and_are_even(silos, ranks):
    blocks = silo_blocks(silos, ranks)
    assert len(blocks) == ranks
    assert [silo for block in blocks for silo in block] == list(range(silos))
    assert max(map(len, blocks)) - min(map(len, blocks)) <= 1


@given(
    silos=st.integers(1, 12), ranks=st.integers(1, 14), density=st.floats(0, 1), seed=st.integers(0, 10**6)
)
@settings(deadline=None, max_examples=80)
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
