"""What a message says of a field, its value and its rule, and of the names that exist."""

import copy
import pickle

import numpy as np
import pytest

from topologies.errors import UNSTATED, Field, InputError, first_names, quoted, unknown_key, unknown_name


def test_few_names_are_all_listed_in_order():
    error = unknown_name("kind", "rings", ["star", "ring", "mst"], otherwise="a path", source="a.toml")

    assert (
        str(error)
        == "a.toml: kind(='rings') must be one of mst, ring, star, or a path (did you mean 'ring'?)."
    )


def test_one_name_that_is_not_all_is_no_list():
    error = unknown_name("backend", "x", ["mpi"], otherwise="a path")

    assert str(error) == "backend(='x') must be mpi, or a path."
    assert str(unknown_name("backend", "x", ["mpi"])) == "backend(='x') must be one of mpi."


def test_sixteen_names_are_all_listed():
    names = [f"n{k:02d}" for k in range(16)]

    assert str(unknown_name("name", "zzz", names)) == f"name(='zzz') must be one of {', '.join(names)}."


def test_of_many_names_the_nearest_and_the_first_are_listed():
    names = ["load", "first", *(f"Router {k}" for k in range(1000))]
    error = unknown_name("hub", "router_5", names, otherwise="an index")

    assert str(error).startswith(
        "hub(='router_5') must be one of 1002 names, or an index; did you mean 'Router 5'? Among them are Router 5, "
    )
    listed = str(error).partition("Among them are ")[2].removesuffix(", ...").split(", ")
    assert len(listed) == len(set(listed)) == 10
    assert {"load", "first", "Router 0"} < set(listed)


def test_many_names_with_none_near():
    names = [f"n{k}" for k in range(17)]

    assert str(unknown_name("name", "??", names)) == (
        f"name(='??') must be one of 17 names: {', '.join(names[:10])}, ..."
    )


LATER = InputError("must be > ", Field("from_s", value=3.0), ".", field=Field("until_s", value=2.0))


def test_an_error_carries_path_value_and_rule():
    assert str(LATER) == "until_s(=2.0) must be > from_s(=3.0)."
    assert (LATER.path, LATER.value, LATER.rule) == (("until_s",), 2.0, "must be > from_s(=3.0).")
    plain = InputError("no overlay.", source="a.toml")
    assert (str(plain), plain.path, plain.value, plain.rule) == (
        "a.toml: no overlay.",
        (),
        UNSTATED,
        "no overlay.",
    )


def test_an_error_moves_into_tables_and_files_with_all_its_fields():
    moved = LATER.within("failure", 1).within("simulation").located("a.toml").followed_by(" (and 1 more)")

    assert str(moved) == "a.toml: simulation.failure[1].until_s(=2.0) must be > from_s(=3.0). (and 1 more)"
    assert moved.path == ("simulation", "failure", 1, "until_s")
    assert str(InputError("is no key.").within("a", 0)) == "a[0].is no key."
    assert str(moved.located(None)) == str(moved)
    assert str(moved.located("b.h5")) == f"b.h5: {moved}"


def test_fields_are_renamed_with_their_values():
    texts = {"from_s": Field("from", value="3 s"), "until_s": Field("until", value="2 s")}
    assert str(LATER.renamed(lambda field: texts[field.path[0]])) == "until(='2 s') must be > from(='3 s')."


@pytest.mark.parametrize(
    ("path", "other", "shown"),
    [
        (("t", 0, "from"), ("t", 0, "until"), "from"),
        (("t", 0, "from"), ("t", 1, "until"), "t[0].from"),
        (("t", 0, "at", 1), ("t", 0, "at", 2), "at[1]"),
        (("t", 0, "at", -1), ("t", 0, "period"), "at[-1]"),
        (("t", 0), ("t", 1, "silo"), "t[0]"),
        (("t", 0), ("t", 0), "t[0]"),
        (("t", "from"), ("s", "from"), "t.from"),
    ],
)
def test_a_field_beside_another_is_named_without_what_both_share(path, other, shown):
    assert str(Field(*path).beside(Field(*other))) == shown


@pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_survives_its_way_between_processes(again):
    error = again(LATER)
    assert (type(error), str(error), error.path, error.rule) == (
        InputError,
        str(LATER),
        LATER.path,
        LATER.rule,
    )
    assert str(error.within("a")) == "a.until_s(=2.0) must be > from_s(=3.0)."
    unstated = again(InputError("must be a date.", field=Field("until_s")))
    assert str(unstated.within("a")) == "a.until_s must be a date."


