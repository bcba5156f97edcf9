"""The command that writes a first scenario."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.studies.starter import starter_path, write_starter
from training import DATASETS


def init(
    target: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER|FILE.toml",
            help="The file to write, which must not exist; of a folder scenario.toml in it.",
            show_default=False,
        ),
    ] = Path(),
    network: Annotated[str, typer.Option("--network", help=f"{opt.NETWORK_HELP}.")] = "geant",
    dataset: Annotated[
        str | None, typer.Option(help=f"{', '.join(DATASETS)}, or an installed one. [default: digits]")
    ] = None,
    data: Annotated[str | None, typer.Option(help="Folder or file of the data, with --dataset.")] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Model to train. [default: that of the paper's task with these data, else cnn]"),
    ] = None,
) -> None:
    """Write a commented scenario for your network and data.

    It runs as it is. Comments state each key's meaning, type and default;
    examples name the network's silos. No file is replaced.

    Examples
    --------
    silosim init study.toml --network geant
    """
    path = starter_path(target)
    write_starter(path, network=network, dataset=dataset, data=data, model=model)
    print(f"written: {path}", file=sys.stderr)
    print(f"next: silosim simulate {path}", file=sys.stderr)
