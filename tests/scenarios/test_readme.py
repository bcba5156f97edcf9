"""The README's library examples run as printed."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def examples():
    """Source and output of each example."""
    found = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    printed = []
    for example in found:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(example, "README.md", "exec"), {})
        printed.append((example, out.getvalue()))
    return printed


def test_the_first_simulates(examples):
    assert "(201, 40)" in examples[0][1]


def test_the_second_shows_the_analysis(examples):
    example, out = examples[1]
    bound_s, paper_s = map(float, out.splitlines()[0].split())

    assert 0 < bound_s <= paper_s
    assert " arcs, any one of which can be added" in out
    for name in ("arc_slack", "free_arcs", "sensitivities", "access_curve", "access_upgrades", "enrich"):
        assert f"{name}(" in example
