"""What tables say of periodic overlays, each sentence by hand: mixing, orders, and what more capacity gains."""

from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.config.overlay_config import OverlayConfig
from scenarios.studies import periodic_gains as gains_study
from scenarios.studies import periodic_rows
from scenarios.studies.explain_periodic import beyond_paper_periodic
from scenarios.studies.periodic_gains import Gain, periodic_gains
from scenarios.studies.periodic_rows import (
    Mixing,
    column_note,
    gap_per_round,
    mixing_notes,
    mixing_of,
    order_notes,
    reading_fields,
    reading_note,
)
from topologies import InputError
from topologies.consensus import SPLIT


def upgrade(*links, doubled_s=1.5, unlimited_s=1.0, as_good=()):
    return SimpleNamespace(links=links, doubled_s=doubled_s, unlimited_s=unlimited_s, as_good=as_good)


TIMES = "with twice the capacity a round takes 1.500 s (500.0 ms less), with no limit 1.000 s (1.000 s less)"


@pytest.mark.parametrize(
    ("form", "found", "sentence"),
    [
        ("paper", None, "By paper no capacity of links lowers this."),
        ("load", None, "By the larger of paper and load no capacity of links lowers this."),
        ("serialized", upgrade("a"), f"By serialized the best upgrade of one link is a: {TIMES}."),
        (
            "paper",
            upgrade("a", as_good=("b",)),
            f"By paper the best upgrade of one link is a: {TIMES}. Twice the capacity gains as much on b.",
        ),
        (
            "paper",
            upgrade("a", as_good=("b", "c")),
            f"By paper the best upgrade of one link is a: {TIMES}. Twice the capacity gains as much on b and c.",
        ),
        (
            "paper",
            upgrade("a", as_good=("b", "c", "d")),
            f"By paper the best upgrade of one link is a: {TIMES}. Twice the capacity gains as much on b, c and 1 "
            "more.",
        ),
        (
            "paper",
            upgrade("a", as_good=("b", "c", "d", "e")),
            f"By paper the best upgrade of one link is a: {TIMES}. Twice the capacity gains as much on b, c and 2 "
            "more.",
        ),
        (
            "paper",
            upgrade("a", "b"),
            "By paper no link helps alone, since others limit a model as much or another circuit is as slow: a and b "
            f"are needed together: {TIMES}.",
        ),
    ],
)
def test_the_best_upgrade_in_words(form, found, sentence):
    assert Gain(form=form, cycle_time_s=2.0, upgrade=found, loads_s=(0.0, 0.0)).sentence == sentence


def test_a_load_that_is_longer_after_the_upgrade_is_said():
    for links in (("a",), ("a", "b")):
        text = Gain(form="paper", cycle_time_s=2.0, upgrade=upgrade(*links), loads_s=(1.5, 1.25)).sentence
        assert text.endswith(
            f"{TIMES}. But no network is faster than load, which is longer then: 1.250 s with no limit."
        )


def test_an_upgrade_in_json():
    assert Gain(form="paper", cycle_time_s=2.0, upgrade=None, loads_s=(0.0, 0.0)).loads_s == (0.0, 0.0)
    assert Gain(form="load", cycle_time_s=2.0, upgrade=None, loads_s=(3.0, 4.0)).fields == {
        "by": "load",
        "cycle_time_s": 2.0,
        "links": [],
        "doubled_s": None,
        "unlimited_s": None,
        "doubled_load_s": None,
        "unlimited_load_s": None,
        "as_good": [],
    }
    found = upgrade("a", as_good=("b",))
    assert Gain(form="paper", cycle_time_s=2.0, upgrade=found, loads_s=(3.0, 4.0)).fields == {
        "by": "paper",
        "cycle_time_s": 2.0,
        "links": ["a"],
        "doubled_s": 1.5,
        "unlimited_s": 1.0,
        "doubled_load_s": 3.0,
        "unlimited_load_s": 4.0,
        "as_good": ["b"],
    }


