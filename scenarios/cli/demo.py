"""The command that runs the shipped example."""

from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.plot import draw
from scenarios.cli.run import run_and_report
from scenarios.cli.show import show
from scenarios.config.scenario import parse_scenario, preset_text
from scenarios.report.figure_formats import FIGURES
from scenarios.report.figure_style import DEFAULT_STYLE, figure_style
from scenarios.runfile.claims import claimed
from scenarios.runfile.paths import RUN_ENDINGS, ending_of, write_whole
from scenarios.runtime.launcher import is_first
from topologies import InputError

DEMO = "geant-digits"
_FILES = (*FIGURES, *RUN_ENDINGS, ".toml")
"""Endings of the files in the folder."""


def demo(
    context: typer.Context,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="For scenario, run and picture.")
    ] = Path("out"),
    engine: opt.Engine = None,
    width: opt.Width = None,
) -> None:
    """Run the shipped example: GEANT, 40 silos, three overlays.

    It trains on real digits.

    Examples
    --------
    silosim demo -o out
    """
    if ending_of(output) in _FILES and not output.exists():
        raise InputError(f"output(={str(output)!r}) must be the name of a folder.")
    style = figure_style(width) or DEFAULT_STYLE
    text = preset_text(DEMO)
    scenario = parse_scenario(text, source=f"{DEMO}.toml").simulated_by(engine)
    path, shown, picture = (output / f"demo{ending}" for ending in (".h5", ".toml", ".png"))
    if is_first():
        context.with_resource(claimed([path, shown, picture], force=True))
        if shown.exists() and shown.read_bytes() != text.encode():
            raise InputError(
                f"{shown} differs from the shipped example and is kept; run it with: "
                f"silosim run {shown} -o {path} --force"
            )
        write_whole(shown, text, force=True)
    run_and_report(scenario, text, path, force=True, source=f"{DEMO}.toml")
    if is_first():
        show(path)
        draw(path, picture, style)
