"""The command that says what this machine has and what to do."""

import json
import sys
from typing import Annotated

import typer

from scenarios.doctor.examination import examine
from scenarios.doctor.finding import Finding
from scenarios.runtime.launcher import EXIT_MACHINE
from scenarios.runtime.streams import printable_json
from topologies.wrapping import WIDTH, wrapped

_MARK = 9
"""Columns of the status."""


def doctor(
    # Not with the options of other commands, whose modules need packages that may be missing.
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Check this installation and machine, and say what to do.

    Python, packages, MPI with two ranks, torch, HDF5, disks, the cache of
    compiled code, and parts of other packages with their options. Takes less
    than 10 seconds; ends with exit code 3 if something that silosim needs is
    missing.

    Examples
    --------
    silosim doctor
    silosim doctor --json
    """
    findings = examine()
    print(printable_json(_json(findings)) if as_json else _text(findings))
    if any(finding.status == "error" for finding in findings):
        sys.exit(EXIT_MACHINE)


def _json(findings: list[Finding]) -> str:
    """As the JSON of a table: rows with the same keys, and notes."""
    whole = {"caption": "", "rows": [finding.row() for finding in findings], "notes": [_summary(findings)]}
    return json.dumps(whole, indent=1, ensure_ascii=False)


def _text(findings: list[Finding]) -> str:
    """Lines of all findings, then how many are not well."""
    return "\n".join([*(line for finding in findings for line in _lines(finding)), _summary(findings)])


def _lines(finding: Finding) -> list[str]:
    """The status, what was found, and what to do below it."""
    first, *others = wrapped(finding.text, WIDTH - _MARK)
    action = wrapped(f"-> {finding.action}", WIDTH - _MARK) if finding.action else []
    return [f"{finding.status:<{_MARK}}{first}", *(f"{'':<{_MARK}}{line}" for line in (*others, *action))]


def _summary(findings: list[Finding]) -> str:
    """How many errors and warnings there are."""
    counts = {name: sum(each.status == name for each in findings) for name in ("error", "warning")}
    return ", ".join(f"{count or 'no'} {name}{'' if count == 1 else 's'}" for name, count in counts.items())
