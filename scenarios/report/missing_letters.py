"""Letters of labels that the font of a figure lacks: another font's, or a note."""

import warnings
from collections.abc import Iterable, Sequence, Set
from pathlib import Path

import matplotlib
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text

from scenarios.runtime.note_warnings import NoteWarning
from topologies.errors import quoted

_SHOWN = 3


def missing_letters(figure: Figure) -> set[str]:
    """Letters of a figure's texts that none of the fonts of the text has.

    Parameters
    ----------
    figure : Figure
        As it was drawn once, so that it has all its texts.

    Notes
    -----
    Matplotlib's own warnings leave out texts with an outline. Formulas, which have fonts of their own, are passed over.
    """
    wanted: dict[tuple[str, ...], set[str]] = {}
    for text in _texts(figure):
        letters = {letter for letter in text.get_text() if not letter.isascii()}
        if letters and not (text.get_parse_math() and text.get_text().count("$") > 1):
            wanted.setdefault(_fonts(text), set()).update(letters)
    # Once for all texts of the same fonts: what a font has are thousands of letters.
    return {letter for fonts, letters in wanted.items() for letter in letters - _letters_of(fonts)}


def _fonts(text: Text) -> tuple[str, ...]:
    """Files of the fonts of a text."""
    properties = text.get_fontproperties().copy()
    files = []
    for family in text.get_fontfamily():
        properties.set_family(family)
        files.append(str(font_manager.findfont(properties)))
    return tuple(files)


def _letters_of(fonts: Sequence[str]) -> set[str]:
    """Letters that any of some fonts has."""
    return {chr(code) for font in fonts for code in font_manager.get_font(font).get_charmap()}


def _texts(figure: Figure) -> Sequence[Text]:
    """All that are shown."""
    return [each for each in figure.findobj(Text) if isinstance(each, Text) and each.get_visible()]


def lend_fonts(figure: Figure, letters: Set[str], fonts: Iterable[tuple[str, Path]] | None = None) -> bool:
    """Let all texts of a figure take what their font lacks from the first installed one that has most of it.

    Parameters
    ----------
    figure : Figure
        As it was drawn once.
    letters : set of str
    fonts : iterable of (str, Path), optional
        Families with their files, by default those that matplotlib knows beside its own.

    Returns
    -------
    bool
        Whether any font has one of the letters.

    Notes
    -----
    Opens each font once. Of a collection (``.ttc``) matplotlib reads the first.
    """
    wanted = {ord(letter) for letter in letters}
    had = [
        (len(wanted & FT2Font(str(file)).get_charmap().keys()), family)
        for family, file in (_installed() if fonts is None else fonts)
    ]
    most, family = max(had, key=lambda each: each[0], default=(0, ""))
    if most:
        for text in _texts(figure):
            text.set_fontfamily([*text.get_fontfamily(), family])
    return most > 0


def _installed() -> list[tuple[str, Path]]:
    """Families of the system by file; not matplotlib's own, of which one has a box for every letter."""
    own = matplotlib.get_data_path()
    fonts = {
        entry.fname: entry.name
        for entry in font_manager.fontManager.ttflist
        if not entry.fname.startswith(own)
    }
    return [(fonts[file], Path(file)) for file in sorted(fonts) if Path(file).is_file()]


def warn_of_boxes(figure: Figure, letters: Set[str], path: Path) -> None:
    """Say which labels have boxes in place of letters.

    Parameters
    ----------
    figure : Figure
    letters : set of str
        That no font has, of the figure's texts.
    path : Path
        Of the figure.
    """
    labels = labels_with(figure, letters)
    shown = ", ".join(map(quoted, labels[:_SHOWN])) + (", ..." if len(labels) > _SHOWN else "")
    count = f"{len(labels)} labels" if len(labels) > 1 else "one label"
    sentence = (
        f"{path.name}: the font lacks letters of {count}, which are boxes: {shown}; install a font that has them, "
        "such as Noto Sans CJK for Chinese, Japanese and Korean."
    )
    warnings.warn(sentence, NoteWarning, stacklevel=3)


def labels_with(figure: Figure, letters: Set[str]) -> Sequence[str]:
    """Texts of a figure that have any of some letters, each once."""
    return [*dict.fromkeys(text.get_text() for text in _texts(figure) if letters & set(text.get_text()))]
