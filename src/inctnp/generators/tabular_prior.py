"""Synthetic tables from random structural causal models: the prior of the tabular models.  (appendix D)

A random network turns a few root causes into many hidden units. In half of the tasks the features are a
random subset of those units and the target is another of them, so that some features are causes of the
target and some its effects; in the others the features are the causes themselves.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from inctnp.errors import ConfigError
from inctnp.generators.base import SPREADS, TaskGenerator, check_range
from inctnp.generators.causes import SAMPLINGS, Columns, draw_causes, draw_families, standard_gamma
from inctnp.generators.random_network import ACTIVATIONS, INITIALISATIONS, Architecture, run_networks
from inctnp.task import Task

SCALINGS = ("z-score", "min-max", "symmetric min-max", "max-abs", "robust")
"""Of the target: zero mean and unit variance; to [0, 1]; to [-1, 1]; largest magnitude 1; (y - median) / IQR."""
FENCE = 3.0
"""Targets further than this many interquartile ranges from the quartiles are clipped."""
OUTLIER = 4.0
"""Features further than this many standard deviations from the mean are clipped."""
ROUNDS = 20


@dataclass(frozen=True, kw_only=True)
class HyperNormal:
    """A truncated normal whose mean and standard deviation are themselves drawn log-uniformly."""

    mean: tuple[float, float]
    std: tuple[float, float]
    least: float
    """Nothing below this is drawn."""

    def __post_init__(self) -> None:
        for name, (low, high) in (("mean", self.mean), ("std", self.std)):
            if not 0 < low <= high:
                raise ConfigError(f"{name} must be a range (low, high) with 0 < low <= high, not {(low, high)}.")

    def draw(self, count: int, rng: torch.Generator) -> Float[Tensor, " count"]:
        """Independent draws, by inverting the distribution from its upper tail, which keeps every digit."""
        mean, std = log_uniform(self.mean, count, rng), log_uniform(self.std, count, rng)
        above = torch.special.ndtr((mean - self.least) / std)
        # 1 - U lies in (0, 1]: 0 would be an infinite draw.
        share = 1 - torch.rand(count, generator=rng, dtype=torch.float64)
        return (mean - std * torch.special.ndtri(share * above)).clamp_(min=self.least)


@dataclass(frozen=True, kw_only=True)
class TabularPrior(TaskGenerator):
    """Tables of up to 20 features, each task with its own size, network, noise and scaling.

    >>> task = TabularPrior(batch_size=2, context=(10, 12), targets=5).batch(0)
    >>> task.xt.shape, task.yt.shape, bool(task.xc.isfinite().all())
    (torch.Size([2, 5, 20]), torch.Size([2, 5, 1]), True)
    """

    batch_size: int = 128
    context: tuple[int, int] = (10, 1024)
    spread: str = "uniform"
    """How sizes of contexts are drawn between their bounds: `uniform`, or `log-uniform`, mostly short ones."""
    targets: int = 128
    most_points: int = 0
    """Points of a batch, targets included; where contexts are long it holds fewer tasks instead. 0 sets no limit."""
    dim_x: int = 20
    """Columns of a task; those without a feature are 0."""
    features: tuple[int, int] = (2, 20)
    """Bounds of the uniform number of features."""
    causes: tuple[int, int] = (2, 20)
    """Bounds of the log-uniform number of root causes, where the features are hidden units."""
    layers: HyperNormal = HyperNormal(mean=(1.0, 6.0), std=(1.0, 6.0), least=2.0)
    width: HyperNormal = HyperNormal(mean=(5.0, 130.0), std=(5.0, 130.0), least=4.0)
    noise: HyperNormal = HyperNormal(mean=(1e-4, 0.3), std=(1e-4, 0.3), least=0.0)
    """Standard deviation of what is added to every hidden unit."""
    weights: HyperNormal = HyperNormal(mean=(1e-2, 10.0), std=(1e-2, 10.0), least=0.0)
    """Standard deviation of the weights. The paper gives no range; this is TabPFN v1's range of means, with the
    standard deviation drawn from the same range, as for the other sizes."""
    dropout: float = 0.6
    """Largest share of weights set to 0: it is scaled by a Beta(a, b) with a, b ~ U[0.1, 5], as in TabPFN v1."""
    initialisation: str = "absolute"
    """`absolute`: weights N(0, weights²) as in TabPFN v1; `fan-in`: N(0, weights² / inputs), which keeps deep and wide
    networks as smooth as small ones; `published`: U(±1 / sqrt(inputs)) without dropout, which is what the published
    code did, since it drew both and used neither."""
    causal: float = 0.5
    """Probability that features are hidden units rather than the causes."""
    categorical: HyperNormal = HyperNormal(mean=(1e-4, 0.3), std=(1e-2, 10.0), least=0.0)
    """Probability of a feature to be cut into classes, drawn for each task; above 1 means all of them."""
    activations: tuple[str, ...] = ("elu", "relu", "tanh", "sigmoid", "identity")
    """Names in `random_network.ACTIVATIONS`; a name given twice is drawn twice as often."""
    samplings: tuple[str, ...] = SAMPLINGS
    """How causes are drawn: names in `causes.SAMPLINGS`."""
    scalings: tuple[str, ...] = ("z-score", "max-abs", "robust", *SCALINGS)
    """Names in `SCALINGS`: by default the paper's four in equal shares, min-max going to [0, 1] or to [-1, 1]."""
    statistics: str = "context"
    """Which rows define clipping, scaling and classes. With `context` no target leaves a trace in the context, as
    when the model is used; `task` takes all rows, as the published code did."""

    def __post_init__(self) -> None:
        check_range("context", self.context, least=2)
        check_range("features", self.features, least=1)
        check_range("causes", self.causes, least=1)
        if self.features[1] > self.dim_x:
            raise ConfigError(f"{self.features[1]} features do not fit dim_x {self.dim_x}: raise it or ask for fewer.")
        if not (0 <= self.causal <= 1 and 0 <= self.dropout < 1):
            raise ConfigError("causal must lie in [0, 1] and dropout in [0, 1).")
        _check_names("activations", self.activations, tuple(ACTIVATIONS))
        _check_names("samplings", self.samplings, SAMPLINGS)
        _check_names("scalings", self.scalings, SCALINGS)
        _check_names("initialisation", (self.initialisation,), INITIALISATIONS)
        _check_names("statistics", (self.statistics,), ("context", "task"))
        _check_names("spread", (self.spread,), tuple(SPREADS))

    def draw(self, rng: torch.Generator) -> Task:
        context = SPREADS[self.spread](self.context, rng)
        points = context + self.targets
        tasks = min(self.batch_size, max(1, self.most_points // points)) if self.most_points else self.batch_size
        known = context if self.statistics == "context" else points
        x, y = self._tables(tasks, points, known, rng)
        for _ in range(ROUNDS):
            bad = degenerate(y[:, :known]).nonzero().squeeze(1)
            if not len(bad):
                break
            x[bad], y[bad] = self._tables(len(bad), y.shape[1], known, rng)
        else:
            # Settings that hardly ever vary, such as no noise and tiny weights: noise is a task too.
            y[bad] = torch.randn(len(bad), y.shape[1], generator=rng)
        names = _choices(self.scalings, SCALINGS, tasks, rng)
        y = scale_targets(y, known, names).unsqueeze(-1)
        return Task(xc=x[:, :context], yc=y[:, :context], xt=x[:, context:], yt=y[:, context:])

    def _tables(self, count: int, points: int, known: int, rng: torch.Generator) -> tuple[Tensor, Tensor]:
        """Scaled features [count, points, dim_x] and raw targets [count, points]."""
        plan = self._architectures(count, rng)
        sampling = _choices(self.samplings, SAMPLINGS, count, rng)
        roots = torch.tensor([each.causes for each in plan])
        causes = draw_causes(draw_families(sampling.repeat_interleave(roots), rng), points, rng)
        columns, y = run_networks(plan, causes, self.initialisation, rng)
        features = torch.tensor([each.features for each in plan])
        chance = self.categorical.draw(count, rng).repeat_interleave(features)
        cut = torch.rand(len(columns), generator=rng, dtype=torch.float64) < chance
        into_classes(columns, cut.nonzero().squeeze(1), known, rng)
        scale_features(columns, known)
        table = torch.zeros(count, self.dim_x, points)
        first = torch.arange(self.dim_x) < features.unsqueeze(1)
        table.view(-1, points).index_copy_(0, first.flatten().nonzero().squeeze(1), columns)
        return table.mT.contiguous(), y

    def _architectures(self, count: int, rng: torch.Generator) -> list[Architecture]:
        known = tuple(ACTIVATIONS)
        causal = torch.rand(count, generator=rng) < self.causal
        features = torch.randint(self.features[0], self.features[1] + 1, (count,), generator=rng)
        causes = log_uniform((float(self.causes[0]), float(self.causes[1])), count, rng).round().long()
        width = self.width.draw(count, rng).round().long()
        # As in TabPFN: the hidden units to choose from are more than twice the features to be chosen.
        width = torch.where(causal, width.maximum(2 * features + 1), width)
        shapes = torch.empty(2 * count, 1).uniform_(0.1, 5.0, generator=rng)
        first, second = standard_gamma(shapes, 1, rng).clamp_(min=1e-6).squeeze(1).split(count)
        columns: dict[str, list[Any]] = {
            "causal": causal.tolist(),
            "features": features.tolist(),
            "causes": torch.where(causal, causes, features).tolist(),
            "layers": self.layers.draw(count, rng).round().long().tolist(),
            "width": width.tolist(),
            "activation": [known[i] for i in _choices(self.activations, known, count, rng).tolist()],
            "noise": self.noise.draw(count, rng).tolist(),
            "weight": self.weights.draw(count, rng).tolist(),
            "dropout": (self.dropout * first / (first + second)).tolist(),
        }
        return [Architecture(**dict(zip(columns, each, strict=True))) for each in zip(*columns.values(), strict=True)]


def log_uniform(bounds: tuple[float, float], count: int, rng: torch.Generator) -> Float[Tensor, " count"]:
    """Numbers whose logarithm is uniform between those of the bounds."""
    low, high = map(math.log, bounds)
    return torch.exp(low + (high - low) * torch.rand(count, generator=rng, dtype=torch.float64))


def into_classes(columns: Columns, which: Int[Tensor, " cut"], known: int, rng: torch.Generator) -> None:
    """Cut these columns, in place, into max(round(Gamma(1, 10)), 2) ordered classes at the values of random rows."""
    if not len(which):
        return
    # Gamma(1, 10) is the exponential distribution of mean 10.
    size = -10 * (1 - torch.rand(len(which), generator=rng)).log()
    classes, order = size.round().clamp(min=2).sort(descending=True)
    values = columns[which[order]]
    rows = torch.randint(known, (len(which), int(classes[0]) - 1), generator=rng)
    bounds = values.gather(1, rows)
    code = torch.zeros_like(values)
    # One comparison per class of those columns that have it: twice as fast as a search of padded bounds.
    many = (classes.unsqueeze(1) > torch.arange(1, bounds.shape[1] + 1)).sum(dim=0).tolist()
    for k, columns_left in enumerate(many):
        code[:columns_left] += values[:columns_left] > bounds[:columns_left, k : k + 1]
    columns.index_copy_(0, which[order], code)


def scale_features(columns: Columns, known: int) -> None:
    """Clip to `OUTLIER` standard deviations, then z-score, in place, by the first `known` points; constants are 0."""
    mean, std = _moments(columns[:, :known])
    # Centred first: moments of what is left are accurate in float32 however far from 0 the column lies.
    columns.sub_(mean).clamp_(-OUTLIER * std, OUTLIER * std)
    rest, spread = _moments(columns[:, :known])
    columns.sub_(rest).mul_(torch.where(spread > 1e-6 * mean.abs(), 1 / spread, 0.0))


def degenerate(y: Columns) -> torch.Tensor:
    """Whether half of a task's targets are equal, or vary less than float32 can tell."""
    quartiles = _quartiles(y)
    spread = quartiles[2] - quartiles[0]
    largest = y.abs().amax(dim=1)
    return ~(spread > 1e-5 * largest) | ~largest.isfinite() | (largest > 1e15)


def scale_targets(y: Columns, known: int, scaling: Int[Tensor, " column"]) -> Columns:
    """Clip outliers and scale each task its own way (an index into `SCALINGS`), by the first `known` points."""
    low, middle, high = (each.unsqueeze(1) for each in _quartiles(y[:, :known]))
    spread = high - low
    y = y.clamp(low - FENCE * spread, high + FENCE * spread)
    mean, std = _moments(y[:, :known])
    least, most = y[:, :known].amin(dim=1, keepdim=True), y[:, :known].amax(dim=1, keepdim=True)
    zero = torch.zeros_like(mean)
    centers = torch.stack([mean, least, (least + most) / 2, zero, middle])
    units = torch.stack([std, most - least, (most - least) / 2, torch.maximum(most.abs(), least.abs()), spread])
    task = torch.arange(len(y))
    return (y - centers[scaling, task]) / units[scaling, task]


def _moments(columns: Columns) -> tuple[Float[Tensor, "column 1"], Float[Tensor, "column 1"]]:
    """Mean and population standard deviation; two passes take a tenth of the time of `torch.std_mean`."""
    mean = columns.mean(dim=1, keepdim=True)
    return mean, (columns - mean).square_().mean(dim=1, keepdim=True).sqrt_()


def _quartiles(columns: Columns) -> Float[Tensor, "3 column"]:
    """Interpolated between order statistics, as numpy does by default."""
    # numpy sorts float32 with vector instructions, ten times as fast as torch here.
    ordered = torch.from_numpy(np.sort(columns.numpy(), axis=1))
    at = torch.tensor([0.25, 0.5, 0.75]) * (columns.shape[1] - 1)
    below = at.long()
    above = (below + 1).clamp(max=columns.shape[1] - 1)
    return torch.lerp(ordered[:, below], ordered[:, above], at - below).mT


def _choices(
    allowed: tuple[str, ...], names: tuple[str, ...], count: int, rng: torch.Generator
) -> Int[Tensor, " count"]:
    """Indices into `names` of uniform draws from `allowed`."""
    index = torch.tensor([names.index(name) for name in allowed])
    return index[torch.randint(len(allowed), (count,), generator=rng)]


def _check_names(setting: str, given: tuple[str, ...], known: tuple[str, ...]) -> None:
    unknown = [name for name in given if name not in known]
    if unknown or not given:
        raise ConfigError(f"{setting} {unknown or '()'} unknown: choose from {', '.join(known)}.")
