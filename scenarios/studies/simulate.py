"""Some overlays simulated and compared: cycle times, busiest links, differences on the same computing times."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from scenarios.case import Case
from scenarios.designed import design_any, forms_of
from scenarios.network import describe
from scenarios.new_file import new_file
from scenarios.simulated import SimulationWriter, allocate, file_bytes
from scenarios.store import write_head, write_overlay
from scenarios.studies.simulation import Outcome, job_of, run_job
from scenarios.tables import Column, Row, Table, note_lines
from scenarios.units import TIME_UNITS, digits, format_s, in_unit, parse_share
from simulator.confidence import least_rounds, paired_difference
from topologies import Overlay, RandomOverlay
from topologies.statistics import ConfidenceInterval

BUSIEST = 3


def simulate_table(
    case: Case,
    *,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    path: Path | None = None,
    force: bool = False,
) -> Table:
    """Simulate the overlays of a case.

    Parameters
    ----------
    case : Case
    options : mapping from kind to mapping
        Options of designers.
    path : Path, optional
        HDF5 file to write, with the schema of a run.
    force : bool
        Whether an existing file is replaced.

    Returns
    -------
    Table
        One row for each overlay. Where computing times are random, ``difference_s`` is the cycle time minus that of
        the first overlay, which has the same computing times.

    Raises
    ------
    InputError
        If an overlay cannot be designed or simulated, or the file cannot be written.
    """
    settings, seed = case.simulation, case.seed
    overlays = [design_any(kind, case.graph, case.work, (options or {}).get(kind)) for kind in case.kinds]
    jobs = [job_of(overlay, settings, rounds=settings.rounds, seed=seed) for overlay in overlays]
    target: AbstractContextManager[h5py.File | None] = (
        nullcontext()
        if path is None
        else new_file(path, size_bytes=file_bytes(jobs, messages=settings.messages), force=force)
    )
    outcomes: list[Outcome] = []
    with target as file:
        if file is not None:
            write_head(
                file,
                scenario=case.text,
                network=case.network,
                seed=seed,
                graph=case.graph,
                work=case.work,
            )
            for overlay, job in zip(overlays, jobs, strict=True):
                write_overlay(file, overlay, job, forms_of(overlay, seed))
                allocate(file, overlay.kind, job, messages=settings.messages)
        for overlay, job in zip(overlays, jobs, strict=True):
            writer = None if file is None else SimulationWriter(file, overlay.kind)
            outcomes.append(run_job(job, overlay.kind, until_ci=settings.until_ci, writer=writer))
    rows = [
        _row(overlay, outcome, None if settings.compute is None or outcome is outcomes[0] else outcomes[0])
        for overlay, outcome in zip(overlays, outcomes, strict=True)
    ]
    paired = settings.compute is not None and len(rows) > 1
    return Table(
        caption=f"{describe(case.graph, case.work)}\n{_how(case)}",
        columns=(
            Column(key="overlay", title="overlay"),
            Column(key="cycle_time", title="cycle time"),
            Column(key="rounds", title="rounds", show="{:,}".format),
            *([Column(key="difference", title=f"minus {rows[0]['overlay']}")] if paired else []),
            Column(key="messages_per_s", title="models/s", show=lambda rate: f"{float(f'{rate:.3g}'):,.0f}"),
        ),
        rows=rows,
        notes=note_lines(
            *(f"{row['overlay']}'s busiest links: {_busiest(row)}." for row in rows),
            *_explanations(rows, paired, case.graph.silos),
            *_too_wide(rows, settings.until_ci),
        ),
    )


def _row(overlay: Overlay | RandomOverlay, outcome: Outcome, first: Outcome | None) -> dict[str, object]:
    """Fields of one overlay; `cycle_time` and `difference` are texts for people."""
    steady, half_s = outcome.steady, outcome.half_width_s
    difference = (
        None
        if first is None
        else paired_difference(outcome.mean_start_s, first.mean_start_s, silos=overlay.graph.silos)
    )
    capacity_bps = overlay.graph.link_capacity_bps
    utilisation = outcome.link_bits / (capacity_bps * outcome.now_s) if outcome.now_s else 0 * capacity_bps
    busiest = np.argsort(-utilisation, kind="stable")[:BUSIEST].tolist()
    links = [
        field
        for place, link in enumerate(busiest, start=1)
        for field in (
            (f"busiest_link_{place}", overlay.graph.link_name(link)),
            (f"utilisation_{place}", float(utilisation[link])),
        )
    ]
    return {
        "overlay": outcome.kind,
        "cycle_time": _cycle_time(outcome),
        "cycle_time_s": steady.cycle_time_s,
        "half_width_s": half_s,
        "is_exact": steady.is_exact,
        "period_s": steady.period_s,
        "period_rounds": steady.period_rounds,
        "transient_rounds": steady.transient_rounds,
        "rounds": outcome.rounds,
        "simulated_s": outcome.now_s,
        "difference": None if difference is None else _plus_minus(difference, sign="+"),
        "difference_s": None if difference is None else difference.mean,
        "difference_half_width_s": None if difference is None else difference.half_width,
        "messages": outcome.messages,
        "messages_per_s": outcome.messages / outcome.wall_s,
        **dict(links),
    }


def _cycle_time(outcome: Outcome) -> str:
    """``86.31 ms = 604.2 ms / 7 rounds``, ``86.31 ms +- 0.12``, or ``about 86.31 ms``."""
    steady = outcome.steady
    if outcome.interval is not None:
        return _plus_minus(outcome.interval)
    text = format_s(steady.cycle_time_s)
    if not steady.is_exact:
        return f"about {text}"
    if steady.period_s is None or steady.period_rounds in (None, 1):
        return text
    return f"{text} = {format_s(steady.period_s)} / {steady.period_rounds} rounds"


def _plus_minus(interval: ConfidenceInterval, sign: str = "") -> str:
    """Mean and half width, each in its unit, with a plus sign where differences have one."""
    mean_s, half_s = interval.mean, interval.half_width
    plus = sign if mean_s > 0 else "-" if mean_s < 0 else ""
    unit = next((unit for unit in TIME_UNITS if in_unit(half_s, unit) >= 1), "ns")
    half = f"{in_unit(half_s, unit):.2g}" if in_unit(half_s, unit) < 100 else digits(in_unit(half_s, unit))
    return f"{plus}{format_s(abs(mean_s))} +- {half} {unit}"


def _busiest(row: Row) -> str:
    """Links with their utilisation."""
    named = [(row.get(f"busiest_link_{n}"), row.get(f"utilisation_{n}")) for n in range(1, BUSIEST + 1)]
    return ", ".join(f"{link} {100 * share:.1f} %" for link, share in named if share) or "none"


def _how(case: Case) -> str:
    """One line on the simulation."""
    settings = case.simulation
    parts = [f"sharing {settings.sharing}, queueing {settings.queueing}"]
    if settings.compute is not None:
        compute = settings.compute
        times = f"trace {compute.trace}" if compute.trace else str(compute.distribution)
        parts.append(f"computing {times}{'' if compute.cv is None else f' (cv {compute.cv:g})'}")
    around = [name for name in ("background", "capacity", "failure", "away") if getattr(settings, name)]
    if around:
        parts.append(f"with {', '.join(around)}")
    if settings.until_ci is not None:
        parts.append(f"until +- {settings.until_ci}")
    return "; ".join(parts)


def _too_wide(rows: Sequence[Row], until_ci: str | None) -> list[str]:
    """Which overlays took all rounds and did not come to the interval that was asked for."""
    if until_ci is None:
        return []
    share = parse_share("until_ci", until_ci)
    wide = [
        str(row["overlay"])
        for row in rows
        if row["half_width_s"] is None or row["half_width_s"] > share * row["cycle_time_s"]
    ]
    return [f"Not as narrow as {until_ci}, it needs more rounds: {', '.join(wide)}."] if wide else []


def _explanations(rows: Sequence[Row], paired: bool, silos: int) -> list[str]:
    """What the table's texts mean, as far as it has them."""
    lines = [
        "models/s: simulated per second of this machine. A link's percent: of its capacity, over all rounds."
    ]
    if any(row["period_rounds"] not in (None, 1) for row in rows):
        lines.append("= : the exact period.")
    if any(row["half_width_s"] for row in rows):
        lines.append("+-: 95 % confidence by batch means.")
    if any(row["half_width_s"] is None for row in rows):
        lines.append(
            f"about: an estimate; too few rounds for an interval ({silos} silos: {least_rounds(silos):,} "
            "before one has ended)."
        )
    if paired:
        lines.append("minus: difference of cycle times on the same computing times.")
    return lines
