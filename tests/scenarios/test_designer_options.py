"""Options of designers in scenarios and on the command line: units, shared names, names of a command."""

import dataclasses
import inspect
from typing import Annotated

import pytest
import typer.main

from scenarios.cli.app import app
from scenarios.cli.designer_options import with_designer_options
from scenarios.config import designer_options as written
from scenarios.config import kinds
from scenarios.config.overlay_config import OWN_KEYS, OverlayConfig
from scenarios.config.overlays import design_any
from scenarios.config.scenario import OverlaysConfig
from topologies import (
    AccessLinks,
    InputError,
    MachineError,
    Workload,
    connectivity,
    load_underlay,
)
from topologies.designers.options import RESERVED, DesignerOption, Seed, declared_options
from topologies.designers.registry import RESERVED_KINDS
from topologies.designers.ring import ring


def timed(graph, work, *, pause: Annotated[float, DesignerOption(help="Pause", at_most=1.0, unit="s")] = 0.5):
    pass


def whole(graph, work, *, size: Annotated[int, DesignerOption(help="Size", at_least=1)] = 2):
    pass


def fraction(graph, work, *, size: Annotated[float, DesignerOption(help="Size", at_most=1)] = 0.5):
    pass


def heavy(graph, work, *, json: Annotated[int, DesignerOption(help="Weight")] = 2):
    pass


def crossing(graph, work, *, force: Annotated[str, DesignerOption(help="Force")] = "weak"):
    pass


def unreadable(graph, work, *, width: "np.no_such_name" = 1):  # noqa: F821
    pass


class Registry(dict):
    """Designers of which one cannot be imported."""

    def __getitem__(self, name):
        if name == "broken":
            raise MachineError("the designer broken cannot be imported")
        return super().__getitem__(name)


@pytest.fixture
def registered(monkeypatch):
    made = Registry(
        timed=timed,
        whole=whole,
        fraction=fraction,
        crossing=crossing,
        heavy=heavy,
        broken=None,
        unreadable=unreadable,
    )
    monkeypatch.setattr(kinds, "DESIGNERS", made)
    for registry in ("PERIODIC_DESIGNERS", "RANDOM_DESIGNERS"):
        monkeypatch.setattr(kinds, registry, {})
    return made


def test_a_quantity_is_a_text_with_a_unit():
    (option,) = declared_options(timed).values()

    assert written.option_value(option, "25 ms") == 0.025
    with pytest.raises(
        InputError, match=r"pause\(=0.025\) must be a number with a unit, for instance '25.4 ms'"
    ):
        written.option_value(option, 0.025)
    with pytest.raises(InputError, match=r"timed.pause\(=2.0\) must be <= 1"):
        written.option_value(option, "2 s", field="timed.pause")


@pytest.mark.usefixtures("registered")
def test_an_option_of_two_designers_goes_to_both_in_their_types():
    read = written.read_options(["whole", "fraction", "timed"], {"size": "1", "pause": "30 ms"})

    assert read == {"whole": {"size": 1}, "fraction": {"size": 1.0}, "timed": {"pause": "30 ms"}}
    assert isinstance(read["fraction"]["size"], float)
    assert written.option_values("timed", read["timed"]) == {"pause": 0.03}


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("kinds", "given", "message"),
    [
        (["timed"], {"size": "1"}, r"size\(=1\) goes with the kind whole or fraction, not with timed"),
        (["whole", "fraction"], {"size": "2"}, r"size\(=2.0\) must be <= 1"),
        (["whole"], {"size": "1.5"}, r"size\(='1.5'\) must be an integer"),
        (["fraction"], {"size": "half"}, r"size\(='half'\) must be a number"),
        (["timed"], {"pause": "30"}, r"pause\(='30'\) must be a number with a unit"),
    ],
)
def test_a_wrong_value_is_named(kinds, given, message):
    with pytest.raises(InputError, match=message):
        written.read_options(kinds, given)


@pytest.mark.usefixtures("registered")
def test_a_designer_that_cannot_be_used_offers_nothing():
    assert set(written.options_by_name(["whole", "broken", "unreadable"])) == {"size"}
    with pytest.raises(InputError, match="designer unreadable: its signature cannot be read: NameError"):
        written.designer_options("unreadable")
    with pytest.raises(MachineError, match="broken"):
        written.designer_options("broken")


