"""What a run may measure of itself."""

import pytest

from inctnp.metrics.gradient_noise import gradient_noise
from inctnp.models.build import build
from inctnp.training.measurements import GNSR_SEED, gnsr
from inctnp.training.overrides import override
from tests.training.conftest import tiny


def test_gnsr_uses_batches_that_are_never_trained_on() -> None:
    chosen, model = tiny(), build(tiny().model)
    source = override(chosen, [f"phases.0.data.seed={GNSR_SEED}"]).phases[0].data
    expected = gradient_noise(model, [source.batch(i) for i in range(3)]).ratio
    measured = gnsr(chosen, every=5, batches=3)
    assert (measured.name, measured.every) == ("gnsr", 5)
    assert measured.take(model) == pytest.approx(expected)
