"""Labels that look like markup or a formula: as they stand in tables, figures and pages."""

import html
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

LABELS = ("[/red]", "<script>alert", "$x$_a^{", "_hidden & \\frac", "Київ 東京")
NAME = "[/red] <b>$_{$ Київ"
OVERLAY = "[red] <b>$_{"
SCENARIO = """
name = {name}
[network]
underlay = "markup.gml"
access = "1 Gbps"
core = "1 Gbps"
access_at = {{ "[/red]" = "100 Mbps" }}
[workload]
model_size = "10 MB"
compute = "10 ms"
[[overlays]]
kind = "ring"
name = {overlay}
[[overlays]]
kind = "star"
[simulation]
rounds = 100
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario whose silos, overlay and name look like markup, in the working directory."""
    nodes = "".join(
        f'node [ id {i} label "{html.escape(label)}" lon {10 + i}.0 lat {50 - i}.0 ]\n'
        for i, label in enumerate(LABELS)
    )
    edges = "".join(f"edge [ source {i} target {i + 1} ]\n" for i in range(len(LABELS) - 1))
    (tmp_path / "markup.gml").write_text(f"graph [\n{nodes}{edges}]\n")
    (tmp_path / "s.toml").write_text(SCENARIO.format(name=json.dumps(NAME), overlay=json.dumps(OVERLAY)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts of the figures that are written; one that shows a name and would read a formula in it fails."""
    found: list[str] = []

    def keep(figure: Figure, file: object, **_options: object) -> None:
        figure.draw_without_rendering()
        for text in figure.findobj(Text):
            assert isinstance(text, Text)
            said = text.get_text()
            found.append(said)
            assert not (text.get_parse_math() and any(part in said for part in ("$x", "$_"))), said
        file.write(b"figure")  # type: ignore[attr-defined]

    monkeypatch.setattr(Figure, "savefig", keep)
    return found


class _Page(HTMLParser):
    """Elements and texts of a page, without those of its scripts' data."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.texts: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self._inside = tag
        self.texts += [value for name, value in attrs if name in ("aria-label", "title") and value]

    def handle_data(self, data: str) -> None:
        if self._inside != "script":
            self.texts.append(data)


def _page(path: Path) -> _Page:
    """A page that holds no element of a label."""
    page = _Page()
    whole = path.read_text(encoding="utf-8")
    page.feed(whole)
    assert "<script>alert" not in whole
    assert "b" not in page.elements
    return page


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (("underlay", "markup.gml"), LABELS[3]),
        (("design", "s.toml"), OVERLAY),
        (("simulate", "s.toml"), OVERLAY),
        (("explain", "s.toml", "--kind", OVERLAY), LABELS[0]),
        (("validate", "s.toml"), OVERLAY),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_tables_print_labels_as_they_stand(silosim, command, shown):
    result = silosim(*command).ok()

    assert shown in result.out.replace("\n", " ")


@pytest.mark.usefixtures("folder")
def test_figures_draw_labels_as_they_stand(silosim, texts):
    silosim("underlay", "markup.gml", "-o", "map.svg").ok()
    assert set(LABELS) <= {text.strip() for text in texts}
    texts.clear()

    silosim("simulate", "s.toml", "-o", "run.h5").ok()
    silosim("timeline", "run.h5", "--overlay", OVERLAY, "-o", "t.svg").ok()
    assert set(LABELS) <= {text.strip() for text in texts}
    texts.clear()

    silosim("validate", "s.toml", "-o", "v.png").ok()
    silosim("sweep", "s.toml", "--access", "1 Gbps", "2 Gbps", "-o", "sweep").ok()
    silosim("upgrade", "s.toml", "--kind", OVERLAY, "--budget", 1, "-o", "links").ok()
    silosim("partition", "s.toml", "-o", "parts.png").ok()
    assert OVERLAY in texts
    assert set(LABELS) <= set(texts)


@pytest.mark.usefixtures("folder")
def test_pages_show_labels_as_they_stand(silosim):
    silosim("run", "s.toml", "-o", "run.h5").ok()
    silosim("report", "run.h5", "-o", "run.html").ok()
    silosim("underlay", "markup.gml", "-o", "map.html").ok()
    silosim("validate", "s.toml", "-o", "v").ok()
    silosim("report", "v", "-o", "v.html").ok()
    for name, shown in (("run", (*LABELS, NAME, OVERLAY)), ("map", LABELS), ("v", (OVERLAY,))):
        said = " ".join(_page(Path(f"{name}.html")).texts)
        for label in shown:
            assert label in said, (name, label)


@pytest.mark.usefixtures("folder")
def test_a_figure_of_letters_that_its_font_lacks_says_nothing(silosim):
    result = silosim("underlay", "markup.gml", "-o", "map.svg").ok()

    assert re.fullmatch("written: map.svg\n", result.err)


def test_errors_name_labels_as_they_stand(silosim: Callable, folder: Path):
    text = (folder / "s.toml").read_text()
    (folder / "s.toml").write_text(text.replace('"[/red]" = "100 Mbps"', '"[/blue] $" = "1 Gbps"'))
    result = silosim("design", "s.toml").failed(2)

    assert "[/blue] $" in result.err
    assert result.err.count("\n") == 1
