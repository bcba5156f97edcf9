"""A user's callables: how names are read, what a callable gets, and whose traceback is shown."""

import sys
from hashlib import blake2b
from pathlib import Path

import pytest

from topologies.errors import InputError, TrainingError
from training import own_files
from training.own_code import (
    call_own,
    call_with,
    check_name,
    check_takes,
    code_identity,
    file_of,
    is_own,
    load_callable,
    load_own,
    own_code,
)

OFFERED = {"input_shape": (1, 4, 4), "classes": 3}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a module into the working directory, whose imports are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def to(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    yield to
    for name, module in list(sys.modules.items()):
        # A package without __init__.py has no file, but a folder.
        facts = getattr(module, "__dict__", {})
        places = (facts.get("__file__"), *facts.get("__path__", ()))
        if any(Path(place).absolute().is_relative_to(tmp_path) for place in places if place):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("name", "own"), [("a:b", True), ("cnn", False), ("", False), (3, False), (None, False), ([":"], False)]
)
def test_a_text_with_a_colon_names_code(name, own):
    assert is_own(name) is own


@pytest.mark.parametrize(
    "name", ["m.py:f", "my models/m 2.py:f", "lab.models:Net.of", "C:/x.py:f", "größe:f"]
)
def test_a_name_may_be_of_a_file_or_a_module(name):
    check_name(name, field="model")
    with pytest.raises(InputError, match=r" must be file\.py:callable or module:callable to name code "):
        check_name(name.replace(":", ""), field="model")


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("cnn", ()),
        ("lab/m.py:f", ("lab/m.py",)),
        ("lab.m:f", ("lab/m.py", "lab/m/__init__.py")),
        ("m:f", ("m.py", "m/__init__.py")),
    ],
)
def test_where_the_module_of_a_name_may_be(name, files):
    assert own_files(name) == files


BUILDERS = """
def by_name(classes, width=2):
    return classes, width

def both(*, classes, input_shape):
    return input_shape, classes

def rest(classes, *others, **more):
    return classes, others, more

def none():
    return "none"

def defaults(width=2, depth=3):
    return width, depth

def in_order(a, b, width=5):
    return a, b, width

def three(a, b, c):
    pass

def one(a):
    pass

def more_needed(classes, width):
    pass
"""


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("by_name", (3, 2)),
        ("both", ((1, 4, 4), 3)),
        ("rest", (3, (), {})),
        ("none", "none"),
        ("defaults", (2, 3)),
        ("in_order", ((1, 4, 4), 3, 5)),
    ],
)
def test_a_callable_gets_what_it_has_parameters_for_by_name_or_all_in_order(write, name, found):
    write("m.py", BUILDERS)

    assert call_own(f"m.py:{name}", field="model", offered=OFFERED) == found


def test_a_callable_in_c_that_says_no_parameters_gets_none():
    assert call_own("builtins:dict", field="model", offered=OFFERED) == {}


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        *(
            (each, "must take input_shape and classes, by these names or as its only 2 arguments.")
            for each in ("one", "three")
        ),
        ("more_needed", "must be called with classes: missing a required argument: 'width'."),
    ],
)
def test_a_callable_that_needs_other_arguments_is_refused(write, name, rule):
    write("m.py", BUILDERS)
    with pytest.raises(InputError) as caught:
        call_own(f"m.py:{name}", field="model", offered=OFFERED)
    assert str(caught.value) == f"m.py: model(='m.py:{name}') {rule}"


def test_arguments_may_be_checked_by_their_order(write):
    write("m.py", BUILDERS)
    one = load_callable("m.py:one", field="loss")
    check_takes(one, "m.py:one", field="loss", given={"scores": None}, in_order=True)

    for given, in_order, rule in (
        ({"scores": None}, False, "with scores: missing a required argument: 'a'"),
        ({"scores": None, "labels": None}, True, "with scores, labels: too many positional arguments"),
        ({}, False, "without arguments: missing a required argument: 'a'"),
    ):
        with pytest.raises(InputError) as caught:
            check_takes(one, "m.py:one", field="loss", given=given, in_order=in_order)
        assert str(caught.value) == f"m.py: loss(='m.py:one') must be called {rule}."
    assert call_with("m.py:by_name", field="loss", given={"classes": 4, "width": 9}) == (4, 9)


def test_what_a_module_lacks_or_is_not_callable_is_named_with_it(write):
    write("m.py", "class Net:\n    width = 3\n")
    assert load_own("m.py:Net.width", field="model") == 3
    for name, message in (
        ("m.py:Net.depth", "m.py: has no Net.depth, which model(='m.py:Net.depth') names."),
        ("m:Net.depth", "module m: has no Net.depth, which model(='m:Net.depth') names."),
        ("m.py:Net.width", "m.py: model(='m.py:Net.width') must be a callable, not int."),
    ):
        with pytest.raises(InputError) as caught:
            load_callable(name, field="model")
        assert str(caught.value) == message


def test_a_file_is_known_by_its_name_and_content_and_an_installed_module_by_its_name(write):
    path = write("lab/m.py", BUILDERS)
    digest = blake2b(BUILDERS.encode(), digest_size=6).hexdigest()

    assert code_identity(f"{path}:one") == code_identity("lab.m:one") == f"one of m.py ({digest})"
    assert code_identity("torch.nn:Linear") == "torch.nn:Linear"
    assert file_of("cnn") == ""


