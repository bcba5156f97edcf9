"""2-opt and Or-opt moves on a directed tour until none improves it, and perturbations between them."""

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import BoolArray, FloatArray
from topologies.designers.compiled.move_limits import LONGEST_REVERSAL, LONGEST_SEGMENT
from topologies.jit import compiled

Nodes = NDArray[np.uint32]
"""Numbers of nodes, or places in a tour. Unsigned ones index faster: they are not looked at whether they count from the
end."""

TOUCHED = 6
"""Most nodes at the arcs that a move changes."""
HELD = TOUCHED + LONGEST_SEGMENT
"""Places of a buffer for them and for a segment under way."""


@compiled
def tour_length(cost: FloatArray, tour: Nodes) -> float:
    """Cost of a tour, summed along it."""
    total = 0.0
    for k in range(len(tour)):
        total += cost[tour[k], tour[k + 1 - len(tour)]]
    return total


@compiled
def improve(
    cost: FloatArray,
    near: Nodes,
    symmetric: bool,
    noise: float,
    tour: Nodes,
    pos: Nodes,
    queue: Nodes,
    waiting: BoolArray,
    held: Nodes,
) -> float:
    """Apply improving moves around the queued nodes, the last one first; the total change of cost.

    The last entry of `queue` is the number of nodes in it.
    """
    total, queued = 0.0, queue[-1]
    for k in range(queued):
        waiting[queue[k]] = True
    while queued:
        queued -= 1
        node = queue[queued]
        waiting[node] = False
        while True:
            touched = 4
            change = _two_opt(cost, near, symmetric, noise, tour, pos, node, held)
            if not change:
                touched = TOUCHED
                change = _or_opt(cost, near, symmetric, noise, tour, pos, node, held)
            if not change:
                break
            total += change
            for k in range(touched):
                if not waiting[held[k]]:
                    waiting[held[k]] = True
                    queue[queued] = held[k]
                    queued += 1
    return total


@compiled
def perturb(
    cost: FloatArray,
    near: Nodes,
    symmetric: bool,
    noise: float,
    tour: Nodes,
    pos: Nodes,
    queue: Nodes,
    waiting: BoolArray,
    held: Nodes,
    best: Nodes,
    old: Nodes,
    places: FloatArray,
    log_luck: FloatArray,
    heat: float,
    reach: int,
) -> None:
    """Exchange two neighbouring segments again and again, each time with moves around them; `best` becomes the best.

    Row `k` of `places`, numbers in [0, 1), says where the segments of restart `k` begin and end, within `reach` nodes;
    `log_luck` is the logarithm of its luck, by which a longer tour is kept at a falling heat.
    """
    nodes, restarts = len(tour), len(places)
    excess = 0.0  # of the present tour over the best
    for step in range(restarts):
        first = int(places[step, 0] * (nodes - reach + 1))
        x = first + int(places[step, 1] * reach)
        y = first + int(places[step, 2] * reach)
        z = first + int(places[step, 3] * reach)
        if x > y:
            x, y = y, x
        if y > z:
            y, z = z, y
        if x > y:
            x, y = y, x
        if x == y or y == z:
            continue
        for k in range(nodes):
            old[k] = tour[k]
        for k in range(y, z):
            tour[x + k - y] = old[k]
        for k in range(x, y):
            tour[z - y + k] = old[k]
        for k in range(x, z):
            pos[tour[k]] = k
        a, b, c, d, e, f = old[x - 1], old[x], old[y - 1], old[y], old[z - 1], old[z]
        queue[0], queue[1], queue[2], queue[3], queue[4], queue[5], queue[-1] = a, b, c, d, e, f, 6
        change = cost[a, d] + cost[e, b] + cost[c, f] - cost[a, b] - cost[c, d] - cost[e, f]
        change += improve(cost, near, symmetric, noise, tour, pos, queue, waiting, held)
        if change > noise - heat * (1 - step / restarts) * log_luck[step]:
            for k in range(nodes):
                tour[k] = old[k]
                pos[old[k]] = k
            continue
        excess += change
        if excess < -noise:
            excess = 0.0
            for k in range(nodes):
                best[k] = tour[k]


