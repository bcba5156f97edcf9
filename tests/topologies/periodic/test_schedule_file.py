"""Files of periodic overlays: what they may hold, one-line errors, the way back."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import InputError
from topologies.periodic.base import base
from topologies.periodic.epidemic import draw_targets, epidemic
from topologies.periodic.multigraph import multigraph
from topologies.periodic.one_peer_exponential import one_peer_exponential
from topologies.periodic.schedule_file import read_schedule, schedule_text

LABELS = ("Bonn", "Köln", "Lyon")


@pytest.fixture
def file(tmp_path):
    def write(content, name="s.csv"):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return write


def rows(states):
    return [
        list(zip(s.source.tolist(), s.target.tolist(), s.lag.tolist(), s.weight.tolist(), strict=True))
        for s in states
    ]


@pytest.mark.parametrize(
    "text",
    [
        "state,from,to,lag,weight\n0,Bonn,Köln,1,0.5\n0,Köln,Bonn,2,0.25\n1,,,,\n2,Lyon,Bonn,3,1\n",
        "\ufeffState;Source;Target;Weight;Lag\r\n2;2;0;1,0;3\r\n1;;;;\r\n0;1;0;0,25;2\r\n0;0;1;0,5;1\r\n",
        "slot\ta\tb\tw\tage\tnote\n0\tBonn\tKöln\t.5\t\tx\n\n1\t\t\t\t\t\n2\tLyon\tBonn\t1\t3\t\n0\tKöln\tBonn\t.25\t2\t\n",
        "state,from,to,lag,weight\n0,Bonn,Köln,1,0.5\n0,Köln,Köln,,0.5\n0,Köln,Bonn,2,0.25\n1,,,,\n2,Lyon,Bonn,3,1\n",
    ],
)
def test_tables_of_states(file, text):
    states = read_schedule(file(text), LABELS)
    assert rows(states) == [[(0, 1, 1, 0.5), (1, 0, 2, 0.25)], [], [(2, 0, 3, 1.0)]]


def test_without_weights_those_of_the_local_degree_rule_in_each_state(file):
    states = read_schedule(file("state,from,to\n0,0,1\n0,2,1\n0,1,2\n1,0,1\n1,1,0\n2,2,0\n"), LABELS)
    third = 1 / 3
    assert rows(states) == [
        [(0, 1, 1, third), (1, 2, 1, third), (2, 1, 1, third)],
        [(0, 1, 1, 0.5), (1, 0, 1, 0.5)],
        [(2, 0, 1, 0.5)],
    ]


def test_weights_written_with_few_digits_leave_no_weight_below_zero(file):
    text = "state,from,to,weight\n0,0,1,0.3333336\n0,2,1,0.3333336\n0,1,1,0.3333332\n"
    (state,) = read_schedule(file(text), LABELS)
    matrix = state.consensus(3)
    assert matrix.sum(axis=1) == pytest.approx(1, abs=1e-15)
    assert matrix.min() >= 0
    (full,) = read_schedule(file("state,from,to,weight\n0,0,1,0.5000004\n0,2,1,0.5000004\n"), LABELS)
    assert full.weight.sum() == pytest.approx(1, abs=1e-15)


def test_states_in_which_silos_do_not_compute(file):
    text = "state,from,to,weight,computes\n0,0,1,.5,\n1,1,0,1,0\n1,2,0,0,\n2,,,,0\n3,,,,1\n"
    states = read_schedule(file(text), LABELS)
    assert [state.computes for state in states] == [True, False, False, True]
    found = schedule_text(states, LABELS)
    assert found.splitlines()[0] == "state,from,to,lag,weight,computes"
    assert [state.computes for state in read_schedule(file(found), LABELS)] == [True, False, False, True]
    # Without such states files are as they were.
    assert "computes" not in schedule_text(states[:1], LABELS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is an empty table; it must have a row of column names."),
        ("state,from,to\n", "has column names, but no rows."),
        ("state,from,to\n0,,\n1,,\n", "must state an arc in some state."),
        ("state,from,to,lag\n0,Bonn,Köln,0\n", "row 2, lag(='0') must be a whole number of 1..10000."),
        ("state,from,to,lag\n0,Bonn,Köln,1.5\n", "row 2, lag(='1.5') must be a whole number of 1..10000."),
        ("state,from,to,lag\n0,Bonn,Köln,1e9\n", "row 2, lag(='1e9') must be a whole number of 1..10000."),
        (
            "state,from,to,computes\n0,Bonn,Köln,1\n0,Köln,Bonn,0\n",
            "row 3, computes(='0') must be that of the state's other rows.",
        ),
        ("state,from,to,computes\n0,Bonn,Köln,2\n", "row 2, computes(='2') must be a whole number of 0..1."),
        ("state,from,to,lag\n0,Bonn,Köln,soon\n", "row 2, lag(='soon') must be a number."),
        (
            "state,from,to\n-1,Bonn,Köln\n",
            "row 2, state(='-1') must be a whole number of 0..9999 (a period has at most 10000 states).",
        ),
        (
            "state,from,to\n1000000,Bonn,Köln\n",
            "row 2, state(='1000000') must be a whole number of 0..9999 (a period has at most 10000 states).",
        ),
        (
            "state,from,to\n0,Bonn,Köln\n,Bonn,Köln\n",
            "row 3, state(='') must be the number of a state, from 0 on.",
        ),
        (
            "state,from,to\n0,Bonn,Köln\n3,Köln,Bonn\n1,Köln,Bonn\n",
            "state 2 has no row, though state 3 has; a state without arcs is a row with its number and empty cells.",
        ),
        (
            "state,from,to\n1,Bonn,Köln\n",
            "state 0 has no row, though state 1 has; a state without arcs is a row with its number and empty cells.",
        ),
        (
            "state,from,to\n0,Bonn,Kölm\n",
            "row 2, to(='Kölm') must be one of Bonn, Köln, Lyon, or a number of 0..2 (did you mean 'Köln'?).",
        ),
        (
            "state,from,to\n0,Bonn,\n",
            "row 2, to(='') must be one of Bonn, Köln, Lyon, or a number of 0..2.",
        ),
        (
            "state,from,to\n0,Bonn,Köln\n1,Bonn,Köln\n1,0,1\n",
            "row 4: the arc Bonn -> Köln must not be repeated; row 3 states it.",
        ),
        ("state,from,to\n0,Bonn,0\n", "row 2: an arc must join two silos, not Bonn with itself."),
        (
            "state,from,to,lag,weight\n0,Bonn,Köln,7,0.5\n0,Köln,Köln,7,0.5\n",
            "row 3, lag(='7') must be 1: a silo mixes its own model as it is.",
        ),
        ("state,from,to,weight\n0,Bonn,Köln,inf\n", "row 2, weight(=inf) must be finite."),
        ("state,from,to,weight\n0,Bonn,Köln,much\n", "row 2, weight(='much') must be a number."),
        ("state,from,to,to\n0,Bonn,Köln,Köln\n", "the columns 'to' and 'to' both mean receiver; keep one."),
        (
            "from,to,lag\nBonn,Köln,1\n",
            "needs a column 'state' for the state's number; it has 'from', 'to', 'lag'.",
        ),
    ],
)
def test_one_line_errors(file, text, message):
    path = file(text)
    with pytest.raises(InputError) as caught:
        read_schedule(path, LABELS)
    assert str(caught.value) == f"{path}: {message}"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "state,from,to,weight\n0,Bonn,Köln,1\n1,Bonn,Köln,0.5\n1,Lyon,Köln,0.6\n",
            "the weights that Köln gives the models that it receives sum to 1.1; they must sum to <= 1 within 1e-06, "
            "the rest being that of its own model.",
        ),
        (
            "state,from,to,weight\n0,Bonn,Köln,1\n1,Bonn,Köln,1e308\n1,Lyon,Köln,1e308\n",
            "the weights that Köln gives the models that it receives sum to inf; they must sum to <= 1 within 1e-06, "
            "the rest being that of its own model.",
        ),
        (
            "state,from,to,weight\n0,Bonn,Köln,1\n1,Bonn,Köln,1e308\n1,Köln,Köln,1e308\n",
            "the row of Köln sums to inf; rows of a mixing matrix must sum to 1 within 1e-06 (an adjacency matrix has "
            "zeros and ones, and zeros on its diagonal).",
        ),
        (
            "state,from,to,weight\n0,Bonn,Köln,1\n1,Bonn,Köln,0.5\n1,Lyon,Köln,\n",
            "row 4 must state a weight, as others do.",
        ),
    ],
)
def test_errors_of_a_state(file, text, message):
    path = file(text)
    with pytest.raises(InputError) as caught:
        read_schedule(path, LABELS)
    assert str(caught.value) == f"{path}, state 1: {message}"


def test_files_that_are_none(tmp_path, file):
    with pytest.raises(InputError, match=r"nosuch\.csv: there is no such file\.$"):
        read_schedule(tmp_path / "nosuch.csv", LABELS)
    with pytest.raises(InputError, match=r"ending\(='\.gml'\) must be one of \.csv, \.tsv, \.txt"):
        read_schedule(file("graph []", "s.gml"), LABELS)


def test_one_silo_needs_no_arcs(file):
    (state,) = read_schedule(file("state,from,to\n0,,\n"), ("Bonn",))
    assert len(state.source) == 0


def test_the_longest_period(file):
    text = "state,from,to\n" + "".join(f"{state},0,1\n" for state in range(10_000))
    assert len(read_schedule(file(text), LABELS)) == 10_000


def test_text_of_states():
    states = multigraph(np.arange(3), np.array([1, 2, 0]), np.array([1.0, 1.0, 2.0]))
    assert schedule_text(states, ("a,b", '"', "c")) == (
        'state,from,to,lag,weight\n0,"a,b","""",1,0.5\n0,"""",c,1,0.5\n0,c,"a,b",2,0.5\n1,"a,b","""",1,0.5\n'
        '1,"""",c,1,0.5\n'
    )


