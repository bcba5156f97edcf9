"""A table format is one class: here LaTeX, for a paper that uses the package booktabs.

In the package's ``pyproject.toml``::

    [project.entry-points."silosim.table_formats"]
    tex = "table_format:Latex"

Then every command that writes a table writes LaTeX, too: ``silosim simulate geant -o table.tex``.
"""

ESCAPED = str.maketrans({sign: rf"\{sign}" for sign in "&%$#_{}"} | {"~": r"\textasciitilde "})


class Latex:
    """What `scenarios.report.table_formats.TableFormat` asks for."""

    name = "latex"
    ending = ".tex"

    def text(self, tables):
        """All tables, one below the other."""
        return "\n".join(self.tabular(table) for table in tables)

    def tabular(self, table):
        """The columns that people are shown, with texts to the left and numbers to the right."""
        texts = [all(isinstance(row[column.key], str) for row in table.rows) for column in table.columns]
        head = [column.title.replace("\n", " ") for column in table.columns]
        body = [[column.text(row) for column in table.columns] for row in table.rows]
        head, *rows = (" & ".join(cell.translate(ESCAPED) for cell in row) + r" \\" for row in [head, *body])
        alignment = "".join("l" if is_text else "r" for is_text in texts)
        begin, end = rf"\begin{{tabular}}{{{alignment}}}", r"\end{tabular}"
        return "\n".join([begin, r"\toprule", head, r"\midrule", *rows, r"\bottomrule", end, ""])
