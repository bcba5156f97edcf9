"""Which process of an outer launcher speaks, and which are called."""

import pytest

from scenarios.runtime import launcher
from training import World


@pytest.mark.parametrize(
    ("place", "calls", "first"),
    [
        (None, [], True),
        (World(rank=0, size=1), [], True),
        (World(rank=0, size=3), [True], True),
        (World(rank=2, size=3), [], False),
    ],
)
def test_process_0_calls_the_others_and_speaks(monkeypatch, place, calls, first):
    called = []
    monkeypatch.setattr(launcher, "world", lambda: place)
    monkeypatch.setattr(launcher, "_call", lambda *, wanted: called.append(wanted))
    launcher.call_others()

    assert called == calls
    assert launcher.is_first() is first
