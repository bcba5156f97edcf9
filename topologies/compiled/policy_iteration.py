"""Steps of Howard's policy iteration: the values of a policy, and a better policy."""

from math import inf

from topologies.arrays import FloatArray, IntArray
from topologies.jit import compiled


@compiled
def find_values(
    target: IntArray,
    delay: FloatArray,
    tokens: FloatArray,
    policy: IntArray,
    doublings: int,
    old: FloatArray,
    ratio: FloatArray,
    value: FloatArray,
    follow: IntArray,
    jump: IntArray,
    lowest: IntArray,
    whole: IntArray,
    delays: FloatArray,
    counts: FloatArray,
) -> None:
    """Fill in the ratio and value of every node when each follows its policy arc; a circuit's root keeps its old value.

    Parameters
    ----------
    target, delay, tokens : ndarray, shape (arcs,)
    policy : ndarray of int, shape (nodes,)
        An arc out of each node.
    doublings : int
        At least the logarithm of the number of nodes: each doubles the steps along the policy.
    follow, jump, lowest, whole : ndarray of int, shape (nodes,)
        Buffers.
    delays, counts : ndarray, shape (nodes,)
        Buffers.
    """
    nodes = len(policy)
    for node in range(nodes):
        follow[node] = jump[node] = target[policy[node]]
        lowest[node] = min(node, follow[node])
        delays[node] = counts[node] = 0.0
    for _ in range(doublings):
        for node in range(nodes):
            whole[node] = min(lowest[node], lowest[jump[node]])
        for node in range(nodes):
            lowest[node] = whole[node]
        for node in range(nodes):
            whole[node] = jump[jump[node]]
        for node in range(nodes):
            jump[node] = whole[node]
    # Where all jumps end are the circuits; the root of each is its lowest node.
    for node in range(nodes):
        whole[node] = 0
    for node in range(nodes):
        whole[jump[node]] = 1
        jump[node] = lowest[jump[node]]
    for node in range(nodes):
        if whole[node]:
            delays[jump[node]] += delay[policy[node]]
            counts[jump[node]] += tokens[policy[node]]
    for node in range(nodes):
        root = jump[node]
        ratio[node] = delays[root] / counts[root]
        value[node] = delay[policy[node]] - ratio[node] * tokens[policy[node]]
    for node in range(nodes):
        value[jump[node]], follow[jump[node]] = 0.0, jump[node]
    for _ in range(doublings):
        for node in range(nodes):
            delays[node], whole[node] = value[node] + value[follow[node]], follow[follow[node]]
        for node in range(nodes):
            value[node], follow[node] = delays[node], whole[node]
    for node in range(nodes):
        value[node] += old[jump[node]]


@compiled
def improve_policy(
    target: IntArray,
    delay: FloatArray,
    tokens: FloatArray,
    first: IntArray,
    ratio: FloatArray,
    value: FloatArray,
    noise: float,
    policy: IntArray,
) -> bool:
    """Give nodes a better arc, the first of the best ones: to a larger ratio, else of a larger value; whether any has.

    Arcs are sorted by source; those of a node begin at its entry of `first`.
    """
    changed = False
    for node in range(len(policy)):
        end = first[node + 1] if node + 1 < len(policy) else len(target)
        best = first[node]
        for arc in range(best, end):
            if ratio[target[arc]] > ratio[target[best]]:
                best = arc
        if ratio[target[best]] > ratio[node] + noise:
            policy[node] = best
            changed = True
    if changed:
        return True
    for node in range(len(policy)):
        end = first[node + 1] if node + 1 < len(policy) else len(target)
        best, most = first[node], -inf
        for arc in range(best, end):
            there = target[arc]
            gain = delay[arc] - ratio[node] * tokens[arc] + value[there]
            if ratio[there] >= ratio[node] - noise and gain > most:
                best, most = arc, gain
        if most > value[node] + noise:
            policy[node] = best
            changed = True
    return changed
