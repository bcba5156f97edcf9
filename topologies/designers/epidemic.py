"""Epidemic learning on a network: every silo sends to a few random others in each round."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.connectivity import Connectivity
from topologies.designers.all_pairs import require_all_pairs
from topologies.designers.node_order import reordered
from topologies.designers.options import DesignerOption
from topologies.errors import InputError
from topologies.label_order import silo_order
from topologies.periodic.epidemic import draw_targets, mean_contraction
from topologies.periodic.epidemic import epidemic as epidemic_state
from topologies.workload import Workload

Fanout = Annotated[
    int, DesignerOption(help="Random others to which each silo of epidemic sends in a round", at_least=1)
]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Epidemic:
    """Every silo sends to some random others; made by `epidemic`.

    Attributes
    ----------
    fanout : int
        How many.
    """

    kind: str
    graph: Connectivity
    work: Workload
    fanout: int

    def __repr__(self) -> str:
        """Kind, network, number of silos and fanout."""
        size = f"{self.graph.silos} silos, fanout {self.fanout}"
        return f"<Epidemic {self.kind} on {self.graph.underlay.name}: {size}>"

    @property
    def spectral_norm(self) -> float:
        """Of ``E[W^T W] - J`` with ``J = 1 1^T / silos``; see `topologies.periodic.epidemic.mean_contraction`."""
        return mean_contraction(self.graph.silos, self.fanout) ** 2

    @property
    def negative_weights(self) -> bool:
        """False: equal weights of all that arrives."""
        return False

    def draw(self, rng: np.random.Generator, _round: int, /) -> IntArray:
        """To whom each silo sends, by label, so that draws do not depend on numbers; shape (silos * fanout,)."""
        return draw_targets(self.graph.silos, self.fanout, rng).ravel()

    def arcs(self, choice: IntArray) -> tuple[IntArray, IntArray]:
        """Source and target of the arcs of a round, sorted by source, then target."""
        drawn = epidemic_state(choice.reshape(self.graph.silos, -1))
        (state,) = reordered([drawn], silo_order(self.graph))
        return state.source, state.target

    def consensus(self, source: IntArray, target: IntArray) -> FloatArray:
        """Each silo averages its own model and all that it receives with equal weights, shape (silos, silos)."""
        received = np.bincount(target, minlength=self.graph.silos)
        matrix = np.diag(1 / (1 + received))
        matrix[target, source] = 1 / (1 + received[target])
        return matrix


def epidemic(graph: Connectivity, work: Workload, *, fanout: Fanout = 1) -> Epidemic:
    """Epidemic learning: every silo sends to `fanout` random others in each round.

    Parameters
    ----------
    fanout : int
        At least 1, and below the number of silos.

    Raises
    ------
    InputError
        If some pair cannot talk, or `fanout` is out of its range.

    Notes
    -----
    See `topologies.periodic.epidemic.epidemic`, which names the source.
    """
    require_all_pairs("epidemic", graph)
    try:
        draw_targets(graph.silos, fanout, np.random.default_rng(0))  # checks fanout
    except InputError as error:
        raise error.located("epidemic") from None
    return Epidemic(kind="epidemic", graph=graph, work=work, fanout=fanout)
