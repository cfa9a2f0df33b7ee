"""Streams whose process changes under way: the change-surface Gaussian process.  (Appendix I)

The paper's kernel, (1 - ω(t)) (1 - ω(t')) k1 + ω(t) ω(t') k2 with ω a sigmoid of the step t, is the covariance of

    f(x, t) = (1 - ω(t)) f1(x) + ω(t) f2(x),        f1 ~ GP(k1), f2 ~ GP(k2) independent,

so a draw is two ordinary functions, mixed. Observation t of a stream is made at step t, the first at t = 1. What is
asked after t observations is the function *as it stands at step t*: the same target places at every step, their values
moving with ω(t), each time with fresh noise.

Models are scored one target at a time, so the optimum to compare with is `factorised_log_prob`; the joint one is a
different, higher number and is only ever called joint.
"""

import math
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import ConfigError, DataError
from inctnp.generators.base import TaskGenerator, check_range, draw_size, one_thread
from inctnp.generators.gp import DOMAIN, LOG_2PI
from inctnp.generators.kernels import FAMILIES, Kernel, draw_kernel
from inctnp.seeding import generator
from inctnp.task import Task

EPSILON = 1e-6
"""ε: keeps an abrupt shift (τ = 0) from dividing by zero."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ChangeSurface:
    """How far the process has moved from `before` to `after` at each step."""

    before: Kernel
    after: Kernel
    centre: float
    """t0: the step at which both weigh the same."""
    temperature: float
    """τ: 0 is a jump."""

    def omega(self, step: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
        return torch.sigmoid((step.double() - self.centre) / (self.temperature + EPSILON))

    def covariance(
        self,
        x1: Float[Tensor, "batch row 1"],
        step1: Float[Tensor, " row"],
        x2: Float[Tensor, "batch column 1"],
        step2: Float[Tensor, " column"],
    ) -> Float[Tensor, "batch row column"]:
        """k_cs between places and the steps they belong to."""
        w1, w2 = self.omega(step1)[:, None], self.omega(step2)
        return (1 - w1) * (1 - w2) * self.before(x1, x2) + w1 * w2 * self.after(x1, x2)


@dataclass(frozen=True, kw_only=True, eq=False)
class ShiftTruth:
    """The exact posterior at one step of a stream, in float64, by someone who knows both kernels and the shift."""

    surface: ChangeSurface
    noise: float
    stream: Float[Tensor, "batch point 1"]
    """The inputs in the order they were seen: a point's place in the stream is its step."""
    step: int
    """When the targets are asked."""

    def posterior(self, task: Task) -> tuple[Float[Tensor, "batch target"], Float[Tensor, "batch target target"]]:
        """Mean and covariance of all targets (noise included) given the context."""
        self._check(task)
        xc, yc, xt = task.xc.double(), task.yc.double(), task.xt.double()
        seen, asked = _steps(xc.shape[-2]), torch.full(xt.shape[-2:-1], float(self.step))
        prior = self.surface.covariance(xc, seen, xc, seen)
        prior.diagonal(dim1=-2, dim2=-1).add_(self.noise**2)
        root = torch.linalg.cholesky(prior)
        cross = torch.linalg.solve_triangular(root, self.surface.covariance(xc, seen, xt, asked), upper=False)
        white = torch.linalg.solve_triangular(root, yc, upper=False)
        covariance = self.surface.covariance(xt, asked, xt, asked) - cross.mT @ cross
        covariance.diagonal(dim1=-2, dim2=-1).add_(self.noise**2)
        return (cross.mT @ white).squeeze(-1), covariance

    def factorised_log_prob(self, task: Task) -> Float[Tensor, "batch target"]:
        mean, covariance = self.posterior(task)
        variance = covariance.diagonal(dim1=-2, dim2=-1)
        return _normal_log_prob(task.yt.double().squeeze(-1), mean, variance)

    def joint_log_prob(self, task: Task) -> Float[Tensor, " batch"]:
        mean, covariance = self.posterior(task)
        root = torch.linalg.cholesky(covariance)
        residual = task.yt.double() - mean.unsqueeze(-1)
        white = torch.linalg.solve_triangular(root, residual, upper=False).squeeze(-1)
        half_log_det = root.diagonal(dim1=-2, dim2=-1).log().sum(dim=-1)
        return -0.5 * ((white**2).sum(dim=-1) + white.shape[-1] * LOG_2PI) - half_log_det

    def _check(self, task: Task) -> None:
        known = self.stream[:, : task.xc.shape[-2]]
        # A permuted context would silently be given the wrong steps.
        if known.shape != task.xc.shape or not torch.equal(known.double(), task.xc.double()):
            raise DataError(
                "The context is not a prefix of the stream this truth belongs to, and a point's step is its place "
                "in the stream. Use ShiftStream.at or Task.prefix, and do not permute the context."
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class ShiftStream:
    """Whole streams, with what is asked after every one of their steps.

    >>> stream = ShiftTasks(batch_size=2, context=(30, 30), targets=5).stream(0)
    >>> stream.at(7).xc.shape, stream.factorised_log_prob().shape
    (torch.Size([2, 7, 1]), torch.Size([2, 31, 5]))
    """

    surface: ChangeSurface
    noise: float
    x: Float[Tensor, "batch point 1"]
    y: Float[Tensor, "batch point 1"]
    xt: Float[Tensor, "batch target 1"]
    yt: Float[Tensor, "batch step target"]
    """Row t is observed at step t, from 0 to the number of points."""

    @property
    def points(self) -> int:
        return self.x.shape[-2]

    def at(self, step: int) -> Task:
        """What has been seen after `step` observations, and what is asked then."""
        if not 0 <= step <= self.points:
            raise ConfigError(f"step must be between 0 and the {self.points} points of the stream, not {step}.")
        truth = ShiftTruth(surface=self.surface, noise=self.noise, stream=self.x, step=step)
        yt = self.yt[:, step].unsqueeze(-1)
        return Task(xc=self.x[:, :step], yc=self.y[:, :step], xt=self.xt, yt=yt, truth=truth)

    def factorised_log_prob(self) -> Float[Tensor, "batch step target"]:
        """The optimum at every step 0..points, from one factorisation.

        The leading rows of a Cholesky factor are the factor of the leading points, so each step adds one term to
        running sums: the whole stream costs what its last step costs.
        """
        x, xt, seen = self.x.double(), self.xt.double(), _steps(self.points)
        prior = self.surface.covariance(x, seen, x, seen)
        prior.diagonal(dim1=-2, dim2=-1).add_(self.noise**2)
        w = self.surface.omega(seen)[:, None]
        sides = [(1 - w) * self.surface.before(x, xt), w * self.surface.after(x, xt), self.y.double()]
        white = torch.linalg.solve_triangular(torch.linalg.cholesky(prior), torch.cat(sides, dim=-1), upper=False)
        a, b, z = white.split([xt.shape[-2], xt.shape[-2], 1], dim=-1)
        new = self.surface.omega(_steps(self.points, first=0))[:, None]
        old = 1 - new
        mean = old * _running(a * z) + new * _running(b * z)
        explained = old**2 * _running(a * a) + 2 * old * new * _running(a * b) + new**2 * _running(b * b)
        variance = old**2 + new**2 + self.noise**2 - explained
        return _normal_log_prob(self.yt.double(), mean, variance)

    def joint_log_prob(self) -> Float[Tensor, "batch step"]:
        """The optimum of all targets of a step together, step by step."""
        tasks = [self.at(step) for step in range(self.points + 1)]
        return torch.stack([task.truth.joint_log_prob(task) for task in tasks if task.truth], dim=-1)


@dataclass(frozen=True, kw_only=True)
class ShiftTasks(TaskGenerator):
    """Functions that turn, around step `centre`, into others of the same kernel family.

    `batch` gives whole streams with the targets of their last step; `stream` gives every step.
    """

    families: tuple[str, ...] = ("rbf",)
    """Kernel families to draw from; both kernels of a stream share theirs."""
    lengthscales: tuple[float, float] = (0.25, 1.0)
    """Bounds of the log-uniform lengthscales, drawn separately before and after."""
    context: tuple[int, int] = (64, 64)
    """Length of the stream."""
    targets: int = 128
    centre: float = 20.0
    """t0."""
    temperature: float = 10.0
    """τ: the paper uses 0, 5, 10, 15 and 20."""
    noise: float = 0.1
    shared_kernels: bool = False
    """One pair of kernels for the whole batch; otherwise one per task, which averages better."""

    def __post_init__(self) -> None:
        check_range("context", self.context, least=1)
        unknown = [name for name in self.families if name not in FAMILIES]
        if unknown or not self.families:
            raise ConfigError(f"families {unknown or '()'} unknown: choose from {', '.join(FAMILIES)}.")
        if not 0 < self.lengthscales[0] <= self.lengthscales[1] or self.noise <= 0 or self.targets < 1:
            raise ConfigError("lengthscales must be 0 < low <= high, and noise and targets must be positive.")
        if self.temperature < 0 or not math.isfinite(self.temperature):
            raise ConfigError(f"temperature must be 0 (a jump) or positive, not {self.temperature}.")

    def draw(self, rng: torch.Generator) -> Task:
        stream = self._draw_stream(rng)
        return stream.at(stream.points)

    def stream(self, step: int) -> ShiftStream:
        """The streams of batch number `step`, with every step's targets."""
        with one_thread():
            return self._draw_stream(generator(self.seed, type(self).__name__, step))

    def _draw_stream(self, rng: torch.Generator) -> ShiftStream:
        before = draw_kernel(self.families, self.lengthscales, self.batch_size, self.shared_kernels, rng)
        other = draw_kernel(self.families, self.lengthscales, self.batch_size, self.shared_kernels, rng)
        after = replace(before, lengthscale=other.lengthscale)
        surface = ChangeSurface(before=before, after=after, centre=self.centre, temperature=self.temperature)
        points = draw_size(self.context, rng)
        x = torch.empty(self.batch_size, points + self.targets, 1).uniform_(*DOMAIN, generator=rng)
        f1, f2 = (_draw_function(kernel, x, rng) for kernel in (before, after))
        w = surface.omega(_steps(points))
        y = (1 - w) * f1[:, :points] + w * f2[:, :points]
        y = y + self.noise * torch.randn(y.shape, generator=rng)
        w = surface.omega(_steps(points, first=0))[:, None]
        yt = (1 - w) * f1[:, None, points:] + w * f2[:, None, points:]
        yt = yt + self.noise * torch.randn(yt.shape, generator=rng)
        return ShiftStream(
            surface=surface,
            noise=self.noise,
            x=x[:, :points],
            y=y.float().unsqueeze(-1),
            xt=x[:, points:],
            yt=yt.float(),
        )


def _steps(last: int, first: int = 1) -> Float[Tensor, " step"]:
    return torch.arange(first, last + 1, dtype=torch.float64)


def _running(terms: Float[Tensor, "batch point target"]) -> Float[Tensor, "batch step target"]:
    """Sums over the first 0, 1, 2, ... points."""
    return torch.nn.functional.pad(terms.cumsum(dim=-2), (0, 0, 1, 0))


def _normal_log_prob(y: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
    return -0.5 * ((y - mean) ** 2 / variance + LOG_2PI + variance.log())


def _draw_function(
    kernel: Kernel, x: Float[Tensor, "batch point 1"], rng: torch.Generator
) -> Float[Tensor, "batch point"]:
    """A function without noise; the jitter is a thousandth of the noise and float64 needs no more."""
    covariance = kernel(x.double(), x.double())
    covariance.diagonal(dim1=-2, dim2=-1).add_(1e-8)
    white = torch.randn(x.shape, generator=rng, dtype=torch.float64)
    return (torch.linalg.cholesky(covariance) @ white).squeeze(-1)
