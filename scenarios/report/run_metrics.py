"""Which metrics figures of a run show, and on which time axis."""

from collections.abc import Sequence

import numpy as np

from scenarios.report.column_labels import long_time_unit
from scenarios.runfile.reader import OverlayRecord

FAR_APART = 5
"""From this ratio of run times on, a logarithmic time axis shows the fast overlays' curves too."""


def shown_metrics(overlays: Sequence[OverlayRecord], *, is_imported: bool) -> list[tuple[str, float, str]]:
    """Metrics that figures of a run show: field of the history, factor to the unit of the axis, label.

    Parameters
    ----------
    overlays : sequence of OverlayRecord
        That have a history.
    is_imported : bool
        Whether the loss has an unknown unit.
    """
    loss = "train_loss" if _has(overlays, "train_loss") else "test_loss"
    name = "training loss" if loss == "train_loss" else "test loss"
    metrics = [(loss, 1.0, name if is_imported else f"{name} (nats)")]
    if not _has(overlays, "test_accuracy"):
        return metrics
    return [*(metrics if _has(overlays, loss) else []), ("test_accuracy", 100.0, "test accuracy (%)")]


def time_axis(overlays: Sequence[OverlayRecord]) -> tuple[float, str, bool]:
    """Seconds of the unit of the time axis, the unit's name, and whether the axis is logarithmic.

    Parameters
    ----------
    overlays : sequence of OverlayRecord
        That have a history.
    """
    last_s = [float(overlay.wall_clock_s[-1]) for overlay in overlays]
    is_log = max(last_s) > FAR_APART * min(last_s) > 0
    drawn_s = np.concatenate([overlay.wall_clock_s for overlay in overlays])
    least_s = float(drawn_s[drawn_s > 0].min()) if is_log else np.inf
    return *long_time_unit(max(last_s), least_s), is_log


def _has(overlays: Sequence[OverlayRecord], metric: str) -> bool:
    """Whether any row of any overlay has a metric."""
    return any(np.isfinite(overlay.history[metric]).any() for overlay in overlays)
