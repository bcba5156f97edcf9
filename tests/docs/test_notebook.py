"""The notebook: its cells run one after the other, and end in a page."""

import json
import runpy
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "notebook.ipynb"
CELLS = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]


def test_the_notebook_is_stored_without_results():
    for cell in CELLS:
        assert cell["cell_type"] in ("code", "markdown")
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.slow
def test_the_notebook_goes_from_a_network_to_a_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n\n".join("".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code")
    checks = """
assert set(simulated_s) == set(overlays) == set(table.overlay)
for kind, overlay in overlays.items():
    assert overlay.closed_forms.load_bound_s <= simulated_s[kind] * (1 + 1e-9)
(row,) = table[(table.access_bps == 100e6) & (table.overlay == "ring")].itertuples()
assert abs(row.paper_s / overlays["ring"].closed_forms.paper_s - 1) < 1e-12
assert set(metrics.overlay) == set(overlays)
"""
    (tmp_path / "notebook.py").write_text(code + checks, "utf-8")
    runpy.run_path("notebook.py")

    assert {path.name for path in tmp_path.iterdir()} >= {
        *("study.csv", "study.png", "run.h5", "timeline.png", "report.html"),
    }
