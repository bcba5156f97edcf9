"""The kernel of mixing against the plain sum: the same bits for any shape, columns and processor."""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.engine.compiled import mixing
from training.engine.compiled.mixing import STREAMED, sums_of, write_sums

X86 = platform.machine() in ("x86_64", "AMD64")


def plain(matrix, rows):
    """Every row's terms one after the other, in order, each product rounded before it is added."""
    mixed = np.zeros((len(matrix), rows.shape[1]), np.float32)
    for total, weights in zip(mixed, matrix, strict=True):
        for source in np.flatnonzero(weights):
            total += weights[source] * rows[source]
    return mixed


def random_matrix(rng, written, rows, share):
    matrix = rng.standard_normal((written, rows)) * (rng.random((written, rows)) < share)
    return matrix.astype(np.float32)


def written_by(matrix, rows, *pieces):
    out = np.full((len(matrix), rows.shape[1]), np.nan, np.float32)
    for columns in pieces or (slice(None),):
        write_sums(sums_of(matrix), rows, out, columns)
    return out


def assert_same_bits(found, expected):
    assert found.tobytes() == expected.tobytes()


@given(
    written=st.integers(0, 6),
    rows=st.integers(1, 12),
    width=st.integers(0, 400),
    cut=st.integers(0, 400),
    share=st.sampled_from([0.2, 1.0]),
    seed=st.integers(0, 10**6),
)
def test_sums_are_those_of_their_terms_in_order(written, rows, width, cut, share, seed):
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng, written, rows, share)
    values = (rng.standard_normal((rows, width)) * 10.0 ** rng.integers(-40, 38, (rows, 1))).astype(
        np.float32
    )
    expected = plain(matrix, values)
    assert_same_bits(written_by(matrix, values), expected)
    assert_same_bits(
        written_by(matrix, values, slice(0, min(cut, width)), slice(min(cut, width), width)), expected
    )


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_writing_past_the_caches_changes_no_bit(share, monkeypatch):
    rng = np.random.default_rng(0)
    matrix, rows = random_matrix(rng, 9, 11, share), rng.standard_normal((11, 5_008), np.float32)
    assert STREAMED > 9 * 5_008
    kept = written_by(matrix, rows)
    monkeypatch.setattr(mixing, "STREAMED", 0)
    assert_same_bits(written_by(matrix, rows), kept)
    # The second piece starts in the middle of a cache line.
    assert_same_bits(written_by(matrix, rows, slice(0, 1_000), slice(1_000, 5_008)), kept)
    unaligned = np.full(9 * 5_008 + 1, np.nan, np.float32)[1:].reshape(9, 5_008)
    write_sums(sums_of(matrix), rows, unaligned, slice(None))
    assert_same_bits(unaligned, kept)


@given(
    groups=st.lists(st.integers(0, 3), max_size=12),
    share=st.floats(0, 1),
    seed=st.integers(0, 10**6),
)
def test_rows_that_are_alike_are_summed_once(groups, share, seed):
    rng = np.random.default_rng(seed)
    kinds = random_matrix(rng, 4, 7, share)
    matrix, rows = kinds[groups], rng.standard_normal((7, 90), np.float32)
    sums = sums_of(matrix)
    assert len(sums.first) - 1 == len(np.unique(matrix, axis=0)) if groups else len(sums.first) == 1
    assert sorted(sums.targets.tolist()) == list(range(len(groups)))
    assert_same_bits(written_by(matrix, rows), plain(matrix, rows))


def test_rows_that_differ_only_in_their_last_term_are_different():
    matrix = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 2], [1, 1, 0], [1, 0, 0]], np.float32)
    sums = sums_of(matrix)
    assert sums.first.tolist() == [0, 2, 4, 7, 8]
    assert sums.first_target.tolist() == [0, 2, 3, 4, 5]
    assert sums.targets.tolist() == [0, 3, 1, 2, 4]


