"""Options of a registered class: which values each declared type takes, and what is said of others."""

import re
from dataclasses import dataclass, field
from typing import Literal

import pytest

from topologies.errors import InputError, SilosimError
from training.declared_options import declared_options, with_options


@dataclass
class Reader:
    """One option of each type."""

    rate: float = 0.5
    steps: int = 3
    name: str = "plain"
    fast: bool = False
    order: Literal["up", "down", 1] = "up"
    limit: int | None = None
    place: float | Literal["auto"] = "auto"


def made(**options):
    return with_options(Reader, options, field="options")


@pytest.mark.parametrize(
    "options",
    [
        {"rate": 0.25},
        {"rate": 2},
        {"steps": -1},
        {"name": ""},
        {"fast": True},
        {"order": "down"},
        {"order": 1},
        {"limit": 7},
        {"place": 1.5},
        {"place": "auto"},
    ],
)
def test_a_value_of_the_declared_type_is_taken(options):
    assert made(**options) == Reader(**options)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"rate": True}, "options.rate(=True) must be a number."),
        ({"rate": "0.5"}, "options.rate(='0.5') must be a number."),
        ({"steps": 1.0}, "options.steps(=1.0) must be an integer."),
        ({"steps": True}, "options.steps(=True) must be an integer."),
        ({"name": 1}, "options.name(=1) must be a text."),
        ({"fast": 1}, "options.fast(=1) must be true or false."),
        ({"order": "left"}, "options.order(='left') must be one of 'up', 'down', 1."),
        ({"order": True}, "options.order(=True) must be one of 'up', 'down', 1."),
        ({"limit": None}, "options.limit(=None) must be an integer."),
        ({"place": "here"}, "options.place(='here') must be a number or 'auto'."),
        ({"rat": 1.0}, "(did you mean 'rate'?)"),
    ],
)
def test_another_value_is_an_error_that_says_the_type(options, rule):
    with pytest.raises(InputError, match=re.escape(rule)):
        made(**options)


@dataclass
class Needs:
    """Options without a default."""

    folder: str = field(metadata={"help": "where the files are"})
    count: int
    names: str = field(default_factory=str)


def test_a_missing_option_is_named_with_its_help():
    with pytest.raises(InputError, match=r"^options\.folder is missing: where the files are\.$"):
        with_options(Needs, {"count": 1}, field="options")
    with pytest.raises(InputError, match=r"^options\.count is missing\.$"):
        with_options(Needs, {"folder": "x"}, field="options")
    assert with_options(Needs, {"folder": "x", "count": 1}, field="options") == Needs("x", 1)


@dataclass
class Described(Reader):
    """More options, with what they are for, and a field that is none."""

    kind: Literal["only"] = field(default="only", metadata={"help": "which one"})
    names: str = field(default_factory=str)
    made: list = field(default_factory=list, init=False)


def test_options_are_described_in_the_order_of_the_fields_by_use_type_and_default():
    described = [str(option) for option in declared_options(Described, field="options").values()]

    assert described == [
        "rate [a number; default: 0.5]",
        "steps [an integer; default: 3]",
        "name [a text; default: 'plain']",
        "fast [true or false; default: false]",
        "order [one of 'up', 'down', 1; default: 'up']",
        "limit [an integer; default: none]",
        "place [a number or 'auto'; default: 'auto']",
        "kind: which one ['only'; default: 'only']",
        "names [a text]",
    ]
    needed = declared_options(Needs, field="options")
    assert str(needed["folder"]) == "folder: where the files are [a text; required]"
    assert needed["count"].values == "an integer"


def test_options_of_a_class_without_any_are_refused_by_the_name_that_users_know():
    class Plain:
        pass

    for what, name in (({"what": "backend mine"}, "backend mine"), ({}, "Plain")):
        with pytest.raises(InputError) as caught:
            with_options(Plain, {"rate": 1.0}, field="options", **what)
        assert str(caught.value) == (f"option in options(='rate') must be left out: {name} has no options.")


def test_a_class_that_is_no_dataclass_has_no_options():
    class Plain:
        pass

    assert isinstance(with_options(Plain, {}, field="options"), Plain)
    with pytest.raises(InputError, match="option in options"):
        with_options(Plain, {"rate": 1.0}, field="options")


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ValueError("too small"), r"Fails cannot be made: .*too small"),
        (SilosimError("own rule"), "^own rule$"),
    ],
)
def test_an_error_of_the_constructor_is_one_line(raised, expected):
    @dataclass
    class Fails:
        rate: float = 0.0

        def __post_init__(self):
            raise raised

    with pytest.raises(SilosimError, match=expected):
        with_options(Fails, {"rate": 1.0}, field="options")


@pytest.mark.parametrize("kind", [list, "list[str]", "int | list", None])
def test_a_type_that_no_option_may_have_is_an_error(kind):
    @dataclass
    class Other:
        value: kind = None

    with pytest.raises(InputError, match=r"^options: Other\.value must be declared as bool, float, int, str"):
        with_options(Other, {}, field="options")


def test_annotations_that_cannot_be_read_are_an_error():
    @dataclass
    class Other:
        value: "nowhere.Kind" = None  # noqa: F821

    with pytest.raises(InputError, match=r"^options: the types of Other cannot be read"):
        with_options(Other, {}, field="options")
