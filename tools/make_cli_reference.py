"""Write the reference of the command line from the commands: ``python tools/make_cli_reference.py``."""

import os
import sys
from pathlib import Path
from typing import Any

import typer.main

from scenarios.cli.app import app

REFERENCE = Path(__file__).parents[1] / "docs" / "reference" / "command_line.md"
COLUMNS = "80"
HEAD = """<!-- Made by tools/make_cli_reference.py from the commands' help; do not edit. -->

# Command line

Each command prints these pages with `--help`. Exit codes: 0 done, 1 a training failed, 2 wrong input, 3 the machine
lacks something, 129 SIGHUP, 130 Ctrl-C, 143 SIGTERM.
"""


def reference() -> str:
    """Return the help pages of the program and of each command as Markdown."""
    group: Any = typer.main.get_command(app)
    pages = [f"## silosim\n\n{_page(group, 'silosim')}"]
    pages += [
        f"## silosim {name}\n\n{_page(command, f'silosim {name}')}"
        for name, command in group.commands.items()
    ]
    return "\n".join([HEAD, *pages])


def _page(command: Any, called: str) -> str:
    """The help of one command as a block of text."""
    lines = command.get_help(command.context_class(command, info_name=called)).splitlines()
    text = "\n".join(line.rstrip() for line in lines)
    return f"```text\n{text}\n```\n"


def main() -> int:
    """Write the reference."""
    os.environ["COLUMNS"] = COLUMNS
    REFERENCE.parent.mkdir(parents=True, exist_ok=True)
    REFERENCE.write_text(reference(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
