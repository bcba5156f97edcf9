"""Lightest perfect matching of a complete graph, by blossoms and dual variables (Edmonds 1965; Galil 1986).

Every choice is made in the order of networkx's `max_weight_matching` (BSD license; by J. van Rantwijk and others), so
that ties, also those between sums that differ by rounding, give the same matching. Names are those of that function:
an S-blossom or S-vertex has label 1, a T-blossom 2; a trivial blossom is a vertex.
"""

from typing import Any, NamedTuple

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.jit import compiled

Records = Any
_NODE = np.dtype(
    [
        ("label", np.int64),
        ("label_v", np.int64),  # the edge that gave the label, -1 where there is none
        ("label_w", np.int64),
        ("best_v", np.int64),  # the edge of least slack, -1 where there is none
        ("best_w", np.int64),
        ("to_v", np.int64),  # the edge of least slack from a blossom that is being made
        ("to_w", np.int64),
        ("parent", np.int64),
        ("base", np.int64),
        ("top", np.int64),  # of a vertex: the blossom that holds it and is in no other
        ("mate", np.int64),
        ("stamp", np.int64),  # order in which vertices were matched first
        ("dual", np.float64),
        ("children", np.int64),
        ("edges", np.int64),  # to other S-blossoms, of least slack; -1 where not known, as of vertices
    ]
)
_COUNTS = np.dtype(
    [("queued", np.int64), ("alive", np.int64), ("free", np.int64), ("stamps", np.int64), ("found", np.int64)]
)


_CHILD, _CHILD_V, _CHILD_W, _EDGE_V, _EDGE_W = range(5)
"""Of a blossom, in `_State.row`: its children, the edge from each to the next one, least-slack edges to others."""
_QUEUE, _ALIVE, _FREE, _LEAF, _STACK, _PATH, _HELD = range(7)
"""In `_State.list`: new S-vertices; blossoms in the order in which they were made; unused numbers; buffers."""


class _State(NamedTuple):
    """Vertices come first, then blossoms."""

    weight: FloatArray
    """To be made as large as possible."""
    node: Records
    count: Records
    allowed: BoolArray
    row: IntArray
    list: IntArray


def perfect_matching(weights: FloatArray) -> IntArray:
    """As `topologies.designers.matching.lightest_matching`; memory O(n^2)."""
    vertices = len(weights)
    off = ~np.eye(vertices, dtype=bool)
    weight = (1 + weights[off].max()) - weights
    blossoms = vertices // 2
    node = np.zeros(vertices + blossoms, dtype=_NODE)
    node["parent"] = node["mate"] = -1
    node["base"][:vertices] = node["top"][:vertices] = np.arange(vertices)
    node["dual"][:vertices] = weight[off].max()
    count = np.zeros(1, dtype=_COUNTS)
    count["free"] = blossoms
    lists = np.empty((7, len(node)), dtype=np.int64)
    lists[_FREE, :blossoms] = np.arange(vertices, vertices + blossoms)[::-1]
    _match(
        _State(
            np.ascontiguousarray(weight),
            node,
            count,
            np.zeros((vertices, vertices), dtype=bool),
            np.empty((5, blossoms, vertices + blossoms), dtype=np.int64),
            lists,
        )
    )
    mate, stamp = node["mate"][:vertices], node["stamp"][:vertices]
    first = np.flatnonzero(stamp < stamp[mate])
    return np.column_stack((first, mate[first]))


@compiled
def _match(s: _State) -> None:
    """Find the matching, one augmenting path after the other."""
    vertices, node, count = len(s.weight), s.node, s.count[0]
    while True:
        for b in range(len(node)):
            node[b].label = 0
            node[b].best_v = -1
            node[b].edges = -1
        for v in range(vertices):
            for w in range(vertices):
                s.allowed[v, w] = False
        count.queued = 0
        for v in range(vertices):
            if node[v].mate < 0 and not node[node[v].top].label:
                _assign(s, v, node[v].mate)
        if not _augmented(s):
            return
        # At the end of a stage, blossoms of no weight are dissolved: those inside others were made before these.
        alive = count.alive
        for k in range(alive):
            s.list[_HELD, k] = s.list[_ALIVE, k]
        for k in range(alive):
            b = s.list[_HELD, k]
            if node[b].parent < 0 and node[b].label == 1 and node[b].dual == 0:
                _dissolve(s, b)


