"""The tables under [simulation]: computing times, and what happens around the job."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from scenarios.config.compute_times import compute_config, compute_times, computing_text, vary_at_random
from scenarios.config.events.silo_absence import AbsenceKind
from scenarios.config.scenario import load_scenario, parse_scenario
from scenarios.config.simulation import (
    MOST_ROUNDS,
    ComputeConfig,
    SimulationConfig,
    event_names,
    event_tables,
    gathered,
    known_keys,
)
from simulator import Empirical, Exponential, Lognormal, Trace
from topologies import InputError
from topologies.errors import Field
from topologies.participation import Participation
from topologies.quantities import parse_share

HEAD = '[network]\nunderlay = "gaia"\n'


def simulation(text):
    return parse_scenario(HEAD + text, source="x.toml").simulation


def times(config, graph, work, rounds=50):
    return compute_times(config, graph, work, seed=4, rounds=rounds)


def test_without_a_table_times_are_constant_and_nothing_happens(graph, work):
    assert times(simulation("").compute, graph, work) is None
    assert simulation("").simulator_events(seed=1) == []


def test_distributions_have_the_mean_of_a_round_and_the_seed(graph, work):
    mean_s = np.full(11, 0.03)
    for text, expected in (
        ('distribution = "lognormal"\ncv = 0.3', Lognormal(mean_s=mean_s, cv=0.3, seed=4)),
        ('distribution = "exponential"', Exponential(mean_s=mean_s, seed=4)),
    ):
        found = times(simulation(f"[simulation.compute]\n{text}").compute, graph, work)
        assert np.array_equal(found.rows(5, 7), expected.rows(5, 7))


def test_options_say_the_same_as_tables():
    assert compute_config("lognormal 0.3") == ComputeConfig(distribution="lognormal", cv=0.3)
    assert compute_config("exponential") == ComputeConfig(distribution="exponential")
    assert compute_config("a b.csv") == ComputeConfig(trace="a b.csv")
    assert compute_config("a b.csv repeat") == ComputeConfig(trace="a b.csv", repeat=True)


@pytest.mark.parametrize("text", ["", "lognormal", "lognormal x", "normal 1", "times.txt", "exponential 1"])
def test_an_option_that_is_none(text):
    with pytest.raises(InputError, match="compute_times"):
        compute_config(text)


def test_columns_of_a_trace_go_to_the_silos_of_their_labels(tmp_path, graph, work):
    order = np.random.default_rng(0).permutation(11)
    table_s = np.arange(44.0).reshape(4, 11)
    path = tmp_path / "times.csv"
    rows = [",".join(graph.labels[i] for i in order), *(",".join(map(str, row[order])) for row in table_s)]
    path.write_text("\n".join(rows))
    found = times(ComputeConfig(trace=str(path)), graph, work, rounds=4)

    assert isinstance(found, Trace)
    assert np.array_equal(found.rows(0, 4), table_s)
    with pytest.raises(InputError, match=r"times.csv: has 4 rows, but 5 rounds need as many"):
        times(ComputeConfig(trace=str(path)), graph, work, rounds=5)
    again = times(ComputeConfig(trace=str(path), repeat=True), graph, work, rounds=5)
    assert np.array_equal(again.rows(4, 1)[0], table_s[0])


def test_one_column_is_drawn_from(tmp_path, graph, work):
    path = tmp_path / "times.csv"
    path.write_text("compute_s\n0.5\n0.25\n2\n")
    found = times(ComputeConfig(trace=str(path)), graph, work, rounds=1000)

    assert isinstance(found, Empirical)
    assert set(np.unique(found.rows(0, 1000))) == {0.25, 0.5, 2.0}
    with pytest.raises(
        InputError, match=r"times.csv: repeat\(=True\) goes with a trace that has a column per silo;"
    ):
        times(ComputeConfig(trace=str(path), repeat=True), graph, work)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "its first line must be 'compute_s' or the labels of all 11 silos"),
        ("\f\n", "its first line must be 'compute_s' or the labels of all 11 silos"),
        ("Virginia,Atlantis\n1,2\n", "'Atlantis' is not on both sides"),
        ("compute_s\n1\nfast\n", "row 2 must hold 1 numbers"),
        ("compute_s\n1\n1,2\n", "row 2 must hold 1 numbers"),
        ("compute_s\n1\n-1\n", "-1.0"),
        ("compute_s\nnan\n", "nan"),
        ("compute_s\n", "samples"),
    ],
)
def test_a_file_of_times_that_is_wrong_is_named(tmp_path, graph, work, content, message):
    path = tmp_path / "times.csv"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        times(ComputeConfig(trace=str(path)), graph, work)

    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_trace_lies_beside_its_scenario(tmp_path):
    (tmp_path / "times.csv").write_text("compute_s\n1\n")
    path = tmp_path / "x.toml"
    path.write_text(f'{HEAD}[simulation.compute]\ntrace = "times.csv"\n')

    assert load_scenario(path)[0].simulation.compute.trace == str(tmp_path / "times.csv")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[[simulation.demands]]\nfile = ""\n', r"simulation\.demands\[0\]\.file"),
        ('[simulation.compute]\ntrace = ""\n', r"simulation\.compute\.trace"),
    ],
)
def test_an_empty_path_is_an_error_and_not_the_working_directory(text, place):
    with pytest.raises(InputError, match=rf"{place}\(=''\) must not be empty\."):
        simulation(text)


def test_quantities_of_events_have_units():
    config = simulation("""
