"""Print the branch coverage of each package from coverage's JSON report, and name those under 95 %.

    python tools/coverage_by_package.py coverage.json

Lines count once and branches once, as in coverage's own total. Not measured are slow tests, what a test does after its
first part (`TRACED_S` in tests/conftest.py), processes that tests start, and what numba compiles.
"""

import json
import sys
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any

WANTED = 95.0
COUNTS = ("num_statements", "num_branches", "covered_lines", "covered_branches")


def totals(report: dict[str, Any]) -> dict[str, Counter[str]]:
    """Counts of each folder's own files."""
    found: dict[str, Counter[str]] = {}
    for name, file in sorted(report["files"].items()):
        folder = str(PurePosixPath(name).parent)
        found.setdefault(folder, Counter()).update({count: file["summary"][count] for count in COUNTS})
    return found


def percent(counts: Counter[str]) -> float:
    """Covered lines and branches of all, in percent; 100 where there are none."""
    whole = counts["num_statements"] + counts["num_branches"]
    return 100 * (counts["covered_lines"] + counts["covered_branches"]) / whole if whole else 100.0


def main() -> None:
    found = totals(json.loads(Path(sys.argv[1]).read_text()))
    rates = {folder: percent(counts) for folder, counts in found.items()}
    print("branch coverage of the first part of each quick test, without processes that tests start:")
    for folder, rate in rates.items():
        print(f"  {folder:<30} {rate:5.1f} %{'' if rate >= WANTED else '  below 95 %'}")
    print(f"  {'all':<30} {percent(sum(found.values(), Counter())):5.1f} %")


if __name__ == "__main__":
    main()
