"""What a page holds, read as a browser reads it."""

import html
import json
import re
from html.parser import HTMLParser
from typing import Any

VOID = ("meta", "link", "input", "br")


def table_cells(page: str) -> list[list[str]]:
    """Texts of the cells of each row of the first table's body."""
    return [
        [html.unescape(cell) for cell in re.findall("<td[^>]*>(.*?)</td>", row)]
        for row in page.split("<tbody>")[1].split("</tbody>")[0].split("</tr>")[:-1]
    ]


def table_heads(page: str) -> list[str]:
    """Titles of the columns of tables."""
    return [html.unescape(head) for head in re.findall("<th [^>]*>(.*?)</th>", page)]


class PageReader(HTMLParser):
    """Elements, texts and data of a page.

    Attributes
    ----------
    tags : list of (str, dict)
    texts : list of str
        Outside scripts and styles.
    data : dict from str to any
        Of scripts that hold JSON, by their ``id``.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.data: dict[str, Any] = {}
        self.open: list[str] = []
        self._name: str | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append((tag, dict(attrs)))
        self._name = dict(attrs).get("id") if tag == "script" else None
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element without content."""
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """The end of an element must be that of the innermost one."""
        assert self.open, f"</{tag}> ends nothing"
        assert self.open[-1] == tag, f"</{tag}> ends <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        """Note a text, or read data."""
        if self.open and self.open[-1] == "script":
            if self._name is not None:
                self.data[self._name] = json.loads(data)
        elif not self.open or self.open[-1] != "style":
            self.texts.append(data)

    def check_alone(self) -> None:
        """Nothing is loaded from elsewhere."""
        for tag, attributes in self.tags:
            for name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
                address = attributes.get(name)
                assert address is None or address.startswith("#") or address == "data:,", (tag, address)
