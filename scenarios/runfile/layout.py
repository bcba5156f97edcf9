"""What the data sets of a run's file must be, so that no reader meets another type, shape or number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import h5py
import numpy as np

from scenarios.runfile.attributes import check_attributes
from topologies import InputError
from training import HistoryRow
from training.history import PER_SILO

NUMBERS, INTEGERS, TEXTS = "numbers", "integers", "texts"
_KINDS = {NUMBERS: "fiu", INTEGERS: "iu", TEXTS: "OS"}
Shape = tuple[str | int, ...]
"""Lengths: a number, or the name of one that other data sets share."""


@dataclass(frozen=True, slots=True)
class _Place:
    """What one data set must be.

    Attributes
    ----------
    kind : str
    shapes : tuple of Shape
        One of these.
    below : str
        Of integers: the name of the length that they number, from 0 on.
    """

    kind: str
    shapes: tuple[Shape, ...]
    below: str = ""


def _place(kind: str, *shape: str | int, below: str = "") -> _Place:
    return _Place(kind, (shape,), below)


_NETWORK = {
    "connectivity/silo_labels": _place(TEXTS, "silos"),
    "connectivity/router": _place(INTEGERS, "silos"),
    "connectivity/up_bps": _place(NUMBERS, "silos"),
    "connectivity/down_bps": _place(NUMBERS, "silos"),
    "connectivity/core_bps": _place(NUMBERS, "core links"),
    "connectivity/latency_s": _place(NUMBERS, "silos", "silos"),
    "connectivity/available_bps": _place(NUMBERS, "silos", "silos"),
    "connectivity/window_bps": _place(NUMBERS, "silos", "silos"),
    "connectivity/link_names": _place(TEXTS, "links"),
}
_OVERLAY = {
    "arcs": _place(INTEGERS, "arcs", 3, below="silos"),
    "source": _place(TEXTS, "arcs"),
    "target": _place(TEXTS, "arcs"),
    "delay_s": _place(NUMBERS, "arcs"),
    "consensus": _place(NUMBERS, "silos", "silos"),
    "critical_circuit": _Place(INTEGERS, (("events",), ("events", 2)), below="silos"),
    "states/ends": _place(INTEGERS, "arcs of states", 2, below="silos"),
    "states/state": _place(INTEGERS, "arcs of states"),
    "states/lag": _place(INTEGERS, "arcs of states"),
    "states/weight": _place(NUMBERS, "arcs of states"),
    "states/delay_s": _place(NUMBERS, "arcs of states"),
    "rounds/ends": _place(INTEGERS, "arcs of rounds", 2, below="silos"),
    "rounds/active": _place(INTEGERS, "recorded rounds", "bytes"),
    "rounds/weight": _Place(NUMBERS, (("arcs of rounds",), ("recorded rounds", "arcs of rounds"))),
    "rounds/own_weight": _place(NUMBERS, "recorded rounds", "silos"),
}
_SIMULATION = {
    "round_start_s": _place(NUMBERS, "dates", "silos"),
    "arrival_s": _place(NUMBERS, "rounds", "arcs"),
    "link_bits": _place(NUMBERS, "links"),
    "link_capacity_bps": _place(NUMBERS, "links"),
    "absences": _place(INTEGERS, "absences", 3),
    "start_s": _place(NUMBERS, "rounds", "arcs"),
    "last_bit_s": _place(NUMBERS, "rounds", "arcs"),
    "bound_link": _place(INTEGERS, "rounds", "arcs"),
}
_MESSAGES = ("start_s", "last_bit_s", "bound_link")
_NEEDED = ("round_start_s", "arrival_s", "link_bits")
"""What every simulation has from its first round on."""
_ABOUT_LINES = 3
"""Network, links, workload: see `scenarios.config.network.describe`."""
_DRAWN = ("rounds/ends", "rounds/active", "rounds/weight", "rounds/own_weight")


def check_layout(file: h5py.File) -> None:
    """Check types, shapes and numbers of the data sets of a run, complete or cut short.

    Raises
    ------
    InputError
        For the first data set that is another than silosim writes, or is missing beside others that need it.

    Notes
    -----
    Time O(arcs + rows); of dates only types and shapes are looked at. What files of earlier versions lack may be
    missing.
    """
    check_attributes(file.attrs)
    if len(file.attrs["about"].splitlines()) != _ABOUT_LINES:
        raise InputError(f"attribute about must be a text of {_ABOUT_LINES} lines.")
    lengths: dict[str, int] = {}
    _check_all(file, "", _NETWORK, lengths)
    for kind in file.get("overlays", ()):
        own = {name: length for name, length in lengths.items() if name in ("silos", "links")}
        simulation = file.get(f"simulation/{kind}")
        simulated = 0 if simulation is None else _count(simulation, "rounds")
        _check_all(file, f"overlays/{kind}/", _OVERLAY, own)
        _check_all(file, f"simulation/{kind}/", _SIMULATION, own)
        _check_rows(file, kind, own)
        if not simulated or simulation is None:
            continue
        needed = [*_NEEDED, *(_MESSAGES if any(name in simulation for name in _MESSAGES) else ())]
        _check_there(simulation, needed)
        if simulated > own["rounds"] or own["dates"] != own["rounds"] + 1:
            raise InputError(
                f"simulation/{kind} has {simulated} rounds, but data sets of {own['dates']} and {own['rounds']} rows."
            )
        if "rounds" in file[f"overlays/{kind}"]:
            _check_there(file[f"overlays/{kind}"], _DRAWN)
            if not 0 < _count(file[f"overlays/{kind}/rounds"], "rounds") <= own["recorded rounds"]:
                raise InputError(
                    f"overlays/{kind}/rounds has another number of rows than its attribute rounds."
                )


def _check_rows(file: h5py.File, kind: str, lengths: dict[str, int]) -> None:
    """Check the training rows of an overlay, which are those of ascending rounds."""
    if f"training/{kind}" not in file:
        return
    places = {
        f"training/{kind}/{field.name}": _place(
            INTEGERS if field.name == "round" else NUMBERS,
            "rows",
            *(("silos",) if field.name in PER_SILO else ()),
        )
        for field in fields(HistoryRow)
    }
    _check_all(file, "", places | {f"replay/{kind}/wall_clock_s": _place(NUMBERS, "rows")}, lengths)
    rounds = file[f"training/{kind}/round"][:] if f"training/{kind}/round" in file else np.zeros(0)
    logged = rounds[rounds >= 0]
    if (np.diff(logged) <= 0).any() or (len(logged) and logged[-1] >= lengths.get("dates", np.inf)):
        raise InputError(f"training/{kind}/round must hold rounds that ascend and are simulated.")


def _check_all(file: h5py.File, prefix: str, places: Mapping[str, _Place], lengths: dict[str, int]) -> None:
    """Check the data sets that are there; lengths that are met first are those of all others."""
    for name, place in places.items():
        if prefix + name in file:
            _check(file[prefix + name], prefix + name, place, lengths)


def _check(item: h5py.Dataset | h5py.Group, name: str, place: _Place, lengths: dict[str, int]) -> None:
    """Check one data set."""
    if not isinstance(item, h5py.Dataset):
        raise InputError(f"{name} is a group, must be {place.kind}.")
    fitting = [shape for shape in place.shapes if _fits(item.shape, shape, lengths)]
    if item.dtype.kind not in _KINDS[place.kind] or not fitting:
        wanted = " or ".join(_shape_text(shape, lengths) for shape in place.shapes)
        raise InputError(
            f"{name} holds {item.dtype} of shape {item.shape}, must hold {place.kind} of shape {wanted}."
        )
    for length, found in zip(fitting[0], item.shape, strict=True):
        if isinstance(length, str):
            lengths.setdefault(length, found)
    if place.below and item.size:
        # The last column of arcs are tokens, and of events states.
        numbers = (
            item[...] if item.ndim == 1 else item[:, :2] if name.endswith(("arcs", "ends")) else item[:, 0]
        )
        if numbers.min() < 0 or numbers.max() >= lengths.get(place.below, np.inf):
            raise InputError(f"{name} holds the numbers of other {place.below} than the file has.")


def _fits(found: tuple[int, ...] | None, shape: Shape, lengths: Mapping[str, int]) -> bool:
    """Whether a data set has a shape, as far as its lengths are known; an empty one of HDF5 has none."""
    if found is None or len(found) != len(shape):
        return False
    known = (each if isinstance(each, int) else lengths.get(each) for each in shape)
    return all(wanted in (None, there) for wanted, there in zip(known, found, strict=True))


def _shape_text(shape: Shape, lengths: Mapping[str, int]) -> str:
    """A shape with the lengths that are known, as in ``(30, 11 silos)``."""
    parts = (f"{lengths[each]} {each}" if each in lengths else str(each) for each in map(str, shape))
    return f"({', '.join(parts)})"


def _check_there(group: h5py.Group, names: Sequence[str]) -> None:
    """Raise an error for a data set that is missing."""
    for name in names:
        if name not in group:
            raise InputError(f"{group.name.removeprefix('/')}/{name} is missing.")


def _count(group: h5py.Group, name: str) -> int:
    """A number of rounds that an attribute states, 0 where it does not yet."""
    value = group.attrs.get(name, 0)
    if not isinstance(value, int | np.integer) or value < 0:
        raise InputError(
            f"{group.name.removeprefix('/')} must have a number of rounds as attribute {name}, has {value!r}."
        )
    return int(value)
