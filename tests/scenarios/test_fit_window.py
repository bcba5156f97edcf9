"""The command fit-window: table, JSON, and the table of a scenario, which is read back."""

import json
import tomllib
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.studies import fit_window
from scenarios.studies.fit_window import _size_notes, _without_notes, fit_window_table, window_toml


def test_the_table_names_both_sizes(silosim):
    result = silosim("fit-window", "clouds")

    assert result.code == 0, result.err
    words = " ".join(result.out.split())
    assert "0.843 MB to 17 sites (aws:" in words
    assert "2.68 MB to 28 sites (gcp:" in words
    assert max(map(len, result.out.splitlines())) <= 80


def test_json_has_the_pairs(silosim):
    found = json.loads(silosim("fit-window", "clouds_aws", "--json").ok().out)

    assert len(found["rows"]) == 17
    assert sum(row["limited"] for row in found["rows"]) == len(found["limited_pairs"])
    assert found["rows"][0]["window_bits"] == pytest.approx(0.824 * 8e6, rel=1e-2)


def test_the_windows_are_those_of_a_scenario(silosim, tmp_path):
    printed = silosim("fit-window", "clouds_aws", "--toml")
    rows = json.loads(silosim("fit-window", "clouds_aws", "--json").ok().out)["rows"]
    path = tmp_path / "scenario.toml"
    path.write_text(f'[network]\nunderlay = "clouds_aws"\n{printed.out}[workload]\npreset = "femnist"\n')

    assert printed.code == 0, printed.err
    assert (
        len(tomllib.loads(path.read_text())["network"]["window_at"])
        == sum(row["is_constant"] for row in rows)
        > 10
    )
    result = silosim("explain", str(path), "--kind", "ring", "--json")
    assert result.code == 0, result.err


def test_a_network_without_measured_pairs_is_an_error(silosim):
    result = silosim("fit-window", "gaia")

    assert result.code == 2
    assert (
        result.err
        == "silosim: error: gaia: has no measured pairs, of whose bandwidth and latency windows are made.\n"
    )


def test_sites_without_a_window_are_named_by_the_reason():
    def row(to, far_pairs, window_bits, is_constant):
        return {"to": to, "far_pairs": far_pairs, "window_bits": window_bits, "is_constant": is_constant}

    good, few, uneven = row("a", 9, 1e6, True), row("b", 2, None, False), row("c", 3, 1e6, False)
    assert _without_notes([good]) == []
    assert _without_notes([good, few]) == ["fewer than 3 far pairs: b."]
    assert _without_notes([few, uneven, good]) == [
        "fewer than 3 far pairs: b.",
        "not constant, so that something else limits: c.",
    ]


@pytest.mark.parametrize(
    ("count", "named"),
    [(1, "a"), (2, "a, b"), (3, "a, b, c"), (4, "a, b, c and 1 more"), (5, "a, b, c and 2 more")],
)
def test_three_sites_are_named_and_the_others_counted(count, named):
    few = [
        {"to": label, "far_pairs": 2, "window_bits": None, "is_constant": False} for label in "abcde"[:count]
    ]
    assert _without_notes(few) == [f"fewer than 3 far pairs: {named}."]

    underlay, sites = SimpleNamespace(labels=tuple("abcde")), np.arange(count)
    fit = SimpleNamespace(sizes=lambda: [sites], window_bits=np.linspace(8e6, 8.4e6, 5))
    (note,) = _size_notes(underlay, fit)
    listed = {2: "a and b", 3: "a, b and c"}.get(count, named)
    middle_mb = 1 + 0.0125 * (count - 1) / 2
    assert note.startswith(f"{middle_mb:.3g} MB to {count} site{'s' if count > 1 else ''} ({listed}): ")
    assert f"150 ms {8 * middle_mb / 0.15:.3g} Mbps for one stream" in note


def test_without_a_window_the_notes_say_so():
    assert _size_notes(None, SimpleNamespace(sizes=list)) == ["no window limits the far pairs of a site."]


def test_a_row_for_each_site_and_the_pairs_that_its_window_limits(monkeypatch):
    asked = []
    fit = SimpleNamespace(
        window_bits=np.array([8e6, np.nan, 2e6]),
        low_bits=np.array([7.2e6, np.nan, 1e6]),
        high_bits=np.array([8.8e6, np.nan, np.inf]),
        far_pairs=np.array([4, 2, 5]),
        is_constant=np.array([True, False, False]),
        limited=np.array([[False, False, True], [True, False, False], [True, False, False]]),
        sizes=list,
    )
    monkeypatch.setattr(fit_window, "fit_windows", lambda *_, **given: asked.append(given) or fit)
    monkeypatch.setattr(fit_window, "underlay_title", lambda _underlay: "ours")
    measured = SimpleNamespace(pairs=range(6))
    underlay = SimpleNamespace(labels=("a", "b", "c"), routers=3, measured=measured, name="ours")
    table = fit_window_table(underlay, far_s=0.05, streams=2)

    assert asked == [{"far_s": 0.05, "streams": 2}]
    keys = ("to", "window_bits", "low_bits", "high_bits", "far_pairs", "is_constant", "limited")
    assert [tuple(row[key] for key in keys) for row in table.rows] == [
        ("a", 8e6, 7.2e6, 8.8e6, 4, True, 2),
        ("b", None, None, None, 2, False, 0),
        ("c", 2e6, 1e6, None, 5, False, 1),
    ]
    assert table.caption == "ours: 3 sites, 6 measured pairs"
    # From a to c, from b to a, from c to a.
    assert table.further == {
        "limited_pairs": [["a", "c"], ["b", "a"], ["c", "a"]],
        "window_at": {"a": "1 MB"},
    }
    assert window_toml(table).splitlines() == ["[network.window_at]", '"a" = "1 MB"']
    assert [column.show(7.2e6) for column in table.columns[1:4]] == ["0.9"] * 3
