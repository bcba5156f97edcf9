"""Underlays as GML text, which `load_underlay` reads back to the same numbers."""

import math

from topologies.errors import InputError, quoted
from topologies.networks.labels import one_line
from topologies.underlay import Underlay

_ESCAPED = {"&": "&amp;", '"': "&quot;"}
_EMPTY_LISTS = ("()", "[]")
"""Texts that networkx, which reads GML for many programs, takes for empty lists."""


def gml_text(underlay: Underlay) -> str:
    """GML text of a network with routers and links.

    Parameters
    ----------
    underlay : Underlay

    Returns
    -------
    str
        ASCII, with attributes as `load_underlay` reads them. Lengths of the "published" variant are written as
        ``published_distance``, to be read as that variant again. Numbers are real ones with as many digits as bring
        them back; a value that is not stated is left out.

    Raises
    ------
    InputError
        If pairs are measured, for which GML has no place, or a label cannot be read back from GML.

    Notes
    -----
    `Underlay.sites` and `Underlay.notes` are not written. networkx's own writer quotes integers from 2^31 on, so that
    they come back as text.
    """
    if underlay.measured is not None:
        raise InputError(
            f"{underlay.name} has measured pairs, which a GML file cannot hold; write them as CSV."
        )
    has_parallel = len({frozenset(pair) for pair in underlay.ends.tolist()}) < underlay.links
    lines = ["graph [", '  Creator "silosim"', f"  label {_string(underlay.name)}", "  directed 0"]
    lines += ["  multigraph 1"] if has_parallel else []
    index = underlay.published_index
    for router, label in enumerate(underlay.labels):
        if label in _EMPTY_LISTS:
            raise InputError(f"label(={quoted(label)}) cannot be written as GML: readers take it for a list.")
        if label != one_line(label):
            raise InputError(
                f"label(={quoted(label)}) cannot be written as GML: it is read back as {quoted(one_line(label))}."
            )
        lines += ["  node [", f"    id {router}", f"    label {_string(label)}"]
        lines += [] if index is None else [f"    published_index {index[router]}"]
        lines += _real("Latitude", underlay.latitude_deg[router])
        lines += _real("Longitude", underlay.longitude_deg[router])
        lines.append("  ]")
    length = "published_distance" if underlay.variant == "published" else "distance"
    for link, (source, target) in enumerate(underlay.ends.tolist()):
        lines += ["  edge [", f"    source {source}", f"    target {target}"]
        lines += _real(length, underlay.length_km[link])
        lines += _real("capacity", underlay.capacity_bps[link])
        lines.append("  ]")
    return "\n".join([*lines, "]", ""])


def _string(text: str) -> str:
    """A string in quotes; what is not ASCII, and GML's own marks, as XML character references."""
    escaped = "".join(_ESCAPED.get(character, character) for character in text)
    return f'"{escaped.encode("ascii", "xmlcharrefreplace").decode("ascii")}"'


def _real(key: str, value: float) -> list[str]:
    """The line of a number, none for NaN. GML wants a point in a number with an exponent."""
    if math.isnan(value):
        return []
    mantissa, mark, exponent = repr(float(value)).partition("e")
    return [f"    {key} {mantissa if '.' in mantissa else f'{mantissa}.0'}{mark}{exponent}"]
