import io
import pickle
import pickletools
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from inctnp.adapters.sklearn import IncTNPRegressor
from inctnp.errors import ConfigError, StateError
from inctnp.pretrained.registry import load
from inctnp.regressor import RegressorSettings, StreamingRegressor
from tests.adapters.conftest import FOLDER

Table = tuple[pd.DataFrame, pd.Series]


def numbers(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3))
    return x, x @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=rows)


@parametrize_with_checks([IncTNPRegressor(FOLDER)])
def test_it_is_an_estimator(estimator: IncTNPRegressor, check: object) -> None:
    check(estimator)  # type: ignore[operator]


def test_predictions_are_those_of_the_streaming_regressor(table: Table) -> None:
    X, y = table
    estimator = IncTNPRegressor(FOLDER, lags=(1, 3)).fit(X[:40], y[:40])
    regressor = StreamingRegressor(load(FOLDER), lags=(1, 3))
    regressor.learn(X[:40].to_dict("records"), y[:40])
    expected = regressor.predict(X[40:].to_dict("records"))
    mean, std = estimator.predict(X[40:], return_std=True)
    np.testing.assert_allclose(mean, expected.mean[:, 0], rtol=1e-6)
    np.testing.assert_allclose(std, expected.stddev[:, 0], rtol=1e-5)
    quantiles = estimator.predict(X[40:], quantiles=[0.05, 0.5, 0.95])
    assert quantiles.shape == (20, 3) and (np.diff(quantiles, axis=1) > 0).all()
    np.testing.assert_allclose(quantiles[:, 2], expected.quantile(0.95)[:, 0], rtol=1e-5)


def test_every_setting_of_the_regressor_is_a_parameter_and_reaches_it() -> None:
    settings = {name: getattr(RegressorSettings(), name) for name in RegressorSettings.__dataclass_fields__}
    params = IncTNPRegressor().get_params()
    assert set(params) == set(settings) - {"seed"} | {"random_state", "joint_draws"}
    different = {name: value for name, value in params.items() if value != settings.get(name, value)}
    assert different == {"lags": (), "scales": None}
    chosen = IncTNPRegressor(FOLDER, max_points=200, recency=True, level=0.5, random_state=3, views=["residual"])
    reached = chosen.fit(*numbers(5)).regressor_.settings
    assert (reached.max_points, reached.recency, reached.level, reached.seed) == (200, True, 0.5, 3)
    assert reached.views == ("residual",)


def test_fit_starts_afresh_and_partial_fit_goes_on(table: Table) -> None:
    X, y = table
    at_once = IncTNPRegressor(FOLDER).fit(X, y)
    in_parts = IncTNPRegressor(FOLDER).partial_fit(X[:25], y[:25]).partial_fit(X[25:], y[25:])
    again = in_parts.__class__(FOLDER).fit(X[:9], y[:9]).fit(X, y)
    for other in (in_parts, again):
        assert len(other.regressor_) == 60
        np.testing.assert_allclose(other.predict(X), at_once.predict(X), rtol=1e-4)


def test_frames_keep_their_names_in_any_order_and_with_missing_values(table: Table) -> None:
    X, y = table
    estimator = IncTNPRegressor(FOLDER).fit(X, y)
    assert list(estimator.feature_names_in_) == ["speed", "line", "at", "on"] and estimator.n_features_in_ == 4
    assert estimator.regressor_.columns.kinds == {"speed": "number", "line": "text", "at": "moment", "on": "number"}
    assert X["speed"].isna().any() and np.isfinite(estimator.predict(X)).all()
    with pytest.raises(ValueError, match="feature names"):
        estimator.predict(X[["line", "speed", "at", "on"]])


def test_nan_is_a_missing_value_in_arrays_too() -> None:
    x, y = numbers(40)
    x[::3, 1] = np.nan
    frame = pd.DataFrame(x, columns=["x0", "x1", "x2"])
    of_array, of_frame = IncTNPRegressor(FOLDER).fit(x, y), IncTNPRegressor(FOLDER).fit(frame, y)
    np.testing.assert_array_equal(of_array.predict(x), of_frame.predict(frame))


def test_the_covariance_has_the_variances_on_its_diagonal_and_follows_joint_draws() -> None:
    x, y = numbers(30)
    estimator = IncTNPRegressor(FOLDER, joint_draws=40).fit(x, y)
    questions = np.concatenate([x[:2], x[:2] + 1e-3])
    _, std = estimator.predict(questions, return_std=True)
    _, covariance = estimator.predict(questions, return_cov=True)
    np.testing.assert_allclose(np.diag(covariance), std**2)
    assert np.linalg.eigvalsh(covariance).min() > -1e-9 * std.max() ** 2
    draws = estimator.sample_y(questions, 40, random_state=0)
    np.testing.assert_allclose(np.corrcoef(draws), covariance / np.outer(std, std), atol=1e-9)


