"""Runs with and without recorded messages for tests of timelines."""

from collections.abc import Sequence
from pathlib import Path

from scenarios.config.scenario import parse_scenario
from scenarios.studies.run import run_scenario

HEAD = """
name = "timeline"
seed = 5

[network]
underlay = "gaia"
access = "100 Mbps"

[workload]
preset = "inaturalist"
compute = "200 ms"
"""
_RING = '[[overlays]]\nkind = "christofides"\nname = "ring"\n'
EVENTS = """
[[simulation.away]]
silo = "Tokyo"
from_round = 2
policy = "go_on"
rounds = 3

[[simulation.away]]
silo = "Dublin"
from_round = 4
policy = "wait"
duration = "5 s"

[[simulation.failure]]
link = "California - Oregon"
from = "5 s"
until = "30 s"
"""


def write_run(
    path: Path,
    *,
    kinds: Sequence[str] = ("star", "ring", "matcha"),
    rounds: int = 12,
    messages: bool = True,
    more: str = "",
    head: str = HEAD,
) -> Path:
    """Simulate overlays of Gaia, a ring that is quickly found; `more` are keys and tables of the simulation."""
    overlays = "".join(_RING if kind == "ring" else f'[[overlays]]\nkind = "{kind}"\n' for kind in kinds)
    text = f"{head}\n{overlays}\n[simulation]\nrounds = {rounds}\nmessages = {str(messages).lower()}\n{more}"
    run_scenario(parse_scenario(text, source="x.toml"), text, path, force=False, resume=False)
    return path
