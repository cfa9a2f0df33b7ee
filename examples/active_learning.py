"""Where to measure next? Where the prediction is least sure. A dozen measurements chosen so, and a dozen by chance."""

import torch

import inctnp
from inctnp.seeding import generator

FUNCTIONS, MEASUREMENTS, NOISE = 40, 12, 0.05


def functions(x: torch.Tensor) -> torch.Tensor:
    """Smooth unknowns, [function, point]: sums of a few waves."""
    rng = generator(0, "active learning")
    frequency = 2.5 * torch.rand(FUNCTIONS, 3, 1, generator=rng)
    phase = 6.3 * torch.rand(FUNCTIONS, 3, 1, generator=rng)
    return (0.7 * torch.sin(frequency * x + phase)).sum(dim=1)


def error(model: inctnp.NeuralProcess, pool: torch.Tensor, truth: torch.Tensor, by_variance: bool) -> float:
    """The root mean square error over the pool once all measurements are taken, over all functions."""
    rng = generator(1, "measurements")
    streams = model.stream(batch=FUNCTIONS)
    every = torch.arange(FUNCTIONS)
    questions = pool.expand(FUNCTIONS, -1).unsqueeze(-1)
    for taken in range(MEASUREMENTS):
        chance = torch.randint(len(pool), (FUNCTIONS,), generator=rng)
        noise = NOISE * torch.randn(FUNCTIONS, generator=rng)
        # Before the first measurement nothing is known, and any place is as good as another.
        sure = by_variance and taken > 0
        place = streams.predict(questions).stddev[..., 0].argmax(dim=1) if sure else chance
        streams.observe(pool[place].unsqueeze(-1), (truth[every, place] + noise).unsqueeze(-1))
    return float((streams.predict(questions).mean[..., 0] - truth).square().mean().sqrt())


def main() -> None:
    """Compare both ways of choosing."""
    model = inctnp.load("rbf-64/inctnp-seq")
    pool = torch.linspace(-2, 2, 81)
    truth = functions(pool)
    print(f"Error after {MEASUREMENTS} measurements, over {FUNCTIONS} functions:")
    print(f"  chosen by variance  {error(model, pool, truth, by_variance=True):.3f}")
    print(f"  chosen by chance    {error(model, pool, truth, by_variance=False):.3f}")


if __name__ == "__main__":
    main()
