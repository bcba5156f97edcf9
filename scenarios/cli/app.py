"""The application and its commands: an option that takes one value is given once."""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from scenarios.cli.calibrate import calibrate
from scenarios.cli.demo import demo
from scenarios.cli.design import design
from scenarios.cli.explain import explain
from scenarios.cli.import_metrics import import_metrics
from scenarios.cli.partition import partition
from scenarios.cli.plot import plot
from scenarios.cli.replay import replay
from scenarios.cli.run import run
from scenarios.cli.show import show
from scenarios.cli.simulate import simulate
from scenarios.cli.sweep import sweep
from scenarios.cli.tables import tables
from scenarios.cli.validate import validate
from topologies import InputError


class CommandLine(typer.Typer):
    """A Typer application whose commands are `SingleValueCommand`."""

    def command(self, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
        """Register a command; as `typer.Typer.command`."""
        return super().command(*args, **{"cls": SingleValueCommand} | kwargs)


class SingleValueCommand(TyperCommand):
    """A command that refuses a second value of an option that takes one, where Click's would keep the last."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments of a command.

        Raises
        ------
        InputError
            If an option that takes one value is given more often. Flags may be repeated, lists are.
        """
        *_, given = self.make_parser(ctx).parse_args(args=list(args))
        for parameter in self.get_params(ctx):
            many = getattr(parameter, "multiple", False) or getattr(parameter, "is_flag", False)
            if not many and (times := given.count(parameter)) > 1:
                name = max(parameter.opts, key=len)
                raise InputError(f"{name} takes one value and must be given once, not {times} times.")
        return super().parse_args(ctx, args)


app = CommandLine(
    name="silosim",
    help="Who sends to whom: design, simulate, train and replay cross-silo learning overlays.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    """Print the version and where the packages come from, then leave."""
    if wanted:
        print(f"silosim {version('silosim')}")
        for package in ("topologies", "simulator", "training", "scenarios"):
            print(f"{package:<11} {Path(str(import_module(package).__file__)).parent}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print versions and leave."),
    ] = False,
) -> None:
    pass


for _command in (
    design,
    explain,
    tables,
    validate,
    simulate,
    import_metrics,
    partition,
    calibrate,
    sweep,
    run,
    show,
    plot,
    replay,
    demo,
):
    app.command()(_command)
