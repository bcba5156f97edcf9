"""The application: its own options, and the list of commands."""

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from scenarios.cli.commands import SUMMARIES, Commands
from scenarios.cli.usage import usage_errors

PACKAGES = ("topologies", "simulator", "training", "scenarios", "silosim")


class CommandGroup(TyperGroup):
    """The group of `Commands`, whose list shows their summaries and imports none of them."""

    def __init__(self, *, commands: Any = None, **attributes: Any) -> None:  # noqa: ARG002
        lazy: Any = Commands()
        super().__init__(commands=lazy, **attributes)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options before the command."""
        with usage_errors(ctx):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command."""
        with usage_errors(ctx):
            return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the list of commands."""
        with formatter.section("Commands, in the order of use"):
            formatter.write_dl(list(SUMMARIES.items()))


app = typer.Typer(
    name="silosim",
    cls=CommandGroup,
    help="Who sends to whom: design, simulate, train and replay cross-silo learning overlays.",
    epilog="silosim COMMAND --help shows a command's options and an example.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    """Print the version and where the packages come from, then leave."""
    if wanted:
        print(f"silosim {version('silosim')}")
        for package in PACKAGES:
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
