"""The case that a validation is asked for: how many rounds of which overlays."""

from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.simulation.case import Case
from scenarios.simulation.cycle_time import rounds_for_interval

DEFAULT_ROUNDS, DRAWN_ROUNDS = 2000, 1000
"""Of static overlays, and of randomized ones, whose simulation takes longer."""
MOST_ROUNDS = 20_000
"""Of a simulation that ends when its confidence interval is narrow enough."""


def validation_case(
    case: Case,
    settings: Mapping[str, Any],
    *,
    kinds: Sequence[str] | None = None,
    seed: int | None = None,
    compute_times: str | None = None,
    from_scenario: bool,
) -> tuple[Case, int | None]:
    """Return the case with what a user asks for, and the rounds of randomized overlays where they are fewer.

    Parameters
    ----------
    case : Case
    settings, kinds, seed, compute_times
        As `Case.with_settings` takes them.
    from_scenario : bool
        Whether the case is a scenario's, whose rounds hold where the settings name none.

    Returns
    -------
    case : Case
    drawn_rounds : int or None
        None where they have the rounds of the others.

    Raises
    ------
    InputError
        As `Case.with_settings`.
    """
    asked = case.with_settings(
        settings,
        kinds=kinds,
        seed=seed,
        most_rounds=MOST_ROUNDS,
        rounds=None if from_scenario else DEFAULT_ROUNDS,
        compute_times=compute_times,
    )
    if from_scenario or settings.get("rounds") is not None or settings.get("until_ci") is not None:
        return asked, None
    return asked, max(DRAWN_ROUNDS, rounds_for_interval(case.graph.silos))
