"""How the learning rate moves: a linear warm-up, then half a cosine."""

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


SCHEDULES = {"cosine": warmup_cosine, "constant": constant}
