"""The reference of the command line says what the commands say."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WRITTEN = ROOT / "docs" / "reference" / "command_line.md"
PRINTED = "from make_cli_reference import reference; print(reference(), end='')"


@pytest.mark.slow
def test_the_reference_is_not_stale():
    made = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); {PRINTED}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "80"},
    ).stdout

    assert made == WRITTEN.read_text(encoding="utf-8"), "stale: run python tools/make_cli_reference.py"
    assert made.count("\n## silosim") == 24
