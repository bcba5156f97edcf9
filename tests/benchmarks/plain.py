"""The same algorithms in plain Python on networkx, as a yardstick for speed and for nothing else."""

import itertools

import networkx as nx


def connectivity_graph(routers, links, up_bps, model_bits, compute_s):
    """Complete graph with the symmetric delay of every pair, routes by networkx."""
    underlay = nx.Graph()
    underlay.add_nodes_from(range(routers))
    underlay.add_weighted_edges_from(links)
    paths = dict(nx.all_pairs_dijkstra_path(underlay))
    lengths = dict(nx.all_pairs_dijkstra_path_length(underlay))
    graph = nx.Graph()
    for i, j in itertools.combinations(range(routers), 2):
        hops = max(len(paths[i][j]) - 1, 1)
        latency_s = 0.0085e-3 * lengths[i][j] + 4e-3
        graph.add_edge(i, j, latency=latency_s, available=1e9 / hops)
        graph[i][j]["weight"] = compute_s + latency_s + model_bits / min(up_bps, 1e9 / hops)
    return graph


def delay(graph, i, j, out, into, up_bps, model_bits, compute_s):
    """Eq. 3."""
    rate = min(up_bps / out[i], up_bps / into[j], graph[i][j]["available"])
    return compute_s + graph[i][j]["latency"] + model_bits / rate


def cycle_time(digraph):
    """Karp's theorem, with loops."""
    nodes = list(digraph)
    walk = {0: {node: (0.0 if node == nodes[0] else float("-inf")) for node in nodes}}
    for k in range(1, len(nodes) + 1):
        walk[k] = {
            node: max(
                (walk[k - 1][u] + digraph[u][node]["delay"] for u in digraph.predecessors(node)), default=0.0
            )
            for node in nodes
        }
    n = len(nodes)
    return max(
        min((walk[n][node] - walk[k][node]) / (n - k) for k in range(n))
        for node in nodes
        if walk[n][node] > float("-inf")
    )


def overlay_cycle_time(graph, arcs, up_bps, model_bits, compute_s):
    """Cycle time of an overlay whose arcs all carry one token."""
    digraph = nx.DiGraph(arcs)
    out, into = dict(digraph.out_degree()), dict(digraph.in_degree())
    for i, j in arcs:
        digraph[i][j]["delay"] = delay(graph, i, j, out, into, up_bps, model_bits, compute_s)
    for node in list(digraph):
        digraph.add_edge(node, node, delay=compute_s)
    return cycle_time(digraph)


def delta_prim(graph, delta):
    """Prim's algorithm on nodes of degree below delta."""
    tree = nx.Graph()
    tree.add_node(0)
    while len(tree) < len(graph):
        candidates = (
            (graph[u][v]["weight"], u, v)
            for u in tree
            if tree.degree(u) < delta
            for v in graph
            if v not in tree
        )
        _, u, v = min(candidates)
        tree.add_edge(u, v)
    return tree


def both_ways(edges):
    """Arcs in both directions."""
    return [arc for i, j in edges for arc in ((i, j), (j, i))]


def four_designers(graph, up_bps, model_bits, compute_s, deltas):
    """Cycle times of STAR, MST, delta-MBST and RING."""
    common = (up_bps, model_bits, compute_s)
    nx.load_centrality(graph, weight="latency")
    others = [i for i in graph if i != 0]
    share = up_bps / len(others)
    one_way = {i: graph[0][i]["latency"] + model_bits / min(share, graph[0][i]["available"]) for i in others}
    star = max(compute_s + 2 * one_way[i] for i in others)
    mst = nx.minimum_spanning_tree(graph)
    trees = [mst, *(delta_prim(graph, delta) for delta in deltas)]
    times = [overlay_cycle_time(graph, both_ways(tree.edges), *common) for tree in trees]
    tour = nx.approximation.christofides(graph)
    ring = overlay_cycle_time(graph, list(itertools.pairwise(tour)), *common)
    return star, times[0], min(times), ring