def test_a_field_in_python_shows_its_path_and_whether_it_has_a_value():
    assert repr(Field("a", 1, value=2.0)) == "Field('a', 1, value=2.0)"
    assert repr(Field("a")) == "Field('a', value=UNSTATED)"


def test_numbers_of_numpy_are_shown_without_their_type():
    assert str(Field("x", value=np.float64(2.5))) == "x(=2.5)"
    assert str(Field("x", value=np.int64(3))) == "x(=3)"


@pytest.mark.parametrize("control", ["\n", "\r", "\x1b[31m", "\x00", "\x1e", "\x85", "\u2028", "\x7f"])
def test_what_breaks_lines_or_moves_a_cursor_is_escaped(control):
    message = str(
        InputError("must be one of a", f"{control}b.", field=Field("network", f"x{control}y", value=1))
    )
    assert message.isprintable()
    assert len(message.splitlines()) == 1
    assert repr(control)[1:-1] in message


@pytest.mark.parametrize(
    ("table", "key", "known", "text"),
    [
        (
            "[a]",
            "comput",
            ("preset", "compute"),
            "[a] has no key 'comput'; did you mean 'compute'? Its keys are compute, preset.",
        ),
        ("[a]", "zz", ("preset", "compute"), "[a] has no key 'zz'; its keys are compute, preset."),
        ("", "netwrk", ("network",), "has no key 'netwrk'; did you mean 'network'? Its keys are network."),
        (
            "[a]",
            "k16x",
            tuple(f"k{i}" for i in range(17)),
            "[a] has no key 'k16x'; did you mean 'k16'? "
            "Its 17 keys are k16, k6, k1, k0, k10, k11, k12, k13, k14, k15, ...",
        ),
    ],
)
def test_a_key_that_a_table_has_not(table, key, known, text):
    assert str(unknown_key(table, key, known)) == text
    assert str(unknown_key(table, key, known, source="f.toml")) == f"f.toml: {text}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1, 2, 3], "[1, 2, 3]"),
        ([1, 2, 3, 4], "[1, 2, 3, ...]"),
        ({"a": 1, "b": 2}, "{'a': 1, 'b': 2}"),
        ({"a": 1, "b": 2, "c": 3}, "{'a': 1, 'b': 2, ...}"),
        ([[1, [2]]], "[[1, [...]]]"),
        ("x" * 58, repr("x" * 58)),
        ("x" * 59, f"'{'x' * 27}...{'x' * 28}'"),
        (10**59, str(10**59)),
        (10**60, f"1{'0' * 27}...{'0' * 29}"),
        pytest.param(-(10**5000), "an integer of 16610 bits", id="5001 digits"),
        (["y" * 30] * 3, repr(["y" * 30] * 3)[:77] + "..."),
        (["y" * 22, "y" * 22, "y" * 24], repr(["y" * 22, "y" * 22, "y" * 24])),
        (["y" * 22, "y" * 22, "y" * 25], repr(["y" * 22, "y" * 22, "y" * 25])[:77] + "..."),
        (np.bool_(True), "True"),
        (np.array(2.5), "2.5"),
        (np.array([1, 2]), "array([1, 2])"),
    ],
)
def test_values_are_short_and_on_one_line(value, text):
    assert quoted(value) == text
    assert len(text) <= 80


def test_of_more_than_ten_names_the_first_and_how_many_there_are():
    names = [f"n{k}" for k in range(12)]
    listed = ", ".join(f"'{name}'" for name in names[:10])

    assert first_names(names[:10]) == listed
    assert first_names(names[:11]) == f"{listed} and 1 more"
    assert first_names(names) == f"{listed} and 2 more"


def test_keys_of_a_table_up_to_sixteen_are_all_listed():
    keys = [f"key{k:02d}" for k in range(16)]
    assert str(unknown_key("[a]", "zz", keys)) == f"[a] has no key 'zz'; its keys are {', '.join(keys)}."
    assert str(unknown_key("[a]", "zz", [*keys, "key16"])).endswith(
        f"its 17 keys are {', '.join(keys[:10])}, ..."
    )
    assert str(unknown_key("[a]", "zz", ["a", "b", "a"])) == "[a] has no key 'zz'; its keys are a, b."
