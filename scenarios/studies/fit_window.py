"""Windows of transfers by receiving site, from measured pairs."""

from collections.abc import Sequence

import numpy as np

from scenarios.config.quantities import format_s
from scenarios.config.toml import toml_value
from scenarios.report.tables import Column, Row, Table, note_lines
from topologies import InputError, Underlay
from topologies.networks.underlay_title import underlay_title
from topologies.networks.window_fit import LEAST_PAIRS, WindowFit, fit_windows
from topologies.wrapping import listed

_NAMED = 3
"""Sites of one size of window that are named."""


def fit_window_table(underlay: Underlay, *, far_s: float, streams: int) -> Table:
    """The window of each receiving site, with its spread and the pairs that it limits.

    Parameters
    ----------
    underlay : Underlay
    far_s, streams
        See `topologies.networks.window_fit.fit_windows`.

    Returns
    -------
    Table
        A row for each site: the window in bits, its 10th and 90th percentile, the number of far pairs, whether it is
        constant, and how many of the pairs to the site it limits. ``limited_pairs`` beside the rows holds these pairs,
        ``window_at`` the windows as a scenario has them.

    Raises
    ------
    InputError
        If the network has no measured pairs.
    """
    measured = underlay.measured
    if measured is None:
        raise InputError(
            "has no measured pairs, of whose bandwidth and latency windows are made.", source=underlay.name
        )
    fit = fit_windows(measured, far_s=far_s, streams=streams)
    counted = fit.limited.sum(axis=0)
    rows = [
        {
            "to": label,
            "window_bits": _number(fit.window_bits[site]),
            "low_bits": _number(fit.low_bits[site]),
            "high_bits": _number(fit.high_bits[site]),
            "far_pairs": int(fit.far_pairs[site]),
            "is_constant": bool(fit.is_constant[site]),
            "limited": int(counted[site]),
        }
        for site, label in enumerate(underlay.labels)
    ]
    pairs = [[underlay.labels[i], underlay.labels[j]] for i, j in np.argwhere(fit.limited).tolist()]
    far = format_s(far_s)
    return Table(
        caption=f"{underlay_title(underlay)}: {underlay.routers} sites, {len(measured.pairs)} measured pairs",
        columns=(
            Column(key="to", title="to"),
            Column(key="window_bits", title="window\n(MB)", show=_megabytes),
            Column(key="low_bits", title="10 %", show=_megabytes),
            Column(key="high_bits", title="90 %", show=_megabytes),
            Column(key="far_pairs", title="far\npairs"),
            Column(key="limited", title="pairs\nlimited"),
        ),
        rows=rows,
        further={"limited_pairs": pairs, "window_at": window_at(rows)},
        notes=note_lines(
            *_size_notes(underlay, fit),
            f"window: rate times round-trip time, median over the pairs that are {far} or more of round trip apart, "
            "with its 10th and 90th percentile. Where windows limit, it is constant: their ratio is at most 1.5, and "
            "far below that of the times. pairs limited: those, near ones too, that reach the 10th percentile.",
            *_without_notes(rows),
        ),
    )


def window_at(rows: Sequence[Row]) -> dict[str, str]:
    """Constant windows by receiving site, as ``[network] window_at`` has them."""
    return {str(row["to"]): f"{_megabytes(row['window_bits'])} MB" for row in rows if row["is_constant"]}


def window_toml(table: Table) -> str:
    """The table ``[network.window_at]`` of a scenario."""
    lines = [f"{toml_value(label)} = {toml_value(window)}" for label, window in window_at(table.rows).items()]
    return "\n".join(["[network.window_at]", *lines])


def _size_notes(underlay: Underlay, fit: WindowFit) -> list[str]:
    """One sentence on each size of window."""
    found = []
    for sites in fit.sizes():
        labels = [underlay.labels[site] for site in sites.tolist()]
        more = f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
        named = f"{', '.join(labels[:_NAMED])}{more}" if more else listed(labels)
        middle = float(np.median(fit.window_bits[sites]))
        count = f"{len(labels)} site{'' if len(labels) == 1 else 's'}"
        found.append(
            f"{_megabytes(middle)} MB to {count} ({named}): at a round trip of "
            f"150 ms {middle / 0.15 / 1e6:.3g} Mbps for one stream, whatever the access links."
        )
    return found or ["no window limits the far pairs of a site."]


def _without_notes(rows: Sequence[Row]) -> list[str]:
    """Sites without a window."""
    few = [str(row["to"]) for row in rows if int(row["far_pairs"]) < LEAST_PAIRS]
    uneven = [str(row["to"]) for row in rows if row["window_bits"] is not None and not row["is_constant"]]
    return [
        *([f"fewer than {LEAST_PAIRS} far pairs: {_first(few)}."] if few else []),
        *([f"not constant, so that something else limits: {_first(uneven)}."] if uneven else []),
    ]


def _first(labels: list[str]) -> str:
    """The first of some labels."""
    return ", ".join(labels[:_NAMED]) + (f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else "")


def _number(value: float) -> float | None:
    """None in place of NaN."""
    return float(value) if np.isfinite(value) else None


def _megabytes(bits: float) -> str:
    """Bits in megabytes."""
    return f"{bits / 8e6:.3g}"
