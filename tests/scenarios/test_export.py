"""A run handed to other programs: what they read is what the file of the run holds."""

import json
import signal
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas
import pytest
from edited_run import edited
from pair_run import LABELS, OVERLAYS, write_pair_run
from tensorboardX.proto.event_pb2 import Event

import silosim as package
from scenarios.export import table_files
from scenarios.metrics_import.readers import read_rows
from scenarios.metrics_import.tensorboard import _Records
from scenarios.runfile.folders import new_folder
from scenarios.studies.export import CONTENTS, _is_export, _notes
from topologies import InputError, MachineError

HISTORY = {
    "round": [0, 5, 10],
    "train_loss": [3.0, 2.0, np.inf],
    "test_accuracy": [0.1, np.nan, 0.9],
    "silo_loss": [[3.5, 2.5], [2.5, 1.5], [np.nan, 0.5]],
}
TABLES = CONTENTS[:5]


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return write_pair_run(tmp_path_factory.mktemp("pair") / "pair.h5", history=HISTORY)


def frames(path, **part):
    record = package.open_run(path)
    return {
        "rounds": record.rounds(**part),
        "messages": record.messages(**part),
        "metrics": record.metrics(**part),
        "metrics_by_silo": record.metrics(by_silo=True, **part),
        "links": record.links(overlay=part.get("overlay")),
    }


def same(found, frame):
    """Whether a table that was read back is a frame, whatever type texts have."""
    assert found.columns.tolist() == frame.columns.tolist()
    if frame.empty:  # CSV has no types
        assert found.empty
        return
    texts = {name: "string" for name in frame.columns if frame[name].dtype == "string"}
    pandas.testing.assert_frame_equal(found.astype(texts), frame, check_exact=True)


def read_csv(path):
    return pandas.read_csv(path)


def test_what_no_silo_measured_is_no_empty_table(silosim, imported_run, tmp_path):
    result = silosim("export", imported_run, "-o", tmp_path / "data").ok()
    assert not (tmp_path / "data" / "metrics_by_silo.csv").exists()
    said = " ".join(result.err.split())
    assert f"{imported_run} has no metrics of silos; left out: metrics_by_silo." in said
    alone = silosim("export", imported_run, "--only", "metrics_by_silo", "-o", tmp_path / "x").failed(2)
    assert f"{imported_run}: has no metrics of silos." in alone.err


@pytest.mark.parametrize("run", ["pair", "run_file", "imported_run"])
def test_tables_are_the_frames_to_the_last_bit(request, tmp_path, run):
    path = request.getfixturevalue(run)
    for table_format, read in (("csv", read_csv), ("parquet", pandas.read_parquet)):
        folder = tmp_path / table_format
        # The other program's metrics are of all silos together only.
        there = {
            name: frame for name, frame in frames(path).items() if name != "metrics_by_silo" or len(frame)
        }
        assert len(there) == len(TABLES) - (run == "imported_run")
        package.export(path, folder, format=table_format, only=[*there])
        assert sorted(file.name for file in folder.iterdir()) == sorted(
            f"{name}.{table_format}" for name in there
        )
        for name, frame in there.items():
            same(read(folder / f"{name}.{table_format}"), frame)


def test_pieces_make_the_same_files(pair, tmp_path, monkeypatch):
    package.export(pair, tmp_path / "whole")
    monkeypatch.setattr("scenarios.runfile.run_tables.MOST_ROWS", 3)
    package.export(pair, tmp_path / "pieces")
    package.export(pair, tmp_path / "parquet", format="parquet", only=["rounds", "links"])

    for file in (tmp_path / "whole").rglob("*.*"):
        if file.is_file():
            assert (
                tmp_path / "pieces" / file.relative_to(tmp_path / "whole")
            ).read_bytes() == file.read_bytes()
    same(pandas.read_parquet(tmp_path / "parquet" / "rounds.parquet"), frames(pair)["rounds"])


