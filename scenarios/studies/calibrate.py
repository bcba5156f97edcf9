"""The computing time of a local step of a scenario's training, measured and written back."""

import datetime
from pathlib import Path

from scenarios.config.compute_times import SAMPLES
from scenarios.config.error_context import in_stated_table
from scenarios.config.network import build_network
from scenarios.config.quantities import digits, format_s, in_unit, time_unit
from scenarios.config.scenario import Scenario, parse_scenario
from scenarios.config.silo_places import silo_places
from scenarios.config.toml_edit import with_compute
from scenarios.report.tables import Column, Row, Table, note_lines
from topologies import InputError
from topologies.plain_text import utf8_text
from topologies.quantities import parse_quantity
from training import BUILT_IN_BACKEND, TrainingConfig
from training.step_time import StepTimes, measure_step


def check_training(scenario: Scenario) -> TrainingConfig:
    """Return the training of a scenario, if its steps can be measured.

    Raises
    ------
    InputError
        If nothing is trained, or by another backend than the built-in one.
    """
    training = scenario.training
    if training is None:
        raise InputError("calibrate needs a [training] table, whose local step it measures.")
    if training.backend != BUILT_IN_BACKEND:
        raise InputError(
            f"training.backend(={training.backend!r}) must be {BUILT_IN_BACKEND!r}: "
            "calibrate measures its local step only."
        )
    return training


def measure(scenario: Scenario, *, steps: int, silos: int) -> list[StepTimes]:
    """Measure the local step of one silo alone, and that of several on one rank.

    Parameters
    ----------
    scenario : Scenario
        With a training.
    steps : int
        How many steps are measured of each.
    silos : int
        Silos on one rank, >= 1; with 1, nothing is measured beside one silo alone.

    Returns
    -------
    list of StepTimes
        Of one silo, and of `silos` if they are more.

    Raises
    ------
    InputError
        If the training cannot be built, or there are fewer silos.
    MachineError
        If the device is not there, or not the memory.
    """
    training = check_training(scenario)
    graph = build_network(scenario.network)
    if not 1 <= silos <= graph.silos:
        raise InputError(f"silos(={silos}) must be >= 1 and <= {graph.silos}, the silos of the network.")
    places = silo_places(graph, training)
    # The most silos first: whether they fit into memory shows before anything is measured.
    with in_stated_table("training", TrainingConfig):
        measured = [
            measure_step(
                training,
                seed=scenario.seed,
                steps=steps,
                silos=count,
                silo_places=None if places is None else places[:count],
            )
            for count in ([1] if silos == 1 else [silos, 1])
        ]
    return measured[::-1]


def calibration_table(scenario: Scenario, measured: list[StepTimes]) -> Table:
    """Table of measured steps.

    Parameters
    ----------
    scenario : Scenario
    measured : list of StepTimes
        As `measure` returns them.

    Returns
    -------
    Table
        One row for each; the first one's median is the computing time of the workload.
    """
    training = check_training(scenario)
    rows = [_row(times, training) for times in measured]
    unit = time_unit(max(row["upper_quartile_s"] for row in rows))
    alone = measured[0]
    notes = [
        f"T_c, the computing time of a local step: {format_s(alone.median_s)}, the median of one silo's step alone, as "
        "every silo of the paper's model has hardware of its own. A step reads its batch, runs the model forward and "
        "backward, and updates the parameters.",
        *(
            [f"per silo: a step of {measured[-1].silos} silos on one rank, divided by {measured[-1].silos}."]
            if len(measured) > 1
            else []
        ),
        _stated(scenario, alone.median_s),
        *(f"{_silos(times.silos)}: {notice}." for times in measured for notice in times.notices),
    ]
    return Table(
        caption=f"{scenario.name}: {training.model} on {training.dataset}, batch size {training.batch_size}, "
        f"{training.optimizer}\n{alone.hardware}",
        columns=(
            Column(key="silos", title="silos"),
            Column(key="steps", title="steps"),
            *(
                Column(key=key, title=f"{title}\n{unit}", show=lambda s: digits(in_unit(s, unit)))
                for key, title in (
                    ("median_s", "median"),
                    ("lower_quartile_s", "25 %"),
                    ("upper_quartile_s", "75 %"),
                    ("per_silo_s", "per silo"),
                )
            ),
            Column(key="samples_per_s", title="samples\n/s", show=digits),
        ),
        rows=rows,
        notes=note_lines(*notes),
    )


def calibrated_text(text: str, times: StepTimes, *, source: str, date: datetime.date) -> str:
    """Return the text of a scenario with the measured computing time and a comment that says how it was measured.

    Parameters
    ----------
    text : str
        The scenario's TOML.
    times : StepTimes
        Of one silo alone.
    source : str
        The file, for error messages.
    date : datetime.date
        The day of the measurement.

    Returns
    -------
    str
        As `scenarios.config.toml_edit.with_compute` returns it.

    Raises
    ------
    InputError
        If the text has ``[workload]`` in a form that is not understood.
    """
    measured = f"{times.hardware}, median of {len(times.times_s)} steps, {date.isoformat()}"
    changed = with_compute(text, times.median_s, measured, source=source)
    parse_scenario(changed, source=source)
    return changed


def round_times_csv(scenario: Scenario, times: StepTimes) -> str:
    """Return the measured computing times of rounds as a trace for simulations.

    Parameters
    ----------
    scenario : Scenario
        Says how many local steps a round has.
    times : StepTimes
        Of one silo alone.

    Returns
    -------
    str
        CSV with the column ``compute_s``, in seconds: sums of the steps of a round, one after the other; steps that
        fill no round are left out.

    """
    steps = scenario.workload.local_steps
    rounds = len(times.times_s) // steps
    sums_s = times.times_s[: rounds * steps].reshape(rounds, steps).sum(axis=1)
    return "\n".join([SAMPLES, *(repr(float(total_s)) for total_s in sums_s)]) + "\n"


def read_text(path: Path) -> str:
    """Return a scenario's text with its line ends as they are; it was read without an error before."""
    return utf8_text(path.read_bytes(), str(path))


def _row(times: StepTimes, training: TrainingConfig) -> Row:
    """Fields of one measurement."""
    lower_s, upper_s = times.quartiles_s
    return {
        "silos": times.silos,
        "steps": len(times.times_s),
        "median_s": times.median_s,
        "lower_quartile_s": lower_s,
        "upper_quartile_s": upper_s,
        "per_silo_s": times.median_s / times.silos,
        "samples_per_s": times.silos * training.batch_size / times.median_s,
        "hardware": times.hardware,
    }


def _silos(count: int) -> str:
    """So many silos."""
    return f"{count} silo{'' if count == 1 else 's'}"


def _stated(scenario: Scenario, median_s: float) -> str:
    """The scenario's own computing time beside the measured one."""
    if scenario.workload.compute is None:
        source = scenario.workload.preset
        return "The scenario states no computing time" + (f" but that of preset {source}." if source else ".")
    stated_s = parse_quantity("compute", scenario.workload.compute, "s", zero=True)
    ratio = f", {digits(stated_s / median_s)} times the measured one" if median_s else ""
    return f"The scenario states {format_s(stated_s)}{ratio}."
