"""Options of designers on the command line, as the designers declare them."""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

import typer

from scenarios.cli.completions import completing
from scenarios.config.designer_options import options_by_name
from topologies.designers.options import DeclaredOption

GivenOptions = Mapping[str, str]
"""Texts of the options that stand on the command line, by name."""


_METAVARS: Mapping[type, str] = {int: "N", float: "X"}


def with_designer_options(kinds: Iterable[str]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of designers, after ``--kind``; its parameter ``options`` receives those given.

    Parameters
    ----------
    kinds : iterable of str
        The designers whose options the command has. Options of one name are one; that of the first designer is shown.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command).parameters
        # A static designer may have an option called budget, as MATCHA has; silosim upgrade has one of its own.
        offered = {
            name: next(iter(options.values()))
            for name, options in options_by_name(kinds).items()
            if name not in own
        }

        @functools.wraps(command)
        def with_options(*arguments: Any, **given: Any) -> None:
            texts = {name: text for name in offered if (text := given.pop(name)) is not None}
            command(*arguments, options=texts, **given)

        parameters = []
        for parameter in own.values():
            if parameter.name != "options":
                parameters.append(parameter)
            if parameter.name == "kind":
                parameters += [_parameter(option) for option in offered.values()]
        # Typer reads a command's options from its signature.
        every = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters[1:]]
        vars(with_options)["__signature__"] = inspect.Signature([parameters[0], *every])
        return with_options

    return decorate


def _parameter(option: DeclaredOption) -> inspect.Parameter:
    """The option as a parameter of a command; its text is read once the kinds are known."""
    metavar = "VALUE" if option.declaration.unit else _METAVARS.get(option.value_type, "NAME")
    annotation = Annotated[
        str | None,
        typer.Option(
            help=_help(option),
            metavar=metavar,
            rich_help_panel="Overlays",
            autocompletion=completing(lambda: option.declaration.choices),
        ),
    ]
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _help(option: DeclaredOption) -> str:
    """The designer's words with choices, range and default."""
    declaration = option.declaration
    unit = f" {declaration.unit}" if declaration.unit else ""
    words = (
        ", ".join(declaration.choices),
        declaration.range and declaration.range + unit,
        "" if option.default is None else f"default: {option.default}{unit}",
    )
    rule = "; ".join(word for word in words if word)
    return f"{declaration.help}.{f' [{rule}]' if rule else ''}"
