"""Commands that are killed at random times leave nothing cut under a final name."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["underlay --convert", "partition", "export", "simulate", "study, CSV"])
def test_killed_commands_cut_no_file(tmp_path, command):
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "kill_writers.py", "--kills", "4", "--only", command],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    (row,) = map(json.loads, done.stdout.splitlines())
    assert (row["found"], done.returncode) == ([], 0)
    assert row["kills"] > 0
    assert row["steps"] >= 3
