"""Weighted sums of runs of numbers, with the sum in registers: the inner loop of a product with a sparse matrix."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

RUN = 96
"""Numbers in a run: 3 columns of 32 channels."""

_LANES = 16
"""Numbers in a register of AVX-512; where registers are shorter, the compiler takes several."""

_INDEX = ir.IntType(32)
_VECTOR = ir.VectorType(ir.FloatType(), _LANES)
_UNDEFINED = ir.Constant(_VECTOR, ir.Undefined)
_EVERYWHERE = ir.Constant(ir.VectorType(_INDEX, _LANES), [0] * _LANES)
_FUSED = ("contract",)


def _typed(
    _context: Any,
    out: Any,
    at: Any,
    source: Any,
    first: Any,
    offsets: Any,
    weights: Any,
    begin: Any,
    end: Any,
) -> Any:
    """Tell numba the types of `add_weighted_runs`, and who emits its code."""
    return types.void(out, at, source, first, offsets, weights, begin, end), _generate


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Emit the code of `add_weighted_runs`."""
    typed = list(zip(signature.args, arguments, strict=True))
    out, source, offsets, weights = (
        context.make_array(kind)(context, builder, value).data
        for kind, value in (typed[n] for n in (0, 2, 4, 5))
    )
    at, first, begin, end = (
        context.cast(builder, value, kind, types.intp) for kind, value in (typed[n] for n in (1, 3, 6, 7))
    )

    def pieces(start: Any) -> list[Any]:
        steps = (builder.gep(start, [ir.Constant(at.type, k)]) for k in range(0, RUN, _LANES))
        return [builder.bitcast(step, _VECTOR.as_pointer()) for step in steps]

    results = pieces(builder.gep(out, [at]))
    sums = [cgutils.alloca_once(builder, _VECTOR) for _ in results]  # type: ignore[no-untyped-call]
    for total, result in zip(sums, results, strict=True):
        builder.store(builder.load(result, align=4), total)
    with cgutils.for_range_slice(builder, begin, end, ir.Constant(at.type, 1)) as (i, _):
        weight = builder.insert_element(
            _UNDEFINED, builder.load(builder.gep(weights, [i])), ir.Constant(_INDEX, 0)
        )
        weight = builder.shuffle_vector(weight, _UNDEFINED, _EVERYWHERE)
        offset = builder.sext(builder.load(builder.gep(offsets, [i])), at.type)
        for total, piece in zip(sums, pieces(builder.gep(source, [builder.add(first, offset)])), strict=True):
            term = builder.fmul(weight, builder.load(piece, align=4), flags=_FUSED)
            builder.store(builder.fadd(builder.load(total), term, flags=_FUSED), total)
    for total, result in zip(sums, results, strict=True):
        builder.store(builder.load(total), result, align=4)
    return context.get_dummy_value()


add_weighted_runs: Any = intrinsic(_typed)
"""``out[at + k] += sum of weights[i] * source[first + offsets[i] + k] over begin <= i < end``, for all k < RUN.

Parameters
----------
out, source, weights : array of float32, one-dimensional and contiguous
offsets : array of int32, one-dimensional and contiguous
at, first, begin, end : integer

Notes
-----
For compiled functions only. It is written in the compiler's own language, since for a loop over arrays the compiler
stores the sums and loads them again for every term: it cannot know that the arrays do not overlap. No bound is
checked.
"""
