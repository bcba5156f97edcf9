"""The rows of a study that are kept while it is computed: locked, never lost to another study, never left behind."""

import sys
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import nullcontext

import pytest

from scenarios.config.network import NetworkConfig
from scenarios.config.study import parse_study
from scenarios.runfile.paths import check_new, open_locked
from scenarios.runfile.study_rows import RowsFile
from scenarios.runtime.workers import process_pool
from scenarios.studies.parallel_points import compute_all
from scenarios.studies.study import columns_of, run_study, study_points
from scenarios.studies.study_points import Networks, PointResult, _Kept
from topologies import InputError, MachineError

BASE = """
[network]
underlay = "gaia"
[workload]
preset = "femnist"
[overlays]
kinds = ["star", "ring"]
[study.grid]
seed = """


def study_of(seeds):
    return parse_study(f"{BASE}{seeds}\n", source="study.toml", folder=None)


def run(study, path, **options):
    return [*run_study(study, path, pool=process_pool(1), workers=1, **options).errors]


@pytest.mark.parametrize("force", [False, True])
def test_a_second_study_of_one_output_is_an_error_until_the_first_ends(tmp_path, force):
    study, path = study_of([1, 2]), tmp_path / "s.csv"
    partial = tmp_path / "s.csv.partial"
    columns = columns_of(study, study_points(study))
    file = RowsFile(path, columns)
    for begin in (False, True):
        if begin:
            file.begin({})
        before = partial.read_bytes()
        with pytest.raises(InputError) as caught:
            run(study, path, force=force)
        assert str(caught.value) == f"{partial} is being written by another process."
        # The file that replaced the first one is locked as well, and is the one with the name.
        with pytest.raises(BlockingIOError):
            open_locked(partial)
        assert partial.read_bytes() == before
        assert not path.exists()
    file.close()
    assert list(tmp_path.iterdir()) == []
    assert run(study, path, force=force) == []
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_kill_left_unlocked_is_taken_up(tmp_path):
    study, path = study_of([1, 2]), tmp_path / "s.csv"
    run(study, path)
    whole = path.read_bytes()
    path.unlink()
    for left in (b"", whole[:-3], whole):
        (tmp_path / "s.csv.partial").write_bytes(left)
        run(study, path)
        assert path.read_bytes() == whole
        assert list(tmp_path.iterdir()) == [path]
        path.unlink()


@pytest.mark.parametrize("seeds", [[1, 3], [3], [1]])
def test_rows_of_another_study_are_replaced_by_force_alone(tmp_path, seeds):
    path, partial = tmp_path / "s.csv", tmp_path / "s.csv.partial"
    run(study_of([1, 2]), path)
    path.rename(partial)
    before = partial.read_bytes()
    with pytest.raises(InputError) as caught:
        run(study_of(seeds), path)
    assert str(caught.value) == (
        f"{partial}: holds the rows of another study; --force replaces it (its inputs, its files and the version of "
        "silosim make a study)."
    )
    assert partial.read_bytes() == before
    run(study_of(seeds), path, force=True)
    assert path.read_text().count("\n") == 1 + 2 * len(seeds)
    assert not partial.exists()


def test_rows_of_a_study_that_has_grown_are_kept(tmp_path, monkeypatch):
    path = tmp_path / "s.csv"
    run(study_of([1, 2]), path)
    path.rename(tmp_path / "s.csv.partial")
    original, computed = sys.modules["scenarios.studies.study"].compute_points, []

    def counted(points, *how, **options):
        computed.extend(point.varied["seed"] for point in points)
        return original(points, *how, **options)

    monkeypatch.setattr("scenarios.studies.study.compute_points", counted)
    run(study_of([3, 2, 1]), path)
    assert computed == [3]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_kill_after_the_table_leaves_nothing_for_good(tmp_path, monkeypatch, ending):
    path, partial = tmp_path / f"s.{ending}", tmp_path / f"s.{ending}.partial"
    with monkeypatch.context() as patch:
        patch.setattr(RowsFile, "remove", lambda _: None)
        run(study_of([1, 2]), path)
    whole = path.read_bytes()
    assert partial.exists()
    assert run(study_of([1, 2]), path) == []
    assert path.read_bytes() == whole
    assert not partial.exists()


