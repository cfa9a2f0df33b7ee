import numpy as np

from inctnp.quality.preparation import CLIP, RunningScale, SameFeatures, WindowScale
from inctnp.regressor import StreamingRegressor
from inctnp.testing.toy import toy_model
from tests.regressor.conftest import make_stream


def test_rivals_see_the_features_that_our_regressor_sees() -> None:
    rows, y = make_stream(60)
    regressor = StreamingRegressor(toy_model("inctnp-seq", dim_x=20, layers=1, prior=True), lags=(1, 3))
    regressor.learn(rows, y)
    ours = regressor.state()["learner"]["history"]["parts"]["features"][:, 1:]
    features = SameFeatures((1, 3))
    for i, (row, outcome) in enumerate(zip(rows, y, strict=True)):
        theirs = features.of(row)
        features.learn(outcome)
        # What means nothing yet, such as the phase of a year after a day, is hidden from rivals as it is from us.
        shown = ~np.isnan(theirs)
        np.testing.assert_array_equal(theirs[shown], ours[i][: len(theirs)][shown])
    assert shown.sum() >= 8


def test_running_scales_are_those_of_the_rows_so_far() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_t(2, size=(80, 3)) * [1.0, 100.0, 0.0] + 5
    rows[rng.random(rows.shape) < 0.1] = np.nan
    rows[0] = 5.0
    scale = RunningScale()
    for i, row in enumerate(rows):
        scaled = scale.take(row)
        so_far = rows[: i + 1]
        deviation = np.nanstd(so_far, axis=0)
        expected = np.where(deviation > 1e-12, (row - np.nanmean(so_far, axis=0)) / np.maximum(deviation, 1e-12), 0.0)
        np.testing.assert_allclose(scaled, np.clip(np.nan_to_num(expected), -CLIP, CLIP), atol=1e-9)
    window = WindowScale.of(rows)
    np.testing.assert_allclose(window.apply(rows[-1:])[0], scaled, atol=1e-9)
