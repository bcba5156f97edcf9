"""The page of a run in a browser: the slider moves table, curve and map; no request, no error on the console."""

import math

import pytest
from chromium import find_chromium, open_page

from scenarios.config.quantities import format_rate
from scenarios.pages.capacity import forms_of, row_texts, slider_data
from scenarios.pages.files import report
from scenarios.pages.page_style import PAGE_STYLE
from scenarios.pages.run_facts import run_facts
from scenarios.report.web_page import html_table, web_page
from scenarios.runfile.study_table import read_study

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_chromium() is None, reason="needs Chromium, which apt-get install chromium brings"
    ),
]
READ = """(() => [...document.querySelectorAll("#forms tr[data-row]")].map((row) =>
  [...row.querySelectorAll("td")].map((cell) => [cell.textContent, cell.dataset.value ?? null])))()"""
CRITICAL = (
    """[...document.querySelectorAll('[data-layer]:not(.off) .arc.critical')].map((arc) => arc.dataset.arc)"""
)
ARROW_RIGHT, ARROW_LEFT = 39, 37


@pytest.fixture(scope="module")
def opened(run_file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    report(run_file, folder / "page.html", force=False)
    with open_page(folder / "profile") as page:
        page.open(folder / "page.html")
        yield page
        assert page.errors == []
        assert [address for address in page.requests if not address.startswith("data:")] == [
            (folder / "page.html").as_uri()
        ]


def set_place(page, place):
    page.run(
        f"(() => {{ const s = document.getElementById('capacity'); s.value = {place}; "
        "s.dispatchEvent(new Event('input')); })()"
    )


def test_every_place_of_the_slider_shows_the_numbers_of_the_file(opened, run_file):
    facts = run_facts(run_file)
    data = slider_data(facts)
    for place, capacity in enumerate(data["capacities"]):
        set_place(opened, place)
        for at, cells in enumerate(opened.run(READ)):
            assert [float(value) for _, value in cells[:3]] == list(forms_of(data["overlays"][at], capacity))
            assert [text for text, _ in cells] == row_texts(data["overlays"], at, capacity)
        name = opened.run("document.getElementById('capacity').getAttribute('aria-valuetext')")
        assert name == data["names"][place]
        assert name in opened.run("document.querySelector('#forms caption').textContent")


def test_the_map_shows_the_critical_circuit_of_the_capacity(opened, run_file):
    facts = run_facts(run_file)
    for place, each in enumerate(facts.overlays):
        opened.run(f"document.querySelectorAll('input[name=overlay]')[{place}].click()")
        for step in (0, len(facts.capacities_bps) - 1):
            set_place(opened, step)
            circuit = each.forms.curve.circuits[each.forms.piece(facts.capacities_bps[step])]
            arcs = {f"{i}-{j}" for i, j in zip(circuit, (*circuit[1:], circuit[0]), strict=True)}
            assert set(opened.run(CRITICAL)) == arcs


def test_the_mark_is_on_the_curve(opened):
    set_place(opened, 3)
    for place in (0, 1):
        distance = opened.run(
            f"""(() => {{ const mark = document.querySelector('[data-mark="{place}"]');
            const path = document.querySelectorAll('#curve .curve')[{place}], all = path.getTotalLength();
            let least = 1e9; for (let k = 0; k <= 2000; k++) {{ const p = path.getPointAtLength(all * k / 2000);
            least = Math.min(least, Math.hypot(p.x - mark.getAttribute('cx'), p.y - mark.getAttribute('cy'))); }}
            return least; }})()"""
        )
        assert distance < 1.0


def test_the_keyboard_moves_it(opened, run_file):
    start = run_facts(run_file).start
    opened.run("document.getElementById('reset').click()")
    opened.run("document.getElementById('capacity').focus()")
    opened.key("ArrowRight", ARROW_RIGHT)

    assert opened.run("Number(document.getElementById('capacity').value)") == start + 1
    opened.key("ArrowLeft", ARROW_LEFT)
    opened.key("ArrowLeft", ARROW_LEFT)
    assert opened.run("Number(document.getElementById('capacity').value)") == start - 1


def test_links_and_arcs_tell_their_numbers_where_the_focus_is(opened):
    opened.run("document.querySelectorAll('input[name=overlay]')[1].click()")
    opened.run("document.querySelector('#map .place').focus()")
    said = opened.run("document.getElementById('told').textContent")

    assert "; ring: silo " in said
    assert "1 model a round sent" in said
    opened.run("document.querySelector('[data-layer]:not(.off) .arc').focus()")
    assert "delay" in opened.run("document.getElementById('told').textContent")


@pytest.mark.parametrize("width", [400, 1000, 1600])
@pytest.mark.parametrize("is_dark", [False, True])
def test_nothing_is_wider_than_the_page(opened, width, is_dark):
    opened.show(width, is_dark=is_dark)

    assert opened.run("document.documentElement.scrollWidth") <= width
    background = opened.run("getComputedStyle(document.body).backgroundColor")
    light = sum(map(int, background[4:-1].split(","))) / 3
    assert (light < 60) == is_dark


def test_on_paper_all_overlays_are_there_and_no_slider(opened):
    opened.call("Emulation.setEmulatedMedia", media="print")
    heights = opened.run(
        "[...document.querySelectorAll('.onpaper svg')].map((one) => one.getBoundingClientRect().height)"
    )
    slider = opened.run("document.querySelector('.slider').getBoundingClientRect().height")
    opened.call("Emulation.setEmulatedMedia", media="")

    assert len(heights) == 2
    assert min(heights) > 50
    assert math.isclose(slider, 0.0)


def test_long_cells_make_no_high_rows_on_a_telephone(opened, tmp_path):
    page = tmp_path / "table.html"
    table = html_table("t", ("a", "b", "why"), [("x" * 20, "1", "some words " * 20)] * 2, [1])
    page.write_text(web_page("t", [table], style=PAGE_STYLE))
    opened.show(400)
    opened.open(page)
    height = opened.run("document.querySelector('tbody tr').getBoundingClientRect().height")
    opened.requests.remove(page.as_uri())

    assert height < 300


def test_the_slider_of_a_study_shows_the_numbers_of_its_table(opened, tmp_path):
    path = tmp_path / "study.csv"
    capacities, kinds, steps = (1e7, 1e8, 1e9), ("star", "ring"), (1, 5)
    lines = ["access_bps,local_steps,network,silos,overlay,kind,options,paper_s,serialized_s,error,point"]
    for point, (capacity, step) in enumerate((c, s) for c in capacities for s in steps):
        for factor, kind in zip((2.0, 1.0), kinds, strict=True):
            value = factor * (1e8 / capacity + step / 7)
            lines.append(f"{capacity},{step},net,3,{kind},{kind},,{value!r},{value * 2!r},,p{point}")
    path.write_text("\n".join(lines) + "\n")
    table = read_study(path)
    report(path, tmp_path / "study.html", force=False)
    page = (tmp_path / "study.html").as_uri()
    opened.open(tmp_path / "study.html")
    opened.requests.remove(page)
    marks = "[...document.querySelectorAll('circle.mark')].map((m) => [m.getAttribute('cx'), m.getAttribute('cy')])"
    seen = []
    for chosen, step in enumerate(steps):
        opened.run(
            f"(() => {{ const c = document.getElementById('choice'); c.value = {chosen}; "
            "c.dispatchEvent(new Event('change')); })()"
        )
        for place, capacity in enumerate(capacities):
            set_place(opened, place)
            rows = opened.run(READ.replace("#forms", "#at-capacity"))
            for kind, cells in zip(kinds, rows, strict=True):
                of_point = (table["access_bps"] == capacity) & (table["local_steps"] == step)
                row = table[of_point & (table["overlay"] == kind)]
                assert [float(cell[1]) for cell in cells[:2]] == [*row.paper_s, *row.serialized_s]
                assert cells[4][0] == ("shortest" if kind == "ring" else "2.00x")
            seen.append(opened.run(marks))
            name = opened.run("document.getElementById('capacity').getAttribute('aria-valuetext')")
            assert name == format_rate(capacity)
            assert name in opened.run("document.querySelector('#at-capacity caption').textContent")
    opened.run("document.getElementById('capacity').focus()")
    opened.key("ArrowLeft", ARROW_LEFT)

    assert opened.run("Number(document.getElementById('capacity').value)") == 1
    assert len({tuple(map(tuple, one)) for one in seen[:3]}) == 3
    assert seen[:3] == seen[3:]
