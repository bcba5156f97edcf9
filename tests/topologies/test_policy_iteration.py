"""Steps of policy iteration by hand, plain and compiled: values of a policy, and which arcs are better ones."""

from contextlib import nullcontext

import numpy as np
import pytest

from topologies.compiled_designs import many_designs
from topologies.howard import _Arcs, _evaluate, _improved


@pytest.fixture(params=["plain", "compiled"])
def code(request):
    """What makes the steps."""
    return nullcontext if request.param == "plain" else many_designs


def arcs_of(arcs, nodes):
    """Arcs (source, target, delay, tokens), sorted by source."""
    source, target, delay, tokens = np.array(arcs, dtype=float).T
    return _Arcs(
        source=source.astype(np.int64),
        target=target.astype(np.int64),
        delay=delay,
        tokens=tokens,
        first=np.searchsorted(source, np.arange(nodes)),
    )


@pytest.fixture
def improved(code):
    """Find the better policy, or None."""

    def improve(arcs, ratio, value, policy, noise=0.0):
        with code():
            found = _improved(
                arcs_of(arcs, len(policy)),
                np.array(policy),
                np.array(ratio, dtype=float),
                np.array(value, dtype=float),
                noise,
            )
        return None if found is None else found.tolist()

    return improve


def test_a_node_looks_at_its_own_arcs_only(improved):
    # 0 and 1 wait for each other; the arcs of node 2 lead to a larger ratio, and would be worth more.
    arcs = [(0, 1, 1, 1), (1, 0, 1, 1), (2, 2, 5, 1), (2, 0, 5, 1)]
    assert improved(arcs, [1, 1, 5], [0, 0, 0], [0, 1, 2]) is None
    arcs[2] = (2, 2, 1, 1)
    assert improved(arcs, [1, 1, 1], [0, 0, 9], [0, 1, 2]) is None


def test_the_first_of_the_arcs_to_the_largest_ratio(improved):
    arcs = [(0, 0, 1, 1), (0, 1, 0, 1), (0, 2, 0, 1), (1, 1, 5, 1), (2, 2, 5, 1)]
    assert improved(arcs, [1, 5, 5], [0, 0, 0], [0, 3, 4]) == [1, 3, 4]
    assert improved(arcs, [1, 5, 6], [0, 0, 0], [0, 3, 4]) == [2, 3, 4]


@pytest.mark.parametrize(("there", "changed"), [(1.5, False), (1.75, True)])
def test_a_ratio_must_be_larger_by_more_than_noise(improved, there, changed):
    arcs = [(0, 0, 1, 1), (0, 1, -9, 1), (1, 1, there, 1)]
    assert improved(arcs, [1, there], [0, 0], [0, 2], noise=0.5) == ([1, 2] if changed else None)


def test_values_are_looked_at_only_where_no_ratio_is_better(improved):
    # Node 2 has an arc of more value, node 0 one to a larger ratio.
    arcs = [(0, 0, 1, 1), (0, 1, 0, 1), (1, 1, 5, 1), (2, 2, 1, 1), (2, 0, 8, 1)]
    assert improved(arcs, [1, 5, 1], [0, 0, 0], [0, 2, 3]) == [1, 2, 3]
    assert improved(arcs[:1] + arcs[2:], [1, 5, 1], [0, 0, 0], [0, 1, 2]) == [0, 1, 3]


def test_the_first_of_the_arcs_of_the_largest_value_to_no_smaller_ratio(improved):
    # Of a ratio of 2: 2 - 2 * 1 + 0, then 9 - 2 * 3 + 1, 6 - 2 * 1 + 0 and 5 - 2 * 1 + 1, and 99 to a smaller ratio.
    arcs = [(0, 0, 2, 1), (0, 1, 9, 3), (0, 0, 6, 1), (0, 1, 5, 1), (0, 2, 99, 1), (1, 1, 2, 1), (2, 2, 1, 1)]
    assert improved(arcs, [2, 2, 1], [0, 1, 0], [0, 5, 6]) == [1, 5, 6]
    assert improved(arcs, [2, 2, 2], [0, 1, 0], [0, 5, 6]) == [4, 5, 6]


@pytest.mark.parametrize(("there", "changed"), [(0.5, True), (0.25, False)])
def test_a_ratio_that_is_smaller_by_noise_is_as_large(improved, there, changed):
    arcs = [(0, 0, 1, 1), (0, 1, 9, 1), (1, 1, there, 1)]
    assert improved(arcs, [1, there], [0, 0], [0, 2], noise=0.5) == ([1, 2] if changed else None)


@pytest.mark.parametrize(("delay", "changed"), [(1.5, False), (1.75, True)])
def test_a_value_must_be_larger_by_more_than_noise(improved, delay, changed):
    # In place of the loop, which is worth 0, the way over node 1: its delay less the ratio of 1.
    arcs = [(0, 0, 1, 1), (0, 1, delay, 1), (1, 0, 1, 1)]
    assert improved(arcs, [1, 1], [0, 0], [0, 2], noise=0.5) == ([1, 2] if changed else None)


def test_values_of_a_policy_count_from_the_lowest_node_of_its_circuit(code):
    # 3 -> 4 -> 1 -> 2 -> 1: delays 5, 7, 2 and 6 on 1, 1, 1 and 3 tokens; node 0 is its own circuit.
    arcs = [(0, 0, 4, 2), (0, 3, 99, 1), (1, 2, 2, 1), (2, 1, 6, 3), (3, 4, 5, 1), (4, 1, 7, 1)]
    old = np.array([10.0, 20.0, 40.0, 80.0, 160.0])
    with code():
        ratio, value = _evaluate(arcs_of(arcs, 5), np.array([0, 2, 3, 4, 5]), old)

    assert ratio.tolist() == [2.0] * 5
    # A circuit's root keeps its old value; 2: 6 - 2 * 3, 4: 7 - 2, 3: 5 - 2 and that of 4, all from node 1 on.
    assert value.tolist() == [10.0, 20.0, 20.0, 28.0, 25.0]
