"""The public checks over every model, with random sizes, cuts and seeds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inctnp.models.config import NAMES
from inctnp.testing import checks
from inctnp.testing.toy import toy_model

INCREMENTAL = ("inctnp", "inctnp-seq", "inctnp-prior")
MODELS = {name: toy_model(name) for name in NAMES}
MODELS["inctnp, mixture of two outputs"] = toy_model("inctnp", components=2, dim_y=2)
seeds = st.integers(0, 2**31)
batches = st.sampled_from([(), (1,), (3,), (2, 2)])

every = pytest.mark.parametrize("name", MODELS)
incremental = pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("inctnp")])
invariant = pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith("inctnp")])


@every
@given(chunks=st.lists(st.sampled_from([1, 2, 5, 63, 64, 65]), min_size=1, max_size=4), batch=batches, seed=seeds)
@settings(max_examples=4)
def test_how_the_stream_was_cut_does_not_matter(
    name: str, chunks: list[int], batch: tuple[int, ...], seed: int
) -> None:
    checks.check_streaming_equals_batch(MODELS[name], chunks, batch, seed)


@incremental
@given(points=st.integers(2, 12), seed=seeds)
@settings(max_examples=4)
def test_the_past_is_never_changed(name: str, points: int, seed: int) -> None:
    checks.check_prefix_causality(MODELS[name], points, seed)
    checks.check_dense_rows_equal_prefix_predictions(MODELS[name], points, seed)


@invariant
@given(points=st.integers(1, 12), seed=seeds)
@settings(max_examples=4)
def test_order_does_not_matter_where_it_is_promised(name: str, points: int, seed: int) -> None:
    checks.check_permutation_invariance(MODELS[name], points, seed)


@every
@given(points=st.integers(1, 70), seed=seeds)
@settings(max_examples=4)
def test_targets_are_strangers_to_each_other(name: str, points: int, seed: int) -> None:
    checks.check_target_independence(MODELS[name], points, seed)


@every
@given(most=st.sampled_from([1, 3, 40, 140]), batch=st.sampled_from([(), (2,)]), seed=seeds)
@settings(max_examples=4)
def test_owners_of_a_shared_past_are_strangers_too(name: str, most: int, batch: tuple[int, ...], seed: int) -> None:
    checks.check_fork_isolation(MODELS[name], steps=12, most=most, batch=batch, seed=seed)


@every
@given(points=st.integers(1, 80), data=st.data(), seed=seeds)
@settings(max_examples=4)
def test_rolled_back_is_never_seen(name: str, points: int, data: st.DataObject, seed: int) -> None:
    least = 0 if MODELS[name].config.prior else 1
    checks.check_rollback(MODELS[name], points, data.draw(st.integers(least, points)), seed)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "tnp-a"])
@given(points=st.integers(1, 70), draws=st.integers(1, 4), batch=batches, seed=seeds)
@settings(max_examples=4)
def test_the_fast_autoregression_is_the_slow_one(
    name: str, points: int, draws: int, batch: tuple[int, ...], seed: int
) -> None:
    checks.check_joint_density(MODELS[name], points=points, seed=seed)
    checks.check_sampling(MODELS[name], draws=draws, batch=batch, seed=seed)


@every
@given(points=st.integers(1, 70), seed=seeds)
@settings(max_examples=3)
def test_saving_changes_nothing(name: str, points: int, seed: int) -> None:
    checks.check_save_load(MODELS[name], points, seed)
