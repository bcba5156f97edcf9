"""Titles, legends, panels and files that figures share."""

import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.lines import Line2D

from scenarios.report.figure_parts import _drawn, add_legend, panels_figure, save_figure, set_title, thin
from scenarios.report.figure_style import DEFAULT_STYLE, FigureStyle

NARROW = FigureStyle(width_in=3.5)


@pytest.mark.parametrize(
    ("title", "style", "shown", "wraps"),
    [
        # Matplotlib breaks it itself, but what it would take for a formula.
        ("word " * 40, DEFAULT_STYLE, None, True),
        ("$a " + "word " * 40, DEFAULT_STYLE, 84, False),
        ("word " * 40, NARROW, 66, False),
        ("$a " + "word " * 40, NARROW, 66, False),
    ],
)
def test_a_title_is_as_long_as_its_figure(title, style, shown, wraps):
    figure = Figure()
    set_title(figure, title.strip(), style)
    text = figure._suptitle
    assert (text.get_wrap(), text.get_parse_math()) == (wraps, False)
    assert text.get_fontsize() == pytest.approx(style.pt(10.0))
    lines = text.get_text().splitlines()
    if shown is None:
        assert lines == [title.strip()]
    else:
        # As many letters of 0.0083 in a point as 7 in have room for, or of 0.0074 in 3.5 in.
        assert shown - 5 < max(map(len, lines)) <= shown
        assert " ".join(lines).split() == title.split()


def test_empty_lines_of_a_title_stay():
    figure = Figure()
    set_title(figure, "a\n\nb", NARROW)
    assert figure.get_suptitle() == "a\n\nb"


def test_names_of_a_legend_are_as_they_are():
    figure = Figure()
    names = ["_hidden", "$x$", "a"]
    add_legend(figure, [Line2D([], []) for _ in names], names, ncols=3)
    texts = figure.legends[0].get_texts()
    assert [(text.get_text(), text.get_parse_math()) for text in texts] == [(name, False) for name in names]
    assert thin(FigureStyle(width_in=14.0)) == {"linewidth": 1.4}


@pytest.mark.parametrize(
    ("rows", "sharex", "shares"), [(1, "col", False), (2, "col", True), (2, False, False)]
)
def test_panels_have_a_light_grid_and_one_axis_of_x_where_they_stand_below_each_other(rows, sharex, shares):
    figure, axes = panels_figure(rows, 2, height_in=3.0, style=FigureStyle(width_in=14.0), sharex=sharex)
    assert figure.get_size_inches().tolist() == [14.0, 6.0]
    assert [len(row) for row in axes] == [2] * rows
    first = axes[0][0]
    assert first.get_shared_x_axes().joined(first, axes[-1][0]) is shares
    assert not first.get_shared_y_axes().joined(first, axes[0][1])
    # Numbers are shown once, below.
    assert first.xaxis.get_tick_params()["labelbottom"] is not shares
    assert first.get_axisbelow() is True
    assert [first.spines[side].get_visible() for side in ("top", "right", "left", "bottom")] == [
        *(False, False, True, True)
    ]
    lines = first.get_xgridlines()
    assert all(line.get_visible() for line in lines)
    assert {line.get_linewidth() for line in lines} == {1.2}
    usual, _ = panels_figure(1, 1, height_in=3.0, style=DEFAULT_STYLE)
    assert usual.get_size_inches().tolist() == [7.0, 3.0]


def test_a_file_replaces_another_one(tmp_path):
    path = tmp_path / "folder" / "a.svg"
    figure = Figure(figsize=(1, 1))
    save_figure(figure, path)
    first = path.read_bytes()
    figure.text(0, 0, "more")
    save_figure(figure, path)
    assert path.read_bytes() != first
    assert [each.name for each in path.parent.iterdir()] == ["a.svg"]


def test_a_picture_has_200_dots_in_an_inch_and_a_pdf_fonts_that_publishers_take(tmp_path):
    figure = Figure(figsize=(2, 1))
    figure.text(0, 0, "name")
    save_figure(figure, tmp_path / "a.png")
    assert imread(tmp_path / "a.png").shape[:2] == (200, 400)
    save_figure(figure, tmp_path / "a.pdf")
    pdf = (tmp_path / "a.pdf").read_bytes()
    assert b"/CIDFontType2" in pdf
    assert b"/Type3" not in pdf


def test_only_texts_of_an_svg_that_stay_texts_lack_no_letters(tmp_path):
    figure = Figure(figsize=(1, 1))
    figure.text(0, 0, "北")
    for fonttype, ending, lacked in (
        ("none", "svg", set()),
        ("path", "svg", {"北"}),
        ("none", "png", {"北"}),
    ):
        with rc_context({"svg.fonttype": fonttype}):
            drawn, missing = _drawn(figure, tmp_path / f"a.{ending}")
        assert missing == lacked
        assert drawn.startswith(b"\x89PNG") if ending == "png" else b"<svg" in drawn


def test_letters_of_an_installed_font_need_no_warning(monkeypatch, tmp_path, recwarn):
    lent = []
    monkeypatch.setattr(
        "scenarios.report.figure_parts.lend_fonts", lambda _, letters: lent.append(letters) or True
    )
    found = iter([{"北"}, set()])
    monkeypatch.setattr("scenarios.report.figure_parts.missing_letters", lambda _: next(found))
    save_figure(Figure(figsize=(1, 1)), tmp_path / "a.png")
    assert lent == [{"北"}]
    assert len(recwarn) == 0
