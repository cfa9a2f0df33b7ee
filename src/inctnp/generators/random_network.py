"""Random networks that turn root causes into the variables of a table.

Each task has its own network. They are run one after the other: at these sizes the numbers of one network
stay in a core's cache, while padding all to a common depth and width would multiply the work.
"""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

INITIALISATIONS = ("absolute", "fan-in", "published")

LARGEST = 1e6
"""Weights shrink where unbounded activations would grow beyond about this size; float32 ends at 1e38."""
POOL = 1 << 19
"""Most numbers in the pool of noise that the networks of a batch share."""


def _tanh_(h: Tensor) -> Tensor:
    # By way of the sigmoid: tanh itself takes four times as long on a CPU.
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

    def choose(self, dice: random.Random) -> "Network":
        """The network with the units that become features: any behind the first layer but the last, the target."""
        picks: list[list[int]] = [[] for _ in range(self.layers - 1)] if self.causal else []
        if self.causal:
            for unit in dice.sample(range((self.layers - 1) * self.width - 1), self.features):
                picks[unit // self.width].append(unit % self.width)
        return Network(plan=self, picks=picks)


@dataclass(frozen=True, kw_only=True)
class Network:
    """A network ready to run. Of its last layer only what is used exists: chosen units and, behind them, the target."""

    plan: Architecture
    picks: list[list[int]]
    """Chosen units of every layer behind the first; none where the features are the causes."""

    @cached_property
    def shapes(self) -> list[tuple[int, int]]:
        """Outputs and inputs of every layer."""
        plan, last = self.plan, len(self.picks[-1]) if self.picks else 0
        inner = [(plan.width, plan.width)] * (plan.layers - 2)
        return [(plan.width, plan.causes), *inner, (last + 1, plan.width)]

    @property
    def dropped(self) -> int:
        """Weights are dropped where a random byte is below this."""
        return round(256 * self.plan.dropout)

    def gains(self, initialisation: str) -> list[float]:
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


class Layer(NamedTuple):
    """bias + gain * weight @ inputs"""

    bias: Float[Tensor, "unit 1"]
    weight: Float[Tensor, "unit input"]
    """Of unit size, some of them 0."""
    gain: float


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


def draw_layers(nets: list[Network], initialisation: str, rng: torch.Generator) -> list[list[Layer]]:
    """The layers of every network, drawn together and then cut up: many small draws would take longer."""
    shapes = [shape for net in nets for shape in net.shapes]
    rows, inputs = torch.tensor(shapes).T
    weights = torch.empty(int((rows * inputs).sum()))
    if initialisation == "published":
        weights.uniform_(-1, 1, generator=rng)
    else:
        weights.normal_(generator=rng)
        dropped = [net.dropped if depth else 0 for net in nets for depth in range(len(net.shapes))]
        # Bytes against a vector of bytes, then a product: this takes less than a scalar comparison and a mask.
        threshold = torch.empty(len(weights), dtype=torch.uint8)
        for part, value in zip(threshold.split((rows * inputs).tolist()), dropped, strict=True):
            part.fill_(value)
        keys = torch.empty(len(weights) // 8 + 1, dtype=torch.int64).random_(-(2**63), None, generator=rng)
        weights.mul_(keys.view(torch.uint8)[: len(weights)] >= threshold)
    bound = inputs.rsqrt().repeat_interleave(rows)
    biases = bound.mul_(torch.empty_like(bound).uniform_(-1, 1, generator=rng)).unsqueeze(1)
    gains = [gain for net in nets for gain in net.gains(initialisation)]
    parts = zip(biases.split(rows.tolist()), weights.split((rows * inputs).tolist()), shapes, gains, strict=True)
    layers = (Layer(bias, weight.view(shape), gain) for bias, weight, shape, gain in parts)
    return [[next(layers) for _ in net.shapes] for net in nets]


def run_networks(
    plans: list[Architecture], causes: Float[Tensor, "cause point"], initialisation: str, rng: torch.Generator
) -> tuple[Float[Tensor, "feature point"], Float[Tensor, "task point"]]:
    """The features of all tasks, one after the other, and one target for each.

    Tasks share noise, from random places of one pool; the points of one task do not, unless its network needs
    more than `POOL` numbers. Weights are each network's own.
    """
    # Python's own generator: a few units of many are chosen many times faster with it than with tensors.
    dice = random.Random(int(torch.randint(2**62, (), generator=rng)))
    nets, points = [plan.choose(dice) for plan in plans], causes.shape[1]
    layers = draw_layers(nets, initialisation, rng)
    units = [rows for net in nets for rows, _ in net.shapes]
    noise = Supply(torch.empty(max(min(POOL, sum(units) * points), 2 * max(units) * points)).normal_(generator=rng))
    # Layers are written to these in turn: fresh memory for each would cost more than its matrix product.
    buffers = torch.empty(2, max(units) * points)
    features = torch.empty(sum(plan.features for plan in plans), points)
    targets = torch.empty(len(nets), points)
    slots = features.split([plan.features for plan in plans])
    roots = causes.split([plan.causes for plan in plans])
    for task, net in enumerate(nets):
        noise.used = dice.randrange(len(noise.numbers))
        found, targets[task] = _run(net, layers[task], roots[task], noise, buffers)
        if found:
            order = dice.sample(range(len(slots[task])), len(slots[task]))
            slots[task].index_copy_(0, torch.tensor(order), torch.cat(found))
        else:
            slots[task].copy_(roots[task])
    return features, targets


def _run(
    net: Network, layers: list[Layer], roots: Float[Tensor, "cause point"], noise: Supply, buffers: Tensor
) -> tuple[list[Tensor], Float[Tensor, " point"]]:
    """The chosen units and the target: a linear layer first, then activation(linear) + noise again and again."""
    hidden, found, activation = roots, [], ACTIVATIONS[net.plan.activation]
    for depth, (bias, weight, gain) in enumerate(layers):
        out = buffers[depth % 2, : len(weight) * roots.shape[1]].view(len(weight), -1)
        hidden = torch.addmm(bias, weight, hidden, alpha=gain, out=out)
        if depth:
            activation(hidden).add_(noise.take(hidden.numel()).view_as(hidden), alpha=net.plan.noise)
        if 0 < depth < len(layers) - 1 and net.picks and net.picks[depth - 1]:
            found.append(hidden[torch.tensor(net.picks[depth - 1])])
    return [*found, hidden[:-1]] if net.picks else [], hidden[-1]