@pytest.mark.parametrize("alike", [0, 1, 2])
def test_any_row_may_be_the_one_that_another_is_alike(alike):
    kinds = np.array([[1, 0, 0], [1, 2, 0], [1, 2, 3]], np.float32)
    sums = sums_of(kinds[[0, 1, 2, alike]])
    assert sums.weights.tolist() == [1, 1, 2, 1, 2, 3]
    assert sorted(np.diff(sums.first_target).tolist()) == [1, 1, 2]
    assert np.diff(sums.first_target)[alike] == 2


def test_only_the_columns_that_are_asked_for_are_written():
    """Of runs and of single columns, at the start of memory and behind other columns."""
    rows = np.arange(1, 301, dtype=np.float32).reshape(1, 300)
    for start, stop in ((0, 300), (128, 256), (130, 291), (299, 300), (64, 64)):
        out = np.zeros((2, 300), np.float32)
        write_sums(sums_of(np.ones((2, 1), np.float32)), rows, out, slice(start, stop))
        inside = np.isin(np.arange(300), range(start, stop))
        assert (out == np.where(inside, rows, 0)).all()


@pytest.fixture
def kernel_arguments(monkeypatch):
    """The columns at a time, and whether they go past the caches, that the kernel is told."""
    told = []
    monkeypatch.setattr(mixing, "_write_sums", lambda *arguments: told.append(arguments[-2:]))

    def find(matrix, rows, out, columns=slice(None)):
        write_sums(sums_of(matrix), rows, out, columns)
        return told.pop()

    return find


@pytest.mark.parametrize(
    ("products", "rows", "cache", "least"),
    [
        (8, 8, mixing.SECOND_LEVEL, mixing.LONG),
        (9, 9, mixing.FIRST_LEVEL, mixing.SHORT),
        (1, 1, mixing.SECOND_LEVEL, mixing.LONG),
        (8, 65, mixing.SECOND_LEVEL, mixing.LONG),
        (9, 33, mixing.FIRST_LEVEL, mixing.SHORT),
    ],
)
def test_rows_stay_in_the_cache_that_decides(products, rows, cache, least, kernel_arguments):
    """As many columns as all rows have room for, in whole runs; many rows are still read a while at a time."""
    matrix = np.zeros((2, rows), np.float32)
    matrix[0, :products], matrix[1, :products] = 1, 2
    block, _ = kernel_arguments(matrix, np.zeros((rows, 16), np.float32), np.zeros((2, 16), np.float32))
    assert block % mixing.PIECE == 0
    assert block == least or block * rows <= cache
    assert block >= least
    assert (block + mixing.PIECE) * rows > cache


def test_only_much_that_lies_in_whole_registers_goes_past_the_caches(kernel_arguments, monkeypatch):
    numbers = np.zeros(2 * 64 + 48, np.float32)
    first = -numbers.ctypes.data % 64 // 4  # of a cache line
    matrix = np.ones((2, 1), np.float32)
    monkeypatch.setattr(mixing, "STREAMED", 128)

    def is_streamed(width=64, shift=0, start=0):
        out = numbers[first + shift :][: 2 * width].reshape(2, width)
        return kernel_arguments(matrix, np.zeros((1, width), np.float32), out, slice(start, None))[1]

    assert is_streamed()
    assert is_streamed(shift=16)
    assert is_streamed(start=32)
    assert not is_streamed(shift=1)
    assert not is_streamed(shift=8)
    assert not is_streamed(start=1)
    assert not is_streamed(start=17)
    assert not is_streamed(width=65)
    assert not is_streamed(width=48)
    monkeypatch.setattr(mixing, "STREAMED", 129)
    assert not is_streamed()


def test_matrices_of_any_layout_and_precision_are_read():
    matrix = np.asfortranarray([[0.5, 0.5, 0.0], [0.25, 0.0, 0.75]])
    rows = np.arange(3 * 70, dtype=np.float32).reshape(3, 70)
    assert_same_bits(written_by(matrix, rows), plain(matrix.astype(np.float32), rows))