[[simulation.background]]
link = "Tokyo - Oregon"
share = "30 %"
[[simulation.background]]
peak = "200 Mbps"
mean_on = "2 s"
mean_off = "1 min"
[[simulation.capacity]]
link = "Tokyo uplink"
at = ["0 s", "8 h"]
capacity = ["1 Gbps", "0 bps"]
repeat_every = "24 h"
job_starts_at = "9 h"
[[simulation.failure]]
link = "Tokyo - Oregon"
from = "10 s"
until = "1 min"
[[simulation.failure]]
link = "Tokyo - Seoul"
from = "10 s"
[[simulation.away]]
silo = "Tokyo"
from_round = 3
rounds = 2
policy = "go_on"
[[simulation.away]]
silo = "Seoul"
from_round = 4
duration = "90 s"
policy = "wait"
""")
    share, flow, trace, *failures, absence, pause = config.simulator_events(seed=6)

    assert (share.share, share.link) == (0.3, "Tokyo - Oregon")
    assert (flow.peak_bps, flow.mean_on_s, flow.mean_off_s, flow.seed, flow.link) == (2e8, 2.0, 60.0, 6, None)
    assert trace.date_s.tolist() == [0, 28800]
    assert trace.capacity_bps.tolist() == [1e9, 0]
    assert (trace.period_s, trace.job_start_s) == (86400, 32400)
    assert [(failure.from_s, failure.until_s) for failure in failures] == [(10, 60), (10, inf)]
    assert (absence.first_round, absence.rounds) == (3, 2)
    assert (pause.first_round, pause.duration_s) == (4, 90)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[simulation]\nmesages = true", r"\[simulation\] has no key 'mesages'; did you mean 'messages'"),
        ('[simulation]\nuntil_ci = "0.1"', r"simulation.until_ci\(='0.1'\) must be a share in percent"),
        ('[simulation]\nuntil_ci = "0 %"', r"until_ci\(='0 %'\) must be > 0 %"),
        ("[simulation.compute]\ncv = 0.3", "distribution or trace must be given"),
        ('[simulation.compute]\ndistribution = "normal"', r"simulation.compute.distribution\(='normal'\)"),
        ('[simulation.compute]\ndistribution = "lognormal"', "cv must be given with"),
        ('[simulation.compute]\ndistribution = "exponential"\ncv = 1', r"cv\(=1.0\) must not be given with"),
        ('[simulation.compute]\ndistribution = "exponential"\nrepeat = true', "repeat"),
        (
            "[[simulation.background]]\nshare = 0.3",
            r'background\[0\].share\(=0.3\) must be a text in percent, as in "30 %"',
        ),
        ('[[simulation.background]]\nshare = "100 %"', r"share\(='100 %'\) must be >= 0 % and < 100 %"),
        (
            "[[simulation.background]]",
            r"simulation.background\[0\].share must be given, or peak, mean_on and mean_off\.$",
        ),
        (
            '[[simulation.background]]\npeak = "1 Gbps"\nmean_off = "1 s"',
            r"background\[0\].mean_on must be given with peak and mean_off: an on/off flow has peak, mean_on and",
        ),
        (
            '[[simulation.background]]\nshare = "1 %"\npeak = "1 Gbps"',
            r"background\[0\].share\(='1 %'\) must not be given with peak: the first is of a constant share",
        ),
        ('[[simulation.failure]]\nlink = "A - B"', r"simulation.failure\[0\].from is missing\.$"),
        (
            '[[simulation.failure]]\nlink = "A - B"\nfrom = "10"',
            r"from\(='10'\) must be a number with a unit",
        ),
        (
            '[[simulation.failure]]\nlink = "A"\nform = "1 s"',
            r"\[simulation.failure\] has no key 'form'; did you mean 'from'",
        ),
        (
            '[[simulation.away]]\nsilo = "A"\nfrom_round = 1\npolicy = "go_on"',
            r"away\[0\].rounds must be given with policy\(='go_on'\)\.$",
        ),
        (
            '[[simulation.away]]\nsilo = "A"\nfrom_round = 1\npolicy = "wait"',
            r"away\[0\].duration must be given with policy\(='wait'\)\.$",
        ),
        (
            '[[simulation.away]]\nsilo = "A"\nfrom_round = 1\npolicy = "wait"\nrounds = 2\nduration = "1 s"',
            r"away\[0\].rounds\(=2\) must not be given with policy\(='wait'\), which has duration\.$",
        ),
        ('[[simulation.capacity]]\nlink = "A"\nat = ["0"]\ncapacity = ["1 Gbps"]', r"at\[0\]\(='0'\)"),
        (
            '[simulation]\nsharing = "equal"\n[[simulation.background]]\nshare = "1 %"',
            r"simulation.sharing\(='equal'\) must be a model whose network can change, such as "
            r"'maxmin', with \[\[simulation.background\]\]",
        ),
    ],
)
def test_wrong_keys_and_values_are_named(text, message):
    with pytest.raises(InputError, match=message) as caught:
        simulation(text)

    assert str(caught.value).startswith("x.toml: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["30", "30%%", "-1 %", "100%", "nan %", "", 0.3])
def test_shares_that_are_none(text):
    with pytest.raises(InputError, match="share"):
        parse_share("share", text)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: SimulationConfig(sharing="hop_weighted"),
            "sharing(='hop_weighted') must be 'maxmin', 'equal' or 'rtt_weighted'.",
        ),
        (lambda: SimulationConfig(queueing="lifo"), "queueing(='lifo') must be 'fifo' or 'overlap'."),
        (
            lambda: ComputeConfig(distribution="gamma"),
            "distribution(='gamma') must be 'lognormal' or 'exponential'.",
        ),
        (
            lambda: AbsenceKind(silo="A", from_round=1, policy="skip"),
            "policy(='skip') must be 'go_on' or 'wait'.",
        ),
        (
            lambda: AbsenceKind(silo="A", from_round=1, policy="skip", rounds=3),
            "policy(='skip') must be 'go_on' or 'wait'.",
        ),
    ],
)
def test_names_that_nothing_knows_are_refused_without_a_file(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message


def test_tables_of_events_are_gathered_beside_the_other_keys():
    assert gathered({"rounds": 7}) == {"rounds": 7}
    assert gathered({}) == {}
    table = {"failure": [{"link": "A - B"}], "rounds": 7, "away": []}
    assert gathered(table) == {"rounds": 7, "events": {"failure": [{"link": "A - B"}], "away": []}}


def test_rounds_and_the_interval_have_their_bounds():
    for good in ({"rounds": 1}, {"rounds": MOST_ROUNDS}, {"until_ci": "1 %"}, {"until_ci": "0.0001 %"}):
        SimulationConfig(**good)
    for bad, rule in (
        ({"rounds": 0}, r"rounds\(=0\) must be >= 1\."),
        ({"rounds": MOST_ROUNDS + 1}, rf"must be <= {MOST_ROUNDS}\."),
        ({"until_ci": "0 %"}, r"until_ci\(='0 %'\) must be > 0 %\."),
    ):
        with pytest.raises(InputError, match=rule):
            SimulationConfig(**bad)


@pytest.mark.parametrize(("cv", "varies"), [(0.0, False), (0.01, True), (1.0, True), (2.0, True)])
def test_a_lognormal_without_spread_is_constant_and_every_other_is_not(graph, work, cv, varies):
    config = ComputeConfig(distribution="lognormal", cv=cv)
    found = compute_times(config, graph, work, seed=1, rounds=10)
    assert (found is not None) == varies
    assert found is None or len(np.unique(found.rows(0, 10))) > graph.silos
    assert (
        compute_times(ComputeConfig(distribution="exponential"), graph, work, seed=1, rounds=10) is not None
    )


@pytest.mark.parametrize("distribution", [None, "exponential"])
@pytest.mark.parametrize("participation", [None, Participation(count=2), Participation(share=0.5)])
def test_silos_that_take_part_compute_as_stated_and_others_not_at_all(
    graph, work, distribution, participation
):
    config = None if distribution is None else ComputeConfig(distribution=distribution)
    some = replace(work, participation=participation)
    own = compute_times(config, graph, work, seed=4, rounds=20)
    found = compute_times(config, graph, some, seed=4, rounds=20)
    own_s = work.round_compute_s(graph.silos) + np.zeros((20, 1)) if own is None else own.rows(0, 20)
    takes_part = (
        np.ones((20, graph.silos), dtype=bool)
        if participation is None
        else participation.rows(0, 20, silos=graph.silos, seed=4)
    )
    expected_s = np.where(takes_part, own_s, 0.0)
    assert found is None if participation is None and own is None else (found.rows(0, 20) == expected_s).all()
    assert vary_at_random(config, some) == (len(np.unique(expected_s)) > 1)


@pytest.mark.parametrize(
    ("data", "why"), [(None, "No such file or directory"), (b"compute_s\n\xff\n", "not CSV in UTF-8")]
)
def test_a_file_of_times_that_cannot_be_read_says_why(tmp_path, graph, work, data, why):
    path = tmp_path / "times.csv"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        times(ComputeConfig(trace=str(path)), graph, work)
    assert str(caught.value) == f"{path}: cannot be read: {why}."


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("exponential", {"distribution": "exponential"}),
        ("lognormal 0.5", {"distribution": "lognormal", "cv": 0.5}),
        ("a b.csv", {"trace": "a b.csv"}),
        ("a.csv repeat", {"trace": "a.csv", "repeat": True}),
    ],
)
def test_an_option_of_computing_times(text, values):
    assert compute_config(text) == ComputeConfig(**values)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("lognormal x", "compute_times(='lognormal x'): 'x' must be a number."),
        ("", "compute_times(='') must be 'lognormal CV', 'exponential', 'FILE.csv' or 'FILE.csv repeat'."),
        (
            "lognormal 1 2",
            "compute_times(='lognormal 1 2') must be 'lognormal CV', 'exponential', 'FILE.csv' or",
        ),
    ],
)
def test_what_is_said_of_an_option_of_computing_times(text, rule):
    with pytest.raises(InputError) as caught:
        compute_config(text)
    assert str(caught.value).startswith(rule)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (None, "constant"),
        ({"distribution": "exponential"}, "exponential"),
        ({"distribution": "lognormal", "cv": 0.25}, "lognormal (cv 0.25)"),
        ({"distribution": "lognormal", "cv": 0.0}, "lognormal (cv 0)"),
        ({"trace": "s.csv"}, "drawn from the 2 values of s.csv, seed 7"),
        ({"trace": "t.csv"}, "trace t.csv"),
        ({"trace": "t.csv", "repeat": True}, "trace t.csv, repeated"),
    ],
)
def test_computing_times_in_words(tmp_path, monkeypatch, config, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text("compute_s\n1\n\n2\n")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert computing_text(None if config is None else ComputeConfig(**config), seed=7) == words


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "compute_s\n1\n1,2\n",
            "row 2 must hold 1 numbers, in seconds; decimal commas need semicolons or tabs between",
        ),
        ("compute_s\n1\nx\n", "row 2 must hold 1 numbers, in seconds."),
        ("compute_s\n1\n-1\n", "'compute_s' in row 2(=-1.0) must be finite and >= 0."),
        ("compute_s\ninf\n", "'compute_s' in row 1(=inf) must be finite and >= 0."),
        (
            "A,A\n1,2\n",
            "its first line must be 'compute_s' or the labels of all 11 silos, each once; 'A' is not on both",
        ),
    ],
)
def test_what_is_said_of_a_file_of_times(tmp_path, graph, work, content, message):
    path = tmp_path / "times.csv"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        times(ComputeConfig(trace=str(path)), graph, work)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_label_twice_in_a_trace_is_named(tmp_path, graph, work):
    path = tmp_path / "times.csv"
    path.write_text(",".join([*graph.labels, graph.labels[3]]) + "\n")
    with pytest.raises(InputError, match=f"; '{graph.labels[3]}' is not on both sides"):
        times(ComputeConfig(trace=str(path)), graph, work)


def test_a_time_of_0_and_decimal_commas_are_taken(tmp_path, graph, work):
    path = tmp_path / "times.csv"
    path.write_text("compute_s;\n0;\n".replace(";", ""))
    assert (times(ComputeConfig(trace=str(path)), graph, work).rows(0, 2) == 0).all()
    path.write_text(";".join(graph.labels) + "\n" + ";".join(["0,5"] * 11) + "\n")
    assert (times(ComputeConfig(trace=str(path)), graph, work, rounds=1).rows(0, 1) == 0.5).all()


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({}, "distribution or trace must be given, and not both."),
        ({"distribution": "exponential", "trace": "a"}, "distribution or trace must be given, and not both."),
        ({"distribution": "lognormal"}, "cv must be given with the distribution 'lognormal'."),
        ({"trace": "a", "cv": 1.0}, "cv(=1.0) must not be given with a trace, only with 'lognormal'."),
        (
            {"distribution": "exponential", "cv": 0.0},
            "cv(=0.0) must not be given with the distribution 'exponential', only with 'lognormal'.",
        ),
        ({"distribution": "lognormal", "cv": -0.1}, "cv(=-0.1) must be finite and >= 0."),
        ({"distribution": "exponential", "repeat": True}, "repeat(=True) goes with a trace."),
    ],
)
def test_which_keys_of_computing_times_go_together(values, rule):
    with pytest.raises(InputError) as caught:
        ComputeConfig(**values)
    assert str(caught.value) == rule


def test_events_that_stay_where_those_of_the_network_go():
    config = simulation(
        '[[simulation.away]]\nsilo = "Tokyo"\nfrom_round = 1\npolicy = "wait"\nduration = "1 s"\n'
        '[[simulation.failure]]\nlink = "Tokyo - Seoul"\nfrom = "1 s"\n'
    )
    assert sorted(config.tables) == ["away", "failure"]
    assert config.without_events(on_network_only=True).tables == ("away",)
    assert config.without_events().tables == ()
    assert [str(place) for place in config.learning_events()] == []
    assert len(config.simulator_events(seed=0)) == 2


EVENTS = """
[[simulation.away]]
silo = "Tokyo"
from_round = 3
rounds = 2
policy = "go_on"
[[simulation.away]]
silo = "Seoul"
from_round = 4
duration = "90 s"
policy = "wait"
[[simulation.failure]]
link = "Tokyo - Seoul"
from = "1 s"
"""


@pytest.mark.parametrize(
    ("field", "written"),
    [
        # Events of the simulator are numbered over all tables.
        (Field("events", 0, "from_s", value=1.0), "simulation.failure[0].from(='1 s')"),
        (Field("events", 1, "first_round", value=3), "simulation.away[0].from_round(=3)"),
        (Field("events", 2, "first_round", value=4), "simulation.away[1].from_round(=4)"),
        (Field("events", 2), "simulation.away[1]"),
        (Field("events"), "events"),
        (Field("rounds", 1, value=2), "rounds[1](=2)"),
    ],
)
def test_errors_of_events_name_them_as_the_scenario_does(field, written):
    assert str(simulation(EVENTS).written(field)) == written


def test_only_an_absence_that_others_do_not_wait_for_alters_what_is_learnt():
    ((place, entry),) = simulation(EVENTS).learning_events().items()
    assert (str(place), entry.silo) == ("simulation.away[0]", "Tokyo")


def test_rates_by_eq_3_are_constant_but_silos_may_be_away():
    away = EVENTS.partition("[[simulation.failure]]")[0]
    assert simulation(f'[simulation]\nsharing = "equal"\n{away}').tables == ("away",)
    with pytest.raises(InputError, match=r"sharing\(='equal'\) .* with \[\[simulation\.failure\]\]"):
        simulation(f'[simulation]\nsharing = "equal"\n{EVENTS}')


def test_files_of_a_simulation_are_found_beside_it(tmp_path):
    for name in ("t.csv", "d.csv"):
        (tmp_path / name).write_text("")
    config = simulation('[simulation.compute]\ntrace = "t.csv"\n[[simulation.demands]]\nfile = "d.csv"\n')
    assert config.files == ["t.csv", "d.csv"]
    assert config.beside(tmp_path).files == [str(tmp_path / "t.csv"), str(tmp_path / "d.csv")]
    # A file that is nowhere keeps its path, and so does all else.
    (tmp_path / "t.csv").unlink()
    assert config.beside(tmp_path).files == ["t.csv", str(tmp_path / "d.csv")]
    assert config.beside(tmp_path).compute == config.compute
    constant = simulation('[[simulation.demands]]\nfile = "d.csv"\n')
    assert (constant.files, constant.beside(tmp_path).compute) == (["d.csv"], None)
    assert simulation("").files == []


def test_keys_that_are_no_tables_of_events_are_the_simulations_own():
    own = ("rounds", "sharing", "queueing", "engine", "messages", "until_ci", "compute")
    assert event_names(dict.fromkeys((*own, "failure", "faliure"))) == ("failure", "faliure")
    known = known_keys(("rounds", "away"))
    assert known[: len(own)] == own
    assert known.count("rounds") == known.count("away") == 1
    tables = event_tables(("rounds", "away"))
    assert tables["away"] is AbsenceKind
    assert "rounds" not in tables


def test_a_simulation_is_of_200_rounds_by_the_quick_engine_and_keeps_no_messages():
    assert SimulationConfig() == SimulationConfig(
        rounds=200,
        sharing="maxmin",
        queueing="fifo",
        engine="auto",
        messages=False,
        until_ci=None,
        compute=None,
    )
    assert ComputeConfig(trace="t.csv") == ComputeConfig(
        trace="t.csv", repeat=False, cv=None, distribution=None
    )
