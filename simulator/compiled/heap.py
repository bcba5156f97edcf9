"""A binary heap of numbered items that can move; equal keys are ordered by number."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topologies.jit import compiled

Records = NDArray[Any]

_ITEM = np.dtype([("key", np.float64), ("place", np.int32), ("order", np.int32)], align=True)


def make_heap(items: int) -> Records:
    """An empty heap for items 0 to ``items - 1``.

    Entry `n` holds the key and the place of item `n` (-1: not in the heap), and in `order` the item at place `n`.
    The `order` of one more entry is the number of items in the heap.
    """
    heap = np.zeros(items + 1, dtype=_ITEM)
    heap["place"] = -1
    return heap


@compiled
def size(heap: Records) -> int:
    """Number of items in the heap."""
    return int(heap[len(heap) - 1].order)


@compiled
def put(heap: Records, item: int, key: float) -> None:
    """Add an item, or change its key."""
    place = heap[item].place
    if place < 0:
        place = heap[len(heap) - 1].order
        heap[len(heap) - 1].order += 1
        heap[item].key = key
        _rise(heap, item, place)
    elif key < heap[item].key:
        heap[item].key = key
        _rise(heap, item, place)
    else:
        heap[item].key = key
        _sink(heap, item, place)


@compiled
def drop(heap: Records, item: int) -> None:
    """Take an item out, if it is in."""
    place = heap[item].place
    if place < 0:
        return
    heap[item].place = -1
    heap[len(heap) - 1].order -= 1
    last = heap[heap[len(heap) - 1].order].order
    if last != item:
        _rise(heap, last, place)
        _sink(heap, last, heap[last].place)


@compiled
def clear(heap: Records) -> None:
    """Take all items out."""
    for place in range(heap[len(heap) - 1].order):
        heap[heap[place].order].place = -1
    heap[len(heap) - 1].order = 0


@compiled
def _rise(heap: Records, item: int, place: int) -> None:
    key = heap[item].key
    while place > 0:
        parent = (place - 1) >> 1
        other = heap[parent].order
        if heap[other].key < key or (heap[other].key == key and other < item):
            break
        heap[place].order = other
        heap[other].place = place
        place = parent
    heap[place].order = item
    heap[item].place = place


@compiled
def _sink(heap: Records, item: int, place: int) -> None:
    key, size = heap[item].key, heap[len(heap) - 1].order
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        other = heap[child].order
        if child + 1 < size:
            right = heap[child + 1].order
            if heap[right].key < heap[other].key or (heap[right].key == heap[other].key and right < other):
                child += 1
                other = right
        if key < heap[other].key or (key == heap[other].key and item < other):
            break
        heap[place].order = other
        heap[other].place = place
        place = child
    heap[place].order = item
    heap[item].place = place
