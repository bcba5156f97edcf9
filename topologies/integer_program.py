"""Mixed-integer programs, solved by HiGHS without a word on standard output."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from topologies.native_output import no_native_output

Rule = tuple[csr_array, ArrayLike, ArrayLike]
"""A matrix, and what its product with the solution is at least and at most."""


def solve_program(
    cost: ArrayLike,
    rules: Sequence[Rule],
    *,
    integrality: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    nodes: int,
    **options: float,
) -> Any:
    """Result of `scipy.optimize.milp`.

    Parameters
    ----------
    cost : array_like, shape (n,)
        What is minimised.
    rules : sequence of Rule
    integrality : array_like, shape (n,)
        1 for variables that are whole.
    low, high : array_like, shape (n,)
        Bounds of the variables.
    nodes : int
        Most branch-and-bound nodes: a count, no time, so that every machine finds the same answer.
    **options : float
        Further ones of the solver.
    """
    # Here since it takes long to import, and few commands solve one.
    from scipy import optimize

    scipy: Any = optimize  # its types lack options of the solver
    with no_native_output():
        return scipy.milp(
            cost,
            integrality=integrality,
            bounds=scipy.Bounds(low, high),
            constraints=[scipy.LinearConstraint(*rule) for rule in rules],
            options={"node_limit": nodes, **options},
        )