def test_draws_are_joint_and_repeatable() -> None:
    x, y = numbers(20)
    estimator = IncTNPRegressor(FOLDER).fit(x, y)
    assert estimator.sample_y(x[:3], 2).shape == (3, 2)
    one, other, third = (estimator.sample_y(x[:3], 2, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, other)
    assert (one != third).all()


def test_it_works_where_estimators_are_put() -> None:
    x, y = numbers(40)
    assert make_pipeline(StandardScaler(), IncTNPRegressor(FOLDER)).fit(x, y).predict(x).shape == (40,)
    assert cross_val_score(IncTNPRegressor(FOLDER), x, y, cv=3).min() > 0.5
    search = GridSearchCV(IncTNPRegressor(FOLDER), {"blend": [True, False], "max_points": [None]}, cv=2).fit(x, y)
    assert search.best_params_["max_points"] is None
    logarithmic = TransformedTargetRegressor(IncTNPRegressor(FOLDER), func=np.log, inverse_func=np.exp)
    assert (logarithmic.fit(x, np.exp(y)).predict(x) > 0).all()
    both = MultiOutputRegressor(IncTNPRegressor(FOLDER))
    both.partial_fit(x, np.stack([y, -y], axis=1))
    assert both.predict(x).shape == (40, 2)


def test_a_pickle_holds_no_torch_objects_and_predicts_the_same() -> None:
    x, y = numbers(30)
    estimator = IncTNPRegressor(FOLDER).fit(x, y)
    content = pickle.dumps(estimator)
    names = [str(argument) for code, argument, _ in pickletools.genops(content) if "GLOBAL" in code.name or argument]
    assert not any(name.startswith("torch") for name in names)
    file = io.BytesIO()
    joblib.dump(estimator, file)
    file.seek(0)
    for copy in (pickle.loads(content), joblib.load(file)):
        np.testing.assert_array_equal(copy.predict(x), estimator.predict(x))
        more = copy.partial_fit(*numbers(5, seed=1))
        assert len(more.regressor_) == 35 and len(estimator.regressor_) == 30


def test_a_saved_estimator_goes_on_bit_for_bit(table: Table, tmp_path: Path) -> None:
    X, y = table
    estimator = IncTNPRegressor(FOLDER, lags=[2], joint_draws=7).fit(X[:50], y[:50])
    loaded = IncTNPRegressor.load(estimator.save(tmp_path / "plant.safetensors"))
    assert loaded.joint_draws == 7 and list(loaded.feature_names_in_) == list(X.columns)
    for each in (estimator, loaded):
        each.partial_fit(X[50:], y[50:])
    np.testing.assert_array_equal(loaded.predict(X), estimator.predict(X))


def test_a_changed_file_and_another_file_are_refused(tmp_path: Path) -> None:
    estimator = IncTNPRegressor(FOLDER).fit(*numbers(10))
    path = estimator.save(tmp_path / "a")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    (tmp_path / "b").write_bytes(content)
    with pytest.raises(StateError, match="checksum"):
        IncTNPRegressor.load(tmp_path / "b")
    with pytest.raises(StateError, match="inctnp-regressor"):
        IncTNPRegressor.load(estimator.regressor_.save(tmp_path / "c"))
    with pytest.raises(NotFittedError):
        IncTNPRegressor(FOLDER).save(tmp_path / "d")


def test_what_cannot_be_learned_is_refused_and_changes_nothing() -> None:
    x, y = numbers(12)
    estimator = IncTNPRegressor(FOLDER).fit(x, y)
    before, infinite = estimator.predict(x), x.copy()
    infinite[0, 0] = np.inf
    for bad_x, bad_y in ((x, np.full(12, np.nan)), (x[:, :2], y), (scipy.sparse.csr_array(x), y), (infinite, y)):
        with pytest.raises((ValueError, TypeError)):
            estimator.partial_fit(bad_x, bad_y)
    with pytest.raises(ValueError):
        estimator.fit(pd.DataFrame(x, columns=["a", "b", "c"]), np.full(12, np.nan))
    np.testing.assert_array_equal(estimator.predict(x), before)
    with pytest.raises(ConfigError, match="one of"):
        estimator.predict(x, return_std=True, quantiles=[0.5])
    with pytest.raises(ConfigError, match="lags"):
        IncTNPRegressor(FOLDER, lags=(0,)).fit(x, y)
