"""Makes the helpers beside the tests importable, and has more random examples in profile `ci`."""

import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("ci of the simulator", settings.get_profile("ci"), max_examples=300)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Import the test modules of this folder, and of no other, with more examples than profile `ci` has."""
    profile = settings.get_current_profile_name()
    if profile == "ci":
        settings.load_profile("ci of the simulator")
    try:
        return (yield)
    finally:
        settings.load_profile(profile)
