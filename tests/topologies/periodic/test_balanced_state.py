"""Doubly stochastic weights of states."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies.balanced import fast_balanced
from topologies.periodic.balanced_state import balanced_state, can_be_balanced
from topologies.state import State


def columns(*arcs):
    """Sources and targets."""
    return np.array(arcs, dtype=np.int64).reshape(-1, 2).T


def test_an_arc_that_lies_on_no_circuit_has_no_weight():
    assert can_be_balanced(4, *columns((0, 1), (1, 0), (2, 3), (3, 2)))
    assert not can_be_balanced(4, *columns((0, 1), (1, 0), (1, 2), (2, 3), (3, 2)))
    assert can_be_balanced(3, *columns())


def test_circuits_and_pairs_weigh_a_half_and_silos_without_arcs_keep_their_models():
    state = balanced_state(6, *columns((0, 1), (1, 2), (2, 0), (3, 4), (4, 3)))

    assert state.weight.tolist() == [0.5] * 5
    assert state.consensus(6)[5].tolist() == [0, 0, 0, 0, 0, 1]


@given(circuits=st.lists(st.permutations(range(6)).map(lambda p: p[:3]), max_size=4), fast=st.booleans())
def test_rows_and_columns_sum_to_one(circuits, fast):
    arcs = {arc for tour in circuits for arc in itertools.pairwise([*tour, tour[0]])}
    ends = columns(*sorted(arcs))
    assert can_be_balanced(6, *ends)
    state = balanced_state(6, *ends, **({"weights": fast_balanced} if fast else {}))

    matrix = state.consensus(6)
    assert isinstance(state, State)
    assert {(int(i), int(j)) for i, j in zip(state.source, state.target, strict=True)} == arcs
    assert (state.weight > 0).all()
    assert matrix.min() >= -1e-12
    assert matrix.sum(axis=0) == pytest.approx(1, abs=1e-12)