def test_a_part_is_exported_alone(silosim, pair, tmp_path):
    silosim(
        *("export", pair, "--only", "rounds", "metrics", "links", "--overlay", OVERLAYS[1]),
        *("--rounds", "2-5", "-o", tmp_path / "part"),
    ).ok()
    part = {"overlay": OVERLAYS[1], "rounds": slice(2, 6)}

    assert sorted(file.stem for file in (tmp_path / "part").iterdir()) == ["links", "metrics", "rounds"]
    for name, frame in frames(pair, **part).items():
        if name in ("rounds", "metrics", "links"):
            same(read_csv(tmp_path / "part" / f"{name}.csv"), frame)
    assert len(read_csv(tmp_path / "part" / "rounds.csv")) == 4 * 2


def events(path):
    with path.open("rb") as stream:
        return [Event.FromString(data) for data in _Records(stream, str(path))]


def test_the_time_of_an_event_is_the_wall_clock_time_of_its_round(run_file, tmp_path):
    files = package.export(run_file, tmp_path / "data", only=["tensorboard"])
    record = package.open_run(run_file)

    for file, overlay in zip(files, record.overlays, strict=True):
        assert file.parts[-3:-1] == ("tensorboard", overlay.kind)
        version, *found = events(file)
        assert version.file_version == "brain.Event:2"
        both = [event for event in found if len(event.summary.value) > 2]
        assert [event.step for event in both] == overlay.history["round"].tolist()
        # TensorBoard's relative time is that since the first event.
        assert [event.wall_time - both[0].wall_time for event in both] == overlay.wall_clock_s.tolist()
        assert [{value.tag: value.simple_value for value in event.summary.value} for event in both] == [
            {
                name: np.float32(values[row])
                for name, values in overlay.history.items()
                if name not in ("round", "silo_loss", "silo_accuracy")
            }
            for row in range(len(both))
        ]
        silos = record.metrics(by_silo=True, overlay=overlay.kind)
        alone = [event for event in found if len(event.summary.value) == 2]
        assert [event.wall_time for event in alone] == silos["start_s"].tolist()
        assert [event.summary.value[0].tag for event in alone] == ("silo_loss/" + silos["silo"]).tolist()


def test_metrics_that_are_imported_again_are_the_same(silosim, run_file, tmp_path):
    package.export(run_file, tmp_path / "data", only=["tensorboard"])
    before = package.open_run(run_file)
    for overlay in before.overlays:
        folder = tmp_path / "data" / "tensorboard" / overlay.kind
        silosim(
            *("import-metrics", folder, "--on", "gaia", "--workload", "femnist", "--kind", "ring"),
            *("--unit", "rounds", "-o", tmp_path / f"{overlay.kind}.h5"),
        ).ok()
        (again,) = package.open_run(tmp_path / f"{overlay.kind}.h5").overlays
        for name in ("round", "train_loss", "train_accuracy", "test_loss", "test_accuracy", "silo_loss"):
            # An event holds float32.
            expected = overlay.history[name].astype(np.float32)
            np.testing.assert_array_equal(again.history[name].astype(np.float32), expected, err_msg=name)


