"""Options that designers declare, and designers that other packages register."""

from typing import Annotated

import pytest

from topologies import (
    DESIGNERS,
    PERIODIC_DESIGNERS,
    RANDOM_DESIGNERS,
    InputError,
    MachineError,
    Workload,
    design,
    design_periodic,
    design_random,
)
from topologies.designers.options import DesignerOption, Seed, declared_options, progress_option, seed_option

REGISTRIES = (DESIGNERS, PERIODIC_DESIGNERS, RANDOM_DESIGNERS)
WORK = Workload.preset("inaturalist")


def declaring(annotation, default=None):
    def designer(graph, work, *, given: annotation = default):
        pass

    return designer


def test_every_designer_of_silosim_can_be_taken():
    assert all(callable(designer) for registry in REGISTRIES for designer in registry.values())
    assert {
        kind: sorted(options)
        for registry in REGISTRIES
        for kind, designer in registry.items()
        if (options := declared_options(designer))
    } == {
        "star": ["hub"],
        "best": ["criterion", "evaluations"],
        "exponential": ["order"],
        "equi_static": ["draws", "order"],
        "stl_fw": ["k"],
        "one_peer_exponential": ["order"],
        "base": ["k", "order"],
        "multigraph": ["most_lag"],
        "hierarchical": ["cloud_every", "regions"],
        "best_periodic": ["contraction", "evaluations", "period"],
        "equi_dyn": ["eta", "order"],
        "epidemic": ["fanout"],
        **{kind: ["budget"] for kind in ("matcha", "matcha_plus", "matcha_ring", "matcha_delta_mbst")},
    }


def test_designs_that_draw_take_the_seed_of_the_run():
    designers = {kind: designer for registry in REGISTRIES for kind, designer in registry.items()}

    assert {kind for kind, designer in designers.items() if seed_option(designer)} == {
        "best",
        "best_periodic",
        "equi_static",
    }


def test_only_the_best_ones_report_progress():
    designers = {kind: designer for registry in REGISTRIES for kind, designer in registry.items()}

    assert {kind for kind, designer in designers.items() if progress_option(designer)} == {
        "best",
        "best_periodic",
    }


def test_the_signature_says_type_and_default():
    (hub,) = declared_options(DESIGNERS["star"]).values()
    (budget,) = declared_options(RANDOM_DESIGNERS["matcha_ring"]).values()

    assert (hub.name, hub.value_type, hub.default) == ("hub", str, None)
    assert (budget.name, budget.value_type, budget.default) == ("budget", float, 0.5)
    assert budget.declaration.range == "> 0 and <= 1"


def test_annotations_may_be_texts():
    namespace = {"Annotated": Annotated, "DesignerOption": DesignerOption, "Seed": Seed}
    exec(
        "from __future__ import annotations\n"
        "def designer(graph, work, *, count: Annotated[int, DesignerOption(help='Count')] = 3, start: Seed = 0): ...\n",
        namespace,
    )

    assert [(o.name, o.default) for o in declared_options(namespace["designer"]).values()] == [("count", 3)]
    assert seed_option(namespace["designer"]) == "start"


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (Annotated[int, DesignerOption(help="", at_least=1)], 0, r"given\(=0\) must be >= 1"),
        (Annotated[int | None, DesignerOption(help="", at_least=1)], 0, r"given\(=0\) must be >= 1"),
        (Annotated[int, DesignerOption(help="")], None, r"given\(=None\) must be an integer"),
        (Annotated[int, DesignerOption(help="")], 1.5, r"given\(=1.5\) must be an integer"),
        (Annotated[float, DesignerOption(help="", above=0)], 0.0, r"given\(=0.0\) must be > 0"),
        (Annotated[float, DesignerOption(help="", at_most=2)], 2.5, r"given\(=2.5\) must be <= 2"),
        (Annotated[float, DesignerOption(help="", at_most=2)], float("nan"), r"given\(=nan\) must be <= 2"),
        (Annotated[float, DesignerOption(help="")], "2", r"given\(='2'\) must be a number"),
        (Annotated[int, DesignerOption(help="")], True, r"given\(=True\) must be an integer"),
        (Annotated[str, DesignerOption(help="", choices=("in", "out"))], "inn", "did you mean 'in'"),
        (Annotated[str, DesignerOption(help="")], 3, r"given\(=3\) must be a text"),
    ],
)
def test_values_are_checked(annotation, value, message):
    (option,) = declared_options(declaring(annotation)).values()

    with pytest.raises(InputError, match=message):
        option.check(value)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Annotated[int | None, DesignerOption(help="", at_least=1)], None),
        (Annotated[int, DesignerOption(help="", at_least=1)], 1),
        (Annotated[float, DesignerOption(help="", above=0, at_most=1)], 1),
        (Annotated[int | str, DesignerOption(help="")], 3),
        (Annotated[str, DesignerOption(help="", choices=("in", "out"))], "out"),
    ],
)
def test_values_that_fit_are_accepted(annotation, value):
    (option,) = declared_options(declaring(annotation)).values()

    option.check(value)


def test_a_declaration_without_default_or_of_another_type_is_refused():
    def without(graph, work, *, degree: Annotated[int, DesignerOption(help="")]):
        pass

    with pytest.raises(InputError, match="designer without: option degree must have a default"):
        declared_options(without)
    with pytest.raises(InputError, match="option given must be an int, a float or a str"):
        declared_options(declaring(Annotated[list, DesignerOption(help="")]))


