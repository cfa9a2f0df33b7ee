"""The Gaussian predictive, and the decoder that turns a token into a predictive.  (Eq. 11)"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from inctnp.errors import ConfigError
from inctnp.predictive.base import HALF_LOG_2PI, Predictive, Values, standard_quantile
from inctnp.predictive.mixture import Mixture

LEAST_RAW = -30.0
"""Raw deviations are cut off here: e^-15 is the least standard deviation, and its gradients stay finite."""


@dataclass(frozen=True, eq=False)
class Gaussian(Predictive):
    """A normal distribution for each output.

    >>> p = Gaussian(torch.zeros(1), torch.ones(1))
    >>> round(p.quantile(0.975).item(), 2), round(p.log_prob(torch.zeros(1)).item(), 3)
    (1.96, -0.919)
    """

    location: Values
    scale: Values

    @property
    def mean(self) -> Values:
        return self.location

    @property
    def stddev(self) -> Values:
        return self.scale

    @property
    def variance(self) -> Values:
        return self.scale**2

    def log_prob(self, y: Values) -> Values:
        return -0.5 * ((y - self.location) / self.scale) ** 2 - self.scale.log() - HALF_LOG_2PI

    def cdf(self, y: Values) -> Values:
        return torch.special.ndtr((y - self.location) / self.scale)

    def crps(self, y: Values) -> Values:
        z = (y - self.location) / self.scale
        density = torch.exp(-0.5 * z**2 - HALF_LOG_2PI)
        return self.scale * (z * (2 * torch.special.ndtr(z) - 1) + 2 * density - 1 / math.sqrt(math.pi))

    def quantile(self, level: float) -> Values:
        z = standard_quantile(level)
        return self.location + z * self.scale

    def sample(self, generator: torch.Generator | None = None) -> Values:
        noise = torch.randn(
            self.location.shape, generator=generator, dtype=self.location.dtype, device=self.location.device
        )
        return self.location + self.scale * noise

    def components(self) -> tuple[Values, Values, Values]:
        return torch.zeros_like(self.location).unsqueeze(0), self.location.unsqueeze(0), self.scale.unsqueeze(0)

    def reshape(self, change: Callable[[Tensor], Tensor]) -> Self:
        return type(self)(change(self.location), change(self.scale))

    def affine(self, shift: Tensor | float, scale: Tensor | float) -> Self:
        return type(self)(shift + scale * self.location, scale * self.scale)


class Decoder(nn.Module):
    """Reads the parameters of a predictive off the output of a network: mean and raw deviation per output.

    With more than one component, first the weights, then all means, then all raw deviations.
    """

    def __init__(self, network: nn.Sequential, dim_y: int, components: int, std_min: float) -> None:
        super().__init__()
        if components < 1 or std_min < 0:
            raise ConfigError(f"components {components} must be at least 1 and std_min {std_min} not negative.")
        self.net = network
        self.dim_y, self.parts, self.std_min = dim_y, components, std_min

    def forward(self, tokens: Tensor) -> Predictive:
        raw = self.net(tokens)
        # Float32 or better whatever the network ran in: densities are differences of large numbers.
        raw = raw if raw.dtype == torch.float64 else raw.float()
        if self.parts == 1:
            mean, deviation = raw.split(self.dim_y, dim=-1)
            return Gaussian(mean, self._stddev(deviation))
        logits, means, deviations = raw.unflatten(-1, (3, self.parts, self.dim_y)).movedim((-3, -2), (0, 1))
        return Mixture(torch.log_softmax(logits, dim=0), means, self._stddev(deviations))

    def _stddev(self, raw: Tensor) -> Tensor:
        return self.std_min + F.softplus(raw.clamp(min=LEAST_RAW)).sqrt()


def outputs_per_token(dim_y: int, components: int) -> int:
    """How many numbers `Decoder` reads off a token."""
    return dim_y * (2 if components == 1 else 3 * components)
