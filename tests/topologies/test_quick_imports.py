"""Imports of our own programs: no garbage is collected within, and what is there afterwards is left alone."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

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


_KEPT_OPEN = """
from topologies.quick_imports import quick_imports
with quick_imports():
    import json
class Log:
    file = open("log.txt", "w")
Log.file.write("row")
"""


def test_what_a_class_of_a_user_s_has_written_is_in_its_file_when_the_process_ends(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", _KEPT_OPEN], cwd=tmp_path, check=True)
    assert (tmp_path / "log.txt").read_text() == "row"
