"""Entry points of packages: which one a name means, and the one line for one that cannot be used."""

from importlib.metadata import EntryPoint

import pytest

from topologies.entry_points import (
    all_names,
    find_entry,
    load_class,
    load_entry,
    load_instance,
    named,
    reason,
)
from topologies.errors import InputError, MachineError

GROUP, OTHER = "silosim.test_things", "silosim.test_others"
OWN = (EntryPoint("own", "silosim:own", GROUP), EntryPoint("mine", "silosim:mine", GROUP))


@pytest.fixture
def installed(install_package):
    """A package that registers two names in a group, and one in another."""
    install_package(
        "things",
        f"[{GROUP}]\nmine = things_of_test:Plain\nfails = things_of_test:Fails\nmissing = no_such_module:f\n"
        f"[{OTHER}]\nelsewhere = things_of_test:Plain\n",
        {
            "things_of_test": "from topologies.errors import InputError\n"
            "class Plain:\n    pass\n"
            "class Fails:\n    def __init__(self):\n        raise ValueError('one\\n  two')\n"
            "class Refuses:\n    def __init__(self):\n        raise InputError('must be more.')\n"
            "number = 3\n"
        },
    )


def entry(name, value):
    return EntryPoint(name, f"things_of_test:{value}", GROUP)


@pytest.mark.usefixtures("installed")
def test_a_name_is_silosim_s_own_else_that_of_a_package():
    assert find_entry(GROUP, "mine", "thing").value == "things_of_test:Plain"
    assert find_entry(GROUP, "mine", "thing", own=OWN).value == "silosim:mine"
    assert find_entry(GROUP, "own", "thing", own=OWN).value == "silosim:own"
    assert find_entry(GROUP, "own", "thing") is None
    assert find_entry(GROUP, "elsewhere", "thing") is None
    assert find_entry(GROUP, "elsewhere", "thing", beside=(OTHER,)) is None
    assert find_entry(OTHER, "elsewhere", "thing", beside=(GROUP,)).value == "things_of_test:Plain"
    assert all_names(("own", "mine"), GROUP) == ("own", "mine", "fails", "missing")
    assert all_names((), GROUP) == ("fails", "mine", "missing")


@pytest.mark.usefixtures("installed")
def test_a_name_that_is_registered_twice_is_refused_with_its_places(install_package):
    install_package("again", f"[{GROUP}]\nmine = another:Plain\nelsewhere = another:Plain\n")
    with pytest.raises(InputError) as caught:
        find_entry(GROUP, "mine", "thing")
    assert str(caught.value) == (
        f"the thing mine is registered more than once in {GROUP}: another:Plain, things_of_test:Plain."
    )
    with pytest.raises(InputError) as caught:
        find_entry(GROUP, "elsewhere", "thing", beside=(OTHER,))
    assert str(caught.value) == (
        f"the thing elsewhere is registered more than once in {GROUP} and {OTHER}: another:Plain, "
        "things_of_test:Plain."
    )
    assert find_entry(GROUP, "elsewhere", "thing").value == "another:Plain"
    assert find_entry(GROUP, "mine", "thing", own=OWN).value == "silosim:mine"


@pytest.mark.usefixtures("installed")
def test_what_a_name_stands_for_is_imported_and_made():
    plain = entry("mine", "Plain")
    assert load_entry(entry("n", "number"), "thing") == 3
    assert load_class(plain, "thing").__name__ == "Plain"
    assert type(load_instance(plain, "thing")) is load_class(plain, "thing")
    assert named(plain, "thing") == "the thing mine (things_of_test:Plain)"
    assert reason(ValueError("one\n  two")) == "ValueError: one two"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("load", "value", "kind", "message"),
    [
        (
            load_entry,
            "no_such",
            MachineError,
            "the thing x (things_of_test:no_such) cannot be imported: AttributeError: module 'things_of_test' has no "
            "attribute 'no_such'",
        ),
        (load_class, "number", InputError, "the thing x (things_of_test:number) must be a class."),
        (load_instance, "number", InputError, "the thing x (things_of_test:number) must be a class."),
        (
            load_instance,
            "Fails",
            MachineError,
            "the thing x (things_of_test:Fails) cannot be used: ValueError: one two",
        ),
        (load_instance, "Refuses", InputError, "must be more."),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(load, value, kind, message):
    with pytest.raises(kind) as caught:
        load(entry("x", value), "thing")
    assert str(caught.value) == message
    assert type(caught.value) is kind
