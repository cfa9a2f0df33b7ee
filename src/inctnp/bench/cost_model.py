"""What a row, a question and a draw cost, by counting: multiplications and additions, and bytes read.

Time is then what is fixed, measured on a context of one row, and the bytes of the cache over the rate at which this
machine reads them. That is all: attention does one multiplication and addition per number read, and a processor does
many more than that in the time it takes to read one.
"""

from dataclasses import dataclass

from inctnp.models.config import ModelConfig
from inctnp.models.inc_tnp import IncTNP
from inctnp.predictive.gaussian import outputs_per_token


@dataclass(frozen=True)
class Cost:
    """Counted work."""

    flops: int
    """Two for each multiplication and addition in a matrix product."""
    bytes: int
    """Of keys and values read."""

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.flops + other.flops, self.bytes + other.bytes)

    def seconds(self, fixed: float, bandwidth: float) -> float:
        """Predicted, with what is fixed in seconds and the rate of reading in bytes a second."""
        return fixed + self.bytes / bandwidth


def learn(model: IncTNP, rows: int, storage: str = "exact") -> Cost:
    """One more row after so many: it reads the self-attention's half of the cache."""
    config = model.config
    width = config.width
    layer = 2 * width * 5 * width + 4 * width * (rows + 1) + _after_attention(config)
    return Cost(_embedding(config) + config.layers * layer, rows * model.bytes_per_point(storage) // 2)


def ask(model: IncTNP, rows: int, storage: str = "exact", targets: int = 1) -> Cost:
    """Targets after so many rows: they read the cross-attention's half, once for all of them."""
    config = model.config
    width = config.width
    layer = 2 * width * width + 4 * width * rows + _after_attention(config)
    decoder = 2 * width * (2 * width + outputs_per_token(config.dim_y, config.components))
    flops = _embedding(config) + config.layers * layer + decoder
    return Cost(targets * flops, rows * model.bytes_per_point(storage) // 2)


def draw(model: IncTNP, rows: int, draws: int, targets: int, storage: str = "exact") -> Cost:
    """Paths drawn together: at each target the past is read once for all of them, and each path reads its own rows."""
    total = Cost(0, 0)
    for known in range(targets):
        one = ask(model, rows + known, storage)
        if known:
            one += learn(model, rows + known - 1, storage)
        shared = (1 if known == 0 else 2) * rows * model.bytes_per_point(storage) // 2
        total += Cost(draws * one.flops, shared + draws * known * model.bytes_per_point(storage))
    return total


def _embedding(config: ModelConfig) -> int:
    width, inputs = config.width, config.dim_x + config.dim_y + 1
    return 2 * width * (inputs + 2 * width)


def _after_attention(config: ModelConfig) -> int:
    """The output projection and the MLP."""
    return 2 * config.width * (config.width + 2 * config.feedforward)
