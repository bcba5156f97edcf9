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
        The designers whose options the command has. Options of one name are one: the words are those of the first
        designer, and defaults are told apart where they differ.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command).parameters
        # A static designer may have an option called budget, as MATCHA has; silosim upgrade has one of its own.
        offered = {name: options for name, options in options_by_name(kinds).items() if name not in own}

        @functools.wraps(command)
        def with_options(*arguments: Any, **given: Any) -> None:
            texts = {name: text for name in offered if (text := given.pop(name)) is not None}
            command(*arguments, options=texts, **given)

        parameters = []
        for parameter in own.values():
            if parameter.name != "options":
                parameters.append(parameter)
            if parameter.name == "kind":
                parameters += [_parameter(options) for options in offered.values()]
        # Typer reads a command's options from its signature.
        every = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters[1:]]
        vars(with_options)["__signature__"] = inspect.Signature([parameters[0], *every])
        return with_options

    return decorate


def _parameter(options: Mapping[str, DeclaredOption]) -> inspect.Parameter:
    """The option of some kinds as a parameter of a command; its text is read once the kinds are known."""
    option = next(iter(options.values()))
    metavar = "VALUE" if option.declaration.unit else _METAVARS.get(option.value_type, "NAME")
    annotation = Annotated[
        str | None,
        typer.Option(
            help=_help(options),
            metavar=metavar,
            rich_help_panel="Overlays",
            autocompletion=completing(lambda: option.declaration.choices),
        ),
    ]
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _help(options: Mapping[str, DeclaredOption]) -> str:
    """The first designer's words with choices, range and default."""
    declaration = next(iter(options.values())).declaration
    unit = f" {declaration.unit}" if declaration.unit else ""
    words = (
        ", ".join(declaration.choices),
        declaration.range and declaration.range + unit,
        _defaults({kind: option.default for kind, option in options.items()}, unit),
    )
    rule = "; ".join(word for word in words if word)
    return f"{declaration.help}.{f' [{rule}]' if rule else ''}"


def _defaults(by_kind: Mapping[str, Any], unit: str) -> str:
    """The default, or that of each kind where they differ; empty where there is none."""
    if len({*by_kind.values()}) == 1:
        by_kind = {"": next(iter(by_kind.values()))}
    shown = [
        f"{default}{unit}{f' for {kind}' if kind else ''}"
        for kind, default in by_kind.items()
        if default is not None
    ]
    return f"default: {', '.join(shown)}" if shown else ""
