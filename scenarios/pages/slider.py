"""The slider of access capacities: its control and style, which pages of runs and of studies have in common."""

from collections.abc import Sequence

from scenarios.report.web_page import text

SLIDER_STYLE = """
.slider { position: sticky; top: 0; background: var(--page); padding: 0.5rem 0; z-index: 1;
  border-bottom: 1px solid var(--rule); display: flex; flex-wrap: wrap; gap: 0.3rem 1rem; align-items: center; }
.slider input { flex: 1 1 14rem; min-width: 10rem; } .slider output { font-weight: 600; min-width: 6rem; }
.mark { stroke: var(--page); stroke-width: 1px; }
"""


def slider_bar(label: str, names: Sequence[str], start: int, note: str) -> str:
    """A slider with a place for each capacity, a button that sets it back, and a note that describes it.

    Parameters
    ----------
    label : str
    names : sequence of str
        Of the capacities, with units.
    start : int
        Place at which it is.
    note : str

    Returns
    -------
    str
        HTML: the slider has the name ``capacity``, its text ``capacity-text``, the button ``reset``.
    """
    name = text(names[start])
    return (
        f'<div class="slider"><label for="capacity">{text(label)}</label><input type="range" id="capacity" '
        f'min="0" max="{len(names) - 1}" step="1" value="{start}" aria-valuetext="{name}" '
        f'aria-describedby="capacity-note"><output for="capacity" id="capacity-text">{name}</output>'
        '<button type="button" id="reset">Back to the start</button></div>'
        f'<p class="note" id="capacity-note">{text(note)}</p>'
    )
