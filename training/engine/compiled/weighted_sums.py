"""Weighted sums of rows, with the sum in registers: the inner loop of mixing.

For compiled functions only. They are written in LLVM's intermediate representation, since for a loop over arrays the
compiler stores and reloads the sums for every term: it cannot know that the arrays do not overlap. No bound is checked.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

PIECE = 64
"""Numbers in a run of `store_weighted_sum`: with half of the registers of AVX2 for the sum."""

LANES = 16
"""Numbers in a register of AVX-512; where registers are shorter, the compiler takes several."""

_INDEX = ir.IntType(32)
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_UNDEFINED = ir.Constant(_VECTOR, ir.Undefined)
_ZEROS = ir.Constant(_VECTOR, [0.0] * LANES)
_EVERYWHERE = ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES)


def _run(builder: Any, start: Any, length: int) -> list[Any]:
    """Pointers to the vectors of a run."""
    steps = (builder.gep(start, [ir.Constant(ir.IntType(64), k)]) for k in range(0, length, LANES))
    return [builder.bitcast(step, _VECTOR.as_pointer()) for step in steps]


def _add_run(builder: Any, sums: Sequence[Any], weight: Any, start: Any) -> None:
    """Add a run, times a number, to sums in registers."""
    vector = builder.insert_element(_UNDEFINED, weight, ir.Constant(_INDEX, 0))
    vector = builder.shuffle_vector(vector, _UNDEFINED, _EVERYWHERE)
    for total, piece in zip(sums, _run(builder, start, LANES * len(sums)), strict=True):
        term = builder.fmul(vector, builder.load(piece, align=4))
        builder.store(builder.fadd(builder.load(total), term), total)


def _sums(builder: Any, length: int) -> list[Any]:
    """Allocate the sums of a run, which the compiler places in registers."""
    return [cgutils.alloca_once(builder, _VECTOR) for _ in range(0, length, LANES)]  # type: ignore[no-untyped-call]


def _integers(context: Any, builder: Any, typed: Sequence[tuple[Any, Any]], *which: int) -> list[Any]:
    """Some arguments as 64-bit integers."""
    return [context.cast(builder, typed[n][1], typed[n][0], types.int64) for n in which]


def _data(context: Any, builder: Any, typed: Sequence[tuple[Any, Any]], *which: int) -> list[Any]:
    """Pointers to the first numbers of some arguments, which are arrays."""
    return [
        context.make_array(kind)(context, builder, value).data for kind, value in (typed[n] for n in which)
    ]


def _generate_sum(context: Any, builder: Any, signature: Any, arguments: Any, *, streamed: bool) -> Any:
    """Emit the code of `store_weighted_sum`, or of `stream_weighted_sum`."""
    typed = list(zip(signature.args, arguments, strict=True))
    out, targets, rows, sources, weights = _data(context, builder, typed, 0, 1, 4, 5, 6)
    first, last, begin, end, width, at = _integers(context, builder, typed, 2, 3, 7, 8, 9, 10)
    one, sums = ir.Constant(at.type, 1), _sums(builder, PIECE)

    def place(data: Any, numbers: Any, i: Any) -> Any:
        row = builder.load(builder.gep(numbers, [i]))
        return builder.gep(data, [builder.add(builder.mul(row, width), at)])

    for total in sums:
        builder.store(_ZEROS, total)
    with cgutils.for_range_slice(builder, begin, end, one) as (i, _):
        _add_run(builder, sums, builder.load(builder.gep(weights, [i])), place(rows, sources, i))
    with cgutils.for_range_slice(builder, first, last, one) as (i, _):
        for total, result in zip(sums, _run(builder, place(out, targets, i), PIECE), strict=True):
            if streamed:
                stored = builder.store(builder.load(total), result, align=4 * LANES)
                stored.set_metadata("nontemporal", builder.module.add_metadata([ir.Constant(_INDEX, 1)]))
            else:
                builder.store(builder.load(total), result, align=4)
    return context.get_dummy_value()


def _sum(*, streamed: bool) -> Any:
    """Make `store_weighted_sum` or `stream_weighted_sum`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _generate_sum(context, builder, signature, arguments, streamed=streamed)

    def typed(
        _context: Any,
        out: Any,
        targets: Any,
        first: Any,
        last: Any,
        rows: Any,
        sources: Any,
        weights: Any,
        begin: Any,
        end: Any,
        width: Any,
        at: Any,
    ) -> Any:
        kinds = (out, targets, first, last, rows, sources, weights, begin, end, width, at)
        return types.void(*kinds), generate

    return intrinsic(typed)


store_weighted_sum: Any = _sum(streamed=False)
"""``out[t, at + k] = sum of weights[i] * rows[sources[i], at + k] over begin <= i < end``, for all k < PIECE.

``t`` takes ``targets[first .. last - 1]``. Every sum starts at zero and takes its terms in the order of ``i``; product
and sum are rounded one after the other on any processor, whether or not it could do both at once.

Parameters
----------
out, rows : array of float32, two-dimensional and contiguous, with rows of `width` numbers
targets, sources : array of int64, one-dimensional and contiguous
weights : array of float32, one-dimensional and contiguous
first, last, begin, end, width, at : integer
"""

stream_weighted_sum: Any = _sum(streamed=True)
"""The same with non-temporal stores: memory is neither read before nor cached.

The written places must be aligned to `LANES` numbers, and other threads see them only after a `fence`.
"""


def _typed_fence(_context: Any) -> Any:
    """Return the types of `fence` and the function that emits its code."""
    return types.void(), _generate_fence


def _generate_fence(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
    """Emit the code of `fence`."""
    builder.fence("seq_cst")
    return context.get_dummy_value()


fence: Any = intrinsic(_typed_fence)
"""All that was written before is seen before anything that is written later, by every thread and process."""
