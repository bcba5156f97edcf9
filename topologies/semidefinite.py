"""Solutions of convex programs, checked."""

import warnings
from typing import Any

import numpy as np

from topologies.arrays import FloatArray
from topologies.errors import SilosimError


def solved(what: str, problem: Any, *values: Any, **options: Any) -> tuple[FloatArray, ...]:
    """Solve a cvxpy problem, and return the values of some of its variables or duals of its constraints.

    Parameters
    ----------
    what : str
        What is sought, for the message.
    problem : cvxpy.Problem
    *values : cvxpy.Variable or cvxpy.Constraint
    **options
        Of ``problem.solve``.

    Returns
    -------
    tuple of ndarray
        One for each of `values`. How accurate they are the caller must measure: warnings of the solver are dropped.

    Raises
    ------
    SilosimError
        If the solver fails, or leaves a value out or not finite.
    """
    # cvxpy takes a second to import, which most callers need not spend.
    import cvxpy

    failure = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            problem.solve(**options)
        except cvxpy.SolverError as error:
            failure = f": {str(error).splitlines()[0] if str(error) else 'no reason given'}"
    found = [value.dual_value if hasattr(value, "dual_value") else value.value for value in values]
    if failure or any(value is None or not np.all(np.isfinite(value)) for value in found):
        raise SilosimError(f"{what}: the solver found no solution (status {problem.status}{failure}).")
    return tuple(np.asarray(value, dtype=np.float64) for value in found)