def test_a_line_of_json_is_a_logged_round(pair, tmp_path):
    package.export(pair, tmp_path / "data", only=["jsonl"])
    lines = (tmp_path / "data" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    metrics = package.open_run(pair).metrics()

    assert [row["overlay"] for row in rows] == metrics["overlay"].tolist()
    assert [row["step"] for row in rows] == metrics["round"].tolist()
    assert [row["wall_clock_s"] for row in rows] == metrics["wall_clock_s"].tolist()
    assert {row["run"] for row in rows} == {'a, "b" [red]'}
    # What was not measured, or is not finite, has no key.
    assert rows[2].keys() == {
        "run",
        "overlay",
        "step",
        "wall_clock_s",
        "test_accuracy",
        f"silo_loss/{LABELS[1]}",
    }
    assert [rows[1][f"silo_loss/{label}"] for label in LABELS] == [2.5, 1.5]
    assert len(list(read_rows(tmp_path / "data" / "metrics.jsonl"))) == len(rows)


def test_numbers_beyond_float32_are_infinite_to_tensorboard(tmp_path):
    path = write_pair_run(tmp_path / "x.h5", history=HISTORY | {"train_loss": [1e39, -1e39, np.nan]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, _ = package.export(path, tmp_path / "data", only=["tensorboard"])
    losses = [v.simple_value for e in events(first) for v in e.summary.value if v.tag == "train_loss"]
    assert losses == [np.inf, -np.inf]


def test_without_a_training_the_rest_is_exported_and_one_line_says_so(silosim, tmp_path):
    path = write_pair_run(tmp_path / "x.h5")
    result = silosim("export", path).ok()

    note = f"{path} has no training rows; left out: metrics, metrics_by_silo, tensorboard, jsonl."
    assert " ".join(result.err.split("written: ")[0].split()) == note
    assert sorted(file.name for file in (tmp_path / "x-export").iterdir()) == [
        "links.csv",
        "messages.csv",
        "rounds.csv",
    ]
    with pytest.warns(UserWarning, match="has no training rows"):
        package.export(path, tmp_path / "again")
    alone = silosim("export", path, "--only", "metrics", "-o", tmp_path / "none").failed(2)
    assert alone.err == f"silosim: error: {path}: has no training rows.\n"
    assert not (tmp_path / "none").exists()


def test_the_links_are_those_of_all_rounds_and_a_line_says_so(silosim, pair, tmp_path):
    result = silosim("export", pair, "--rounds", "3", "-o", tmp_path / "x").ok()

    assert "links are those of all rounds" in result.err
    assert "left out: metrics, metrics_by_silo, tensorboard, jsonl." in " ".join(result.err.split())
    assert read_csv(tmp_path / "x" / "rounds.csv")["round"].unique().tolist() == [3]
    late = silosim("export", pair, "--rounds", "99-100", "--only", "rounds", "-o", tmp_path / "y").failed(2)
    assert late.err == "silosim: error: rounds(='99-100') must be rounds from 0 to 10, the last of the run.\n"


def test_the_finished_rounds_of_a_killed_run_are_exported(silosim, tmp_path):
    whole = write_pair_run(tmp_path / "x.h5", history=HISTORY)
    path = whole.rename(tmp_path / "x.h5.partial")
    with edited(path) as file:
        file[f"simulation/{OVERLAYS[0]}"].attrs["cycle_time_s"] = np.nan
        file[f"training/{OVERLAYS[0]}/round"][1:] = -1
        file[f"simulation/{OVERLAYS[1]}"].attrs["rounds"] = 0
        file[f"simulation/{OVERLAYS[1]}"].attrs["cycle_time_s"] = np.nan
        file[f"training/{OVERLAYS[1]}/round"][:] = -1
    silosim("export", path).ok()

    folder = tmp_path / "x-export"
    assert read_csv(folder / "rounds.csv")["overlay"].unique().tolist() == [OVERLAYS[0]]
    assert read_csv(folder / "metrics.csv")["round"].tolist() == [0]
    assert [file.name for file in (folder / "tensorboard").iterdir()] == [OVERLAYS[0]]


@pytest.mark.usefixtures("placeholder_figures")
def test_a_replay_is_exported_with_its_own_times(silosim, run_file, tmp_path):
    silosim("replay", run_file, "--access", "1 Gbps", "-o", tmp_path / "fast.h5").ok()
    silosim("export", tmp_path / "fast.h5", "--only", "metrics", "-o", tmp_path / "data").ok()
    found, before = read_csv(tmp_path / "data" / "metrics.csv"), package.open_run(run_file).metrics()

    assert found["train_loss"].tolist() == before["train_loss"].tolist()
    assert (found["wall_clock_s"] < before["wall_clock_s"])[found["round"] > 0].all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--only", "round"), "only(='round') must be one of"),
        (("--only", "rounds", "link"), "only(='link') must be one of"),
        (("--format", "xlsx"), "format(='xlsx') must be one of csv, parquet"),
        (("--overlay", "rng"), "overlay(='rng') must be one of"),
        (("--rounds", "9-3"), "rounds(='9-3') must be FIRST-LAST, such as 0-99"),
        (("--rounds", "-3"), "rounds(='-3') must be FIRST-LAST, such as 0-99"),
        (("metrics",), "'metrics' must follow an option, for instance --only."),
    ],
)
def test_a_wrong_option_is_one_line_and_leaves_nothing(silosim, run_file, tmp_path, options, message):
    result = silosim("export", run_file, *options, "-o", tmp_path / "x").failed(2)

    assert message in result.err
    assert result.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_what_is_exported_is_one_name_or_some(pair, tmp_path):
    assert [file.name for file in package.export(pair, tmp_path / "x", only="links")] == ["links.csv"]
    with pytest.raises(InputError, match=r"only\(=\[\]\) must name something to export"):
        package.export(pair, tmp_path / "y", only=[])


def test_the_bar_counts_rounds_and_rows(pair, tmp_path, monkeypatch):
    moves = []

    @contextmanager
    def counting(_title, total):
        yield lambda done, note: moves.append((done, total, note))

    monkeypatch.setattr("scenarios.studies.export.bar", counting)
    package.export(pair, tmp_path / "x")

    # Two overlays of ten rounds in two tables, of three rows in four files, and the links of both.
    assert moves[-1] == (2 * 10 * 2 + 2 * 3 * 4 + 2, 2 * 10 * 2 + 2 * 3 * 4 + 2, "jsonl")
    assert [done for done, _, _ in moves] == sorted(done for done, _, _ in moves)
    assert tuple(dict.fromkeys(note for _, _, note in moves)) == CONTENTS


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "validation"])
def test_a_file_of_another_kind_is_one_line(silosim, tmp_path, content):
    path = tmp_path / "x.h5"
    if content == "validation":
        silosim("validate", "gaia", "--kind", "ring", "--rounds", 100, "-o", path).ok()
    else:
        path.write_text(content)
    result = silosim("export", path, "-o", tmp_path / "data").failed(2)

    rule = (
        "must be 'silosim-run/1'"
        if content == "validation"
        else "is not an HDF5 file"
        if content
        else "is empty"
    )
    assert result.err.startswith(f"silosim: error: {path}: ")
    assert rule in result.err
    assert list(tmp_path.iterdir()) == [path]


