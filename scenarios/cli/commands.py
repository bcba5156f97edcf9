"""The commands by name, in the order of use; the module of one is imported when it is used."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from scenarios.cli.completions import with_completions
from scenarios.cli.help import HelpfulCommand
from scenarios.cli.usage import usage_errors
from scenarios.runtime.signals import check_interrupts
from topologies import InputError
from topologies.errors import Field
from topologies.quick_imports import quick_imports

SUMMARIES: Mapping[str, str] = {
    "doctor": "Check this installation and machine, and say what to do.",
    "init": "Write a commented scenario for your network and data.",
    "underlay": "Say what was understood of a network, and draw it on a map.",
    "fit-window": "Find windows of transfers in measured pairs.",
    "design": "Design overlays: cycle times in closed form and simulated.",
    "explain": "Say which circuit limits an overlay, and what would help.",
    "simulate": "Simulate overlays round by round on shared links.",
    "validate": "Compare the closed forms with the simulation, and say why.",
    "sweep": "Design and simulate overlays at several access capacities.",
    "upgrade": "Say which links to buy: cheapest sets and what they gain.",
    "study": "Compute a grid of points into one table.",
    "partition": "Split training data over the silos, and compare the parts.",
    "calibrate": "Measure the computing time of a local step.",
    "run": "Design, simulate and train a scenario, into one HDF5 file.",
    "show": "Print the tables of a run.",
    "plot": "Draw a run, or any columns of a study's table.",
    "timeline": "Say who computes, sends, receives and waits, and for whom.",
    "report": "Write a run, study or validation as a page for a browser.",
    "replay": "Replay a run on another network: new times, no training.",
    "export": "Write a run as tables, TensorBoard files and JSON lines.",
    "import-metrics": "Join another program's metrics with simulated overlays.",
    "tables": "Reprint the paper's tables of cycle times beside ours.",
    "demo": "Run the shipped example: GEANT, 40 silos, three overlays.",
}
"""First line of each command's help, here since the list of commands imports no command."""


class SingleValueCommand(HelpfulCommand):
    """A command that refuses a second value of an option that takes one, where Click's would keep the last."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments of a command.

        Raises
        ------
        InputError
            If an option that takes one value is given more often, an option or argument is unknown or missing, a
            value is no number, or a path is empty. Flags may be repeated, lists are.
        """
        if ctx.resilient_parsing:
            # The shell asks for what may come next.
            return super().parse_args(ctx, args)
        with usage_errors(ctx):
            texts, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for parameter in self.get_params(ctx):
            many = getattr(parameter, "multiple", False) or getattr(parameter, "is_flag", False)
            if not many and (times := given.count(parameter)) > 1:
                name = max(parameter.opts, key=len)
                raise InputError(f"{name} takes one value and must be given once, not {times} times.")
        with usage_errors(ctx, texts):
            rest = super().parse_args(ctx, args)
        for name, value in ctx.params.items():
            # As a path an empty text is the current folder.
            if Path() in _as_list(value) and "" in _as_list(texts.get(name)):
                raise InputError("is empty, must be a path.", field=Field(name, value=""))
        return rest


def _as_list(given: Any) -> Sequence[Any]:
    """What was given for a parameter, once or more often."""
    return given if isinstance(given, list | tuple) else [given]


class Commands(Mapping[str, Any]):
    """Click's commands by name, each made of the function of its name in the module of its name."""

    def __iter__(self) -> Iterator[str]:
        """Names in the order of use."""
        return iter(SUMMARIES)

    def __len__(self) -> int:
        """How many there are."""
        return len(SUMMARIES)

    def __getitem__(self, name: str) -> Any:
        """Import a command."""
        if name not in SUMMARIES:
            raise KeyError(name)
        module = name.replace("-", "_")
        home = f"scenarios.cli.{module}"
        # Once: in a process that runs many commands, objects of the earlier ones may be garbage.
        with nullcontext() if home in sys.modules else quick_imports():
            function = getattr(import_module(home), module)
        # An import may have swallowed the KeyboardInterrupt of Ctrl-C.
        check_interrupts()
        return _command(name, function)


@cache
def _command(name: str, function: Any) -> Any:
    """Click's command of a function; it holds nothing of a call, and a process may call it often."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name, cls=SingleValueCommand)(with_completions(name, function))
    return typer.main.get_command(alone)
