"""What the words of the pages mean, for colleagues who do not know the paper."""

from scenarios.pages.provenance import origin_list

_WORDS = {
    "silo": "A site with its own data, such as a hospital. It trains a model on them and sends only the model.",
    "overlay": "Who sends its model to whom in a round. In a STAR all exchange models with one site, the hub.",
    "mst, delta_mbst": "Trees: one of least delays in all, and one that also keeps the number of neighbours small.",
    "ring, christofides": "Each silo sends to the next, around a ring through all of them.",
    "matcha": "Random pairs exchange models in each round; other pairs in the next.",
    "periodic, state": "A periodic overlay (base, multigraph, hierarchical, best_periodic, ...) has a sequence of "
    "states, each with arcs of its own. Rounds go through them one after the other.",
    "lag": "How many rounds old a model is that is mixed in. 1: that of the same round.",
    "arc": "One silo sending its model to another.",
    "round": "Each silo computes, sends its model, and waits for the models of its neighbours.",
    "cycle time": "Mean time of a round, once the first rounds are over.",
    "the paper": 'Marfoq, Xu, Neglia, Vidal, "Throughput-Optimal Topology Design for Cross-Silo Federated Learning", '
    "NeurIPS 2020.",
    "closed form": "A formula for the cycle time, without a simulation. There are three: paper, serialized, load.",
    "paper": "Cycle time by Eq. 3 to 5 of the paper: the slowest circuit of arcs sets the pace.",
    "serialized": "As paper, and an arc sends one model after the other.",
    "load": "Time that the busiest link needs for the models of a round. A round cannot be shorter.",
    "critical circuit": "The circuit of arcs that sets the pace by paper. Only what makes it faster shortens a round.",
    "access link": "Between a silo and the network. Uplink: away from the silo; downlink: towards it.",
    "core link": "Between two places of the network.",
    "corrected": "A network with true link lengths and the capacities that its file states; published has those of the "
    "paper.",
    "maxmin, equal": "How simulated messages share links: max-min fairly, or at the constant rates of Eq. 3.",
    "rtt_weighted": "Messages that share a link get parts of it in inverse proportion to the time that their routes "
    "take.",
    "fifo, overlap": "Whether an arc sends one model after the other, or sends several at once.",
    "seed": "Decides all that is drawn: partition, initial model, order of samples, arcs and times that are random.",
    "compressed message": "A part of the model or rough numbers of it, in place of all: the largest numbers (top_k), "
    "some that are drawn (random_k), rounded ones (qsgd), signs (sign).",
    "engine": "The program that simulates: simpy (every job) or compiled (fast, where the network does not change).",
    "~": "An estimate; all other times are exact.",
}


def glossary() -> str:
    """Words and their meanings, folded."""
    return f"<details><summary>Words used here</summary>{origin_list(_WORDS)}</details>"