def test_only_the_folder_of_an_export_is_replaced(silosim, pair, tmp_path):
    folder = tmp_path / "data"
    silosim("export", pair, "-o", folder).ok()
    kept = silosim("export", pair, "-o", folder).failed(2)
    assert kept.err == f"silosim: error: {folder} exists already; --force replaces it.\n"
    # Nothing of the earlier export is left beside the new one.
    silosim("export", pair, "-o", folder, "--force", "--only", "links").ok()
    assert [file.name for file in folder.iterdir()] == ["links.csv"]
    (folder / "mine.txt").write_text("mine")
    refused = silosim("export", pair, "-o", folder, "--force").failed(2)
    assert f"{folder} holds other files, {folder / 'mine.txt'} among them, and is not replaced" in refused.err
    assert "--force" not in silosim("export", pair, "-o", folder).failed(2).err
    assert sorted(file.name for file in folder.iterdir()) == ["links.csv", "mine.txt"]
    assert [file.name for file in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        *((file, True) for file in ("rounds.csv", "links.parquet", "metrics_by_silo.csv", "metrics.jsonl")),
        ("tensorboard/ring/events.out.tfevents.0.silosim", True),
        ("tensorboard/events.out.tfevents.0.silosim", False),
        ("tensorboard/ring/events.out.tfevents.1", False),
        ("mine/ring/events.out.tfevents.0.silosim", False),
        ("mine/ring/notes.txt", False),
        ("tensorboard/a/b/events.out.tfevents.0.silosim", False),
        ("mine/rounds.csv", False),
        ("rounds.txt", False),
    ],
)
def test_files_of_an_export_are_known_by_their_whole_path(file, expected):
    assert _is_export(Path(file)) is expected


@pytest.mark.parametrize(
    ("overlays", "rounds", "where"),
    [
        (2, slice(None), ""),
        (1, slice(None), " in these overlays"),
        (2, slice(3), " in what is asked for"),
        (1, slice(3), " in what is asked for"),
    ],
)
def test_what_a_part_of_a_run_lacks_is_said_to_be_missing_there(overlays, rounds, where):
    part = SimpleNamespace(
        overlays=("a", "b")[:overlays], record=SimpleNamespace(overlays=("a", "b")), rounds=rounds
    )
    sizes = {"rounds": 7, "links": 0, "metrics": 0, "jsonl": 0}
    assert _notes(Path("r.h5"), part, sizes) == (
        f"r.h5 has no simulated overlays{where}; left out: links.",
        f"r.h5 has no training rows{where}; left out: metrics, jsonl.",
    )
    of_links = ("links are those of all rounds: the file does not hold the bits of each.",)
    assert _notes(Path("r.h5"), part, {"links": 2}) == (of_links if rounds == slice(3) else ())
    with pytest.raises(InputError, match=rf"^r\.h5: has no simulated rounds and no training rows{where}\.$"):
        _notes(Path("r.h5"), part, {"rounds": 0, "metrics": 0})