@compiled
def _augmented(s: _State) -> bool:
    """Search for an augmenting path and take it; false where there is none."""
    vertices, node, count = len(s.weight), s.node, s.count[0]
    while True:
        while count.queued:
            count.queued -= 1
            v = s.list[_QUEUE, count.queued]
            for w in range(vertices):
                bv, bw = node[v].top, node[w].top
                if bv == bw:
                    continue
                slack = 0.0
                if not s.allowed[v, w]:
                    slack = _slack(s, v, w)
                    if slack <= 0:
                        s.allowed[v, w] = s.allowed[w, v] = True
                if s.allowed[v, w]:
                    if not node[bw].label:
                        _assign(s, w, v)
                    elif node[bw].label == 1:
                        base = _scan(s, v, w)
                        if base < 0:
                            _augment(s, v, w)
                            return True
                        _make(s, base, v, w)
                    elif not node[w].label:
                        node[w].label = 2
                        node[w].label_v, node[w].label_w = v, w
                elif node[bw].label == 1:
                    if node[bv].best_v < 0 or slack < _slack(s, node[bv].best_v, node[bv].best_w):
                        node[bv].best_v, node[bv].best_w = v, w
                elif not node[w].label and (
                    node[w].best_v < 0 or slack < _slack(s, node[w].best_v, node[w].best_w)
                ):
                    node[w].best_v, node[w].best_w = v, w
        chosen, delta, expands = -1, 0.0, False
        for v in range(vertices):
            if not node[node[v].top].label and node[v].best_v >= 0:
                d = _slack(s, node[v].best_v, node[v].best_w)
                if chosen < 0 or d < delta:
                    chosen, delta = v, d
        for k in range(vertices + count.alive):
            b = k if k < vertices else s.list[_ALIVE, k - vertices]
            if node[b].parent < 0 and node[b].label == 1 and node[b].best_v >= 0:
                d = _slack(s, node[b].best_v, node[b].best_w) / 2.0
                if chosen < 0 or d < delta:
                    chosen, delta = b, d
        for k in range(count.alive):
            b = s.list[_ALIVE, k]
            if node[b].parent < 0 and node[b].label == 2 and (chosen < 0 or node[b].dual < delta):
                chosen, delta, expands = b, node[b].dual, True
        if chosen < 0:
            return False
        for v in range(vertices):
            label = node[node[v].top].label
            if label == 1:
                node[v].dual -= delta
            elif label == 2:
                node[v].dual += delta
        for k in range(count.alive):
            b = s.list[_ALIVE, k]
            if node[b].parent < 0 and node[b].label == 1:
                node[b].dual += delta
            elif node[b].parent < 0 and node[b].label == 2:
                node[b].dual -= delta
        if expands:
            _expand(s, chosen)
        else:
            v, w = node[chosen].best_v, node[chosen].best_w
            s.allowed[v, w] = s.allowed[w, v] = True
            s.list[_QUEUE, count.queued] = v
            count.queued += 1


@compiled
def _slack(s: _State, v: int, w: int) -> float:
    """Twice the slack of an edge that is inside no blossom."""
    return float(s.node[v].dual + s.node[w].dual - 2 * s.weight[v, w])


@compiled
def _leaves(s: _State, b: int) -> int:
    """Put the vertices of a blossom into row `_LEAF`, those of its last child first; their number."""
    vertices, leaves, size = len(s.weight), 0, 1
    s.list[_STACK, 0] = b
    while size:
        size -= 1
        t = s.list[_STACK, size]
        if t < vertices:
            s.list[_LEAF, leaves] = t
            leaves += 1
        else:
            for k in range(s.node[t].children):
                s.list[_STACK, size] = s.row[_CHILD, t - vertices, k]
                size += 1
    return leaves


@compiled
def _assign(s: _State, w: int, v: int) -> None:
    """Label the blossom of vertex `w`: T where `v` reaches it, then S the one behind its base; S where `v` is -1.

    So a blossom that is reached along an edge of the matching is an S-blossom.
    """
    node, count = s.node, s.count[0]
    while True:
        b = node[w].top
        label = 2 if v >= 0 and node[v].mate != w else 1
        node[w].label = node[b].label = label
        node[w].label_v = node[b].label_v = v
        node[w].label_w = node[b].label_w = w
        node[w].best_v = node[b].best_v = -1
        if label == 1:
            break
        v = node[b].base
        w = node[v].mate
    for k in range(_leaves(s, b)):
        s.list[_QUEUE, count.queued] = s.list[_LEAF, k]
        count.queued += 1


@compiled
def _scan(s: _State, v: int, w: int) -> int:
    """Trace back from two S-vertices: the base of a new blossom, or -1 where the two make an augmenting path."""
    node, base, steps = s.node, -1, 0
    while v >= 0:
        b = node[v].top
        if node[b].label & 4:
            base = node[b].base
            break
        s.list[_PATH, steps] = b
        steps += 1
        node[b].label = 5
        v = node[b].label_v
        if v >= 0:
            v = node[node[v].top].label_v
        if w >= 0:
            v, w = w, v
    for k in range(steps):
        node[s.list[_PATH, k]].label = 1
    return base


