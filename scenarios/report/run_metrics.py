"""Which metrics figures of a run show, and on which time axis."""

from collections.abc import Sequence

import numpy as np

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


def _has(overlays: Sequence[OverlayRecord], metric: str) -> bool:
    """Whether any row of any overlay has a metric."""
    return any(np.isfinite(overlay.history[metric]).any() for overlay in overlays)
