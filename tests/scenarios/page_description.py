"""What an HTML page or an SVG holds, as text: elements with their attributes, labels and numbers, no sentences."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from folded_text import NUMBER, folded, numbers

_VOID = ("meta", "link", "input", "br", "circle", "line", "path", "rect", "use")
_GLOSSARY = ("dt", "dd")
"""Words that are explained, and hashes."""
_LABELS = ("text", "th", "td", "li", "label", "caption", "figcaption", "option", "output", "summary")
_COORDINATE = r"-?\d+(?:\.\d+)?"
_LONGEST_LABEL = 40
_MOST_RULES = 60


def described(page: str, *, sheet: bool = False) -> str:
    """Elements in their order, indented as they are nested.

    Parameters
    ----------
    sheet : bool
        Whether rules of style sheets are written, not counted.
    """
    reader = _Reader(sheet=sheet)
    reader.feed(page)
    reader.close()
    return "\n".join(folded(reader.lines)) + "\n"


class _Reader(HTMLParser):
    def __init__(self, *, sheet: bool) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._open: list[str] = []
        self._sheet = sheet

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _GLOSSARY:
            return
        shown = " ".join(_attribute(name, value or "") for name, value in attrs)
        self.lines.append(f"{' ' * len(self._open)}{tag} {shown}".rstrip())
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in (*_VOID, *_GLOSSARY):
            self._open.pop()

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside == "style":
            self.lines += _rules(data) if self._sheet else [f"style of {data.count('{')} rules"]
        elif inside == "script":
            self.lines += _data(json.loads(data)) if data.lstrip().startswith("{") else []
        elif data.strip() and inside != "dl":
            self.lines[-1] += f" {_said(data, is_label=inside in _LABELS)}"


def _attribute(name: str, value: str) -> str:
    if name in ("d", "points", "data-places", "data-x", "data-y"):
        commands = re.sub(r"[^A-Za-z]", "", value)
        letters = "".join(f"{letter}{commands.count(letter)}" for letter in dict.fromkeys(commands))
        return f"{name}={letters} {numbers([float(found) for found in re.findall(_COORDINATE, value)])}"
    return f"{name}={_said(value, is_label=len(value) <= _LONGEST_LABEL)}" if value else name


def _said(data: str, *, is_label: bool) -> str:
    """A label as it is; of a sentence the numbers."""
    words = " ".join(data.split())
    if is_label and len(words) <= _LONGEST_LABEL:
        return repr(words)
    return f"({','.join(NUMBER.findall(words))})"


def _rules(sheet: str) -> list[str]:
    """Rules with numbers that follow from the page's overlays and speeds."""
    rules = [" ".join(rule.split()) for rule in re.findall(r"[^{}]+\{[^{}]*\}", sheet)]
    return [f"  {rule}" for rule in rules if re.match(r"\.(f-)?[ks]\d", rule)][:_MOST_RULES]


def _data(value: Any, path: str = "") -> Iterator[str]:
    """Numbers and texts of a page's data."""
    if isinstance(value, dict):
        for name, inside in value.items():
            yield from _data(inside, f"{path}.{name}")
        return
    flat = list(_flat(value))
    known = [float(each) for each in flat if isinstance(each, int | float)]
    texts = [each for each in flat if isinstance(each, str)]
    letters = (
        f" {len(texts)} texts {texts[0][:_LONGEST_LABEL]!r}..{texts[-1][:_LONGEST_LABEL]!r}" if texts else ""
    )
    missing = sum(each is None for each in flat)
    yield f"  {path} {numbers(known)}{letters}{f' {missing} none' if missing else ''}"


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for inside in value.values():
            yield from _flat(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from _flat(inside)
    else:
        yield value
