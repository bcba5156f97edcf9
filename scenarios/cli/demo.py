"""The command that runs the shipped example."""

from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli.plot import draw
from scenarios.cli.run import run_and_report
from scenarios.cli.show import show
from scenarios.config.scenario import parse_scenario, preset_text
from scenarios.runfile.paths import check_output, write_text
from scenarios.runtime.launcher import is_first
from topologies import InputError

DEMO = "geant-digits"


def demo(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="For scenario, run and picture.")
    ] = Path("out"),
) -> None:
    """Run the shipped example: GEANT, 40 silos, three overlays.

    It trains on real digits.

    Examples
    --------
    silosim demo -o out
    """
    text = preset_text(DEMO)
    path, shown = output / "demo.h5", output / "demo.toml"
    if is_first():
        check_output(path)
        if shown.exists() and shown.read_bytes() != text.encode():
            raise InputError(
                f"{shown} differs from the shipped example and is kept; run it with: "
                f"silosim run {shown} -o {path} --force"
            )
        write_text(shown, text)
    run_and_report(parse_scenario(text, source=f"{DEMO}.toml"), text, path, force=True, source=f"{DEMO}.toml")
    if is_first():
        show(path)
        draw(path, path.with_suffix(".png"))