@compiled
def _two_opt(
    cost: FloatArray,
    near: Nodes,
    symmetric: bool,
    noise: float,
    tour: Nodes,
    pos: Nodes,
    a: int,
    held: Nodes,
) -> float:
    """Reverse a part of the tour so that `a` gets a near neighbour; the change of cost, or 0 without a move."""
    nodes, i = len(tour), pos[a]
    for shift in range(0, -2, -1):
        beside = cost[tour[i - 1], a] if shift else cost[a, tour[i + 1 - nodes]]
        for c in near[a]:
            if symmetric and cost[a, c] >= beside:
                break
            j = pos[c]
            low, high = min(i, j) + shift, max(i, j) + shift
            p, q, r, s = tour[low], tour[low + 1], tour[high], tour[high + 1 - nodes]
            change = cost[p, r] + cost[q, s] - cost[p, q] - cost[r, s]
            if not symmetric:
                if high - low > LONGEST_REVERSAL:
                    continue
                change += _reversal(cost, tour, low + 1, high + 1)
            if change < -noise:
                first, last = low + 1, high
                while first < last:
                    tour[first], tour[last] = tour[last], tour[first]
                    first += 1
                    last -= 1
                for k in range(low + 1, high + 1):
                    pos[tour[k]] = k
                held[0], held[1], held[2], held[3] = p, q, r, s
                return float(change)
    return 0.0


@compiled
def _or_opt(
    cost: FloatArray,
    near: Nodes,
    symmetric: bool,
    noise: float,
    tour: Nodes,
    pos: Nodes,
    a: int,
    held: Nodes,
) -> float:
    """Move a short segment that `a` ends next to a near neighbour, perhaps reversed; as `_two_opt`."""
    nodes, i = len(tour), pos[a]
    for size in range(1, LONGEST_SEGMENT + 1):
        for start in range(i, i - size, -max(1, size - 1)):
            stop = start + size
            if start < 0 or stop > nodes:
                continue
            head, tail = tour[start], tour[stop - 1]
            p, q = tour[start - 1], tour[stop - nodes]
            gain = cost[p, head] + cost[tail, q] - cost[p, q]
            if gain <= noise:
                continue
            turned = 0.0 if symmetric else _reversal(cost, tour, start, stop)
            for c in near[a]:
                if symmetric and cost[a, c] >= gain:
                    break
                j = pos[c]
                if start <= j < stop:
                    continue
                for side in range(2):
                    x, y = (tour[j - 1], c) if side else (c, tour[j + 1 - nodes])
                    if x == p or y == q:
                        continue
                    gap = cost[x, y] + gain
                    flip = False
                    change = cost[x, head] + cost[tail, y] - gap
                    if not change < -noise:
                        flip = True
                        change = cost[x, tail] + cost[head, y] + turned - gap
                        if not change < -noise:
                            continue
                    _shift(tour, pos, start, stop, pos[x], flip, held)
                    held[0], held[1], held[2], held[3], held[4], held[5] = p, q, x, y, head, tail
                    return float(change)
    return 0.0


@compiled
def _reversal(cost: FloatArray, tour: Nodes, start: int, stop: int) -> float:
    """Change of the cost of a part of the tour when it is reversed."""
    total = 0.0
    for k in range(start, stop - 1):
        i, j = tour[k], tour[k + 1]
        total += cost[j, i] - cost[i, j]
    return total


@compiled
def _shift(tour: Nodes, pos: Nodes, start: int, stop: int, after: int, flip: bool, held: Nodes) -> None:
    """Move positions `start` to `stop - 1` behind position `after`."""
    size = stop - start
    for k in range(size):
        held[TOUCHED + k] = tour[stop - 1 - k] if flip else tour[start + k]
    if after >= stop:
        for k in range(stop, after + 1):
            tour[k - size] = tour[k]
        first, last, place = start, after, after + 1 - size
    else:
        for k in range(start - 1, after, -1):
            tour[k + size] = tour[k]
        first, last, place = after + 1, stop - 1, after + 1
    for k in range(size):
        tour[place + k] = held[TOUCHED + k]
    for k in range(first, last + 1):
        pos[tour[k]] = k
