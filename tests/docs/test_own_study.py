"""The study of one's own, through the command line as its page has it, with fewer rounds: files, numbers, messages."""

import csv
import html
import re
import runpy

import pytest
from document_blocks import blocks

import silosim
from scenarios.cli.main import main
from training.compression import TopK

# Five seeds of two overlays are trained: 18 s of the processor, more with other tests beside them.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

PAGE = "docs/howto/own_study.md"
PARAMETERS = (8 * 9 + 8) + 2 * 8 + (16 * 8 * 9 + 16) + 2 * 16 + (4 * 16 + 4)
"""Two convolutions, two batch normalisations, a linear layer."""
SEEDS = range(5)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The folder after the page's commands."""
    folder = tmp_path_factory.mktemp("hospitals")
    for block in blocks(PAGE):
        if "file" in block.notes:
            (folder / block.notes["file"]).write_text(block.file_text, encoding="utf-8")
    (command,) = (block.text for block in blocks(PAGE) if block.language == "console")
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        here.setattr("sys.argv", command.split()[1:])
        runpy.run_path("make_images.py")
        with pytest.raises(SystemExit) as stopped:
            main()
    assert not stopped.value.code
    return folder


def test_there_are_five_runs_their_table_figure_and_page(study):
    for seed in SEEDS:
        record = silosim.open_run(study / f"study-seed-{seed}.h5")
        assert [overlay.kind for overlay in record.overlays] == ["mst", "ring"]
        assert len(record.silo_labels) == 8
        assert f"seed = {seed}\n" in record.scenario
        assert all(overlay.history["round"][-1] == 50 for overlay in record.overlays)
    assert (study / "study-seeds.png").read_bytes().startswith(b"\x89PNG")
    page = html.unescape((study / "study-seeds.html").read_text()).replace("\xa0", " ")
    with (study / "study-seeds.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["seeds"] for row in rows] == ["5", "5"]
    for row in rows:
        for measure in ("simulated_s", "test_accuracy"):
            assert f"{float(row[f'{measure}_mean']):#.4g}" in page
        # Four classes: chance is 25 %.
        assert float(row["test_accuracy_mean"]) > 0.7
    answer = re.search(r'class="answer">(.*?)</p>', page)[1]
    assert answer.startswith("On hospitals")
    assert "5 seeds" in page
    assert "--seeds 5 --report" in page


def test_messages_are_those_of_top_k_at_one_percent_here_and_in_a_replay(study):
    bits = TopK(0.01).bits(PARAMETERS)
    assert bits == 14 * (32 + 11)
    record = silosim.open_run(study / "study-seed-0.h5")
    assert record.work.model_bits == bits
    assert record.work.message_share == pytest.approx(bits / (32 * PARAMETERS), rel=1e-12)
    said = f"1.38 % of the model's {32 * PARAMETERS / 1000:.2f} kbit"
    assert said in html.unescape((study / "study-seeds.html").read_text())
    silosim.replay(study / "study-seed-0.h5", study / "fast.h5", access="10 Mbps")
    assert silosim.open_run(study / "fast.h5").work.message_share == record.work.message_share
    silosim.report(study / "fast.h5", study / "fast.html")
    assert said in html.unescape((study / "fast.html").read_text())


def test_the_page_is_made_again_of_table_and_runs(study):
    silosim.report(study / "study-seeds.csv", study / "again.html")
    assert (study / "again.html").read_bytes() == (study / "study-seeds.html").read_bytes()
