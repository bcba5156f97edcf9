"""The command ``fit-window``."""

from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.config.network import build_underlay
from scenarios.report.table_formats import print_table, print_text
from scenarios.studies.fit_window import fit_window_table, window_toml
from topologies.quantities import parse_quantity

_UNUSED = (*opt.BEYOND_THE_NETWORK, "silo_at", "published")
"""Options of a study that do not change what was measured."""


@opt.of_a_study(without=_UNUSED)
def fit_window(
    study: opt.Study,
    far: Annotated[
        str, typer.Option(help="Round-trip time from which on a pair is far, with unit.", metavar="TIME")
    ] = "100 ms",
    streams: Annotated[int, typer.Option(help="Parallel streams of each measurement.", metavar="N")] = 1,
    as_toml: Annotated[
        bool, typer.Option("--toml", help="Print the windows as a scenario's table [network.window_at].")
    ] = False,
    as_json: opt.Json = False,
) -> None:
    """Find windows of transfers in measured pairs.

    Where a window limits, the rate of a pair times its round-trip time is constant, however far it is. The window is
    given by the site that receives, with its spread and the pairs that it limits.

    Examples
    --------
    silosim fit-window --pairs pairs.csv
    silosim fit-window clouds
    """
    table = fit_window_table(
        build_underlay(study.network), far_s=parse_quantity("far", far, "s"), streams=streams
    )
    if as_toml:
        print_text(window_toml(table))
    else:
        print_table(table, as_json)
