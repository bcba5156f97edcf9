"""The application that all commands are registered with: an option that takes one value is given once."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand

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