@pytest.mark.parametrize(
    ("serialized_s", "load_s", "slow_start", "is_plain", "forms"),
    [
        (1.0, 1.0, None, True, ["paper"]),
        (2.0, 1.0, None, True, ["paper", "serialized"]),
        (1.0, 2.0, None, True, ["paper", "load"]),
        (2.0, 2.0, None, True, ["paper", "serialized", "load"]),
        (2.0, 2.0, None, False, ["paper", "serialized"]),
        (2.0, 1.0, "first", True, ["paper", "serialized"]),
        # Windows that open anew depend on what is sent before: no link alone says how long a queue takes.
        (2.0, 1.0, "idle", True, ["paper"]),
        (1 + 1e-12, 1 + 1e-12, None, True, ["paper"]),
    ],
)
def test_gains_are_by_forms_that_are_longer_than_paper(
    monkeypatch, serialized_s, load_s, slow_start, is_plain, forms
):
    overlay = SimpleNamespace(
        closed_forms=SimpleNamespace(paper_s=1.0, serialized_s=serialized_s, load_bound_s=load_s),
        graph=SimpleNamespace(
            slow_start=slow_start and SimpleNamespace(when=slow_start),
            rules=SimpleNamespace(are_plain_links=is_plain),
        ),
    )
    monkeypatch.setattr(gains_study, "link_upgrade", lambda _, form: upgrade(form))
    monkeypatch.setattr(gains_study, "loads_after", lambda _, links: (len(links), 9.0))
    found = periodic_gains(overlay)
    assert [gain.form for gain in found] == forms
    times = {"paper": 1.0, "serialized": serialized_s, "load": load_s}
    for gain in found:
        assert gain.cycle_time_s == times[gain.form]
        assert gain.upgrade.links == (gain.form,)
        assert gain.loads_s == ((1, 9.0) if is_plain else (0.0, 0.0))
    monkeypatch.setattr(gains_study, "link_upgrade", lambda *_: None)
    assert {gain.loads_s for gain in periodic_gains(overlay)} == {(0.0, 0.0)}

    def unknown(*_):
        raise InputError("rates are stated.")

    monkeypatch.setattr(gains_study, "link_upgrade", unknown)
    assert periodic_gains(overlay) == ()


@pytest.fixture
def states(monkeypatch):
    """An overlay of a number of silos with a longest lag, whose models mix by a factor per round."""

    def make(silos, lag, long_run=0.5, all_models=0.75, weights=None):
        monkeypatch.setattr(periodic_rows, "longest_lag", lambda _: lag)
        monkeypatch.setattr(periodic_rows, "contraction", lambda n, _: long_run if n == silos else None)
        monkeypatch.setattr(
            periodic_rows, "worst_contraction", lambda n, _: all_models if n == silos else None
        )
        monkeypatch.setattr(
            periodic_rows, "periodic_agreed_weights", lambda n, _, *, factor: (n, factor, weights)
        )
        graph = SimpleNamespace(silos=silos, labels=tuple("abcdefgh"[:silos]))
        return SimpleNamespace(kind="o", graph=graph, states=())

    return make


@pytest.mark.parametrize(
    ("silos", "lag", "is_known"), [(1000, 1, True), (500, 2, True), (1001, 1, False), (501, 2, False)]
)
def test_how_models_mix_is_computed_of_up_to_a_thousand_models(states, silos, lag, is_known):
    overlay = states(silos, lag)
    assert gap_per_round(overlay) == (0.5 if is_known else None)
    mixing = mixing_of(overlay)
    if is_known:
        assert mixing.gap == 0.5
        # With lags that of the long run, else that of all models.
        assert mixing.contraction == (0.5 if lag > 1 else 0.75)
        assert mixing.weights == (silos, 0.5, None)
        assert not mixing.never_agrees
    else:
        assert (mixing.gap, mixing.contraction, mixing.weights) == (None, None, None)
        assert not mixing.never_agrees
        assert mixing_notes(overlay, mixing) == [
            f"o: {silos:,} silos times the longest lag of {lag} are more than 1,000, so that neither the spectral gap "
            "nor what each silo weighs is computed."
        ]


@pytest.mark.parametrize(
    ("lag", "gap", "weights", "note"),
    [
        (1, 0.5, [0.5, 0.5], None),
        (1, 0.5, [0.5 * (1 + 5e-7), 0.5 * (1 - 5e-7)], None),
        (1, 0.5, None, None),
        (1, 0.0, [0.5, 0.5], "o: with its weights the silos never agree on one model."),
        (
            1,
            0.5,
            [0.75, 0.25],
            "o: the silos agree on a weighted mean of what they learn, by the weights of its states: 'a' weighs 1.5 "
            "times its plain share, 'b' 0.5 times.",
        ),
        (
            2,
            0.5,
            [0.25, 0.75],
            "o: the silos agree on a weighted mean of what they learn, by the lags and weights of its states: 'b' "
            "weighs 1.5 times its plain share, 'a' 0.5 times.",
        ),
    ],
)
def test_silos_that_do_not_weigh_the_same_are_named(states, lag, gap, weights, note):
    mixing = Mixing(gap=gap, contraction=0.5, weights=None if weights is None else np.array(weights))
    assert mixing.never_agrees == (gap == 0.0)
    assert mixing_notes(states(2, lag), mixing) == ([note] if note else [])


