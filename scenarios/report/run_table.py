"""The table of a run: cycle times of its overlays, and when each reaches the target accuracy."""

from collections.abc import Mapping, Sequence

from scenarios.config.quantities import digits, format_interval, format_s
from scenarios.report.closed_forms import ESTIMATED, FORMS, form_fields, forms_note, over_paper
from scenarios.report.computing_states import states_note
from scenarios.report.engine_note import engine_note
from scenarios.report.tables import Column, Row, Table, cycle_time_columns, note_lines, percent
from scenarios.report.tie_note import tie_notes
from scenarios.runfile.reader import OverlayRecord, RunRecord

_AWAY = (
    "Silos are away: where that is felt in the rounds that count, these are of\n"
    "the silos that are there in all of them, or the longest part where one is."
)


FIELDS = (
    *(
        "overlay",
        "paper_s",
        "serialized_s",
        "load_bound_s",
        "paper_below_load",
        "simulated_s",
        "simulated_is_exact",
    ),
    *(
        "simulated_half_width_s",
        "simulated_rounds",
        "engine",
        "simulation_is_whole",
        "over_paper",
        "trained_rounds",
    ),
    *("rounds_to_target", "time_to_target_s", "speedup", "busiest_link"),
)
"""Fields of the rows."""


def run_table(
    record: RunRecord,
    caption: str,
    target_accuracy: float | None,
    *,
    one_curve: bool = False,
    rounds: int | None = None,
    reached: Mapping[str, int] | None = None,
    events: Sequence[str] = (),
) -> Table:
    """Cycle times of a run's overlays, and when each reaches the target accuracy.

    Parameters
    ----------
    record : RunRecord
    caption : str
    target_accuracy : float or None
        Test accuracy of the average model; None where nothing was trained.
    one_curve : bool
        Whether the training rows of all overlays are those of one imported curve.
    rounds : int, optional
        Of each training.
    reached : mapping of str to int, optional
        Rounds that each overlay's training has reached, without those that have not begun.
    events : sequence of str
        What is said of those of the simulation.

    Returns
    -------
    Table
        ``over_paper`` is how far the simulated cycle time lies above the `paper` one; where ``simulation_is_whole``
        is false, the simulation was interrupted after ``simulated_rounds``, from which it is estimated. ``speedup`` is
        the STAR's time to the target accuracy divided by the overlay's; None where either never reaches it. The STAR is
        the first overlay with a hub.
        ``trained_rounds`` are shown where a training was interrupted, None where it has not begun.
    """
    trained_rounds = reached or {}
    at_target = {
        overlay.kind: None if target_accuracy is None else overlay.first_round_at(target_accuracy)
        for overlay in record.overlays
    }
    # The STAR may have another name, and "star" be that of another overlay.
    star = next((at_target[overlay.kind] for overlay in record.overlays if overlay.hub is not None), None)
    rows: list[Row] = []
    for overlay in record.overlays:
        forms, simulation, at = overlay.closed_forms, overlay.simulation, at_target[overlay.kind]
        rows.append(
            {
                "overlay": overlay.kind,
                **form_fields(forms),
                "simulated_s": simulation.cycle_time_s,
                "simulated_is_exact": simulation.is_exact,
                "simulated_half_width_s": simulation.half_width_s,
                "simulated_rounds": simulation.rounds,
                "engine": simulation.engine,
                "simulation_is_whole": simulation.is_whole,
                "over_paper": over_paper(simulation.cycle_time_s, forms.paper_s),
                "trained_rounds": trained_rounds.get(overlay.kind),
                "rounds_to_target": at[0] if at else None,
                "time_to_target_s": at[1] if at else None,
                "speedup": star[1] / at[1] if star and at and at[1] > 0 else None,
                "busiest_link": overlay.busiest_link,
            }
        )
    columns, unit = cycle_time_columns(rows, FORMS | {"simulated_s": "simulated"})
    trained: list[Column] = []
    notes = [forms_note(unit, rows), "over paper: how far simulated lies above paper."]
    if target_accuracy is not None:
        notes.append(f"rounds, time, vs STAR: to a test accuracy of {target_accuracy:g}.")
        trained = [
            Column(key="rounds_to_target", title="rounds"),
            Column(key="time_to_target_s", title="time (s)", show=digits),
            Column(key="speedup", title="vs STAR", show="{:.2f}x".format),
        ]
    if one_curve and len(rows) > 1:
        only = (
            "only the times differ"
            if target_accuracy is None
            else "vs STAR compares times of the same rounds"
        )
        notes.append(note_lines(f"one imported curve for all overlays: {only}."))
    # The file of a simulation may have the scenario of a training that has not begun on any overlay.
    if reached and rounds is not None and any(row["trained_rounds"] != rounds for row in rows):
        notes.append(f"trained: round reached, of {rounds}, where the run was interrupted.")
        notes += _later_notes(record.overlays, trained_rounds)
        trained = [Column(key="trained_rounds", title="trained"), *trained]
    return Table(
        caption=caption,
        columns=(
            Column(key="overlay", title="overlay"),
            *columns,
            Column(key="over_paper", title="over\npaper", show=percent, exact="simulated_is_exact"),
            *trained,
        ),
        rows=rows,
        notes="\n".join(
            [
                *notes,
                *_simulation_notes(record.overlays),
                *map(note_lines, events),
                *map(note_lines, tie_notes(rows, "simulated_s")),
                *map(
                    note_lines,
                    states_note({overlay.kind: overlay.computes for overlay in record.overlays}),
                ),
                *map(note_lines, record.underlay.notes),
                *engine_note((overlay.kind, overlay.simulation.engine) for overlay in record.overlays),
            ]
        ),
    )


