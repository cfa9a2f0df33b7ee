"""How fast a cost grows: exponents fitted to measurements, degrees read off counts, sums over a stream."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from inctnp.errors import ConfigError


def fitted_exponent(points: Sequence[int], values: Sequence[float]) -> float:
    """p of the power law c · N^p that fits best on a log-log scale.

    >>> round(fitted_exponent([10, 20, 40], [300.0, 1200.0, 4800.0]), 6)
    2.0
    """
    if len(points) != len(values) or len(points) < 2 or min(points) < 1 or min(values) <= 0:
        raise ConfigError("A power law is fitted to at least two lengths of 1 or more, each with a positive value.")
    x, y = [math.log(n) for n in points], [math.log(value) for value in values]
    centre_x, centre_y = sum(x) / len(x), sum(y) / len(y)
    covariance = sum((a - centre_x) * (b - centre_y) for a, b in zip(x, y, strict=True))
    return covariance / sum((a - centre_x) ** 2 for a in x)


def growth_exponent(points: Sequence[int], values: Sequence[float]) -> float:
    """p of a + c · N^p, blind to the fixed part a that hides the growth of short contexts; 0 if nothing grows.

    One more than the exponent of the slope between neighbouring lengths.

    >>> round(growth_exponent([10, 20, 40, 80], [1010.0, 1020.0, 1040.0, 1080.0]), 6)
    1.0
    """
    if len(points) < 3 or len(points) != len(values):
        raise ConfigError("Growth is judged from at least three lengths, each with its value.")
    slopes = [(v2 - v1) / (n2 - n1) for (n1, v1), (n2, v2) in pairwise(zip(points, values, strict=True))]
    if max(slopes) <= 0:
        return 0.0
    middles = [round(1000 * math.sqrt(n1 * n2)) for n1, n2 in pairwise(points)]
    return 1 + fitted_exponent(middles, slopes)


def polynomial_degree(points: Sequence[int], counts: Sequence[int]) -> int:
    """Degree of the polynomial in N that counted work follows exactly: no fit, no fading terms.

    By divided differences in whole numbers, from two lengths more than the degree.

    >>> polynomial_degree([10, 20, 30, 50], [7 + 3 * n + 2 * n**2 for n in (10, 20, 30, 50)])
    2
    """
    if len(points) != len(counts) or len(set(points)) < len(points):
        raise ConfigError("Every length must be given once, each with its count.")
    differences = [Fraction(count) for count in counts]
    for degree in range(-1, len(points) - 1):
        if not any(differences):
            return max(degree, 0)
        span = degree + 2
        gaps = (points[i + span] - points[i] for i in range(len(differences) - 1))
        differences = [(b - a) / gap for (a, b), gap in zip(pairwise(differences), gaps, strict=True)]
    raise ConfigError(f"{len(points)} lengths do not show a polynomial of degree {len(points) - 2} or less.")


def cumulative(points: Sequence[int], values: Sequence[float]) -> tuple[float, ...]:
    """The cost of the whole stream up to each length, steps in between read off straight lines.

    >>> cumulative([1, 3], [10.0, 30.0])
    (10.0, 60.0)
    """
    if len(points) != len(values) or not points:
        raise ConfigError("Costs are added up over at least one length, each with its value.")
    totals = [points[0] * values[0]]
    for (n1, v1), (n2, v2) in pairwise(zip(points, values, strict=True)):
        steps = n2 - n1
        totals.append(totals[-1] + steps * v1 + (v2 - v1) * (steps + 1) / 2)
    return tuple(totals)
