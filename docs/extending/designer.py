"""A designer with an option: each silo sends to the next ones in the order of silos.

Register it in your package, under the kind that its overlays have::

    [project.entry-points."silosim.designers"]
    circulant = "my_package.designer:circulant"

Then ``silosim design geant --kind circulant --degree 3`` knows it, and so do scenarios::

    [overlays]
    kinds = ["ring", "circulant"]
    circulant = { degree = 3 }

A designer of randomized overlays goes to ``silosim.random_designers``, one of periodic overlays to
``silosim.periodic_designers``. A parameter that is annotated as `topologies.designers.options.Seed` receives the seed
of the scenario.
"""

from typing import Annotated

from topologies import build_overlay
from topologies.designers.options import DesignerOption

Degree = Annotated[int, DesignerOption(help="Models that a silo sends per round", at_least=1)]


def circulant(graph, work, *, degree: Degree = 2):
    """Circulant digraph: silo `i` sends to ``i + 1``, ..., ``i + degree``, modulo the number of silos."""
    steps = range(1, min(degree, graph.silos - 1) + 1)
    arcs = [(i, (i + step) % graph.silos) for i in range(graph.silos) for step in steps]
    return build_overlay("circulant", graph, work, arcs)
