"""Writing the keys and values of a new point where its cache keeps them, as `transformer.storage` would."""

from typing import no_type_check

import numba
import numpy as np
from numba import njit

from inctnp.fused.addresses import BFLOAT16, EXACT, HEADER, PARTS
from inctnp.fused.attention import DEPTH, bytes_per_head
from inctnp.fused.vectors import float_as_bits, half_as_float, pointer

LARGEST = np.float32(127.0)
LEAST_SCALE, MOST_SCALE = np.float32(2.0**-14), np.float32(65504.0)


@njit
@no_type_check
def nearest(bits, dropped):
    """Leave out so many of the last bits, rounding to the nearest and to even."""
    kept = bits >> dropped
    return (bits + (np.int64(1) << (dropped - 1)) - 1 + (kept & 1)) >> dropped


@njit
@no_type_check
def write_int8(numbers, rows, scales):
    """Whole numbers of at most 127 times a float16 scale."""
    largest = np.float32(0.0)
    for i in range(DEPTH):
        largest = max(largest, abs(numbers[i]))
    scale = min(max(largest / LARGEST, LEAST_SCALE), MOST_SCALE)
    half = np.int16(nearest(np.int64(float_as_bits(scale)) - (112 << 23), 13))
    numba.carray(pointer(scales), 1, np.int16)[0] = half
    scale = half_as_float(half)
    codes = numba.carray(pointer(rows), DEPTH, np.int8)
    for i in range(DEPTH):
        codes[i] = np.int8(min(max(np.rint(numbers[i] / scale), -LARGEST), LARGEST))


@njit
@no_type_check
def write_row(table, slot, kind, pairs):
    """Store keys, then values, of every head as the last row of the last piece."""
    length, capacity = table[-1, 0], table[-1, 1]
    rows, scales = table[-1, HEADER + PARTS * slot], table[-1, HEADER + PARTS * slot + 1]
    for head in range(len(pairs) // DEPTH):
        numbers = pairs[head * DEPTH : (head + 1) * DEPTH]
        place = head * capacity + length - 1
        address = rows + place * bytes_per_head(kind)
        if kind == EXACT:
            numba.carray(pointer(address), DEPTH, np.float32)[:] = numbers
        elif kind == BFLOAT16:
            upper = numba.carray(pointer(address), DEPTH, np.int16)
            for i in range(DEPTH):
                upper[i] = np.int16(nearest(np.int64(float_as_bits(numbers[i])) & 0xFFFFFFFF, 16))
        else:
            write_int8(numbers, address, scales + 2 * place)
