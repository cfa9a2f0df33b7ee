"""WISKI: a Gaussian process on a grid that learns its hyperparameters while it streams.  (Stanton et al., 2021)

The first points are kept until there are enough to pretrain on. From then on a point changes the hyperparameters by one
step of Adam on the marginal likelihood of all data seen, and is then folded into statistics of fixed size. With a stem,
points keep the weights they had when they were folded in, and the stem learns from the newest point alone.

Because every point moves the hyperparameters, predictions depend on the order of the stream.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.baselines.adam import Moments, Parameters, adam_step, no_moments
from inctnp.baselines.covariance import ARDKernel
from inctnp.baselines.draws import ProcessDraws
from inctnp.baselines.grid import Grid
from inctnp.baselines.ski import GridPosterior, Statistics, condition, no_statistics
from inctnp.baselines.stem import Normalisation, apply_stem, initial_stem, measure
from inctnp.errors import ConfigError, ShapeError
from inctnp.notation import Inputs, Outputs
from inctnp.predictive.gaussian import Gaussian
from inctnp.predictive.mixture import mixture_over_first_axis

LEAST_NOISE = 1e-4
"""Added to every noise variance."""


@dataclass(frozen=True, kw_only=True)
class WISKIConfig:
    """Settings of WISKI; the defaults are the paper's for 1-D Gaussian processes."""

    dim_x: int = 1
    family: str = "rbf"
    """Kernel on the grid; for 1-D tasks that of the true process."""
    grid: int = 32
    """Inducing points along each dimension."""
    bounds: tuple[float, float] = (-2.0, 2.0)
    """What the grid covers; inputs outside are moved to the bound."""
    interpolation: str = "cubic"
    stem: int = 0
    """Dimensions the learned stem projects to; 0 puts the inputs on the grid as they are."""
    pretrain_points: int = 20
    """N_init: points kept and learned from together before streaming begins."""
    pretrain_epochs: int = 200
    learning_rate: float = 5e-2
    """Of the kernel and the noise in pretraining; a tenth of it while streaming."""
    stem_rate: float = 0.1
    """Learning rate of the stem, relative to that of the kernel."""
    stream_rate: float = 0.1
    """Learning rates while streaming, relative to those of pretraining; 0 freezes what was learned."""
    seed: int = 0
    """Of the first projection of the stem."""

    def __post_init__(self) -> None:
        if self.pretrain_points < 1 or self.pretrain_epochs < 0 or self.stem < 0 or self.dim_x < 1:
            raise ConfigError("pretrain_points and dim_x must be at least 1, pretrain_epochs and stem not negative.")
        if min(self.learning_rate, self.stem_rate, self.stream_rate) < 0:
            raise ConfigError("Learning rates cannot be negative.")
        if self.stem and self.bounds != (-1.0, 1.0):
            raise ConfigError(
                f"A stem maps into (-1, 1), so the bounds of the grid must be (-1.0, 1.0), not {self.bounds}."
            )

    @property
    def dims(self) -> int:
        """Dimensions of the grid."""
        return self.stem or self.dim_x

    def rates(self, stage: float) -> dict[str, float]:
        """The learning rate of each parameter, `stage` times that of pretraining."""
        kernel = stage * self.learning_rate
        rates = dict.fromkeys(("log_lengthscale", "log_variance", "log_noise"), kernel)
        if self.stem:
            rates |= dict.fromkeys(("stem_weight", "stem_gain", "stem_shift"), kernel * self.stem_rate)
        return rates


def tabular_config(dim_x: int, rows: int, learning_rate: float = 1e-2) -> WISKIConfig:
    """The paper's settings for a table of so many rows: a stem to 2-D, a 16 × 16 grid, pretraining on 5 %.

    The paper uses a learning rate of 5e-2 for Powerplant and Skillcraft.

    >>> tabular_config(dim_x=7, rows=1000).pretrain_points
    50
    """
    early = max(2, math.ceil(0.05 * rows))
    return WISKIConfig(
        dim_x=dim_x, grid=16, bounds=(-1.0, 1.0), stem=2, pretrain_points=early, learning_rate=learning_rate
    )


