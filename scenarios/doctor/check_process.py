"""The process of one check: ``python -m scenarios.doctor.check_process NAME FOLDER``."""

import json
import os
import sys
from pathlib import Path

from scenarios.doctor.checks import CHECKS
from scenarios.doctor.finding import Finding, one_line


def findings(name: str, scratch: Path) -> list[Finding]:
    """Run a check; an error of it is a finding, after those that it has found before."""
    found: list[Finding] = []
    try:
        found.extend(CHECKS[name].run(scratch))
    # Whatever a broken installation raises is what was found.
    except Exception as error:
        text = f"{name}: {one_line(error)}"
        found.append(Finding(check=name, status="error", text=text, action=CHECKS[name].remedy))
    return found


def main(name: str, scratch: Path) -> None:
    """Write the findings to standard output, and whatever libraries print there to standard error."""
    answer = os.dup(1)
    os.dup2(2, 1)
    text = json.dumps([finding.row() for finding in findings(name, scratch)])
    with os.fdopen(answer, "w", encoding="utf-8") as output:
        output.write(text)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