@compiled
def _make(s: _State, base: int, v: int, w: int) -> None:
    """Make an S-blossom of the vertices on the circuit that the edge (v, w) closes."""
    vertices, node, count = len(s.weight), s.node, s.count[0]
    count.free -= 1
    b = s.list[_FREE, count.free]
    s.list[_ALIVE, count.alive] = b
    count.alive += 1
    row = b - vertices
    child, child_v, child_w = s.row[_CHILD, row], s.row[_CHILD_V, row], s.row[_CHILD_W, row]
    top, size = node[base].top, 0
    child_v[0], child_w[0] = v, w
    bv = node[v].top
    while bv != top:
        node[bv].parent = b
        child[size] = bv
        size += 1
        child_v[size], child_w[size] = node[bv].label_v, node[bv].label_w
        bv = node[node[bv].label_v].top
    child[size] = top
    size += 1
    for k in range(size // 2):
        other = size - 1 - k
        child[k], child[other] = child[other], child[k]
        child_v[k], child_v[other] = child_v[other], child_v[k]
        child_w[k], child_w[other] = child_w[other], child_w[k]
    bw = node[w].top
    while bw != top:
        node[bw].parent = b
        child[size] = bw
        child_v[size], child_w[size] = node[bw].label_w, node[bw].label_v
        size += 1
        bw = node[node[bw].label_v].top
    node[top].parent = b
    node[b].children, node[b].base = size, base
    node[b].label, node[b].dual = 1, 0.0
    node[b].label_v, node[b].label_w = node[top].label_v, node[top].label_w
    for k in range(_leaves(s, b)):
        v = s.list[_LEAF, k]
        if node[node[v].top].label == 2:
            s.list[_QUEUE, count.queued] = v
            count.queued += 1
        node[v].top = b
    _find_edges(s, b)


@compiled
def _find_edges(s: _State, b: int) -> None:
    """Edges of least slack from a new blossom to each other S-blossom, and the first of the least of these."""
    vertices, node = len(s.weight), s.node
    s.count[0].found = 0
    for k in range(len(node)):
        node[k].to_v = -1
    for k in range(node[b].children):
        c = s.row[_CHILD, b - vertices, k]
        if node[c].edges >= 0:
            for m in range(node[c].edges):
                _offer(s, b, s.row[_EDGE_V, c - vertices, m], s.row[_EDGE_W, c - vertices, m])
        else:
            for m in range(_leaves(s, c)):
                for w in range(vertices):
                    if w != s.list[_LEAF, m]:
                        _offer(s, b, s.list[_LEAF, m], w)
    node[b].edges, node[b].best_v = s.count[0].found, -1
    least = 0.0
    for k in range(node[b].edges):
        v, w = node[s.list[_PATH, k]].to_v, node[s.list[_PATH, k]].to_w
        s.row[_EDGE_V, b - vertices, k], s.row[_EDGE_W, b - vertices, k] = v, w
        slack = _slack(s, v, w)
        if node[b].best_v < 0 or slack < least:
            node[b].best_v, node[b].best_w = v, w
            least = slack


@compiled
def _offer(s: _State, b: int, v: int, w: int) -> None:
    """Keep an edge of the new blossom if it leads to an S-blossom with less slack than those before."""
    node, count = s.node, s.count[0]
    other = node[v].top if node[w].top == b else node[w].top
    if other == b or node[other].label != 1:
        return
    if node[other].to_v < 0:
        s.list[_PATH, count.found] = other
        count.found += 1
    elif _slack(s, v, w) >= _slack(s, node[other].to_v, node[other].to_w):
        return
    node[other].to_v, node[other].to_w = v, w


@compiled
def _free_children(s: _State, b: int) -> None:
    """Put the children of a blossom in no other one."""
    for k in range(s.node[b].children):
        c = s.row[_CHILD, b - len(s.weight), k]
        s.node[c].parent = -1
        for m in range(_leaves(s, c)):
            s.node[s.list[_LEAF, m]].top = c


@compiled
def _remove(s: _State, b: int) -> None:
    """Forget a blossom."""
    place, count = 0, s.count[0]
    while s.list[_ALIVE, place] != b:
        place += 1
    count.alive -= 1
    for k in range(place, count.alive):
        s.list[_ALIVE, k] = s.list[_ALIVE, k + 1]
    s.list[_FREE, count.free] = b
    count.free += 1


@compiled
def _dissolve(s: _State, b: int) -> None:
    """Expand a blossom at the end of a stage, with those of its children that have no weight."""
    vertices, size = len(s.weight), 1
    s.list[_PATH, 0] = b
    while size:
        size -= 1
        b = s.list[_PATH, size]
        _free_children(s, b)
        for k in range(s.node[b].children):
            c = s.row[_CHILD, b - vertices, k]
            if c >= vertices and s.node[c].dual == 0:
                s.list[_PATH, size] = c
                size += 1
        _remove(s, b)


@compiled
def _expand(s: _State, b: int) -> None:
    """Expand a T-blossom during a stage, and label its children."""
    vertices, node = len(s.weight), s.node
    row, size = b - vertices, node[b].children
    child, child_v, child_w = s.row[_CHILD, row], s.row[_CHILD_V, row], s.row[_CHILD_W, row]
    _free_children(s, b)
    entry = node[node[b].label_w].top
    j = 0
    while child[j] != entry:
        j += 1
    # From an odd place forwards, from an even one backwards, to the base.
    step, back = (1, 0) if j & 1 else (-1, 1)
    if step == 1:
        j -= size
    v, w = node[b].label_v, node[b].label_w
    while j:
        _assign(s, w, v)
        j += step
        at = (j - back) % size
        v, w = (child_w[at], child_v[at]) if back else (child_v[at], child_w[at])
        j += step
    # The base is labelled without its mate.
    base = child[0]
    node[w].label = node[base].label = 2
    node[w].label_v = node[base].label_v = v
    node[w].label_w = node[base].label_w = w
    j += step
    while child[j % size] != entry:
        c = child[j % size]
        j += step
        if node[c].label == 1:
            continue
        leaves, m = _leaves(s, c), 0
        while m < leaves - 1 and not node[s.list[_LEAF, m]].label:
            m += 1
        v = s.list[_LEAF, m]
        if node[v].label:
            _assign(s, v, node[v].label_v)
    _remove(s, b)


@compiled
def _augment(s: _State, v: int, w: int) -> None:
    """Swap matched and unmatched edges along the path through an edge between two S-vertices."""
    vertices, node = len(s.weight), s.node
    for side in range(2):
        a, mate = (w, v) if side else (v, w)
        while True:
            b = node[a].top
            if b >= vertices:
                _turn(s, b, a)
            _marry(s, a, mate)
            t = node[b].label_v
            if t < 0:
                break
            b = node[t].top
            a, mate = node[b].label_v, node[b].label_w
            if b >= vertices:
                _turn(s, b, mate)
            _marry(s, mate, a)


@compiled
def _marry(s: _State, v: int, mate: int) -> None:
    """Set the mate of a vertex, and note which was matched first."""
    if s.node[v].mate < 0:
        s.node[v].stamp = s.count[0].stamps
        s.count[0].stamps += 1
    s.node[v].mate = mate


@compiled
def _turn(s: _State, b: int, v: int) -> None:
    """Swap matched and unmatched edges in a blossom, so that vertex `v` becomes its base."""
    vertices, node, size = len(s.weight), s.node, 1
    s.list[_PATH, 0], s.list[_HELD, 0] = b, v
    while size:
        size -= 1
        b, v = s.list[_PATH, size], s.list[_HELD, size]
        row, children = b - vertices, node[b].children
        child, child_v, child_w = s.row[_CHILD, row], s.row[_CHILD_V, row], s.row[_CHILD_W, row]
        t = v
        while node[t].parent != b:
            t = node[t].parent
        if t >= vertices:
            s.list[_PATH, size], s.list[_HELD, size] = t, v
            size += 1
        first = 0
        while child[first] != t:
            first += 1
        step, back, j = (1, 0, first - children) if first & 1 else (-1, 1, first)
        while j:
            j += step
            at = (j - back) % children
            w, x = (child_w[at], child_v[at]) if back else (child_v[at], child_w[at])
            for end in range(2):
                t = child[(j + end * step) % children]
                if t >= vertices:
                    s.list[_PATH, size], s.list[_HELD, size] = t, x if end else w
                    size += 1
            j += step
            _marry(s, w, x)
            _marry(s, x, w)
        _rotate(child, children, first, s.list[_STACK])
        _rotate(child_v, children, first, s.list[_STACK])
        _rotate(child_w, children, first, s.list[_STACK])
        node[b].base = v


@compiled
def _rotate(row: IntArray, size: int, first: int, held: IntArray) -> None:
    """Let the first entries of a row begin at another place."""
    for k in range(size):
        held[k] = row[(first + k) % size]
    for k in range(size):
        row[k] = held[k]
