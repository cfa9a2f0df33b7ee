"""A row through all layers in one compiled call: what it costs is arithmetic and bytes, not calls.

The network is that of `models.inc_tnp`, one token wide. Matrices stand input by output, so that a product adds
scaled rows, in the order in which memory is read.
"""

import math
from typing import no_type_check

import numpy as np
from numba import njit

from inctnp.fused.attention import attend
from inctnp.fused.store import write_row

EPSILON = np.float32(1e-5)
LEAST_RAW = -30.0
ZERO = np.float32(0.0)
AT_ONCE = 8
"""Inputs whose rows are added together, so that sums are loaded and stored an eighth as often."""


@njit(fastmath={"contract", "reassoc", "nsz"})
@no_type_check
def product(matrix, bias, given, result):
    """given · matrix + bias; inputs that are zero, half of those behind a ReLU, cost nothing."""
    chosen = np.empty(len(given) + AT_ONCE, np.int64)
    count = 0
    for i in range(len(given)):
        chosen[count] = i
        count += given[i] != ZERO
    result[:] = bias
    for first in range(0, count - AT_ONCE + 1, AT_ONCE):
        a, b, c, d = chosen[first], chosen[first + 1], chosen[first + 2], chosen[first + 3]
        e, f, g, h = chosen[first + 4], chosen[first + 5], chosen[first + 6], chosen[first + 7]
        va, vb, vc, vd, ve, vf, vg, vh = given[a], given[b], given[c], given[d], given[e], given[f], given[g], given[h]
        ra, rb, rc, rd = matrix[a], matrix[b], matrix[c], matrix[d]
        re, rf, rg, rh = matrix[e], matrix[f], matrix[g], matrix[h]
        for j in range(len(result)):
            left = va * ra[j] + vb * rb[j] + vc * rc[j] + vd * rd[j]
            right = ve * re[j] + vf * rf[j] + vg * rg[j] + vh * rh[j]
            result[j] += left + right
    for position in range(count - count % AT_ONCE, count):
        i = chosen[position]
        value, row = given[i], matrix[i]
        for j in range(len(result)):
            result[j] += value * row[j]


@njit(fastmath={"contract", "reassoc", "nsz"})
@no_type_check
def normalised(tokens, scale, shift, result):
    """LayerNorm."""
    mean, variance = ZERO, ZERO
    for i in range(len(tokens)):
        mean += tokens[i]
    mean /= np.float32(len(tokens))
    for i in range(len(tokens)):
        variance += (tokens[i] - mean) * (tokens[i] - mean)
    factor = np.float32(1.0) / np.sqrt(variance / np.float32(len(tokens)) + EPSILON)
    for i in range(len(tokens)):
        result[i] = (tokens[i] - mean) * factor * scale[i] + shift[i]


@njit
@no_type_check
def rectify(values):
    """ReLU in place."""
    for i in range(len(values)):
        values[i] = max(values[i], ZERO)


@njit
@no_type_check
def embedded(weights, x, y, flag):
    """The token of a point."""
    given = np.empty(len(x) + len(y) + 1, np.float32)
    given[: len(x)] = x
    given[len(x) : len(x) + len(y)] = y
    given[-1] = flag
    width = len(weights.embed_bias)
    token, hidden = np.empty(width, np.float32), np.empty(width, np.float32)
    product(weights.embed, weights.embed_bias, given, token)
    for layer in range(len(weights.embed_hidden)):
        token, hidden = hidden, token
        rectify(hidden)
        product(weights.embed_hidden[layer], weights.embed_hidden_bias[layer], hidden, token)
    return token


@njit
@no_type_check
def heard(weights, block, token, mixed):
    """The two residual updates of a block, given what attention heard."""
    width = len(token)
    change, normal, hidden = np.empty(width, np.float32), np.empty(width, np.float32), np.empty_like(weights.up_bias[0])
    product(weights.out[block], weights.out_bias[block], mixed, change)
    token += change
    normalised(token, weights.norms[block, 2], weights.norms[block, 3], normal)
    product(weights.up[block], weights.up_bias[block], normal, hidden)
    rectify(hidden)
    product(weights.down[block], weights.down_bias[block], hidden, change)
    token += change


@njit
@no_type_check
def predicted(weights, token):
    """What the decoder says of a token: means and deviations, and before them log-weights if it is a mixture."""
    width = len(token)
    hidden = np.empty(width, np.float32)
    for layer in range(len(weights.decode_hidden)):
        product(weights.decode_hidden[layer], weights.decode_hidden_bias[layer], token, hidden)
        rectify(hidden)
        token, hidden = hidden, np.empty(width, np.float32)
    numbers = np.empty(len(weights.decode_bias), np.float32)
    product(weights.decode, weights.decode_bias, token, numbers)
    _, outputs, parts = weights.sizes
    for i in range(len(numbers) - parts * outputs, len(numbers)):
        raw = max(float(numbers[i]), LEAST_RAW)
        numbers[i] = weights.std_min[0] + math.sqrt(math.log1p(math.exp(-abs(raw))) + max(raw, 0.0))
    if parts > 1:
        for output in range(outputs):
            total, largest = 0.0, numbers[output : parts * outputs : outputs].max()
            for i in range(output, parts * outputs, outputs):
                total += math.exp(float(numbers[i] - largest))
            for i in range(output, parts * outputs, outputs):
                numbers[i] -= largest + np.float32(math.log(total))
    return numbers


@njit
@no_type_check
def ask(weights, table, kind, parts, x):
    """The predictive at x, given the points of a table."""
    token = embedded(weights, x, np.zeros(weights.sizes[1], np.float32), np.float32(1.0))
    width = len(token)
    none = np.zeros(width, np.float32)
    normal, queries, mixed = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
    for layer in range(weights.sizes[0]):
        normalised(token, weights.norms[layer, 0], weights.norms[layer, 1], normal)
        product(weights.query[layer], none, normal, queries)
        attend(table, layer, kind, parts, queries, mixed)
        heard(weights, layer, token, mixed)
    return predicted(weights, token)


@njit
@no_type_check
def learn(weights, table, kind, parts, x, y):
    """Fill the last row of a table with the keys and values of a point."""
    token = embedded(weights, x, y, ZERO)
    width, layers = len(token), weights.sizes[0]
    none, pairs = np.zeros(2 * width, np.float32), np.empty(2 * width, np.float32)
    normal, queries, mixed = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
    for layer in range(layers):
        block = layers + layer
        normalised(token, weights.norms[block, 0], weights.norms[block, 1], normal)
        product(weights.keys_values[block], none, normal, pairs)
        write_row(table, block, kind, pairs)
        product(weights.query[block], none[:width], normal, queries)
        attend(table, block, kind, parts, queries, mixed)
        heard(weights, block, token, mixed)
        normalised(token, weights.norms[layer, 0], weights.norms[layer, 1], normal)
        product(weights.keys_values[layer], none, normal, pairs)
        write_row(table, layer, kind, pairs)