@dataclass(frozen=True, eq=False)
class WISKIContext:
    """Hyperparameters and how they are moving, the statistics of the data, and the first points until pretraining."""

    parameters: Parameters
    moments: Moments
    normalisation: Normalisation
    statistics: Statistics
    early_x: Inputs
    early_y: Outputs

    @property
    def batch(self) -> torch.Size:
        return self.early_x.shape[:-2]

    def __len__(self) -> int:
        return self.statistics.count + self.early_x.shape[-2]

    def repeated(self, draws: int) -> "WISKIContext":
        """The same past for each of several continuations, on a first axis of the batch."""

        def expand(tensor: Tensor) -> Tensor:
            return tensor.expand(draws, *tensor.shape)

        def expand_all(tensors: Parameters) -> Parameters:
            return {name: expand(tensor) for name, tensor in tensors.items()}

        seen = self.statistics
        return WISKIContext(
            expand_all(self.parameters),
            Moments(expand_all(self.moments.first), expand_all(self.moments.second), self.moments.steps),
            self.normalisation,
            Statistics(expand(seen.gram), expand(seen.moment), expand(seen.square), seen.count),
            expand(self.early_x),
            expand(self.early_y),
        )

    @property
    def nbytes(self) -> int:
        maps: tuple[Mapping[str, Tensor], ...] = (self.parameters, self.moments.first, self.moments.second)
        learned = sum(tensor.nbytes for tensors in maps for tensor in tensors.values())
        return learned + self.statistics.nbytes + self.early_x.nbytes + self.early_y.nbytes


