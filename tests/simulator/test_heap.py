"""The compiled heap against a sorted list."""

import numpy as np
import pytest

from simulator.compiled.heap import clear, drop, make_heap, put, size


def first(heap):
    """The item with the smallest key."""
    return int(heap["order"][0])


def check(heap, keys):
    """Whether it holds just these items, each behind the one above it."""
    assert size(heap) == len(keys)
    order = heap["order"][: len(keys)].tolist()
    assert sorted(order) == sorted(keys)
    assert heap["place"][:-1].tolist() == [
        order.index(item) if item in keys else -1 for item in range(len(heap) - 1)
    ]
    assert [heap["key"][item] for item in keys] == list(keys.values())
    for place in range(1, len(order)):
        above = order[(place - 1) // 2]
        assert (keys[above], above) < (keys[order[place]], order[place])


@pytest.mark.parametrize("seed", range(3))
def test_items_are_added_moved_and_dropped_in_any_order(seed):
    rng, heap, keys = np.random.default_rng(seed), make_heap(13), {}
    for step in range(300):
        item = int(rng.integers(13))
        # More are added than dropped first, then the other way round.
        if rng.random() < (0.8 if step < 150 else 0.4):
            keys[item] = float(rng.integers(6))  # with many ties
            put(heap, item, keys[item])
        else:
            keys.pop(item, None)
            drop(heap, item)
        check(heap, keys)


@pytest.mark.parametrize(
    "keys", [[3.0, 1.0, 2.0], [1.0] * 7, [5.0, 4.0, 3.0, 2.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]
)
def test_the_first_is_that_with_the_smallest_key_and_of_equals_the_smallest_number(keys):
    heap = make_heap(len(keys))
    for item, key in reversed(list(enumerate(keys))):
        put(heap, item, key)
    taken = []
    while size(heap):
        taken.append(first(heap))
        drop(heap, taken[-1])
    assert taken == sorted(range(len(keys)), key=lambda item: (keys[item], item))


def test_a_cleared_heap_takes_items_anew():
    heap = make_heap(4)
    check(heap, {})
    for item in (2, 0, 3):
        put(heap, item, float(item))
    clear(heap)
    check(heap, {})
    drop(heap, 2)
    check(heap, {})
    put(heap, 2, 5.0)
    check(heap, {2: 5.0})
