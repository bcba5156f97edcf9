"""Tables and commands on the page of several seeds, and checksums of files, on small data."""

import hashlib
import html
import os
import re
from pathlib import Path
from types import SimpleNamespace

import h5py
import pytest
from page_reader import table_cells

from scenarios.pages.origin import file_digest, input_digests, origin_list
from scenarios.pages.seeds_page import _reproduce, _single_runs, _value
from scenarios.report.tables import Table
from scenarios.runfile.file_checksum import (
    ATTRIBUTE,
    LINE_BYTES,
    append_checksum,
    check_announced,
    check_file,
    recorded_checksum,
    unverified,
)
from topologies import InputError


def run_of(seed, overlay, **changes):
    given = {
        "simulated_s": 0.25,
        "train_loss": None,
        "test_accuracy": None,
        "rounds_to_target": None,
        "time_to_target_s": None,
    }
    return {"seed": seed, "overlay": overlay, **given, **changes}


def files_of(folder, *seeds):
    return SimpleNamespace(
        runs={seed: folder / f"my run-seed-{seed}.h5" for seed in seeds}, table=folder / "my run-seeds.csv"
    )


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("test_accuracy", 0.98765, "98.77 %"),
        ("simulated_s", 0.25, "250 ms"),
        ("time_to_target_s", 600.0, "10 min"),
        ("train_loss", 0.123456, "0.1235"),
        ("rounds_to_target", 12.0, "12"),
    ],
)
def test_values_of_single_runs_have_their_units(name, value, text):
    assert _value(name, value) == text


def test_single_runs_have_the_columns_that_any_of_them_has(tmp_path, monkeypatch):
    runs = [run_of(3, "<a>", test_accuracy=0.5), run_of(3, "b"), run_of(10, "<a>", rounds_to_target=2.0)]
    table = Table(caption="", columns=(), rows=[], further={"runs": runs})
    page = _single_runs(files_of(tmp_path, 3, 10), table)
    heads = re.findall('<th scope="col"( class="number")?>(.*?)</th>', page)
    assert heads == [
        *((' class="number"', "seed"), ("", "overlay"), (' class="number"', "cycle time")),
        *((' class="number"', "accuracy"), (' class="number"', "rounds"), ("", "file")),
    ]
    assert table_cells(page) == [
        ["3", "<a>", "250 ms", "50 %", "-", "my run-seed-3.h5"],
        ["3", "b", "250 ms", "-", "-", "my run-seed-3.h5"],
        ["10", "<a>", "250 ms", "-", "2", "my run-seed-10.h5"],
    ]
    assert "silosim report 'my run-seed-3.h5' makes the page" in html.unescape(page)
    monkeypatch.setattr("scenarios.pages.seeds_page._MOST_RUNS", 2)
    assert "(the first 2 of 3)" in _single_runs(files_of(tmp_path, 3, 10), table)


