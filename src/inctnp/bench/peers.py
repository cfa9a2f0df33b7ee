"""Other regressors on the same stream: what a row and a question cost, and how good the answers are.

The stream is a function drawn from a Gaussian process with noise, its kernel known to the exact process, unknown to all
others. Every peer is fed the same rows; then one after the other learns the next row and is asked about another, so
that whatever a peer leaves for the question counts there. Models whose weights do not ship are random: their costs are
right, and they have no quality.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from inctnp.baselines.covariance import ARDKernel
from inctnp.baselines.exact_gp import ExactGP
from inctnp.baselines.registry import online_regressor
from inctnp.baselines.wiski import WISKI, WISKIConfig
from inctnp.bench.copying import CopiedContext, CopyingIncTNP
from inctnp.bench.measured import Measured, Settings, Subject
from inctnp.bench.timing import Clock, summary, usual_clock
from inctnp.models.build import build
from inctnp.models.config import ModelConfig
from inctnp.predictive.base import Predictive
from inctnp.pretrained.registry import load

LENGTHSCALE, NOISE = 0.4, 0.1
TARGETS = 100
LEARN, ASK = "learn a row", "ask 1 after a new row"
ONLINE = ("river-linear", "river-knn", "river-tree", "river-forest", "boosting", "windowed-gp")
UNTRAINED = ("tnp-d", "lbanp", "cnp")


@runtime_checkable
class Peer(Protocol):
    """Learns rows, at any time answers about others."""

    def observe(self, x: Tensor, y: Tensor) -> None: ...

    def predict(self, x: Tensor) -> Predictive: ...


class Holding:
    """A model and the context it has so far."""

    def __init__(self, model: Any, context: Any) -> None:
        self.model, self.context = model, context

    def observe(self, x: Tensor, y: Tensor) -> None:
        self.context = self.model.extend(self.context, x, y)

    def predict(self, x: Tensor) -> Predictive:
        return self.model.query(self.context, x)


class Copying:
    """A cache that grows by copying, with a batch of one."""

    def __init__(self, model: CopyingIncTNP) -> None:
        self.model = model
        self.context: CopiedContext | None = None

    def observe(self, x: Tensor, y: Tensor) -> None:
        self.context = self.model.extend(self.context, x[None], y[None])

    def predict(self, x: Tensor) -> Predictive:
        assert self.context is not None
        return self.model.query(self.context, x[None])


def peers() -> dict[str, Callable[[], Peer]]:
    """Makers by name: those at the top have weights or need none."""
    incremental: Any = load("rbf-64/inctnp-seq")
    process = ExactGP(kernel=ARDKernel("rbf", torch.tensor([LENGTHSCALE]), torch.tensor(1.0)), noise=NOISE)
    grid = WISKI(WISKIConfig())
    made: dict[str, Callable[[], Peer]] = {
        "inctnp-seq, fused": lambda: incremental.stream(backend="fused"),
        "inctnp-seq, eager": lambda: incremental.stream(backend="eager"),
        "inctnp-seq, copy": lambda: Copying(CopyingIncTNP(incremental)),
        "exact gp": lambda: Holding(process, process.empty()),
        "wiski": lambda: Holding(grid, grid.empty()),
    }
    made |= {name: lambda name=name: online_regressor(name) for name in ONLINE}
    for name in UNTRAINED:
        model = build(ModelConfig(name=name, dim_x=1)).eval().requires_grad_(False)
        made[f"{name}, untrained"] = lambda model=model: Holding(model, model.empty())
    return made


def measure(settings: Settings) -> Iterator[Measured]:
    """Feed all, ask all, row by row in turn."""
    longest = max(settings.sizes) + settings.repeats + TARGETS
    x, y = _function(longest)
    running = {name: make() for name, make in peers().items()}
    fed, clock = 0, usual_clock()
    with torch.no_grad():
        for size in sorted(settings.sizes):
            feeding = {name: _feed(peer, x[fed:size], y[fed:size], clock) for name, peer in running.items()}
            quality = {name: _quality(name, peer, x[-TARGETS:], y[-TARGETS:]) for name, peer in running.items()}
            fed = size + settings.repeats
            spent = _in_turn(running, x[size:fed], y[size:fed], clock)
            for name in running:
                facts = {"fed at ms/row": 1e3 * feeding[name], **quality[name]}
                yield Measured(work=LEARN, size=size, variant=name, timing=summary(spent[name, LEARN]), facts=facts)
                yield Measured(work=ASK, size=size, variant=name, timing=summary(spent[name, ASK]))


def _function(rows: int) -> tuple[Tensor, Tensor]:
    rng = torch.Generator().manual_seed(11)
    x = torch.empty(rows, 1).uniform_(-2, 2, generator=rng)
    distance = (x - x.mT).double() / LENGTHSCALE
    covariance = torch.exp(-0.5 * distance**2) + NOISE**2 * torch.eye(rows, dtype=torch.float64)
    y = torch.linalg.cholesky(covariance) @ torch.randn(rows, 1, generator=rng).double()
    return x, y.float()


def _feed(peer: Peer, x: Tensor, y: Tensor, clock: Clock) -> float:
    """Seconds a row, taking all at once where that is possible."""
    start = clock()
    peer.observe(x, y)
    return (clock() - start) / len(x)


def _quality(name: str, peer: Peer, x: Tensor, y: Tensor) -> dict[str, float]:
    predictive = peer.predict(x)
    if name.endswith("untrained"):
        return {}
    error = (predictive.mean.reshape(y.shape) - y).square().mean().sqrt()
    return {"log score": predictive.log_prob(y.to(predictive.mean)).mean().item(), "RMSE": error.item()}


def _in_turn(running: dict[str, Peer], x: Tensor, y: Tensor, clock: Clock) -> dict[tuple[str, str], list[float]]:
    """Every row goes to each peer before the next; a question that is not timed wakes it."""
    spent: dict[tuple[str, str], list[float]] = {(name, work): [] for name in running for work in (LEARN, ASK)}
    for i in range(len(x)):
        row, outcome = x[i : i + 1], y[i : i + 1]
        for name, peer in running.items():
            peer.predict(row)
            times = [clock()]
            peer.observe(row, outcome)
            times.append(clock())
            peer.predict(row)
            times.append(clock())
            spent[name, LEARN].append(times[1] - times[0])
            spent[name, ASK].append(times[2] - times[1])
    return spent


SUBJECT = Subject(
    title="Peers on one stream", ours="inctnp-seq, fused", measure=measure, sizes=(64, 250, 1000, 3000), quick=(24, 30)
)
