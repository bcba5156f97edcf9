"""Tables of a scenario are written as TOML that reads back as the same."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.config.scenario import ImportedConfig
from scenarios.config.toml import tables_text
from scenarios.report.tables import Table
from scenarios.studies.fit_window import window_toml
from scenarios.studies.import_metrics import _imported_table

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    TEXTS | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(tables=st.dictionaries(TEXTS, VALUES, max_size=4))
def test_tables_read_back_as_they_are(tables):
    assert tomllib.loads(tables_text(tables)) == tables


def test_tables_have_lines_of_their_own():
    tables = {
        "simulation": {"rounds": 3, "failure": [{"link": "A - B"}]},
        "seed": 1,
        "overlays": [{"kind": "ring"}],
    }

    assert tables_text(tables) == (
        'seed = 1\n\n[simulation]\nrounds = 3\nfailure = [{ "link" = "A - B" }]\n\n[[overlays]]\nkind = "ring"\n'
    )


@pytest.mark.parametrize("label", ["Zürich", "Tokyo \U0001f5fc", 'a "b" \\ c', "DEL \x7f", "tab\tnew\nline"])
def test_labels_and_file_names_are_read_back(label):
    rows = [{"to": label, "window_bits": 8e6, "is_constant": True}]
    windows = window_toml(Table(caption="", columns=(), rows=rows))
    assert tomllib.loads(windows) == {"network": {"window_at": {label: "1 MB"}}}
    imported = _imported_table(ImportedConfig(file=label, target_accuracy=0.5))
    assert tomllib.loads(imported) == {"imported": {"file": label, "target_accuracy": 0.5}}
    if label.isprintable() and '"' not in label:
        assert label in windows
        assert label in imported
