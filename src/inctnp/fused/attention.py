"""Attention of one query row to stored points, block by block, so that keys and values are read once.

A query is scaled by log2(e) / sqrt(depth) beforehand, so that weights are powers of two. Attention to some of the
points is a `partial`: the largest score, the sum of weights, and the weighted values, sixteen numbers.
"""

from typing import no_type_check

import numba
import numpy as np
from numba import njit, prange

from inctnp.fused.addresses import BFLOAT16, EXACT, HEADER, PARTS
from inctnp.fused.vectors import (
    LANES,
    LOWEST,
    bits_as_float,
    dots_bfloat16,
    dots_exact,
    dots_int8,
    half_as_float,
    pointer,
    weighted_bfloat16,
    weighted_exact,
    weighted_int8,
)

DEPTH = LANES
"""Width of a head these kernels are written for: the paper's."""
BLOCK = 256
"""Points whose weights are held at once: their keys and values fit the first-level cache."""
PARTIAL = DEPTH + 2
NOTHING = np.float32(LOWEST)
ONE, HALF = np.float32(1.0), np.float32(0.5)
LEAST_POWER = np.float32(-126.0)
# Taylor's coefficients of 2^x: on [-1/2, 1/2] the remainder is below the rounding of float32.
C1, C2, C3, C4, C5, C6 = (
    np.float32(np.log(2.0) ** n / f) for n, f in ((1, 1), (2, 2), (3, 6), (4, 24), (5, 120), (6, 720))
)


@njit(fastmath={"contract", "reassoc", "nsz"})
@no_type_check
def power_of_two(exponent):
    """2^exponent for exponents of zero or less."""
    exponent = max(exponent, LEAST_POWER)
    whole = np.int32(exponent - HALF)
    x = exponent - np.float32(whole)
    fraction = ONE + x * (C1 + x * (C2 + x * (C3 + x * (C4 + x * (C5 + x * C6)))))
    return fraction * bits_as_float(np.int32((whole + np.int32(127)) << np.int32(23)))


@njit(fastmath={"contract", "reassoc", "nsz"})
@no_type_check
def to_weights(scores, largest, count):
    """Replace scores by 2^(score - largest), and answer their sum."""
    total = np.float32(0.0)
    for i in range(count):
        scores[i] = power_of_two(scores[i] - largest)
        total += scores[i]
    return total


@njit
@no_type_check
def scale_weights(weights, scales, count):
    """Apply the scale that whole-number values were stored with."""
    halves = numba.carray(pointer(scales), count, np.int16)
    for i in range(count):
        weights[i] *= half_as_float(halves[i])


@njit
@no_type_check
def add_block(kind, keys, values, key_scales, value_scales, count, query, scores, partial):
    """Take the points of one block, given by addresses, into a partial."""
    written, asked, sums = scores.ctypes.data, query.ctypes.data, partial[2:].ctypes.data
    if kind == EXACT:
        largest = dots_exact(keys, key_scales, count, asked, written)
    elif kind == BFLOAT16:
        largest = dots_bfloat16(keys, key_scales, count, asked, written)
    else:
        largest = dots_int8(keys, key_scales, count, asked, written)
    if largest > partial[0]:
        shrink = power_of_two(partial[0] - largest)
        for i in range(1, PARTIAL):
            partial[i] *= shrink
        partial[0] = largest
    partial[1] += to_weights(scores, partial[0], count)
    if kind == EXACT:
        weighted_exact(values, count, written, sums)
    elif kind == BFLOAT16:
        weighted_bfloat16(values, count, written, sums)
    else:
        scale_weights(scores, value_scales, count)
        weighted_int8(values, count, written, sums)


@njit
@no_type_check
def bytes_per_head(kind):
    """Of one key or one value, without its scale."""
    if kind == EXACT:
        return 4 * DEPTH
    if kind == BFLOAT16:
        return 2 * DEPTH
    return DEPTH


@njit
@no_type_check
def attend_some(table, slot, kind, heads, head, start, stop, query, partial):
    """Attention of one head to the points from `start` to `stop`."""
    scores = np.empty(BLOCK, np.float32)
    partial[0] = NOTHING
    partial[1:] = 0.0
    size, before = bytes_per_head(kind), 0
    for piece in range(len(table)):
        length, capacity = table[piece, 0], table[piece, 1]
        rows, scales = table[piece, HEADER + PARTS * slot], table[piece, HEADER + PARTS * slot + 1]
        # Buffers are `[key or value, head, point, depth]`.
        key, value = head * capacity, (heads + head) * capacity
        end = min(stop - before, length)
        for point in range(max(start - before, 0), end, BLOCK):
            add_block(
                kind,
                rows + (key + point) * size,
                rows + (value + point) * size,
                scales + (key + point) * 2,
                scales + (value + point) * 2,
                min(BLOCK, end - point),
                query,
                scores,
                partial,
            )
        before += length


@njit
@no_type_check
def scale_queries(queries):
    """So that scores are exponents of two."""
    factor = np.float32(1.4426950408889634 / np.sqrt(DEPTH))
    for i in range(len(queries)):
        queries[i] *= factor


@njit
@no_type_check
def merge(partials, mixed):
    """The mixture of values that several partials of one head stand for."""
    largest, total = NOTHING, np.float32(0.0)
    for part in range(len(partials)):
        largest = max(largest, partials[part, 0])
    mixed[:] = 0.0
    for part in range(len(partials)):
        share = power_of_two(partials[part, 0] - largest)
        total += share * partials[part, 1]
        for i in range(DEPTH):
            mixed[i] += share * partials[part, 2 + i]
    for i in range(DEPTH):
        mixed[i] /= total


@njit(parallel=True)
@no_type_check
def attend_in_threads(table, slot, kind, heads, parts, points, queries, partials):
    """Every head and every part of the points a task of its own."""
    for task in prange(heads * parts):
        head, part = task // parts, task % parts
        start, stop = part * points // parts, (part + 1) * points // parts
        query = queries[head * DEPTH : (head + 1) * DEPTH]
        attend_some(table, slot, kind, heads, head, start, stop, query, partials[head, part])


@njit
@no_type_check
def attend(table, slot, kind, parts, queries, mixed):
    """Mix the values of all points of a table for every head; in threads if `parts` is more than 0."""
    heads, points = len(queries) // DEPTH, table[:, 0].sum()
    scale_queries(queries)
    partials = np.empty((heads, max(parts, 1), PARTIAL), np.float32)
    if parts > 0:
        attend_in_threads(table, slot, kind, heads, parts, points, queries, partials)
    else:
        for head in range(heads):
            query = queries[head * DEPTH : (head + 1) * DEPTH]
            attend_some(table, slot, kind, heads, head, 0, points, query, partials[head, 0])
    for head in range(heads):
        merge(partials[head], mixed[head * DEPTH : (head + 1) * DEPTH])