def test_a_kind_of_the_other_registry_is_named(published_graph):
    graph = published_graph("gaia", 1e10)

    with pytest.raises(InputError, match=r"kind\(='matcha'\) is a randomized overlay: design_random"):
        design("matcha", graph, WORK)
    with pytest.raises(InputError, match=r"kind\(='ring'\) is a static overlay: design "):
        design_random("ring", graph, WORK)


def test_a_registry_counts_its_names_and_has_no_others():
    for registry in REGISTRIES:
        names = list(registry)
        assert len(registry) == len(names) == len(set(names))
        assert repr(registry) == f"<designers {', '.join(names)}>"
        assert all(name in registry for name in names)
        assert "no_such_kind" not in registry
        assert 3 not in registry


def test_options_are_those_of_the_designer_and_checked(published_graph):
    graph = published_graph("gaia", 1e10)

    with pytest.raises(InputError, match=r"^mst has no options\.$"):
        design("mst", graph, WORK, hub="first")
    with pytest.raises(
        InputError, match=r"^option of star\(='hob'\) must be one of hub \(did you mean 'hub'\?\)"
    ):
        design("star", graph, WORK, hob="first")
    with pytest.raises(InputError, match=r"^most_lag\(=0\) must be >= 1\.$"):
        design_periodic("multigraph", graph, WORK, most_lag=0)
    # The seed is no option that users set by name, and is known all the same.
    assert design_periodic("base", graph, WORK, k=2, seed=1).kind == "base"
    assert design("star", graph, WORK, hub=graph.labels[3]).hub == 3


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        ("no_such_name", "NameError: name 'no_such_name' is not defined"),
        ("pytest.no_such_name", "AttributeError: module 'pytest' has no attribute 'no_such_name'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("1 +", "SyntaxError: "),
    ],
)
def test_annotations_that_cannot_be_evaluated_are_named(annotation, reason):
    def circulant(graph, work, *, degree=2):
        pass

    circulant.__annotations__["degree"] = annotation

    for read in (declared_options, seed_option):
        with pytest.raises(
            InputError, match=f"^designer circulant: its signature cannot be read: {reason}"
        ) as caught:
            read(circulant)
        assert "\n" not in str(caught.value)


@pytest.fixture
def register(install_package):
    """Let entry points of a package be found whose module has this text."""

    def install(text, entries, package="designers_of_others"):
        install_package(package, entries, {package: text, f"{package}_failing": "1 / 0"})

    return install


MODULE = """
from topologies.designers.matcha import matcha
from topologies.designers.ring import ring

def slow_matcha(graph, work, *, budget=0.25):
    return matcha(graph, work, budget=budget, kind="slow_matcha")

not_a_designer = 3
"""
ENTRIES = """
[silosim.designers]
lost = designers_of_others:lost
gone = no_such_module_of_others:gone
number = designers_of_others:not_a_designer
failing = designers_of_others_failing:ring
ring = designers_of_others_failing:ring
matcha = designers_of_others_failing:matcha
twice = designers_of_others:ring
both = designers_of_others:ring
[silosim.random_designers]
slow_matcha = designers_of_others:slow_matcha
ring = designers_of_others:slow_matcha
both = designers_of_others:slow_matcha
"""


def test_designers_of_other_packages_are_found(register, published_graph):
    names = (*DESIGNERS, *RANDOM_DESIGNERS)
    register(MODULE, ENTRIES)
    drawn = design_random("slow_matcha", published_graph("gaia", 1e10), WORK)

    assert set(DESIGNERS) | set(RANDOM_DESIGNERS) == {
        *names,
        "lost",
        "gone",
        "number",
        "failing",
        "slow_matcha",
        "twice",
        "both",
    }
    assert (drawn.kind, drawn.budget) == ("slow_matcha", 0.25)


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("lost", MachineError, r"designer lost \(designers_of_others:lost\) cannot be imported"),
        (
            "gone",
            MachineError,
            "designer gone .* imported: ModuleNotFoundError: No module named 'no_such_module_of_others'",
        ),
        (
            "failing",
            MachineError,
            "designer failing .* cannot be imported: ZeroDivisionError: division by zero",
        ),
        ("number", InputError, "designer number .* must be a function"),
        (
            "both",
            InputError,
            r"designer both is registered more than once in silosim\.designers and silosim\.random_designers: ",
        ),
    ],
)
def test_a_bad_designer_of_another_package_is_named(register, published_graph, kind, error, message):
    register(MODULE, ENTRIES)

    with pytest.raises(error, match=message):
        design(kind, published_graph("gaia", 1e10), WORK)
    assert design("mst", published_graph("gaia", 1e10), WORK).kind == "mst"


def test_a_name_of_silosim_stays_its_own(register, published_graph):
    register(MODULE, ENTRIES)
    graph = published_graph("gaia", 1e10)

    assert "ring" not in RANDOM_DESIGNERS
    assert "matcha" not in DESIGNERS
    assert design("ring", graph, WORK).kind == "ring"
    assert design_random("matcha", graph, WORK).kind == "matcha"
    with pytest.raises(KeyError):
        RANDOM_DESIGNERS["ring"]


def test_a_name_of_two_packages_is_an_error_where_it_is_asked_for(register, published_graph):
    register(MODULE, ENTRIES)
    register(
        "from topologies.designers.ring import ring", "[silosim.designers]\ntwice = others:ring\n", "others"
    )
    graph = published_graph("gaia", 1e10)

    assert list(DESIGNERS).count("twice") == 1
    assert design("mst", graph, WORK).kind == "mst"
    with pytest.raises(
        InputError,
        match=r"^the designer twice is registered more than once in silosim\.designers: "
        r"designers_of_others:ring, others:ring\.$",
    ):
        design("twice", graph, WORK)
