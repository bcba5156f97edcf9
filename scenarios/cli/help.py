"""Help pages: options in sections, examples, and the list of commands."""

import inspect
from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand

OTHERS = "Options"
_SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Network": (
        *("underlay", "sites", "links", "pairs", "bandwidth_matrix", "latency_matrix"),
        *("access", "access_up", "access_down", "access_at", "access_hub", "silo_at", "blocked"),
        *("window", "window_at", "streams", "streams_at", "slow_start"),
        *("half_duplex", "shared_access", "fat_pipes", "acks", "preset"),
        *(
            "core",
            "bandwidth",
            "latency",
            "routes",
            "routing",
            "multipath_seed",
            "split_flows",
            "published",
            "internal_only",
            "largest_component",
            "network",
        ),
    ),
    "Workload": (
        *("workload", "model_size", "overhead", "compute", "compute_at", "local_steps", "local_steps_at"),
        "overlap",
    ),
    "Overlays": ("kind", "bound", "rates_from"),
    "Upgrades": ("budget", "cycle_time", "prices", "factor", "to", "by"),
    "Simulation": (
        *("workers", "rounds", "until_ci", "compute_times", "sharing", "queueing", "engine"),
        *("events", "no_events", "seed", "seeds"),
    ),
    "Metrics": (
        *("round_", "unit", "shift", "loss", "accuracy", "train_accuracy", "test_loss", "silo_loss"),
        *("client", "examples", "first_silo", "run", "percent", "target_accuracy"),
    ),
    "Training data": ("dataset", "data", "model", "skip_bad", "partition", "alpha", "shift_west"),
    "Columns": ("x", "y", "facet", "where", "log_x", "log_y"),
    "Measurement": ("steps", "silos", "write", "times", "far"),
    OTHERS: (),
    "Output": (
        "messages",
        "tracker",
        "report",
        "only",
        "table_format",
        "overlay",
        "output",
        "width",
        "resume",
        "force",
        "verify",
        "no_verify",
        "as_toml",
        "as_json",
        "help",
    ),
}
"""Options in each section of a help page; an option with a `rich_help_panel` of its own is in that one."""
_SECTION_OF = {name: section for section, names in _SECTIONS.items() for name in names}

_PLACEHOLDERS = {
    name: placeholder
    for placeholder, names in {
        "N": ("rounds", "seed", "local_steps", "steps", "silos", "shift", "streams", "multipath_seed"),
        "X": ("alpha", "shift_west", "target_accuracy", "budget", "factor"),
        "NAME": (
            *(
                "bandwidth",
                "latency",
                "routing",
                "slow_start",
                "preset",
                "workload",
                "rates_from",
                "sharing",
                "queueing",
            ),
            *("engine", "unit", "dataset", "model", "partition", "by"),
        ),
        "COLUMN": (
            *("x", "y", "facet", "round_", "loss", "accuracy", "train_accuracy", "test_loss", "silo_loss"),
            *("client", "examples"),
        ),
        "RATE": ("access", "access_up", "access_down", "access_hub", "core", "to"),
        "SILO=RATE": ("access_at",),
        "SILO=TIME": ("compute_at",),
        "ROUTER": ("silo_at",),
        "PAIR": ("blocked",),
        "NETWORK": ("underlay", "network"),
        "OVERLAY": ("kind",),
        "SIZE": ("model_size", "window"),
        "SILO=SIZE": ("window_at",),
        "LINK": ("half_duplex", "fat_pipes"),
        "SILOS=RATE": ("shared_access",),
        "SHARE": ("acks",),
        "SILO=N": ("streams_at", "local_steps_at"),
        "HEADERS": ("overhead",),
        "PART": ("overlap",),
        "TIME": ("compute", "cycle_time"),
        "LENGTH": ("width",),
        "TIMES": ("compute_times",),
        "PERCENT": ("until_ci",),
        "FILE": (
            *("output", "times", "file", "events", "sites", "links", "pairs"),
            *("bandwidth_matrix", "latency_matrix", "prices", "routes"),
        ),
        "RUN": ("run",),
        "TRACKER": ("tracker",),
        "FOLDER": ("data",),
        "SCENARIO": ("scenario",),
    }.items()
    for name in names
}
"""What stands for the value of each option; one with a `metavar` of its own has that."""


class HelpfulCommand(TyperCommand):
    """A command whose help has its options in sections, and the examples of its docstring as they stand there."""

    def __init__(self, *args: Any, help: str | None = None, **kwargs: Any) -> None:
        text, _, self.examples = inspect.cleandoc(help or "").partition("Examples\n--------\n")
        super().__init__(*args, help=text.strip(), **kwargs)
        for parameter in self.params:
            parameter.metavar = parameter.metavar or _PLACEHOLDERS.get(parameter.name, "VALUE")

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Usage line; a required argument stands there without brackets."""
        arguments: list[Any] = [p for p in self.get_params(ctx) if p.param_type_name == "argument"]
        shown = [argument for argument in arguments if not argument.hidden]
        return ["[OPTIONS]", *(p.metavar if p.required else f"[{p.metavar}]" for p in shown)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options by section: in the order that the command has them, but required ones first."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], **{name: [] for name in _SECTIONS}}
        for parameter in sorted(self.get_params(ctx), key=lambda parameter: not parameter.required):
            record = parameter.get_help_record(ctx)
            if record is not None:
                name = _section(parameter)
                sections.setdefault(name, []).append((_name(parameter), " ".join(record[1].split())))
        for name, rows in sections.items():
            if rows:
                with formatter.section(name):
                    formatter.write_dl(rows, col_max=26)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the examples, each line as it is."""
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples.strip().splitlines():
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def _section(parameter: Any) -> str:
    """Where a parameter stands."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    return str(getattr(parameter, "rich_help_panel", None) or _SECTION_OF.get(parameter.name, OTHERS))


def _name(parameter: Any) -> str:
    """Spellings of an option, shortest first, and its placeholder; those of a flag that say no come last."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar)
    spellings = ", ".join([*sorted(parameter.opts, key=len), *parameter.secondary_opts])
    return spellings if parameter.is_flag else f"{spellings} {parameter.metavar}"
