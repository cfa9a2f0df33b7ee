"""How the learning rate moves."""

import math


def warmup_cosine(step: int, steps: int, warmup: float, floor: float = 0.0) -> float:
    """Fraction of the peak rate at `step`, counted from 0; `warmup` and `floor` are fractions.

    >>> [round(warmup_cosine(s, 100, 0.1), 3) for s in (0, 5, 10, 55, 100)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    start = warmup * steps
    if step < start:
        return step / start
    progress = min(1.0, (step - start) / max(1.0, steps - start))
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * progress))


def constant(step: int, steps: int, warmup: float, floor: float = 0.0) -> float:
    """The paper's other choice: the peak rate throughout."""
    return 1.0


def trapezoid(step: int, steps: int, warmup: float, floor: float = 0.0) -> float:
    """Warm-up, the peak rate, and over the last 40 % a straight line to the floor.

    Nothing before the descent depends on where it begins, so a run can be made longer after the fact.

    >>> [round(trapezoid(s, 100, 0.1), 3) for s in (5, 10, 60, 80, 100)]
    [0.5, 1.0, 1.0, 0.5, 0.0]
    """
    if step < warmup * steps:
        return step / (warmup * steps)
    left = (steps - step) / (DESCENT * steps)
    return floor + (1 - floor) * min(1.0, max(0.0, left))


DESCENT = 0.4
"""Share of the steps over which `trapezoid` descends."""

SCHEDULES = {"cosine": warmup_cosine, "constant": constant, "trapezoid": trapezoid}