def test_columns_of_periodic_overlays_are_explained_once():
    assert column_note([]) == []
    always = SimpleNamespace(kind="a", computes=(True, True))
    seldom = SimpleNamespace(kind="b", computes=(True, False, False))
    first, *others = column_note([always, seldom])
    assert first.startswith("a, b: periodic, states that follow each other; cycle times are per round")
    assert [note.split(";")[0] for note in others] == ["b: silos compute in 1 of 3 states"]


def test_the_published_reading_is_that_of_the_multigraph_of_several_silos(monkeypatch):
    monkeypatch.setattr(
        periodic_rows, "multigraph_reading_s", lambda graph, work, **options: (graph.silos, work, options)
    )
    one, two = (SimpleNamespace(graph=SimpleNamespace(silos=silos), work="work") for silos in (1, 2))
    multigraph = OverlayConfig(kind="multigraph", options={"t": 3})
    assert reading_fields(multigraph, two) == {"published_reading_s": (2, "work", {"t": 3})}
    assert reading_fields(multigraph, one) == {}
    assert reading_fields(OverlayConfig(kind="base"), two) == {}
    assert reading_note("multigraph", 0.5).startswith(
        "multigraph: 500.0 ms a round as its published table counts: the mean over the ring's arcs"
    )


def test_what_an_order_gains_is_over_that_by_label(monkeypatch):
    made = []

    def designed(config, *_args, seed, label_shares):
        made.append((config.options, seed, label_shares))
        if config.name == "none here":
            raise InputError("does not exist.")
        return 2.0

    monkeypatch.setattr(periodic_rows, "design_any", designed)
    configs = [
        OverlayConfig(kind="equi_dyn", options=options, name=name)
        for name, options in (
            ("plain", {}),
            ("by label", {"order": "none"}),
            ("tour", {"order": "tour"}),
            ("none here", {"order": "tour"}),
            ("last", {"order": "tour"}),
        )
    ]
    notes = order_notes(
        [(config, 0.5) for config in configs], None, None, lambda plain_s: plain_s, seed=7, label_shares=len
    )
    assert notes == [
        "tour: order tour makes paper 500.0 ms; by label it is 2.000 s.",
        "none here: order tour; by label it does not exist on this network.",
        "last: order tour makes paper 500.0 ms; by label it is 2.000 s.",
    ]
    assert made == [({"order": "none"}, 7, len)] * 3


@pytest.mark.parametrize(
    ("serialized_s", "load_s", "link", "is_told"),
    [
        (1.0, 1.0, 3, False),
        (2.0, 0.5, 3, True),
        (0.5, 2.0, 3, True),
        (2.0, 2.0, None, False),
    ],
)
def test_what_paper_leaves_out_of_a_periodic_overlay(serialized_s, load_s, link, is_told):
    overlay = SimpleNamespace(
        closed_forms=SimpleNamespace(
            paper_s=1.0, serialized_s=serialized_s, load_bound_s=load_s, busiest_link=link
        ),
        graph=SimpleNamespace(link_name=lambda link: f"link {link}"),
    )
    text = beyond_paper_periodic(overlay)
    assert bool(text) is is_told
    if is_told:
        times = {2.0: "2.000 s", 0.5: "500.0 ms"}
        assert text == (
            f"serialized, one model after the other on each arc, is {times[serialized_s]}; the busiest link, link 3, "
            f"needs {times[load_s]} per round."
        )


def test_where_rounds_take_no_time_no_form_is_longer_than_paper(monkeypatch):
    overlay = SimpleNamespace(
        closed_forms=SimpleNamespace(paper_s=0.0, serialized_s=0.0, load_bound_s=0.0),
        graph=SimpleNamespace(slow_start=None, rules=SimpleNamespace(are_plain_links=True)),
    )
    monkeypatch.setattr(gains_study, "link_upgrade", lambda *_: None)
    assert [gain.form for gain in periodic_gains(overlay)] == ["paper"]


def test_a_gap_up_to_rounding_is_none():
    for gap, never in ((SPLIT, True), (SPLIT * 1.001, False), (-1e-12, True), (None, False)):
        assert Mixing(gap=gap, contraction=None, weights=None).never_agrees is never


def test_one_silo_with_the_plain_share_does_not_hide_the_others(states):
    mixing = Mixing(gap=0.5, contraction=0.5, weights=np.array([1 / 3, 1 / 2, 1 / 6]))
    (note,) = mixing_notes(states(3, 1), mixing)
    assert note.endswith("'b' weighs 1.5 times its plain share, 'c' 0.5 times.")