def test_a_study_without_a_finished_point_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("scenarios.studies.study.compute_points", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(study_of([1, 2]), tmp_path / "s.csv")
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_a_library_is_a_row_and_the_other_points_go_on(tmp_path, monkeypatch):
    original = sys.modules["scenarios.studies.study_points"].input_fields

    def failing(scenario, *rest):
        if scenario.seed == 2:
            raise FloatingPointError("underflow\nin exp")
        return original(scenario, *rest)

    monkeypatch.setattr("scenarios.studies.study_points.input_fields", failing)
    assert run(study_of([1, 2, 3]), tmp_path / "s.csv") == [
        "seed 2: internal error: FloatingPointError: underflow in exp"
    ]
    assert (tmp_path / "s.csv").read_text().count("\n") == 1 + 2 + 1 + 2


class Fixed(Executor):
    """Gives each call one of some results and errors, when all calls have been made."""

    def __init__(self, answers):
        self.answers, self.futures = answers, []

    def submit(self, *_):
        self.futures.append(Future())
        if len(self.futures) == len(self.answers):
            for future, answer in zip(self.futures, self.answers, strict=True):
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result((0.1, [answer]))
        return self.futures[-1]


@pytest.mark.parametrize(
    ("error", "known"), [(BrokenExecutor("ended"), MachineError), (TypeError("no pickle"), TypeError)]
)
def test_results_beside_a_failure_are_taken_first(error, known):
    results = [PointResult(identity=str(number), rows=[{}]) for number in range(4)]
    answers, taken = [error, *results[:3]], []
    points = study_points(study_of([1, 2, 3, 4]))
    with pytest.raises(known, match=r"a worker process ended|no pickle"):
        compute_all(
            points,
            len,
            taken.append,
            pool=nullcontext(Fixed(answers)),
            workers=2,
            title="study",
        )
    assert {result.identity for result in taken} == {"0", "1", "2"}


def test_long_points_are_kept_one_by_one_before_the_next_is_computed(monkeypatch):
    monkeypatch.setattr("scenarios.studies.parallel_points._AT_A_TIME_S", 0.0)
    taken, before = [], []

    def compute(points, _):
        before.append(len(taken))
        return [PointResult(identity=point.identity, rows=[{}]) for point in points]

    points = study_points(study_of([1, 2, 3, 4]))
    compute_all(points, compute, taken.append, pool=process_pool(1), workers=1, title="study")

    assert before == [0, 1, 2, 3]
    assert [result.identity for result in taken] == [point.identity for point in points]


def test_a_table_without_points_in_the_way_is_not_called_a_run(tmp_path):
    study, path = study_of([1]), tmp_path / "s.csv"
    path.write_text(",".join(columns_of(study, study_points(study))) + "\n")
    with pytest.raises(InputError) as caught:
        run(study, path)

    assert str(caught.value) == (
        f"{path} exists already and holds no point of this study, so nothing can be resumed; --force replaces it."
    )
    assert [found.name for found in tmp_path.iterdir()] == ["s.csv"]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("s.csv", "points of a study that was interrupted or is still running (silosim plot {partial})"),
        ("s.h5", "rounds of a run that was interrupted or is still running (silosim show {partial})"),
    ],
)
def test_a_partial_file_in_the_way_is_called_what_it_is(tmp_path, name, what):
    partial = tmp_path / f"{name}.partial"
    partial.write_text("mine")
    with pytest.raises(InputError) as caught:
        check_new(tmp_path / name, force=False)

    assert str(caught.value) == f"{partial} holds {what.format(partial=partial)}; --force replaces it."
    for options in ({"force": True}, {"force": False, "resume": True}):
        check_new(tmp_path / name, **options)


def test_the_values_used_last_are_kept():
    made, kept = [], _Kept(2)

    def of(key):
        return kept.of(key, lambda: made.append(key) or key.upper())

    assert [of(key) for key in "abab"] == ["A", "B", "A", "B"]
    assert made == ["a", "b"]
    # Of three, the one that was not used for the longest time goes.
    assert [of(key) for key in "acab"] == ["A", "C", "A", "B"]
    assert made == ["a", "b", "c", "b"]
    assert list(kept) == ["a", "b"]


def test_networks_that_differ_by_access_alone_are_routed_once(monkeypatch):
    original, built = sys.modules["scenarios.studies.study_points"].build_network, []
    monkeypatch.setattr(
        "scenarios.studies.study_points.build_network",
        lambda config: built.append(config) or original(config),
    )
    networks = Networks()
    configs = [NetworkConfig(underlay="gaia", access=access) for access in ("1 Gbps", "2 Gbps", "1 Gbps")]
    first, second, again = map(networks.of, configs)

    assert again is first
    assert (first.up_bps == 1e9).all()
    assert (second.up_bps == 2e9).all()
    assert len(built) == 1
    networks.of(NetworkConfig(underlay="geant", access="1 Gbps"))
    assert len(built) == 2


def test_rows_that_are_gone_already_are_removed_without_an_error(tmp_path):
    file = RowsFile(tmp_path / "s.csv", ["point"])
    file.begin({})
    file.remove()
    file.remove()
    file.close()
    assert list(tmp_path.iterdir()) == []
