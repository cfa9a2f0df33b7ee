"""1-D Gaussian-process regression tasks and their exact posterior.  (Alg. 1)"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import ConfigError
from inctnp.generators.base import TaskGenerator, check_range, draw_size
from inctnp.generators.kernels import FAMILIES, Kernel, draw_kernel
from inctnp.task import Outlook, Task

DOMAIN = (-2.0, 2.0)
LOG_2PI = math.log(2 * math.pi)


@dataclass(frozen=True, kw_only=True, eq=False)
class GPTruth:
    """The exact posterior of the Gaussian process a task came from, in float64."""

    kernel: Kernel
    noise: float
    """Standard deviation of the observation noise."""

    def predict(self, task: Task) -> tuple[Float[Tensor, "batch target"], Float[Tensor, "batch target"]]:
        """Mean and standard deviation of every target (noise included) given the context."""
        xc, yc, xt = task.xc.double(), task.yc.double(), task.xt.double()
        root = self._root(xc)
        cross = torch.linalg.solve_triangular(root, self.kernel(xc, xt), upper=False)
        white = torch.linalg.solve_triangular(root, yc, upper=False)
        variance = 1 + self.noise**2 - (cross**2).sum(dim=-2)
        return (cross.mT @ white).squeeze(-1), variance.sqrt()

    def factorised_log_prob(self, task: Task) -> Float[Tensor, "batch target"]:
        mean, std = self.predict(task)
        z = (task.yt.double().squeeze(-1) - mean) / std
        return -0.5 * (z**2 + LOG_2PI) - std.log()

    def joint_log_prob(self, task: Task) -> Float[Tensor, " batch"]:
        """The chain rule, log p(context and targets) - log p(context): no posterior covariance needed."""
        x, y = task.as_sequence()
        return self._marginal(x.double(), y.double()) - self._marginal(task.xc.double(), task.yc.double())

    def _root(self, x: Float[Tensor, "batch point 1"]) -> Float[Tensor, "batch point point"]:
        covariance = self.kernel(x, x)
        covariance.diagonal(dim1=-2, dim2=-1).add_(self.noise**2)
        return torch.linalg.cholesky(covariance)

    def _marginal(
        self, x: Float[Tensor, "batch point 1"], y: Float[Tensor, "batch point 1"]
    ) -> Float[Tensor, " batch"]:
        root = self._root(x)
        white = torch.linalg.solve_triangular(root, y, upper=False).squeeze(-1)
        half_log_det = root.diagonal(dim1=-2, dim2=-1).log().sum(dim=-1)
        return -0.5 * ((white**2).sum(dim=-1) + x.shape[-2] * LOG_2PI) - half_log_det


@dataclass(frozen=True, kw_only=True)
class GPTasks(TaskGenerator):
    """Functions drawn from a zero-mean GP on [-2, 2] and observed with noise."""

    families: tuple[str, ...] = ("rbf",)
    """Kernel families to draw from: names in `kernels.FAMILIES`."""
    lengthscales: tuple[float, float] = (0.25, 1.0)
    """Bounds of the log-uniform lengthscale."""
    context: tuple[int, int] = (1, 64)
    targets: int = 128
    noise: float = 0.1
    shared_kernel: bool = True
    """One kernel for the whole batch, as in the paper; otherwise one per task."""
    outlook: bool = False
    """Whether tasks say what could have come, so that training need not learn it from one draw of each outcome."""

    def __post_init__(self) -> None:
        check_range("context", self.context, least=0)
        unknown = [name for name in self.families if name not in FAMILIES]
        if unknown or not self.families:
            raise ConfigError(f"families {unknown or '()'} unknown: choose from {', '.join(FAMILIES)}.")
        if not 0 < self.lengthscales[0] <= self.lengthscales[1] or self.noise <= 0:
            raise ConfigError("lengthscales must be 0 < low <= high, and noise must be positive.")

    def draw(self, rng: torch.Generator) -> Task:
        kernel = draw_kernel(self.families, self.lengthscales, self.batch_size, self.shared_kernel, rng)
        context = draw_size(self.context, rng)
        points = context + self.targets
        x = torch.empty(self.batch_size, points, 1).uniform_(*DOMAIN, generator=rng)
        truth = GPTruth(kernel=kernel, noise=self.noise)
        white = torch.randn(self.batch_size, points, 1, generator=rng)
        # The noise variance on the diagonal keeps a float32 factor accurate, and double would halve the speed.
        covariance = kernel(x, x)
        covariance.diagonal(dim1=-2, dim2=-1).add_(self.noise**2)
        root = torch.linalg.cholesky(covariance)
        y = root @ white
        xs, ys = x.split([context, self.targets], dim=1), y.split([context, self.targets], dim=1)
        outlook = _outlook(root, white, context) if self.outlook else None
        return Task(xc=xs[0], yc=ys[0], xt=xs[1], yt=ys[1], truth=truth, outlook=outlook)


def _outlook(root: Float[Tensor, "batch point point"], white: Float[Tensor, "batch point 1"], context: int) -> Outlook:
    """Exact conditionals, read off the factor and the noise that made the outcomes.

    Outcome i is row i of the factor times the noise; its terms up to j are known once the outcomes up to j are.
    """
    known, rest = root[:, context:, :context], root[:, context:, context:]
    own = root.diagonal(dim1=-2, dim2=-1).unsqueeze(-1)
    return Outlook(
        mean=known @ white[:, :context],
        std=rest.norm(dim=-1, keepdim=True),
        step_mean=root @ white - own * white,
        step_std=own.contiguous(),
    )
