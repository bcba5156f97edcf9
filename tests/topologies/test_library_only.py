"""The list of what has no command."""

import importlib
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "library_only.md"


def test_everything_on_it_can_be_imported():
    rows = re.findall(r"^\| `(\w+)` \| `([\w.]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)

    assert len(rows) == 15
    assert all(callable(getattr(importlib.import_module(module), name)) for name, module in rows)