class WISKI:
    """Woodbury inversion with structured kernel interpolation, behind the contract of the models, in float64.

    >>> model = WISKI(WISKIConfig(pretrain_points=4, pretrain_epochs=5))
    >>> context = model.extend(model.empty(), torch.rand(6, 1), torch.rand(6, 1))
    >>> len(context), context.statistics.count, model.query(context, torch.rand(3, 1)).mean.shape
    (6, 6, torch.Size([3, 1]))
    """

    def __init__(self, config: WISKIConfig) -> None:
        self.config = config
        self.grid = Grid(size=config.grid, dims=config.dims, bounds=config.bounds, interpolation=config.interpolation)
        self._places = self.grid.points()

    def empty(self, batch: int | Sequence[int] = ()) -> WISKIContext:
        """The prior with the initial hyperparameters."""
        shape = torch.Size((batch,) if isinstance(batch, int) else batch)
        zeros = torch.zeros(*shape, 0, self.config.dim_x, dtype=torch.float64)
        parameters = {
            "log_lengthscale": zeros.new_full((*shape, self.config.dims), math.log(0.5)),
            "log_variance": zeros.new_zeros(shape),
            "log_noise": zeros.new_full(shape, math.log(0.1)),
        }
        if self.config.stem:
            parameters |= initial_stem(shape, self.config.dim_x, self.config.stem, self.config.seed)
        unit = Normalisation(zeros.new_zeros(()), zeros.new_ones(()))
        return WISKIContext(
            parameters, no_moments(parameters), unit, no_statistics(shape, self.grid.count), zeros, zeros[..., :1]
        )

    def extend(self, context: WISKIContext, x: Inputs, y: Outputs) -> WISKIContext:
        """The context after these points, one after the other."""
        x, y = self._checked(context, x), y.double()
        if context.statistics.count == 0:
            missing = self.config.pretrain_points - len(context)
            early_x = torch.cat([context.early_x, x[..., :missing, :]], dim=-2)
            early_y = torch.cat([context.early_y, y[..., :missing, :]], dim=-2)
            context = replace(context, early_x=early_x, early_y=early_y)
            x, y = x[..., missing:, :], y[..., missing:, :]
            if len(context) == self.config.pretrain_points:
                context = self._pretrained(context)
        for i in range(x.shape[-2]):
            context = self._streamed(context, x[..., i : i + 1, :], y[..., i : i + 1, :])
        return context

    def query(self, context: WISKIContext, xt: Inputs) -> Gaussian:
        """Each noisy target on its own, under the hyperparameters of this moment."""
        posterior, weights = self._asked(context, xt)
        return posterior.predict(weights)

    def conditionals(self, context: WISKIContext, xt: Inputs, yt: Outputs) -> Gaussian:
        """Predict, observe the true target, learn, go on: what a stream would have predicted."""
        means: list[Tensor] = []
        stds: list[Tensor] = []
        for i in range(xt.shape[-2]):
            point = xt[..., i : i + 1, :]
            predicted = self.query(context, point)
            means.append(predicted.mean)
            stds.append(predicted.stddev)
            if i + 1 < xt.shape[-2]:
                context = self.extend(context, point, yt[..., i : i + 1, :])
        return Gaussian(torch.cat(means, dim=-2), torch.cat(stds, dim=-2))

    def joint_log_prob(
        self,
        context: WISKIContext,
        xt: Inputs,
        yt: Outputs,
        *,
        orders: int = 0,
        generator: torch.Generator | None = None,
    ) -> Float[Tensor, "*batch"]:
        """Density of the targets streamed in the order given, hyperparameters moving along."""
        if orders:
            raise ConfigError("WISKI scores one order of the targets: permute them and average the densities yourself.")
        return self.conditionals(context, xt, yt).log_prob(yt.double()).sum(dim=(-2, -1))

    def joint_sample(
        self, context: WISKIContext, xt: Inputs, n: int, *, generator: torch.Generator | None = None
    ) -> ProcessDraws:
        """`n` streams continued with what they predict: each learns from its own draws as it would from data."""
        context, xt = context.repeated(n), xt.expand(n, *xt.shape)
        values: list[Tensor] = []
        stds: list[Tensor] = []
        means: list[Tensor] = []
        for i in range(xt.shape[-2]):
            point = xt[..., i : i + 1, :]
            if i:
                context = self.extend(context, xt[..., i - 1 : i, :], values[-1])
            predicted = self.query(context, point)
            means.append(predicted.mean)
            stds.append(predicted.stddev)
            values.append(predicted.sample(generator))
        each = Gaussian(torch.cat(means, dim=-2), torch.cat(stds, dim=-2))
        return ProcessDraws(torch.cat(values, dim=-2), mixture_over_first_axis(each))

    def posterior(self, context: WISKIContext) -> GridPosterior:
        """What is known of the function on the grid."""
        statistics = context.statistics
        if context.early_x.shape[-2]:
            x, y = context.early_x, context.early_y
            normalisation = self._measured(context.parameters, x)
            statistics = statistics.add(self._weights(context.parameters, normalisation, x), y)
        return self._condition(context.parameters, statistics)

    def _pretrained(self, context: WISKIContext) -> WISKIContext:
        x, y = context.early_x, context.early_y

        def loss(parameters: Parameters) -> Tensor:
            weights = self._weights(parameters, self._measured(parameters, x), x)
            return self._loss(parameters, context.statistics.add(weights, y))

        parameters, moments = context.parameters, context.moments
        for _ in range(self.config.pretrain_epochs):
            parameters, moments = adam_step(loss, parameters, moments, self.config.rates(1.0))
        normalisation = self._measured(parameters, x)
        statistics = context.statistics.add(self._weights(parameters, normalisation, x), y)
        return WISKIContext(parameters, no_moments(parameters), normalisation, statistics, x[..., :0, :], y[..., :0, :])

    def _streamed(self, context: WISKIContext, x: Inputs, y: Outputs) -> WISKIContext:
        """One step of Adam with the new point, then the point becomes part of the statistics."""

        def loss(parameters: Parameters) -> Tensor:
            weights = self._weights(parameters, context.normalisation, x)
            return self._loss(parameters, context.statistics.add(weights, y))

        parameters, moments = context.parameters, context.moments
        if self.config.stream_rate > 0:
            parameters, moments = adam_step(loss, parameters, moments, self.config.rates(self.config.stream_rate))
        statistics = context.statistics.add(self._weights(parameters, context.normalisation, x), y)
        return replace(context, parameters=parameters, moments=moments, statistics=statistics)

    def _loss(self, parameters: Parameters, statistics: Statistics) -> Tensor:
        # Tasks of a batch share no parameter, so the sum gives each its own gradient.
        return -self._condition(parameters, statistics).log_marginal().sum() / statistics.count

    def _condition(self, parameters: Parameters, statistics: Statistics) -> GridPosterior:
        kernel = ARDKernel(self.config.family, parameters["log_lengthscale"].exp(), parameters["log_variance"].exp())
        places = self._places.expand(*parameters["log_variance"].shape, *self._places.shape)
        return condition(statistics, kernel(places, places), LEAST_NOISE + parameters["log_noise"].exp())

    def _asked(self, context: WISKIContext, xt: Inputs) -> tuple[GridPosterior, Tensor]:
        xt = self._checked(context, xt)
        early = context.early_x
        normalisation = self._measured(context.parameters, early) if early.shape[-2] else context.normalisation
        return self.posterior(context), self._weights(context.parameters, normalisation, xt)

    def _measured(self, parameters: Parameters, x: Inputs) -> Normalisation:
        return measure(parameters, x) if self.config.stem else Normalisation(x.new_zeros(()), x.new_ones(()))

    def _weights(self, parameters: Parameters, normalisation: Normalisation, x: Inputs) -> Tensor:
        return self.grid.weights(apply_stem(parameters, normalisation, x) if self.config.stem else x)

    def _checked(self, context: WISKIContext, x: Inputs) -> Inputs:
        if x.shape[:-2] != context.batch or x.shape[-1] != self.config.dim_x:
            wanted = ", ".join(map(str, (*context.batch, "points", self.config.dim_x)))
            raise ShapeError(f"x must be [{wanted}] for this model and context, not {list(x.shape)}.")
        return x.double()
