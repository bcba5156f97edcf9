"""The command that says what was understood of a network, draws it and converts it."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.config.network import build_underlay
from scenarios.report.figure_formats import FIGURES
from scenarios.report.figure_style import figure_style
from scenarios.report.table_formats import print_text
from scenarios.report.tables import note_lines
from scenarios.runfile.claims import claimed
from scenarios.runfile.paths import ending_of
from scenarios.runtime.streams import printable_json
from scenarios.studies.underlay import (
    check_conversion,
    check_drawing,
    underlay_facts,
    write_conversion,
    write_drawing,
)
from topologies import InputError

_UNUSED = (*opt.BEYOND_THE_NETWORK, "silo_at")
"""Options of a study that do not change the network itself."""


@opt.of_a_study(without=_UNUSED)
def underlay(
    study: opt.Study,
    context: typer.Context,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Map to draw: .png, .svg, .pdf; or .html, a page for a browser with all numbers.",
        ),
    ] = None,
    conversion: Annotated[
        Path | None,
        typer.Option(
            "--convert",
            metavar="FILE",
            help="Write the network as GML (.gml), or measured pairs as CSV (.csv): it reads back as the same.",
            rich_help_panel="Output",
        ),
    ] = None,
    width: opt.Width = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Say what was understood of a network, and draw it on a map.

    Size, capacities that are stated or assumed, lengths, coordinates, and whatever its file states of sites.

    Examples
    --------
    silosim underlay geant -o geant.png
    silosim underlay ebone --convert ebone.gml
    """
    if output is not None:
        check_drawing(output, force=force)
    style = figure_style(width, draws=output is not None and ending_of(output) in FIGURES)
    network = build_underlay(study.network)
    if conversion is not None:
        if output is not None and conversion.resolve() == output.resolve():
            raise InputError(f"output(={str(output)!r}) must differ from the file of --convert.")
        check_conversion(conversion, network, force=force)
    context.with_resource(claimed(filter(None, (output, conversion)), force=force))
    facts = underlay_facts(network)
    print_text(printable_json(facts.json()) if as_json else str(facts))
    if output is not None:
        write_drawing(network, output, style=style, force=force)
        print(f"written: {output}", file=sys.stderr)
    if conversion is not None:
        for sentence in write_conversion(network, conversion, force=force):
            print(note_lines(sentence), file=sys.stderr)
        print(f"written: {conversion}", file=sys.stderr)
