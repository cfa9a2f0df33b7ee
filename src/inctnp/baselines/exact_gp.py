"""The exact Gaussian process behind the contract of the models: the optimum where its kernel is the true one.

A context is the Cholesky factor of what was seen. A point adds a row to it, so an update is O(N²) and going back is
cutting rows off.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.baselines.covariance import ARDKernel, with_noise
from inctnp.baselines.draws import ProcessDraws
from inctnp.errors import ConfigError, ShapeError
from inctnp.notation import Inputs, Outputs
from inctnp.predictive.gaussian import Gaussian

LEAST_NOISE = 1e-3
"""Added to every fitted deviation: repeated inputs would otherwise make the covariance singular."""

Covariance = Callable[[Tensor, Tensor], Tensor]
"""From two sets of inputs to the covariance of the function values there."""


@dataclass(frozen=True, eq=False)
class GPContext:
    """Points seen, the Cholesky factor of their covariance, and the outputs it whitens."""

    x: Inputs
    root: Float[Tensor, "*batch point point"]
    white: Float[Tensor, "*batch point dim_y"]

    @property
    def batch(self) -> torch.Size:
        return self.x.shape[:-2]

    def __len__(self) -> int:
        return self.x.shape[-2]

    @property
    def nbytes(self) -> int:
        return self.x.nbytes + self.root.nbytes + self.white.nbytes

    def truncate(self, points: int) -> Self:
        """The factor of the first points is a corner of the factor of all."""
        return type(self)(self.x[..., :points, :], self.root[..., :points, :points], self.white[..., :points, :])

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        return {}, {"x": self.x.contiguous(), "root": self.root.contiguous(), "white": self.white.contiguous()}


@dataclass(frozen=True, kw_only=True, eq=False)
class ExactGP:
    """A zero-mean Gaussian process with a given kernel, observed with noise, in float64 throughout.

    Several outputs are independent and share the kernel.

    >>> from inctnp.baselines.covariance import ARDKernel
    >>> gp = ExactGP(kernel=ARDKernel("rbf", torch.ones(1), torch.tensor(1.0)), noise=0.1)
    >>> context = gp.extend(gp.empty(), torch.zeros(2, 1), torch.ones(2, 1))
    >>> p = gp.query(context, torch.zeros(1, 1))
    >>> len(context), bool(0.99 < p.mean < 1), round(gp.query(gp.empty(), torch.zeros(1, 1)).variance.item(), 2)
    (2, True, 1.01)
    """

    kernel: Covariance
    noise: Float[Tensor, "*tasks"] | float
    """Standard deviation of the observation noise."""
    dim_x: int = 1
    dim_y: int = 1

    def empty(self, batch: int | Sequence[int] = ()) -> GPContext:
        """The prior."""
        shape = (batch,) if isinstance(batch, int) else tuple(batch)
        none = torch.zeros(*shape, 0, 0, dtype=torch.float64)
        return GPContext(none.new_zeros(*shape, 0, self.dim_x), none, none.new_zeros(*shape, 0, self.dim_y))

    def extend(self, context: GPContext, x: Inputs, y: Outputs) -> GPContext:
        """The context with more points: new rows under the factor of the old."""
        x, y = self._checked(context, x), y.double()
        old, new = len(context), x.shape[-2]
        cross, left = self._conditioned(context, x)
        corner = torch.linalg.cholesky(with_noise(left, self._noise_variance()))
        root = corner.new_zeros(*context.batch, old + new, old + new)
        root[..., :old, :old], root[..., old:, :old], root[..., old:, old:] = context.root, cross.mT, corner
        white = torch.linalg.solve_triangular(corner, y - cross.mT @ context.white, upper=False)
        return GPContext(torch.cat([context.x, x], dim=-2), root, torch.cat([context.white, white], dim=-2))

    def query(self, context: GPContext, xt: Inputs) -> Gaussian:
        """The posterior of each noisy target on its own."""
        cross, left = self._conditioned(context, self._checked(context, xt))
        mean = cross.mT @ context.white
        variance = with_noise(left, self._noise_variance()).diagonal(dim1=-2, dim2=-1)
        return Gaussian(mean, variance.sqrt().unsqueeze(-1).expand_as(mean))

    def conditionals(self, context: GPContext, xt: Inputs, yt: Outputs) -> Gaussian:
        """Each target given the true ones before it, read off the factor of their joint posterior."""
        mean, root = self._posterior(context, xt)
        white = torch.linalg.solve_triangular(root, yt.double() - mean, upper=False)
        std = root.diagonal(dim1=-2, dim2=-1).unsqueeze(-1)
        return Gaussian(yt.double() - std * white, std.expand_as(mean))

    def joint_log_prob(
        self, context: GPContext, xt: Inputs, yt: Outputs, *, orders: int = 0, generator: torch.Generator | None = None
    ) -> Float[Tensor, "*batch"]:
        """The exact multivariate normal density; every order of the targets gives the same, so none is drawn."""
        return self.conditionals(context, xt, yt).log_prob(yt.double()).sum(dim=(-2, -1))

    def joint_sample(
        self,
        context: GPContext,
        xt: Inputs,
        n: int,
        *,
        generator: torch.Generator | None = None,
        random_order: bool = False,
    ) -> ProcessDraws:
        """`n` exact draws of all noisy targets; the order they are drawn in cannot matter."""
        mean, root = self._posterior(context, xt)
        noise = torch.randn(n, *mean.shape, generator=generator, dtype=mean.dtype)
        std = root.square().sum(dim=-1, keepdim=True).sqrt().expand_as(mean)
        return ProcessDraws(mean + root @ noise, Gaussian(mean, std))

    def _posterior(self, context: GPContext, xt: Inputs) -> tuple[Tensor, Tensor]:
        """Mean and Cholesky factor of the joint distribution of the noisy targets."""
        cross, left = self._conditioned(context, self._checked(context, xt))
        return cross.mT @ context.white, torch.linalg.cholesky(with_noise(left, self._noise_variance()))

    def _conditioned(self, context: GPContext, x: Inputs) -> tuple[Tensor, Tensor]:
        """Whitened covariance of what was seen with `x`, and what is left of the covariance at `x`."""
        cross = torch.linalg.solve_triangular(context.root, self.kernel(context.x, x), upper=False)
        return cross, self.kernel(x, x) - cross.mT @ cross

    def _noise_variance(self) -> Tensor:
        return torch.as_tensor(self.noise, dtype=torch.float64).square()

    def _checked(self, context: GPContext, x: Inputs) -> Inputs:
        if x.shape[:-2] != context.batch or x.shape[-1] != self.dim_x:
            wanted = ", ".join(map(str, (*context.batch, "points", self.dim_x)))
            raise ShapeError(f"x must be [{wanted}] for this process and context, not {list(x.shape)}.")
        return x.double()


def fit_gp(x: Inputs, y: Outputs, *, family: str = "rbf", steps: int = 200, learning_rate: float = 0.05) -> ExactGP:
    """A Gaussian process whose lengthscales, variance and noise maximise the marginal likelihood of these points.

    By Adam, from lengthscale and variance 1 and noise 0.1. Each task of a batch gets hyperparameters of its own.
    """
    if x.shape[-2] < 1 or steps < 0:
        raise ConfigError(
            f"Fitting needs at least one point and no negative number of steps, not {x.shape[-2]}, {steps}."
        )
    x, y = x.detach().double(), y.detach().double()
    batch, dim_x = x.shape[:-2], x.shape[-1]
    with torch.enable_grad():
        logs = [torch.zeros(*batch, dim_x).double(), torch.zeros(batch).double()]
        logs.append(torch.full(batch, math.log(0.1)).double())
        parameters = [log.requires_grad_() for log in logs]
        optimiser = torch.optim.Adam(parameters, lr=learning_rate)
        for _ in range(steps):
            optimiser.zero_grad()
            gp = _from_logs(family, parameters, y.shape[-1])
            # Tasks share no parameter, so the sum has each one's gradient.
            loss = -gp.joint_log_prob(gp.empty(batch), x, y).sum()
            loss.backward()
            optimiser.step()
    return _from_logs(family, [parameter.detach() for parameter in parameters], y.shape[-1])


def _from_logs(family: str, logs: Sequence[Tensor], dim_y: int) -> ExactGP:
    lengthscale, variance, noise = (log.exp() for log in logs)
    kernel = ARDKernel(family, lengthscale, variance)
    return ExactGP(kernel=kernel, noise=noise + LEAST_NOISE, dim_x=lengthscale.shape[-1], dim_y=dim_y)