def test_what_is_not_a_number_goes_only_where_it_has_a_weight():
    rows = np.ones((3, 100), np.float32)
    rows[1, 3], rows[2, 70] = np.nan, np.inf
    mixed = written_by(np.array([[0.5, 0, 0.5], [1, 0, 0], [0.5, 0.5, 0]], np.float32), rows)
    assert np.argwhere(np.isnan(mixed)).tolist() == [[2, 3]]
    assert np.argwhere(np.isinf(mixed)).tolist() == [[0, 70]]


def test_weights_of_one_copy_and_no_weights_are_zero():
    rows = np.array([[1e-45, -3.4e38, 0.1] * 40], np.float32)
    assert_same_bits(
        written_by(np.array([[1], [0]], np.float32), rows), np.concatenate([rows, 0 * np.abs(rows)])
    )


def test_more_numbers_than_32_bits_count():
    """Only the last columns of such rows are written; what is not touched of the others takes no memory."""
    width = 2**31 // 4 + 16
    try:
        rows, out = np.zeros((5, width), np.float32), np.zeros((5, width), np.float32)
    except MemoryError:
        pytest.skip("the system lends no 17 GB of addresses")
    rows[:, -80:] = np.arange(1, 6, dtype=np.float32)[:, None]
    write_sums(sums_of(np.eye(5, dtype=np.float32)[::-1]), rows, out, slice(width - 80, width))
    assert (out[:, -80:] == np.arange(5, 0, -1)[:, None]).all()


KERNEL = """
import hashlib, sys
import numpy as np
from training.engine.compiled import mixing
rng = np.random.default_rng(0)
matrix = (rng.random((7, 9)) * (rng.random((7, 9)) < 0.6)).astype(np.float32)
rows, out = rng.standard_normal((9, 16 * 257), np.float32), np.empty((7, 16 * 257), np.float32)
digests = []
for mixing.STREAMED in (0, 10**9):
    out[:] = np.nan
    mixing.write_sums(mixing.sums_of(matrix), rows, out, slice(None))
    digests.append(hashlib.sha256(out).hexdigest())
print(*digests)
"""

ASSEMBLY = """
from training.engine.compiled import mixing
from numba import types
index, floats = types.int64[::1], types.float32[::1]
rows = types.float32[:, ::1]
kind = (index, index, floats, index, index, rows, rows, types.int64, types.int64, types.int64, types.boolean)
mixing._write_sums.compile(kind)
print(mixing._write_sums.inspect_asm(mixing._write_sums.signatures[0]))
"""


def on_processor(program, tmp_path, name, features=""):
    """What a program prints whose kernels are compiled for some processor."""
    settings = {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not X86, reason="the names are those of x86 processors")
def test_a_processor_of_twenty_years_ago_gives_the_same_bits(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(mixing, "STREAMED", mixing.STREAMED)
    exec(KERNEL, {})
    here, there = capsys.readouterr().out.split(), on_processor(KERNEL, tmp_path, "x86-64").split()
    assert len(here) == len(there) == 2
    assert len(set(here + there)) == 1


@pytest.mark.slow
@pytest.mark.skipif(not X86, reason="the names are those of x86 processors")
@pytest.mark.parametrize(
    ("name", "features", "register"),
    [("haswell", "+avx2,+fma", "ymm"), ("sapphirerapids", "+avx512f,+avx512vl,+fma,-prefer-256-bit", "zmm")],
)
def test_no_product_is_fused_with_a_sum_where_the_processor_could(name, features, register, tmp_path):
    assembly = on_processor(ASSEMBLY, tmp_path, name, features)
    assert f"%{register}0" in assembly
    assert "vmovntps" in assembly
    assert "fmadd" not in assembly
