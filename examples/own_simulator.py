"""Train a small model on a simulator of your own: it then knows its family of curves before it sees one of them.

Seconds show how; `inctnp train` and docs/training.md are for models that are to be used.
"""

from dataclasses import dataclass

import torch

import inctnp
from inctnp.generators.base import TaskGenerator, draw_size
from inctnp.task import Task

STEPS, RATE = 150, 3e-3


@dataclass(frozen=True, kw_only=True)
class SwingTasks(TaskGenerator):
    """Swings that die away: unknown frequency, phase, damping and noise."""

    targets: int = 24

    def draw(self, rng: torch.Generator) -> Task:
        """Points of each swing, the first of them the context."""
        context = draw_size((1, 24), rng)
        time = 4 * torch.rand(self.batch_size, context + self.targets, 1, generator=rng)
        frequency, damping, phase, noise = torch.rand(4, self.batch_size, 1, 1, generator=rng)
        y = (-damping * time).exp() * torch.sin((2 + 3 * frequency) * time + 6.3 * phase)
        y = y + (0.02 + 0.1 * noise) * torch.randn(y.shape, generator=rng)
        x = time / 2 - 1
        return Task(xc=x[:, :context], yc=y[:, :context], xt=x[:, context:], yt=y[:, context:])


def held_out(model: inctnp.NeuralProcess) -> float:
    """Mean log-density of points of new swings, each predicted from its context."""
    scores = []
    for step in range(20):
        task = SwingTasks(seed=1_000_003).batch(step)
        with torch.no_grad():
            predicted = model.query(model.extend(model.empty(task.batch), task.xc, task.yc), task.xt)
        scores.append(predicted.log_prob(task.yt).mean())
    return float(torch.stack(scores).mean())


def main() -> None:
    """Train, and compare before and after on swings that were not trained on."""
    torch.manual_seed(0)
    config = inctnp.ModelConfig(name="inctnp-seq", dim_x=1, width=64, heads=4, layers=2, std_min=0.01)
    model = inctnp.build(config)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=STEPS)
    print(f"untrained  {held_out(model):+.2f} nats a point")
    for step in range(STEPS):
        loss = model.objective(SwingTasks().batch(step))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimiser.step()
        schedule.step()
    print(f"trained    {held_out(model.eval()):+.2f} nats a point after {STEPS} steps")
    stream = model.stream()
    stream.observe([[-1.0], [-0.8], [-0.5]], [0.0, 0.6, 0.7])
    print(
        f"a new swing, half-way: {stream.predict([0.0]).mean.item():+.2f} ± {stream.predict([0.0]).stddev.item():.2f}"
    )


if __name__ == "__main__":
    main()
