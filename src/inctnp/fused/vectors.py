"""Sixteen numbers at a time: the two inner loops over stored points, written for the vector unit.

A head has sixteen numbers, one vector register where registers are widest. Numba's own loops reduce each product to
a sum on its own and write mixtures back to memory at every point; these do neither. Numbers are decoded as they are
read, so that narrow keys and values cross the memory bus at their stored width.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES = 16
CHAINS = 4
"""Sums kept apart, because the next addition to the same one would have to wait for the last."""
INT32 = ir.IntType(32)
FLOAT = ir.FloatType()
FLOATS = ir.VectorType(FLOAT, LANES)
INTS = ir.VectorType(INT32, LANES)
HALF = ir.IntType(16)
EXPONENT_GAP = 112
"""Bias of the exponent of a float32 less that of a float16."""
LOWEST = -3.0e38
Load = Callable[[Any, Any, Any], Any]


def _vector_at(builder: Any, address: Any, index: Any, element: ir.Type) -> Any:
    """The vector of so many elements that stands at an index counted in vectors."""
    kind = ir.VectorType(element, LANES)
    pointer = builder.gep(builder.inttoptr(address, kind.as_pointer()), [index], source_etype=kind)
    # Rows read from a file may begin anywhere.
    return builder.load(pointer, align=1, typ=kind)


def _load_exact(builder: Any, address: Any, index: Any) -> Any:
    return _vector_at(builder, address, index, FLOAT)


def _load_bfloat16(builder: Any, address: Any, index: Any) -> Any:
    """The upper half of a float32."""
    halves = builder.zext(_vector_at(builder, address, index, HALF), INTS)
    return builder.bitcast(builder.shl(halves, ir.Constant(INTS, [16] * LANES)), FLOATS)


def _load_int8(builder: Any, address: Any, index: Any) -> Any:
    """Whole numbers; their scale is applied to the score or to the weight of the point."""
    return builder.sitofp(_vector_at(builder, address, index, ir.IntType(8)), FLOATS)


def _lane_sums(builder: Any, vectors: list[Any]) -> Any:
    """One vector that holds the sum of each of sixteen: neighbours are added and packed, four times."""
    even = ir.Constant(INTS, list(range(0, 2 * LANES, 2)))
    odd = ir.Constant(INTS, list(range(1, 2 * LANES, 2)))
    while len(vectors) > 1:
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        vectors = [
            builder.fadd(builder.shuffle_vector(a, b, even), builder.shuffle_vector(a, b, odd)) for a, b in pairs
        ]
    return vectors[0]


def _spread(builder: Any, scalar: Any) -> Any:
    """The same number in every lane."""
    one = builder.insert_element(ir.Constant(FLOATS, ir.Undefined), scalar, ir.Constant(INT32, 0))
    return builder.shuffle_vector(one, one, ir.Constant(INTS, [0] * LANES))


def _half_scales(builder: Any, address: Any, first: Any, last: Any) -> Any:
    """Sixteen float16 scales from `first`, or zero where `last` is passed; all are normal and positive."""
    if last is None:
        place = builder.add(address, builder.mul(first, first.type(2)))
        halves = _vector_at(builder, place, first.type(0), ir.IntType(16))
    else:
        halves = ir.Constant(ir.VectorType(ir.IntType(16), LANES), [0] * LANES)
        for lane in range(LANES):
            point = _at_most(builder, builder.add(first, first.type(lane)), last)
            place = builder.inttoptr(builder.add(address, builder.mul(point, point.type(2))), HALF.as_pointer())
            halves = builder.insert_element(halves, builder.load(place, align=1, typ=HALF), INT32(lane))
    shifted = builder.shl(builder.zext(halves, INTS), ir.Constant(INTS, [13] * LANES))
    return builder.bitcast(builder.add(shifted, ir.Constant(INTS, [EXPONENT_GAP << 23] * LANES)), FLOATS)


def _at_most(builder: Any, point: Any, last: Any) -> Any:
    return builder.select(builder.icmp_signed("<", point, last), point, last)


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _dots(load: Load, scaled: bool) -> Callable[..., Any]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        keys, scales, count, query, scores = arguments
        index = count.type
        asked = _load_exact(builder, query, index(0))
        largest = cgutils.alloca_once_value(builder, ir.Constant(FLOATS, [LOWEST] * LANES))

        def store(first: Any, last: Any) -> None:
            """Scores of sixteen points from `first`; behind the last point they are its own again."""
            vectors = []
            for lane in range(LANES):
                point = builder.add(first, index(lane))
                point = point if last is None else _at_most(builder, point, last)
                vectors.append(builder.fmul(load(builder, keys, point), asked))
            sums = _lane_sums(builder, vectors)
            if scaled:
                sums = builder.fmul(sums, _half_scales(builder, scales, first, last))
            place = builder.inttoptr(builder.add(scores, builder.mul(first, index(4))), FLOATS.as_pointer())
            builder.store(sums, place, align=4)
            builder.store(_larger(builder, builder.load(largest, typ=FLOATS), sums), largest)

        whole = builder.and_(count, index(-LANES))
        with cgutils.for_range_slice(builder, index(0), whole, index(LANES), index) as (first, _):
            store(first, None)
        with builder.if_then(builder.icmp_signed("<", whole, count)):
            store(whole, builder.sub(count, index(1)))
        lanes = builder.load(largest, typ=FLOATS)
        best = builder.extract_element(lanes, INT32(0))
        for lane in range(1, LANES):
            best = _larger(builder, best, builder.extract_element(lanes, INT32(lane)))
        return best

    return generate


def _weighted(load: Load) -> Callable[..., Any]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, count, weights, sums = arguments
        index = count.type
        chains = [cgutils.alloca_once_value(builder, ir.Constant(FLOATS, [0.0] * LANES)) for _ in range(CHAINS)]

        def add(chain: Any, point: Any) -> None:
            place = builder.inttoptr(builder.add(weights, builder.mul(point, index(4))), FLOAT.as_pointer())
            weight = _spread(builder, builder.load(place, align=4, typ=FLOAT))
            part = builder.fmul(weight, load(builder, values, point), flags=("contract",))
            builder.store(builder.fadd(builder.load(chain, typ=FLOATS), part, flags=("contract",)), chain)

        whole = builder.and_(count, index(-CHAINS))
        with cgutils.for_range_slice(builder, index(0), whole, index(CHAINS), index) as (first, _):
            for lane, chain in enumerate(chains):
                add(chain, builder.add(first, index(lane)))
        with cgutils.for_range_slice(builder, whole, count, index(1), index) as (point, _):
            add(chains[0], point)
        place = builder.inttoptr(sums, FLOATS.as_pointer())
        total = builder.load(place, align=4, typ=FLOATS)
        for chain in chains:
            total = builder.fadd(total, builder.load(chain, typ=FLOATS))
        builder.store(total, place, align=4)
        return context.get_dummy_value()

    return generate


def _dots_kernel(load: Load, scaled: bool = False) -> Any:
    @intrinsic
    def dots(typing_context: Any, keys: Any, scales: Any, count: Any, query: Any, scores: Any) -> Any:
        return types.float32(*[types.int64] * 5), _dots(load, scaled)

    return dots


def _weighted_kernel(load: Load) -> Any:
    @intrinsic
    def weighted(typing_context: Any, values: Any, count: Any, weights: Any, sums: Any) -> Any:
        return types.void(*[types.int64] * 4), _weighted(load)

    return weighted


dots_exact, dots_bfloat16 = _dots_kernel(_load_exact), _dots_kernel(_load_bfloat16)
dots_int8 = _dots_kernel(_load_int8, scaled=True)
"""`dots(keys, scales, count, query, scores)`: the score of each of so many keys, and the largest of them.

Scores are written sixteen at a time, so they need room for whole vectors.
"""

weighted_exact, weighted_bfloat16, weighted_int8 = map(_weighted_kernel, (_load_exact, _load_bfloat16, _load_int8))
"""`weighted(values, count, weights, sums)`: add the weighted values of so many points to the sums."""


@intrinsic
def bits_as_float(typing_context: Any, bits: Any) -> Any:
    """The float32 that has these 32 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], FLOAT)

    return types.float32(types.int32), generate


@intrinsic
def float_as_bits(typing_context: Any, number: Any) -> Any:
    """The 32 bits of a float32."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], INT32)

    return types.int32(types.float32), generate


@intrinsic
def half_as_float(typing_context: Any, bits: Any) -> Any:
    """The value of a normal float16 given by its bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        shifted = builder.shl(builder.zext(arguments[0], INT32), INT32(13))
        return builder.bitcast(builder.add(shifted, INT32(EXPONENT_GAP << 23)), FLOAT)

    return types.float32(types.int16), generate


@intrinsic
def pointer(typing_context: Any, address: Any) -> Any:
    """An address as a pointer, for `carray`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate
