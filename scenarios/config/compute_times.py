"""Computing times of a simulation, from a scenario or the command line."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from scenarios.config.scenario import validated
from scenarios.config.simulation import ComputeConfig
from simulator import ComputeTimes, Constant, Empirical, Exponential, Lognormal, Trace
from simulator.participating_times import ParticipatingTimes
from topologies import Connectivity, InputError, Workload
from topologies.arrays import FloatArray
from topologies.networks.csv_table import delimiter_of, with_point
from topologies.networks.labels import one_line
from topologies.plain_text import open_utf8

SAMPLES = "compute_s"
"""Head of the one column of a file of samples."""


def compute_times(
    config: ComputeConfig | None, graph: Connectivity, work: Workload, *, seed: int, rounds: int
) -> ComputeTimes | None:
    """Computing times of every silo in every round, 0 in those in which it does not take part.

    Parameters
    ----------
    config : ComputeConfig or None
    graph : Connectivity
    work : Workload
        Its computing time of a round is the mean of a distribution.
    seed : int
    rounds : int
        Of the simulation.

    Returns
    -------
    ComputeTimes or None
        None: the workload's constant ones.

    Raises
    ------
    InputError
        If a trace cannot be read, does not fit the silos, or is shorter than the simulation.
    """
    stated = _stated_times(config, graph, work, seed=seed, rounds=rounds)
    if work.participation is None:
        return stated
    compute = stated or Constant(compute_s=work.round_compute_s(graph.silos))
    return ParticipatingTimes(compute=compute, participation=work.participation, seed=seed)


def vary_at_random(config: ComputeConfig | None, work: Workload) -> bool:
    """Whether computing times differ from round to round, by the same draws on every overlay."""
    return config is not None or work.participation is not None


def _stated_times(
    config: ComputeConfig | None, graph: Connectivity, work: Workload, *, seed: int, rounds: int
) -> ComputeTimes | None:
    """Computing times of silos that take part; see `compute_times`."""
    if config is None or config.cv == 0:
        return None
    if config.trace is not None:
        return _read_trace(Path(config.trace), graph.labels, seed=seed, rounds=rounds, repeat=config.repeat)
    mean_s = work.round_compute_s(graph.silos)
    if config.distribution == "exponential":
        return Exponential(mean_s=mean_s, seed=seed)
    assert config.cv is not None
    return Lognormal(mean_s=mean_s, cv=config.cv, seed=seed)


def compute_config(text: str) -> ComputeConfig:
    """Configuration of an option such as ``lognormal 0.3``, ``exponential``, ``times.csv`` or ``times.csv repeat``.

    Raises
    ------
    InputError
        If the text is none of these.
    """
    name, *rest = text.split() or [""]
    values: dict[str, object]
    if name == "exponential" and not rest:
        values = {"distribution": name}
    elif name == "lognormal" and len(rest) == 1:
        try:
            values = {"distribution": name, "cv": float(rest[0])}
        except ValueError:
            raise InputError(f"compute_times(={text!r}): {rest[0]!r} must be a number.") from None
    elif text.removesuffix(" repeat").endswith(".csv"):
        values = {"trace": text.removesuffix(" repeat"), "repeat": text.endswith(" repeat")}
    else:
        raise InputError(
            f"compute_times(={text!r}) must be 'lognormal CV', 'exponential', 'FILE.csv' or 'FILE.csv repeat'."
        )
    return validated(ComputeConfig, values)


def computing_text(config: ComputeConfig | None, *, seed: int) -> str:
    """Computing times in few words: ``constant``, ``lognormal (cv 0.3)``, ``exponential``, ``trace times.csv``.

    Parameters
    ----------
    config : ComputeConfig or None
    seed : int
        Of what is drawn: a file of samples says how many there are, and the seed.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If a trace cannot be read.
    """
    if config is None:
        return "constant"
    if config.trace is not None:
        head, rows = _read_rows(Path(config.trace))
        if head == [SAMPLES]:
            return f"drawn from the {len(rows)} values of {config.trace}, seed {seed}"
        return f"trace {config.trace}{', repeated' if config.repeat else ''}"
    return f"{config.distribution}{'' if config.cv is None else f' (cv {config.cv:g})'}"


def _read_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a CSV file, without empty lines; numbers have decimal points."""
    try:
        with open_utf8(path) as file:
            text = file.read()
            delimiter = delimiter_of(text)
            head, *rows = [
                row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row
            ] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else "not CSV in UTF-8"
        raise InputError(f"cannot be read: {reason}.", source=str(path)) from None
    return [one_line(name) for name in head], [[with_point(cell, delimiter) for cell in row] for row in rows]


def _read_trace(path: Path, labels: Sequence[str], *, seed: int, rounds: int, repeat: bool) -> ComputeTimes:
    """Times of a CSV file: one column per silo, headed by its label, or one column of samples to draw from."""
    source = str(path)
    head, rows = _read_rows(path)
    is_samples = head == [SAMPLES]
    if is_samples and repeat:
        raise InputError(
            "repeat(=True) goes with a trace that has a column per silo; the values of one column are drawn at random.",
            source=source,
        )
    if not is_samples and sorted(head) != sorted(labels):
        odd = sorted(set(head) ^ set(labels)) or [name for name, count in Counter(head).items() if count > 1]
        raise InputError(
            f"its first line must be {SAMPLES!r} or the labels of all {len(labels)} silos, each once; "
            f"{(odd or ['?'])[0]!r} is not on both sides.",
            source=source,
        )
    table_s = np.empty((len(rows), len(head)))
    for number, row in enumerate(rows):
        try:
            table_s[number] = [float(cell) for cell in row]
        except ValueError:
            hint = (
                ""
                if len(row) <= len(head)
                else "; decimal commas need semicolons or tabs between the columns"
            )
            raise InputError(
                f"row {number + 1} must hold {len(head)} numbers, in seconds{hint}.", source=source
            ) from None
    _check_times(table_s, head, source)
    try:
        if is_samples:
            return Empirical(samples_s=table_s[:, 0], silos=len(labels), seed=seed)
        if len(rows) < rounds and not repeat:
            raise InputError(f"has {len(rows)} rows, but {rounds} rounds need as many, or repeat = true.")
        return Trace(table_s=table_s[:, [head.index(label) for label in labels]], repeat=repeat)
    except InputError as error:
        raise error.located(source) from None


def _check_times(table_s: FloatArray, head: Sequence[str], source: str) -> None:
    """Accept times that are finite and >= 0."""
    for row, column in np.argwhere(~(np.isfinite(table_s) & (table_s >= 0))).tolist():
        raise InputError(
            f"{head[column]!r} in row {row + 1}(={table_s[row, column]}) must be finite and >= 0.",
            source=source,
        )