@pytest.mark.parametrize(
    ("seeds", "stated"), [((3, 4, 5), "3"), ((3, 5), "3,5"), ((7,), "1"), ((5, 4), "5,4"), ((0, 1), "2")]
)
def test_the_command_of_seeds_counts_those_that_follow_each_other(tmp_path, seeds, stated):
    files = files_of(tmp_path, *seeds)
    files.table.write_text("table")
    for seed, path in files.runs.items():
        with h5py.File(path, "w") as file:
            file.attrs["seed"] = seed
    page = html.unescape(_reproduce(files, SimpleNamespace(scenario="")))
    assert f"silosim run scenario.toml -o 'my run.h5' --seeds {stated} --report\n" in page
    assert "silosim report 'my run-seeds.csv'</pre>" in page
    items = dict(re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", page))
    assert items["seed"] == ", ".join(map(str, seeds))
    assert items["silosim version"] == "not stated"
    assert items[f"scenario of seed {seeds[0]}, SHA-256"] == hashlib.sha256(b"").hexdigest()
    assert items["my run-seeds.csv, SHA-256"] == hashlib.sha256(b"table").hexdigest()
    assert f"my run-seed-{seeds[-1]}.h5, SHA-256" in items


# Hashes


def test_a_digest_is_that_of_all_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("scenarios.pages.origin._PIECE", 4)
    for data in (b"", b"abc", b"abcd", b"abcdefghi"):
        (tmp_path / "x").write_bytes(data)
        assert file_digest(tmp_path / "x") == hashlib.sha256(data).hexdigest()


def test_files_that_a_scenario_names_are_hashed_code_without_its_name(tmp_path):
    for name in ("code.py", "links.csv", "m.csv"):
        (tmp_path / name).write_text(name)
    (tmp_path / "folder").mkdir()
    scenario = (
        '[network]\nunderlay = "folder"\nlinks = "links.csv"\n[training]\nmodel = "code.py:Net"\nloss = "mse"\n'
        'data = ""\n[imported]\nfile = "m.csv"\n[workload]\nfile = "links.csv"\n'
    )
    assert input_digests(tmp_path / "x.h5", scenario) == {
        f"{name} as it is now, SHA-256": hashlib.sha256(name.encode()).hexdigest()
        for name in ("links.csv", "m.csv", "code.py")
    }
    assert origin_list({"<a>": "&"}) == "<dl><dt>&lt;a&gt;</dt><dd>&amp;</dd></dl>"


def with_checksum(path, data):
    path.write_bytes(data)
    descriptor = os.open(path, os.O_RDWR)
    append_checksum(descriptor, path.name)
    os.close(descriptor)
    return path


@pytest.mark.parametrize("data", [b"", b"x", b"abcdefgh" * 3])
def test_a_checksum_is_that_of_the_bytes_before_it(tmp_path, monkeypatch, data):
    monkeypatch.setattr("scenarios.runfile.file_checksum._PIECE", 8)
    path = with_checksum(tmp_path / "x", data)
    assert path.read_bytes()[:-LINE_BYTES] == data
    assert recorded_checksum(path) == hashlib.sha256(data).hexdigest()
    check_file(path)


def test_a_file_that_ends_otherwise_states_none(tmp_path):
    path = with_checksum(tmp_path / "x", b"data")
    whole = path.read_bytes()
    for other in (
        b"",
        b"short",
        whole + b"\n",
        whole[:-1] + b"x",
        whole[1:-1],
        b"y" * len(whole),
        whole[-LINE_BYTES + 1 :],
    ):
        path.write_bytes(other)
        assert recorded_checksum(path) is None
        check_file(path)


def test_a_changed_byte_is_damage_unless_nobody_looks(tmp_path):
    path = with_checksum(tmp_path / "x", b"data")
    changed = bytearray(path.read_bytes())
    changed[0] ^= 1
    path.write_bytes(changed)
    with pytest.raises(
        InputError, match=r"x: is damaged: its bytes differ from the checksum at its end \(--no-verify"
    ):
        check_file(path)
    with unverified():
        check_file(path)
        with unverified(False):
            check_file(path)
    with unverified(False), pytest.raises(InputError, match="is damaged"):
        check_file(path)


def test_a_file_that_announces_a_checksum_has_one(tmp_path):
    path = tmp_path / "x.h5"
    path.write_bytes(b"no line")
    announced, plain = SimpleNamespace(attrs={ATTRIBUTE: "x"}), SimpleNamespace(attrs={})
    with pytest.raises(
        InputError, match=r"the checksum at its end is missing \(--no-verify opens it nevertheless"
    ):
        check_announced(announced, path)
    check_announced(plain, path)
    with unverified():
        check_announced(announced, path)
    check_announced(announced, with_checksum(path, b"data"))
    partial = Path(f"{path}.partial")
    partial.write_bytes(b"no line")
    check_announced(announced, partial)
