"""What a model card says, and what it leaves out."""

from inctnp.models.config import ModelConfig
from inctnp.training.card import card

CONFIG = ModelConfig(name="tnp-d", dim_x=3)


def test_what_was_not_measured_is_not_mentioned() -> None:
    text = card(CONFIG, {"recipe": "own", "steps": 3})
    assert "Results" not in text
    assert "None" not in text
    assert "| steps | 3 |" in text


def test_values_stand_as_they_were_measured() -> None:
    held_out = {"log_likelihood": -0.25, "gap": 0.125, "tasks": 64, "seed": 9}
    text = card(CONFIG, {"recipe": "rbf-64", "held_out": held_out, "stored_as": "float16", "change_by_storing": 1e-5})
    for part in ("# rbf-64/tnp-d", "| -0.25 |", "| 0.125 |", "| 64 |", "| float16 |", "| 1e-05 |"):
        assert part in text


def test_only_dense_training_sees_longer_contexts() -> None:
    phases = [{"data": {"source": "GPTasks", "context": [1, 64], "targets": 128}}]
    about = {"settings": {"phases": phases}, "data": ["GPTasks"]}
    assert "up to 127 more" in card(ModelConfig(name="inctnp-seq", dim_x=1), about)
    assert "more)" not in card(CONFIG, about)
    assert "Synthetic functions from 1-D Gaussian processes" in card(CONFIG, about)


def test_a_prior_lifts_the_limit_on_empty_contexts() -> None:
    assert "no learned prior" in card(CONFIG, {})
    assert "no learned prior" not in card(ModelConfig(name="inctnp-prior", dim_x=1), {})