@given(
    st.integers(2, 9),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["base", "epidemic", "one_peer"]),
)
def test_what_is_written_is_read_as_the_same(tmp_path_factory, silos, number, seed, kind):
    rng = np.random.default_rng(seed)
    states = {
        "base": lambda: base(silos, number),
        "one_peer": lambda: one_peer_exponential(silos),
        "epidemic": lambda: [
            epidemic(draw_targets(silos, min(number, silos - 1), rng)) for _ in range(number)
        ],
    }[kind]()
    labels = [f"silo {i}, {rng.integers(9)}" for i in range(silos)]
    path = tmp_path_factory.mktemp("schedule") / "s.csv"
    path.write_text(schedule_text(states, labels), encoding="utf-8")
    assert rows(read_schedule(path, labels)) == rows(states)
    assert re.fullmatch(r"(?:[^\n]+\n)+", path.read_text())


def test_two_silos_must_send_in_some_state_and_one_need_not(file):
    empty = file("state,from,to\n0,,\n")
    with pytest.raises(InputError, match=r"must state an arc in some state\.$"):
        read_schedule(empty, LABELS[:2])
    assert rows(read_schedule(empty, LABELS[:1])) == [[]]


def test_the_lag_of_a_silos_own_model_is_1_if_it_is_stated(file):
    head = "state,from,to,lag,weight\n0,Bonn,Köln,1,0.5\n0,Köln,Bonn,1,0.5\n"
    assert rows(read_schedule(file(f"{head}0,Köln,Köln,1,0.5\n"), LABELS[:2])) == [
        [(0, 1, 1, 0.5), (1, 0, 1, 0.5)]
    ]
    with pytest.raises(
        InputError, match=r"row 4, lag\(='2'\) must be 1: a silo mixes its own model as it is\.$"
    ):
        read_schedule(file(f"{head}0,Köln,Köln,2,0.5\n"), LABELS[:2])
