"""Imports of our own programs: no garbage is collected within, and what is there afterwards is left alone."""

import gc
from collections.abc import Iterator
from importlib import import_module

import pytest

from topologies.quick_imports import quick_imports


@pytest.fixture(params=[True, False])
def collects(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Whether garbage is collected; as it was afterwards."""
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield bool(request.param)
    (gc.enable if before else gc.disable)()


def test_nothing_is_collected_within_and_nothing_of_it_is_looked_at_afterwards(collects: bool) -> None:
    frozen = gc.get_freeze_count()
    with quick_imports():
        assert not gc.isenabled()
        made = [[number] for number in range(1000)]
        with quick_imports():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() == collects
    assert gc.get_freeze_count() >= frozen + len(made)


def test_an_import_that_fails_leaves_the_collector_as_it_was(collects: bool) -> None:
    with pytest.raises(ModuleNotFoundError), quick_imports():
        import_module("no_such_module")
    assert gc.isenabled() == collects