@pytest.mark.usefixtures("registered")
def test_a_command_has_the_options_after_kind_and_keeps_its_own():
    received = []

    @with_designer_options(["timed", "whole", "fraction", "crossing", "heavy"])
    def command(study, options, kind=None, force=False):
        received.append((study, dict(options), kind, force))

    command("study", kind=["whole"], pause=None, size="3", force=True)

    assert list(inspect.signature(command).parameters) == ["study", "kind", "pause", "size", "force"]
    assert received == [("study", {"size": "3"}, ["whole"], True)]
    help_of = {
        name: p.annotation.__metadata__[0].help
        for name, p in inspect.signature(command).parameters.items()
        if name in ("pause", "size")
    }
    assert help_of == {
        "pause": "Pause. [<= 1 s; default: 0.5 s]",
        "size": "Size. [>= 1; default: 2 for whole, 0.5 for fraction]",
    }


def test_the_help_tells_the_defaults_of_kinds_apart():
    @with_designer_options(["base", "stl_fw", "exponential"])
    def command(study, options, kind=None): ...

    k, order = (
        inspect.signature(command).parameters[name].annotation.__metadata__[0].help for name in ("k", "order")
    )

    assert k.endswith("[>= 1; default: 1 for base, 2 for stl_fw]")
    assert order.endswith("; default: none]")


@pytest.mark.usefixtures("registered")
def test_an_option_of_a_command_goes_before_one_of_a_designer():
    received = []

    @with_designer_options(["timed", "whole"])
    def command(study, options, kind=None, size=None):
        received.append((study, dict(options), kind, size))

    command("study", kind="whole", size=3, pause="1 s")

    assert list(inspect.signature(command).parameters) == ["study", "kind", "pause", "size"]
    assert received == [("study", {"pause": "1 s"}, "whole", 3)]


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(("kind", "option"), [("crossing", "force"), ("heavy", "json")])
def test_an_option_that_is_called_as_one_of_a_command_is_refused(kind, option):
    with pytest.raises(
        InputError, match=f"^designer {kind}: option {option} must have another name: the commands of silosim"
    ):
        written.designer_options(kind)


def test_all_names_of_the_commands_that_offer_options_of_designers_are_reserved():
    offered = set(written.options_by_name(kinds.all_kinds()))
    parameters = [
        command.params
        for command in typer.main.get_command(app).commands.values()
        if offered & {parameter.name for parameter in command.params}
    ]
    names = {parameter.name for each in parameters for parameter in each}
    flags = {text for each in parameters for parameter in each for text in parameter.opts if text[:2] == "--"}
    of_functions = {"study", "context", "options"}

    assert len(parameters) == 7
    expected = names | {*OWN_KEYS} | {flag[2:].replace("-", "_") for flag in flags} | of_functions | {"help"}
    assert expected - offered == RESERVED


def test_a_designer_cannot_be_called_as_a_key_of_the_overlays(silosim, install_package, scenario):
    entries = "".join(f"{name} = theirs:ring\n" for name in RESERVED_KINDS)
    install_package("theirs", f"[silosim.designers]\n{entries}", {"theirs": inspect.getsource(timed)})
    for name in RESERVED_KINDS:
        result = silosim("design", "gaia", "--kind", name).failed(2)

        assert result.err == (
            f"silosim: error: the designer {name} (theirs:ring) must have another name: {name} is a key of "
            "[overlays] in scenarios.\n"
        )
    # Scenarios are read as without the package.
    silosim("simulate", scenario).ok()


def test_all_keys_of_the_overlays_are_reserved():
    keys = {field.name for field in dataclasses.fields(OverlaysConfig)}

    assert keys == set(RESERVED_KINDS)


def test_the_marked_parameter_receives_the_seed(monkeypatch):
    seeds = []

    def seeded(graph, work, *, start: Seed = 0, seed: int = 1):
        seeds.append((start, seed))
        return ring(graph, work)

    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    for module in (
        "scenarios.config.kinds",
        "topologies.designers.registry",
    ):
        monkeypatch.setattr(f"{module}.DESIGNERS", {"seeded": seeded})
    design_any(OverlayConfig(kind="seeded"), graph, Workload.preset("inaturalist"), seed=7)

    assert seeds == [(7, 1)]
