"""Howard's policy iteration in plain Python dicts, as a yardstick for speed and for the result."""

from collections import deque


def cycle_time(arcs):
    """Largest mean delay over the circuits of a strong digraph; arcs are (source, target, delay)."""
    out = {}
    for source, target, delay in arcs:
        out.setdefault(source, []).append((target, delay))
    policy = {u: max(after, key=lambda arc: arc[1]) for u, after in out.items()}
    value = dict.fromkeys(out, 0.0)
    while True:
        mean, start = best_circuit(policy)
        evaluate(policy, value, mean, start)
        improved = False
        for u, after in out.items():
            for v, delay in after:
                excess = delay - mean + value[v] - value[u]
                if excess > 1e-12:
                    value[u] += excess
                    policy[u] = (v, delay)
                    improved = True
        if not improved:
            return mean


def best_circuit(policy):
    """Largest mean delay of the circuits that the policy makes, and one of its nodes."""
    visited, best = {}, (float("-inf"), None)
    for origin in policy:
        path, node = [], origin
        while node not in visited:
            visited[node] = origin
            path.append(node)
            node = policy[node][0]
        if visited[node] == origin:
            circuit = path[path.index(node) :]
            best = max(best, (sum(policy[u][1] for u in circuit) / len(circuit), node))
    return best


def evaluate(policy, value, mean, start):
    """Set the values of the nodes whose policy leads to `start`."""
    into = {}
    for u, (v, _) in policy.items():
        into.setdefault(v, []).append(u)
    waiting, seen = deque([start]), {start}
    while waiting:
        v = waiting.popleft()
        for u in into.get(v, ()):
            if u not in seen:
                value[u] = value[v] + policy[u][1] - mean
                seen.add(u)
                waiting.append(u)
