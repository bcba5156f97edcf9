"""The experiment that a validation is asked for: how many rounds of which overlays."""

from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.config.overlay_config import OverlayConfig
from scenarios.simulation.experiment import Experiment
from simulator.statistics.confidence import rounds_for_interval
from topologies.errors import Field, InputError
from topologies.input_limits import MOST_VALIDATED_STARTS

DEFAULT_ROUNDS, RANDOMIZED_ROUNDS = 2000, 1000
"""Of static overlays, and of randomized ones, whose simulation takes longer."""
MOST_ROUNDS = 20_000
"""Of a simulation that ends when its confidence interval is narrow enough."""


def validation_experiment(
    experiment: Experiment,
    settings: Mapping[str, Any],
    *,
    overlays: Sequence[OverlayConfig] | None = None,
    seed: int | None = None,
    compute_times: str | None = None,
    from_scenario: bool,
) -> tuple[Experiment, int | None]:
    """Return the experiment with what a user asks for, and the rounds of randomized overlays where they are fewer.

    Parameters
    ----------
    experiment : Experiment
    settings, overlays, seed, compute_times
        As `Experiment.with_settings` takes them.
    from_scenario : bool
        Whether the experiment is a scenario's, whose rounds hold where the settings name none.

    Returns
    -------
    experiment : Experiment
    randomized_rounds : int or None
        None where they have the rounds of the others.

    Raises
    ------
    InputError
        As `Experiment.with_settings`, and for more rounds than `MOST_VALIDATED_STARTS` allows.
    """
    asked = experiment.with_settings(
        settings,
        overlays=overlays,
        seed=seed,
        most_rounds=MOST_ROUNDS,
        rounds=None if from_scenario else DEFAULT_ROUNDS,
        compute_times=compute_times,
    )
    silos, most = experiment.graph.silos, MOST_VALIDATED_STARTS // experiment.graph.silos
    if asked.simulation.rounds > most:
        raise InputError(
            f"of {silos:,} silos must be at most {most:,}: a validation keeps all rounds.",
            field=Field("rounds", value=asked.simulation.rounds),
        )
    if from_scenario or settings.get("rounds") is not None or settings.get("until_ci") is not None:
        return asked, None
    return asked, max(RANDOMIZED_ROUNDS, rounds_for_interval(experiment.graph.silos))
