"""Tables of a scenario are written as TOML that reads back as the same."""

import math
import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.config.network import NetworkConfig
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.scenario import ImportedConfig, parse_scenario
from scenarios.config.simulation import SimulationConfig
from scenarios.config.toml import computing_keys, scenario_text, tables_text, toml_key, toml_value
from scenarios.report.tables import Table
from scenarios.studies.fit_window import window_toml
from scenarios.studies.import_metrics import _imported_table
from topologies import Workload
from topologies.participation import Participation
from training import TrainingConfig

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


def test_times_and_steps_of_most_silos_are_stated_once_and_others_by_label():
    work = Workload(model_bits=1.0, compute_s=np.array([0.1, 0.2, 0.2]), local_steps=np.array([1, 1, 2]))
    assert computing_keys(work, ("a", "b", "c")) == {
        "compute": "0.2 s",
        "compute_at": {"a": "0.1 s"},
        "local_steps": 1,
        "local_steps_at": {"c": 2},
    }
    assert computing_keys(Workload(model_bits=1.0, compute_s=0.5, local_steps=3), ()) == {
        "compute": "0.5 s",
        "local_steps": 3,
    }


def test_a_scenario_states_what_is_not_at_its_default():
    plain_work = Workload(model_bits=8.0, compute_s=0.5)

    def text(*overlays, work=plain_work, **more):
        return scenario_text(
            NetworkConfig(underlay="gaia"), work, overlays, SimulationConfig(rounds=5), 3, **more
        )

    plain = text(OverlayConfig(kind="ring"), OverlayConfig(kind="matcha", options={"budget": 0.3}))
    assert plain.startswith('name = "simulation"\nseed = 3\n\n[network]\nunderlay = "gaia"\n')
    assert '\n[workload]\nmodel_size = "8.0 bit"\ncompute = "0.5 s"\nlocal_steps = 1\n\n[overlays]\n' in plain
    assert (
        '[overlays]\nkinds = ["ring", "matcha"]\nmatcha = { budget = 0.3 }\n\n[simulation]\nrounds = 5\n'
        in plain
    )
    assert 'kinds = ["ring"]\nconsensus = "fdla"\n' in text(OverlayConfig(kind="ring"), consensus="fdla")
    own = OverlayConfig(kind="matcha", name="m", options={"budget": 0.3}, seed=4)
    assert '\n[[overlays]]\nkind = "matcha"\nname = "m"\nseed = 4\nbudget = 0.3\n\n' in text(own)
    assert '[overlays]\nconsensus = "fdla"\n\n[[overlays.entries]]\nkind = "matcha"\n' in text(
        own, consensus="fdla"
    )
    work = Workload(model_bits=8.0, compute_s=0.5, overlap=0.5, participation=Participation(count=2))
    assert 'overlap = "50 %"\nparticipation = 2\n' in text(OverlayConfig(kind="ring"), work=work)
    training = TrainingConfig(dataset="digits")
    assert "[training]" not in text(OverlayConfig(kind="ring"), training=training)
    assert '\n[training]\ndataset = "digits"\n' in text(OverlayConfig(kind="stl_fw"), training=training)
    several = text(OverlayConfig(kind="ring"), OverlayConfig(kind="stl_fw"), training=training)
    assert parse_scenario(several, source="x").training == training


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        (1.0, "1.0"),
        (True, "true"),
        ((1, "a"), '[1, "a"]'),
    ],
)
def test_values_in_toml(value, text):
    assert toml_value(value) == text


def test_keys_are_in_quotes_where_they_must_be():
    assert [toml_key(name) for name in ("a-b_1", "a b", "", "ü")] == ["a-b_1", '"a b"', '""', '"ü"']
