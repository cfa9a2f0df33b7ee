"""What would happen if? A fork of the stream is asked, and the stream itself never notices.

A tank is filled by a pump that somebody sets every hour. Two plans for the next six hours are compared by joint draws
of the levels, which follow one another as real levels would.
"""

import numpy as np
import torch

from inctnp import StreamingRegressor

HOURS, AHEAD, DRAWS, LIMIT = 240, 6, 40, 75.0
PLANS = {"half speed": [0.5] * AHEAD, "full speed": [1.0] * AHEAD}


def history() -> tuple[list[dict[str, float]], list[float]]:
    """The level gains by the pump, loses by use, and use varies."""
    rng = np.random.default_rng(2)
    level, rows, levels = 50.0, [], []
    for i in range(HOURS):
        pump = float(rng.choice([0.2, 0.5, 0.8, 1.0]))
        level += 8 * (pump - 0.5) - 0.15 * (level - 50) + rng.normal()
        rows.append({"pump": pump, "hour": float(i % 24)})
        levels.append(level)
    return rows, levels


def main() -> None:
    """Learn what happened, then ask about both plans."""
    rows, levels = history()
    regressor = StreamingRegressor("tabular", lags=(1, 2))
    regressor.learn(rows, levels)
    print(f"The level is {levels[-1]:.1f} now.")
    for name, speeds in PLANS.items():
        plan = [{"pump": speed, "hour": float((HOURS + i) % 24)} for i, speed in enumerate(speeds)]
        joint = regressor.sample(plan, DRAWS, generator=torch.Generator().manual_seed(0))
        paths = joint.draws[..., 0]
        above = (paths.amax(dim=1) > LIMIT).double().mean().item()
        print(f"{name}: {joint.mean[-1].item():.1f} after {AHEAD} hours, above {LIMIT:.0f} at some time: {above:.0%}")
    fork = regressor.fork()
    fork.step({"pump": 1.0, "hour": 0.0}, 90.0)
    print(f"A fork was told of an overflow: it has learned {len(fork)} rows, the stream {len(regressor)}.")


if __name__ == "__main__":
    main()
