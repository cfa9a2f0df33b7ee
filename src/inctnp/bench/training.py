"""What a training step costs, forward, backward and update, beside the plain way to write it."""

from collections.abc import Iterator
from copy import deepcopy

import torch
from torch import Tensor

from inctnp.bench import plain
from inctnp.bench.measured import Measured, Settings, Subject, all_of
from inctnp.bench.setting import default_model, points
from inctnp.bench.timing import Timing, Work, interleaved
from inctnp.metrics.flops import count_flops
from inctnp.models.inc_tnp import IncTNP

BATCH = 16
SQUARE = 1024


def measure(settings: Settings) -> Iterator[Measured]:
    """Steps on sequences of every length, and how they compare with one large product of matrices."""
    peak = _peak(settings)
    for size in settings.sizes:
        x, y = (rows.view(BATCH, size, -1) for rows in points(BATCH * size, seed=size))
        steps: dict[str, Work] = {}
        for name, low, written_plainly in (
            ("bfloat16", True, False),
            ("float32", False, False),
            ("plain, bfloat16", True, True),
            ("plain, float32", False, True),
        ):
            steps[name] = _step(default_model().train().requires_grad_(True), x, y, low, written_plainly)
        flops = _flops(default_model(), x, y)
        timings = interleaved(steps, settings.repeats, settings.budget)
        facts = {name: _rates(timing, BATCH * size, flops, peak[name]) for name, timing in timings.items()}
        yield from all_of(f"training step, batch {BATCH}", size, timings, facts)


def _step(model: IncTNP, x: Tensor, y: Tensor, low: bool, written_plainly: bool) -> Work:
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def run() -> None:
        optimiser.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=low):
            predicted = plain.dense(model, x, y) if written_plainly else model.dense(x, y)
        loss = -predicted.log_prob(y[:, 1:]).mean()
        loss.backward()
        optimiser.step()

    return run


def _peak(settings: Settings) -> dict[str, float]:
    """Multiplications and additions a second, times two, in a product of large square matrices."""
    low, full = (torch.randn(SQUARE, SQUARE, dtype=dtype) for dtype in (torch.bfloat16, torch.float32))
    timings = interleaved({"low": lambda: low @ low, "full": lambda: full @ full}, settings.repeats, settings.budget)
    rate = {name: 2 * SQUARE**3 / timing.median for name, timing in timings.items()}
    return {
        "bfloat16": rate["low"],
        "plain, bfloat16": rate["low"],
        "float32": rate["full"],
        "plain, float32": rate["full"],
    }


@torch.no_grad()
def _flops(model: IncTNP, x: Tensor, y: Tensor) -> int:
    """Of a step that wastes nothing: masked halves of the attention are not needed, and a backward pass is two."""
    written = deepcopy(model)
    both = count_flops(lambda: plain.dense(written, x, y))
    attention = 2 * 4 * BATCH * (x.shape[1] - 1) ** 2 * model.config.width * model.config.layers
    return 3 * (both - attention // 2)


def _rates(timing: Timing, points_seen: int, flops: int, peak: float) -> dict[str, float]:
    return {"points/s": points_seen / timing.median, "of matmul peak": flops / timing.median / peak}


SUBJECT = Subject(
    title="Training steps",
    ours="bfloat16",
    measure=measure,
    sizes=(64, 192, 640),
    quick=(8, 16),
    size_is="points",
)
