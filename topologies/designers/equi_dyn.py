"""EquiTopo's one-peer digraph on a network: one random shift in each round."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from topologies.arrays import FloatArray, IntArray, freeze
from topologies.connectivity import Connectivity
from topologies.delays import pair_delays
from topologies.designers.all_pairs import require_all_pairs
from topologies.designers.node_order import node_order, reordered
from topologies.designers.options import DesignerOption
from topologies.designers.placed import Order
from topologies.periodic.equi_dyn import ETA, draw_shift, mean_contraction
from topologies.periodic.equi_dyn import equi_dyn as equi_dyn_state
from topologies.workload import Workload

Eta = Annotated[float, DesignerOption(help="Share of the shift in a round of equi_dyn", above=0, at_most=1)]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class EquiDyn:
    """Every silo sends to the one some places ahead, as many as each round draws; made by `equi_dyn`.

    Attributes
    ----------
    order : ndarray of int, shape (silos,)
        The silo in each place.
    eta : float
        Share of the shift.
    """

    kind: str
    graph: Connectivity
    work: Workload
    order: IntArray
    eta: float

    def __repr__(self) -> str:
        """Kind, network and number of silos."""
        return (
            f"<EquiDyn {self.kind} on {self.graph.underlay.name}: {self.graph.silos} silos, eta {self.eta:g}>"
        )

    @property
    def spectral_norm(self) -> float:
        """Of ``E[W^T W] - J`` with ``J = 1 1^T / silos``; see `topologies.periodic.equi_dyn.mean_contraction`."""
        return mean_contraction(self.graph.silos, eta=self.eta) ** 2

    @property
    def negative_weights(self) -> bool:
        """False: weights are `eta` times a share, and what that leaves of 1."""
        return False

    def draw(self, rng: np.random.Generator, _round: int, /) -> IntArray:
        """The shift of the round, shape (1,)."""
        return np.array([draw_shift(self.graph.silos, rng)], dtype=np.int64)

    def arcs(self, choice: IntArray) -> tuple[IntArray, IntArray]:
        """Source and target of the arcs of a shift, sorted by source; a single silo has none."""
        (state,) = reordered([equi_dyn_state(self.graph.silos, int(choice[0]), eta=self.eta)], self.order)
        return state.source, state.target

    def consensus(self, source: IntArray, target: IntArray) -> FloatArray:
        """Each silo's own model and that of the one it receives, shape (silos, silos)."""
        silos = self.graph.silos
        matrix = np.eye(silos)
        share = self.eta * (silos - 1) / silos
        matrix[target, target] = 1 - share
        matrix[target, source] = share
        return matrix


def equi_dyn(
    graph: Connectivity, work: Workload, *, eta: Eta = ETA, order: Order = "none", seed: int = 0
) -> EquiDyn:
    """EquiTopo's OD-EquiDyn: every silo sends to the one a random shift ahead of it.

    Parameters
    ----------
    eta : float
        Above 0 and at most 1.
    order : {"none", "tour", "searched"}
        Which silo stands where; ``"searched"`` looks for a small mean of the slowest arc over all shifts.
    seed : int
        Of the search for an order.

    Raises
    ------
    InputError
        If some pair cannot talk, or an option is wrong.

    Notes
    -----
    See `topologies.periodic.equi_dyn.equi_dyn`, which names the source.
    """
    require_all_pairs("equi_dyn", graph)
    equi_dyn_state(graph.silos, min(1, graph.silos - 1), eta=eta)  # checks eta
    delay_s = pair_delays(graph, work)
    places = np.arange(graph.silos)
    ahead = (places[np.newaxis] + places[1:, np.newaxis]) % graph.silos

    def barrier_s(order: IntArray) -> float:
        return float(delay_s[order, order[ahead]].max(axis=1).mean())

    found = node_order(order, graph, work, cycle_time_s=barrier_s, seed=seed)
    freeze(found)
    return EquiDyn(kind="equi_dyn", graph=graph, work=work, order=found, eta=eta)
