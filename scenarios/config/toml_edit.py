"""Changing one value in the text of a scenario, and nothing else."""

import re

from scenarios.config.quantities import format_s
from topologies import InputError
from topologies.toml_text import parse_toml

MEASURED = "# measured on "
"""How the comment above a measured value begins; a later measurement replaces it."""

_HEADER = re.compile(r"""\s*\[\s*(?:workload|"workload"|'workload')\s*\]\s*(?:\#.*)?""")
_ANY_HEADER = re.compile(r"\s*\[")
_COMPUTE = re.compile(r"""(\s*)(?:compute|"compute"|'compute')\s*=\s*("[^"\\]*"|'[^']*')""")


def with_compute(text: str, compute_s: float, measured: str, *, source: str) -> str:
    """Return the text of a scenario with another computing time of a local step.

    Parameters
    ----------
    text : str
        TOML.
    compute_s : float
        The time, in seconds; four digits of it are written.
    measured : str
        How it was measured: hardware, steps and date, for the comment above.
    source : str
        The file, for error messages.

    Returns
    -------
    str
        The value of `compute` in ``[workload]`` is replaced, or added, with the table where there is none. All other
        lines and comments stay.

    Raises
    ------
    InputError
        If the text is no TOML, or the table is written in another way, for instance ``workload = {...}`` on one line.
    """
    value = format_s(compute_s)
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    comment, setting = f"{MEASURED}{measured}", f'compute = "{value}"'
    header = next((number for number, line in enumerate(lines) if _HEADER.fullmatch(line.rstrip())), None)
    if header is None:
        closed = "" if not text or text.endswith(("\n", "\r")) else end
        changed = f"{text}{closed}{end}[workload]{end}{comment}{end}{setting}{end}"
    else:
        changed = "".join(_in_table(lines, header, value, comment, setting, end))
    before = parse_toml(text, source=source)
    before["workload"] = {**before.get("workload", {}), "compute": value}
    try:
        same = parse_toml(changed) == before
    except InputError:
        same = False
    if not same:
        raise InputError(
            f"[workload] must be a table of its own with compute on one line; write {setting} there by hand.",
            source=source,
        )
    return changed


def _in_table(lines: list[str], header: int, value: str, comment: str, setting: str, end: str) -> list[str]:
    """The lines with the value in the table that begins at a line."""
    for number in range(header + 1, len(lines)):
        if _ANY_HEADER.match(lines[number]):
            break
        found = _COMPUTE.match(lines[number])
        if found:
            start, stop = found.span(2)
            line = f'{lines[number][:start]}"{value}"{lines[number][stop:]}'
            above = number - 1 if lines[number - 1].lstrip().startswith(MEASURED) else number
            return [*lines[:above], f"{found[1]}{comment}{end}", line, *lines[number + 1 :]]
    first = lines[header].rstrip("\r\n") + end
    return [*lines[:header], first, f"{comment}{end}", f"{setting}{end}", *lines[header + 1 :]]