def test_a_file_runs_once_and_knows_where_it_is(write):
    path = write(
        "m.py", "from dataclasses import dataclass\n\n@dataclass\nclass Net:\n    width: 'int' = 3\n"
    )
    first = load_own("m.py:Net", field="model")

    assert first() == first(width=3)
    assert load_own(f"{path}:Net", field="model") is first
    assert load_own("m.py:__file__", field="model") == str(path)
    assert sys.path.count(str(path.parent)) == 1
    assert sys.path[-1] == str(path.parent)
    # The same content elsewhere is another module, which may import other files.
    write("other/m.py", path.read_text())
    assert load_own("other/m.py:Net", field="model") is not first


def test_a_file_that_failed_fails_again(write):
    write("m.py", "def build(): pass\nraise OSError('no disk')\n")
    for _ in range(2):
        with pytest.raises(TrainingError, match=r"^OSError: no disk \(.*m\.py, line 2\)\nTraceback"):
            load_own("m.py:build", field="model")


def test_a_package_is_imported_from_the_folder_of_the_outermost(write):
    write("src/lab_of_hers/__init__.py", "def build(): return 'package'\n")
    write("src/lab_of_hers/inner/__init__.py", "")
    write("src/lab_of_hers/inner/m.py", "from .. import build\n")

    assert load_own("src/lab_of_hers/__init__.py:build", field="model")() == "package"
    found = load_own("src/lab_of_hers/inner/m.py:build", field="model")
    assert (found(), found.__module__) == ("package", "lab_of_hers")


@pytest.mark.parametrize("name", ["no_lab_xyz:build", "no_lab_xyz.models:build", "json.no_lab_xyz:build"])
def test_a_module_that_is_not_there_is_named(name):
    with pytest.raises(InputError, match=rf"^model\(='{name}'\) there is no such module, nor a file of that"):
        load_own(name, field="model")


def test_an_import_that_fails_without_a_name_is_the_users(write):
    write("m.py", "raise ModuleNotFoundError('gone')\n")
    write("lab.py", "raise ModuleNotFoundError('gone')\n")
    for name in ("m.py:build", "lab:build"):
        with pytest.raises(TrainingError, match=r"^ModuleNotFoundError: gone \(.*\.py, line 1\)\nTraceback"):
            load_own(name, field="model")


FAILING = """
import helper

def outer(function=None):
    (function or helper.inner)()
"""


def lines_of(function, **names):
    with pytest.raises(TrainingError) as caught, own_code(**names):
        function()
    return str(caught.value).splitlines()


def test_the_innermost_line_is_named_first_and_the_traceback_begins_in_the_users_code(write):
    path = write("m.py", FAILING)
    helper = write("helper.py", "\n\ndef inner():\n    raise ValueError('deep')\n")
    first, second, third, *_, last = lines_of(
        load_own("m.py:outer", field="model"), model="m.py:outer", loss="other.py:f"
    )

    assert first == f"ValueError: deep ({helper}, line 4)"
    assert (second, third) == ("Traceback (most recent call last):", f'  File "{path}", line 5, in outer')
    assert last == "ValueError: deep"


def test_an_exit_is_an_error_of_the_users_and_other_names_do_not_matter(write):
    write("m.py", "import sys\n\ndef end(): sys.exit(3)\n")
    write("data/d.py", "def load(): pass\n")
    end = load_own("m.py:end", field="loss")

    for names in ({"loss": "m.py:end"}, {"model": "cnn", "dataset": "data/d.py:load", "loss": "m.py:end"}):
        assert lines_of(end, **names)[0].startswith("SystemExit: 3 (")
    with pytest.raises(SystemExit), own_code(model="cnn", dataset="data/d.py:load"):
        end()


def test_a_library_in_the_users_folder_is_not_the_users_code(write):
    path = write("m.py", "def fails(): raise KeyError('mine')\n")
    write(
        "env/site-packages/library.py",
        "def call(function): function()\n\ndef broken(): raise KeyError('its')\n",
    )
    sys.path.append("env/site-packages")
    import library

    fails = load_own("m.py:fails", field="model")
    lines = lines_of(lambda: library.call(fails), model="m.py:fails")
    assert lines[2] == f'  File "{path}", line 1, in fails'
    with pytest.raises(KeyError, match="its"), own_code(model="m.py:fails"):
        library.broken()


def test_code_of_an_installed_package_is_the_users_where_they_name_it(write):
    write("m.py", "def build(): pass\n")
    from torch import nn

    for names in ({"model": "torch.nn:Linear"}, {"loss": "m.py:build", "model": "torch.nn:Linear"}):
        first, _, third, *_ = lines_of(lambda: nn.Linear("wide", 1), **names)
        assert first.startswith("TypeError: ")
        assert third.startswith(f'  File "{Path(nn.__file__).parent}')
    for name in ("m.py:build", "builtins:dict", "no_lab_xyz:build"):
        with pytest.raises(TypeError), own_code(model=name):
            nn.Linear("wide", 1)


def test_silosims_own_code_beside_the_users_file_stays_silosims(monkeypatch):
    folder = Path(check_name.__code__.co_filename).parent
    monkeypatch.setattr("training.own_code.is_file", lambda _path: True)

    with pytest.raises(AttributeError), own_code(model=f"{folder}/mine.py:build"):
        check_name(3, field="model")
