"""Random networks that turn root causes into the variables of a table.

Each task has its own network. They are run one after the other: at these sizes the numbers of one network
stay in a core's cache, while padding all to a common depth and width would multiply the work.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.generators.causes import Columns

Initialisation = Literal["absolute", "fan-in", "published"]

LARGEST = 1e6
"""Weights shrink where unbounded activations would grow beyond about this size; float32 ends at 1e38."""
POOL = 1 << 19
"""Most numbers in the pool of noise that the networks of a batch share."""


def _tanh_(h: Tensor) -> Tensor:
    # By way of the sigmoid: tanh itself takes five times as long on a CPU.
    return h.mul_(2).sigmoid_().mul_(2).sub_(1)


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "elu": torch.nn.functional.elu_,
    "relu": torch.relu_,
    "tanh": _tanh_,
    "sigmoid": torch.sigmoid_,
    "identity": lambda h: h,
}
"""In place."""
BOUNDED = ("tanh", "sigmoid")


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """The drawn hyperparameters of one task."""

    causal: bool
    """Features are hidden units; otherwise they are the causes."""
    features: int
    causes: int
    layers: int
    width: int
    activation: str
    noise: float
    weight: float
    dropout: float

    def choose(self, rng: torch.Generator) -> "Network":
        """The network with the units that become features: any behind the first layer but the last, the target."""
        if not self.causal:
            return Network(plan=self, picks=())
        units = torch.randperm((self.layers - 1) * self.width - 1, generator=rng)[: self.features].sort().values
        layer = units.div(self.width, rounding_mode="floor")
        counts = torch.bincount(layer, minlength=self.layers - 1).tolist()
        return Network(plan=self, picks=tuple((units - layer * self.width).split(counts)))


@dataclass(frozen=True, kw_only=True)
class Network:
    """A network ready to run. Of its last layer only what is used exists: chosen units and, behind them, the target."""

    plan: Architecture
    picks: tuple[Tensor, ...]
    """Chosen units of every layer behind the first; none where the features are the causes."""

    @cached_property
    def shapes(self) -> list[tuple[int, int]]:
        """Outputs and inputs of every layer."""
        plan, last = self.plan, len(self.picks[-1]) if self.picks else 0
        inner = [(plan.width, plan.width)] * (plan.layers - 2)
        return [(plan.width, plan.causes), *inner, (last + 1, plan.width)]

    @cached_property
    def weights(self) -> int:
        return sum(rows * inputs for rows, inputs in self.shapes)

    @cached_property
    def units(self) -> int:
        return sum(rows for rows, _ in self.shapes)

    @property
    def dropped(self) -> int:
        """Weights are dropped where a random byte is below this."""
        return round(256 * self.plan.dropout)

    def gains(self, initialisation: Initialisation) -> list[float]:
        """What weights of unit size are multiplied by, layer by layer."""
        size, gains = 1.0, []
        for depth, (_, inputs) in enumerate(self.shapes):
            root = math.sqrt(inputs)
            gain = 1 / root
            if initialisation != "published":
                kept = 1 - self.dropped / 256 if depth else 1.0
                gain = self.plan.weight / math.sqrt(kept) / (root if initialisation == "fan-in" else 1.0)
            gains.append(min(gain, LARGEST / (size * root)))
            bounded = depth and self.plan.activation in BOUNDED
            size = 1.0 if bounded else max(1.0, size * gains[-1] * root)
        return gains


class Supply:
    """A long random vector, handed out in slices."""

    def __init__(self, numbers: Tensor) -> None:
        self.numbers = numbers
        self.used = 0

    def take(self, count: int) -> Tensor:
        """The next numbers; from the start again when there are too few left."""
        if self.used + count > len(self.numbers):
            self.used = 0
        self.used += count
        return self.numbers[self.used - count : self.used]


class Source:
    """All the randomness and the memory that the networks of one batch need."""

    def __init__(self, nets: list[Network], points: int, initialisation: Initialisation, rng: torch.Generator) -> None:
        self.initialisation = initialisation
        self.published = initialisation == "published"
        total = sum(net.weights for net in nets)
        weights = torch.empty(total)
        self.weights = Supply(
            weights.uniform_(-1, 1, generator=rng) if self.published else weights.normal_(generator=rng)
        )
        shapes = torch.tensor([shape for net in nets for shape in net.shapes])
        bound = shapes[:, 1].rsqrt().repeat_interleave(shapes[:, 0])
        self.biases = Supply(bound * torch.empty_like(bound).uniform_(-1, 1, generator=rng))
        keys = torch.empty(0 if self.published else total // 8 + 1, dtype=torch.int64)
        self.keys = Supply(keys.random_(-(2**63), None, generator=rng).view(torch.uint8))
        needed, largest = sum(net.units for net in nets) * points, max(rows for net in nets for rows, _ in net.shapes)
        noise = torch.empty(max(min(POOL, needed), 2 * largest * points))
        self.noise = Supply(noise.normal_(generator=rng))
        # Layers are written to these in turn: fresh memory for each would cost more than its matrix product.
        self.buffers = torch.empty(2, largest * points)

    def layers(self, net: Network) -> list[tuple[Tensor, Tensor, float]]:
        """Biases U(±1 / sqrt(inputs)), weights of unit size, those behind the first layer thinned, and their gain."""
        sizes = [rows * inputs for rows, inputs in net.shapes]
        numbers = self.weights.take(net.weights)
        if net.dropped and not self.published:
            numbers[sizes[0] :].masked_fill_(self.keys.take(net.weights - sizes[0]) < net.dropped, 0.0)
        biases = self.biases.take(net.units).split([rows for rows, _ in net.shapes])
        return [
            (bias.unsqueeze(1), weight.view(shape), gain)
            for bias, weight, shape, gain in zip(
                biases, numbers.split(sizes), net.shapes, net.gains(self.initialisation), strict=True
            )
        ]


def run_networks(
    plans: list[Architecture], causes: Columns, initialisation: Initialisation, rng: torch.Generator
) -> tuple[Columns, Columns]:
    """The features of all tasks, one after the other, and one target for each.

    Tasks share noise, from random places of one pool; the points of one task do not, unless its network needs
    more than `POOL` numbers. Weights are each network's own.
    """
    nets, points = [plan.choose(rng) for plan in plans], causes.shape[1]
    source = Source(nets, points, initialisation, rng)
    starts = torch.randint(len(source.noise.numbers), (len(nets),), generator=rng).tolist()
    features = torch.empty(sum(plan.features for plan in plans), points)
    targets = torch.empty(len(nets), points)
    slots = features.split([plan.features for plan in plans])
    roots = causes.split([plan.causes for plan in plans])
    for task, net in enumerate(nets):
        source.noise.used = starts[task]
        found, targets[task] = _run(net, roots[task], source)
        if found:
            order = torch.randperm(len(slots[task]), generator=rng)
            slots[task].index_copy_(0, order, torch.cat(found))
        else:
            slots[task].copy_(roots[task])
    return features, targets


def _run(net: Network, roots: Columns, source: Source) -> tuple[list[Columns], Float[Tensor, " point"]]:
    """The chosen units and the target: a linear layer first, then activation(linear) + noise again and again."""
    hidden, found = roots, []
    for depth, (bias, weight, gain) in enumerate(source.layers(net)):
        out = source.buffers[depth % 2, : len(weight) * roots.shape[1]].view(len(weight), -1)
        hidden = torch.addmm(bias, weight, hidden, alpha=gain, out=out)
        if depth:
            noise = source.noise.take(hidden.numel()).view_as(hidden)
            ACTIVATIONS[net.plan.activation](hidden).add_(noise, alpha=net.plan.noise)
        if 0 < depth < len(net.shapes) - 1 and net.picks and len(net.picks[depth - 1]):
            found.append(hidden[net.picks[depth - 1]])
    return [*found, hidden[:-1]] if net.picks else [], hidden[-1]
