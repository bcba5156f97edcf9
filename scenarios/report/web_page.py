"""Pages for browsers that load nothing from elsewhere: skeleton, colours, escaped texts and tables."""

import html
import json
from collections.abc import Collection, Iterable, Sequence

from scenarios.report.tables import Column, Table

STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --text: #1c1c1c; --quiet: #5a5f63; --rule: #d9dcdd; }
@media (prefers-color-scheme: dark) { :root { --page: #15181b; --text: #e8e8e6; --quiet: #a2a8ad; --rule: #363b40; } }
body { margin: 2rem auto; max-width: 64rem; padding: 0 1rem; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 1rem; }
pre { font: 0.85rem/1.5 ui-monospace, monospace; overflow-x: auto; }
.note { color: var(--quiet); margin: 0.2rem 0; }
.table { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.9rem; margin-top: 1rem; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.4rem; }
th, td { text-align: left; padding: 0.2rem 1.4rem 0.2rem 0; border-bottom: 1px solid var(--rule); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number, td:first-child:not(.long) { white-space: nowrap; } td.long { min-width: 15rem; }
ul.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.6rem; list-style: none; padding: 0; margin: 0.3rem 0; }
ul.legend svg { display: inline-block; width: 2.6rem; height: 0.8rem; border: 0; margin-right: 0.5rem; }
"""
ARROW = " \u2192 "
"""In running text: lines are broken within one of two letters."""
_LONG = 30
"""Letters of a cell from which it would make a narrow column very high."""
_ALONE = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def text(value: str) -> str:
    """A text in HTML, or in an attribute.

    Examples
    --------
    >>> text('<b>&"')
    '&lt;b&gt;&amp;&quot;'
    """
    return html.escape(value)


def capital(sentence: str) -> str:
    """The sentence with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


def embedded(name: str, value: object) -> str:
    """Data for the page's script, in an element of this name; numbers are those of Python to the last bit.

    Parameters
    ----------
    name : str
    value : object
        What JSON can hold: finite numbers only.
    """
    # Within a script nothing is escaped, and "</script>" or "<!--" in a label would end it.
    data = json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{data}</script>'


def web_page(title: str, body: Iterable[str], *, style: str, script: str = "") -> str:
    """A page.

    Parameters
    ----------
    title : str
        Plain text.
    body : iterable of str
        HTML.
    style : str
        Style sheets beside `STYLE`.
    script : str
    """
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            # Whatever is in the page, the browser asks nobody for anything.
            f'<meta http-equiv="Content-Security-Policy" content="{_ALONE}">',
            # Without an icon browsers ask for one.
            '<link rel="icon" href="data:,">',
            f"<title>{text(title)}</title>",
            f"<style>{STYLE}{style}</style>",
            "</head>",
            "<body>",
            *body,
            *([f"<script>{script}</script>"] if script else []),
            "</body>",
            "</html>",
            "",
        ]
    )


def html_table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Collection[int],
    *,
    of: int | None = None,
) -> str:
    """A table of plain texts; its numbers stand right.

    Parameters
    ----------
    caption : str
    heads : sequence of str
    rows : iterable of sequence of str
    numbers : collection of int
        Places of the columns that hold numbers.
    of : int, optional
        How many rows there are where only the first ones are shown.
    """

    def cells(tag: str, texts: Sequence[str]) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        marked = (
            ' class="number"' if place in numbers else ' class="long"' if len(cell) > _LONG else ""
            for place, cell in enumerate(texts)
        )
        return "".join(
            f"<{tag}{scope}{mark}>{text(cell)}</{tag}>" for mark, cell in zip(marked, texts, strict=True)
        )

    lines = [f"<tr>{cells('td', row)}</tr>" for row in rows]
    first = f" (the first {len(lines):,} of {of:,})" if of is not None and of > len(lines) else ""
    body = "\n".join(lines)
    return (
        f'<div class="table"><table><caption>{text(caption)}{first}</caption>\n'
        f"<thead><tr>{cells('th', heads)}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _head(column: Column) -> str:
    """The head of a column on one line, with its unit."""
    title = " ".join(column.title.replace("-\n", "").split())
    return f"{title} ({column.unit})" if column.unit else title


def results_table(table: Table, caption: str) -> str:
    """The columns of a table that people see, with its notes below."""
    first, *others = table.columns
    shown = [first, *others]
    rows = [[column.text(row) for column in shown] for row in table.rows]
    numbers = {
        place
        for place, column in enumerate(shown)
        if any(isinstance(row[column.key], int | float) for row in table.rows)
    }
    heads = [_head(column) for column in shown]
    notes = " ".join(table.notes.split()).replace(" -> ", ARROW)
    notes = f'<p class="note">{text(capital(notes))}</p>' if notes else ""
    return html_table(caption, heads, rows, numbers) + notes
