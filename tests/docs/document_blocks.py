"""Blocks of code in README and docs, and what is said of each in the HTML comments before it.

A comment is one of

- ``not run: REASON``: the block is not run;
- ``slow``: the block is run with the slow tests only, after those with a file;
- ``smaller: OPTIONS``: the test adds these options to the block's commands, to do less of the same; before a TOML file
  they are lines, which take the place of those of the same keys in all tables, or follow the last one;
- ``setup: COMMANDS``: run these shell commands before the block;
- ``file: NAME``: write the block into this file first;
- ``output``: the block is what the one before it prints; its numbers are compared, line by line.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMANDS = ("bash", "console", "python", "toml")
"""Languages of blocks that are run."""
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    if "_build" not in path.parts and "command_line.md" not in path.parts
)
"""Every page of the documentation but the command line's, which is generated."""

_COMMENT = r"<!--(?:(?!-->).)*-->\s*"
_BLOCK = re.compile(
    rf"(?P<comments>(?:{_COMMENT})*)^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_KEYS = {"not run", "slow", "smaller", "setup", "file", "output"}


@dataclass(frozen=True)
class Block:
    """One fenced block.

    Parameters
    ----------
    page, line : str, int
        Where it begins.
    language, text : str
    notes : dict of str to str
        What the comments before it say, by the word before the colon.
    """

    page: str
    line: int
    language: str
    text: str
    notes: dict[str, str]

    @property
    def file_text(self) -> str:
        """What a test writes into the block's file."""
        text = self.text
        for line in self.notes.get("smaller", "").splitlines() if self.language == "toml" else ():
            key = re.escape(line.partition(" = ")[0].strip())
            text, changed = re.subn(
                rf"^{key} = .*", lambda _, line=line: line.strip(), text, flags=re.MULTILINE
            )
            text += "" if changed else f"{line.strip()}\n"
        return text

    @property
    def is_run(self) -> bool:
        """Whether it is a command, code or a scenario that a test runs."""
        return self.language in COMMANDS and "not run" not in self.notes


def blocks(page: str) -> list[Block]:
    """Blocks of a page of the repository, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        if match["language"].startswith("{"):  # a directive of MyST
            continue
        notes = {}
        for comment in re.findall(_COMMENT, match["comments"], flags=re.DOTALL):
            key, _, rest = comment.strip().removeprefix("<!--").removesuffix("-->").strip().partition(":")
            if key in _KEYS:
                notes[key] = rest.strip()
        line = text.count("\n", 0, match.start("language")) + 1
        found.append(Block(page, line, match["language"], match["text"], notes))
    return found


def numbers(line: str) -> list[str]:
    """Words of a printed line that hold a digit, without the marks around them."""
    return [word.strip("()[],.;:") for word in line.split() if re.search(r"\d", word)]


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Commands after ``$`` of a console block, or lines of a shell block, each with the lines shown as its output."""
    found: list[tuple[str, list[str]]] = []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command = command[:-1] + next(lines).strip()
            found.append((command, []))
        else:
            found[-1][1].append(line)
    return found