def test_a_file_in_the_way_is_kept(silosim, pair, tmp_path):
    path = tmp_path / "data"
    path.write_text("mine")
    for name in (path, path / "in"):
        assert "must be" in silosim("export", pair, "-o", name, "--force").failed(2).err
    assert path.read_text() == "mine"


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_folders_that_were_made_on_the_way_go_with_what_is_not_complete(tmp_path, error):
    (tmp_path / "mine").mkdir()

    def write():
        with new_folder(tmp_path / "mine" / "a" / "b" / "c", force=False) as partial:
            assert partial.parent == tmp_path / "mine" / "a" / "b"
            raise error

    with pytest.raises(KeyboardInterrupt if error is KeyboardInterrupt else MachineError):
        write()
    assert [*tmp_path.rglob("*")] == [tmp_path / "mine"]


def test_folders_that_another_program_uses_meanwhile_are_kept(tmp_path):
    def write():
        with new_folder(tmp_path / "a" / "b" / "c", force=False):
            (tmp_path / "a" / "its").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert [*tmp_path.rglob("*")] == [tmp_path / "a", tmp_path / "a" / "its"]


def test_the_earlier_folder_is_kept_where_the_new_one_cannot_take_its_place(tmp_path, monkeypatch):
    folder, rename = tmp_path / "data", Path.rename
    folder.mkdir()
    (folder / "old").touch()

    def refuse(path, target):
        if (path / "new").exists():
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse)
    monkeypatch.setattr("scenarios.runfile.folders.exchange", lambda *_: False)
    with (
        pytest.raises(InputError, match="cannot be written: Input/output error"),
        new_folder(folder, force=True) as partial,
    ):
        (partial / "new").touch()
    assert sorted(tmp_path.rglob("*")) == [folder, folder / "old"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_what_is_not_complete_is_not_left(pair, tmp_path, monkeypatch, error):
    folder = tmp_path / "data"
    package.export(pair, folder, only=["links"])
    before = (folder / "links.csv").read_bytes()

    def fail(_file, _columns):
        raise error

    monkeypatch.setattr(table_files.CsvFile, "write", fail)
    kind = KeyboardInterrupt if error is KeyboardInterrupt else MachineError
    with pytest.raises(
        kind, match=None if error is KeyboardInterrupt else "cannot be written: No space left"
    ):
        package.export(pair, folder, force=True)

    assert [file.name for file in tmp_path.iterdir()] == ["data"]
    assert (folder / "links.csv").read_bytes() == before


def test_parquet_without_pyarrow_is_answered_before_anything_is_written(pair, tmp_path, monkeypatch):
    monkeypatch.setattr("scenarios.runfile.study_table.find_spec", lambda _: None)
    with pytest.raises(MachineError, match=r"needs pyarrow: pip install 'silosim\[parquet\]'"):
        package.export(pair, tmp_path / "x", format="parquet")
    assert list(tmp_path.iterdir()) == []
    # What is no table needs none.
    package.export(pair, tmp_path / "x", format="parquet", only=["jsonl"])


@pytest.mark.slow
@pytest.mark.usefixtures("terminal_signals")
def test_ctrl_c_leaves_nothing_half_written(tmp_path):
    path = write_pair_run(tmp_path / "x.h5", rounds=300_000, messages=False)
    code = f"import sys; from scenarios.cli.main import main; sys.argv = ['silosim', 'export', {str(path)!r}]; main()"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    while not [file for file in tmp_path.glob(".x-export*/rounds.csv") if file.stat().st_size]:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (130, "")
    assert list(tmp_path.iterdir()) == [path]