def _later_notes(overlays: Sequence[OverlayRecord], reached: Mapping[str, int]) -> list[str]:
    """Trainings of which checkpoints beside the file say more than its rows."""
    rows = {overlay.kind: int(overlay.history["round"][-1]) for overlay in overlays if overlay.history}
    later = [
        f"{kind} ({f'rows in the file end at round {rows[kind]}' if kind in rows else 'no rows in the file'})"
        for kind, done in reached.items()
        if done > rows.get(kind, 0)
    ]
    return [note_lines(f"trained, from checkpoints beside the file: {', '.join(later)}.")] if later else []


def _simulation_notes(overlays: Sequence[OverlayRecord]) -> list[str]:
    """Confidence intervals of estimated cycle times, and simulations that were interrupted."""
    estimates = [overlay for overlay in overlays if not overlay.simulation.is_exact]
    whole = [overlay for overlay in estimates if overlay.simulation.is_whole]
    sure = [
        f"{overlay.kind} {_estimate(overlay)}"
        for overlay in whole
        if overlay.simulation.half_width_s is not None
    ]
    lines = [ESTIMATED] if whole else []
    if any(overlay.simulation.has_absences for overlay in overlays):
        lines.append(_AWAY)
    if sure:
        lines.append(note_lines(f"+-: 95 % confidence by batch means: {'; '.join(sure)}."))
    for overlay in estimates:
        rounds, estimate = overlay.simulation.rounds, _estimate(overlay)
        if rounds and not overlay.simulation.is_whole:
            recorded = f"{rounds:,} {'round is' if rounds == 1 else 'rounds are'} kept"
            given = f", which give {estimate}" if estimate else ""
            confidence = "" if overlay.simulation.half_width_s is None else " (95 %)"
            lines.append(note_lines(f"{overlay.kind}: interrupted, {recorded}{given}{confidence}."))
    return lines


def _estimate(overlay: OverlayRecord) -> str:
    """An estimated cycle time, with its interval if there is one; empty where there is none."""
    simulation = overlay.simulation
    if simulation.cycle_time_s is None:
        return ""
    if simulation.half_width_s is None:
        return f"~{format_s(simulation.cycle_time_s)}"
    return format_interval(simulation.cycle_time_s, simulation.half_width_s)
