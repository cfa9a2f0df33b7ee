"""Our models, with the weights of the published code, against what that code answered."""

import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import inctnp
from inctnp.models.base import NeuralProcess
from inctnp.task import Task

FIXTURES = Path(os.environ.get("INCTNP_FIXTURES", Path(__file__).parents[3] / "shared" / "fixtures"))
NAMES = {"CNP": "cnp", "TNP-D": "tnp-d", "incTNP": "inctnp", "incTNP-Seq": "inctnp-seq"}

pytestmark = pytest.mark.skipif(not FIXTURES.is_dir(), reason=f"the parity fixtures are not in {FIXTURES}")


@pytest.fixture(params=NAMES)
def case(request: pytest.FixtureRequest) -> tuple[NeuralProcess, dict[str, torch.Tensor], str]:
    path = FIXTURES / f"{request.param}.safetensors"
    return inctnp.load_published(path, prefix="sd."), load_file(path), request.param


def close(actual: torch.Tensor, expected: torch.Tensor, tolerance: float = 1e-5) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)


def test_the_kind_of_model_is_read_off_the_file(case) -> None:
    model, _, name = case
    assert model.config.name == NAMES[name]
    assert not model.training and model.dtype == torch.float32


def test_predictions_in_float32(case) -> None:
    model, f, _ = case
    p = model.query(model.extend(model.empty(2), f["xc"], f["yc"]), f["xt"])
    close(p.mean, f["mean"])
    close(p.stddev, f["std"])
    torch.testing.assert_close(p.log_prob(f["yt"]).sum((-2, -1)), f["logprob_sum"], rtol=2e-5, atol=0)


def test_predictions_in_float64(case) -> None:
    model, f, _ = case
    model.double()
    p = model.query(model.extend(model.empty(2), f["xc"].double(), f["yc"].double()), f["xt"].double())
    close(p.mean, f["mean64"], 1e-9)
    close(p.stddev, f["std64"], 1e-9)


@pytest.mark.parametrize("name", ["incTNP", "incTNP-Seq"])
def test_every_prefix_of_a_stream(name: str) -> None:
    path = FIXTURES / f"{name}.safetensors"
    model, f = inctnp.load_published(path, prefix="sd."), load_file(path)
    context = model.empty(2)
    with torch.no_grad():
        for i in range(f["xc"].shape[1]):
            context = model.extend(context, f["xc"][:, i : i + 1], f["yc"][:, i : i + 1])
            p = model.query(context, f["xt"])
            close(p.mean, f["stream_prefix_mean"][i])
            close(p.stddev, f["stream_prefix_std"][i])


def test_autoregressive_density(case) -> None:
    model, f, _ = case
    context = model.extend(model.empty(2), f["xc"], f["yc"])
    p = model.conditionals(context, f["xt"], f["yt"])
    close(p.mean, f["ar_tf_mean"])
    close(p.stddev, f["ar_tf_std"])
    torch.testing.assert_close(model.joint_log_prob(context, f["xt"], f["yt"]), f["ar_tf_loglik"], rtol=2e-5, atol=0)


def test_loss_and_gradients(case) -> None:
    model, f, _ = case
    loss = model.train().objective(Task(xc=f["xc"], yc=f["yc"], xt=f["xt"], yt=f["yt"]))
    loss.backward()
    close(loss.detach(), f["train_loss"])
    norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
    torch.testing.assert_close(norm, f["train_grad_norm"], rtol=1e-4, atol=0)
    width = model.config.width
    for key in (key for key in f if key.startswith("grad.")):
        torch.testing.assert_close(_gradient(model, key.removeprefix("grad."), width), f[key], rtol=1e-3, atol=1e-4)


def _gradient(model: NeuralProcess, published: str, width: int) -> torch.Tensor:
    """The gradient that belongs to a published name."""
    ours = published.replace("encoder.deepset.z_encoder.net", "encoder").replace("encoder.xy_encoder", "embed")
    ours = ours.replace("decoder.z_decoder", "decoder").replace("encoder.transformer_encoder.", "stack.")
    ours = ours.replace("mhsa_layers", "self_blocks").replace("mhca_layers", "cross_blocks")
    ours = ours.replace("attn.to_out.0", "out").replace("ff_block.0", "up").replace("ff_block.3", "down")
    for part, letter in enumerate("qkv"):
        if ours.endswith(f"attn.to_{letter}.weight"):
            fused = model.get_parameter(ours.replace(f"attn.to_{letter}", "project")).grad
            return fused[part * width : (part + 1) * width]
    return model.get_parameter(ours).grad


def test_dense_training_pass() -> None:
    path = FIXTURES / "incTNP-Seq.safetensors"
    model, f = inctnp.load_published(path, prefix="sd."), load_file(path)
    x, y = torch.cat([f["xc"], f["xt"]], 1), torch.cat([f["yc"], f["yt"]], 1)
    p = model.dense(x, y)
    close(p.mean, f["train_mean"])
    close(p.stddev, f["train_std"])


@pytest.mark.parametrize("name", ["TNP-D", "incTNP", "incTNP-Seq"])
def test_activations_layer_by_layer(name: str) -> None:
    path = FIXTURES / f"{name}.safetensors"
    model, f = inctnp.load_published(path, prefix="sd."), load_file(path)
    seen: dict[str, list[torch.Tensor]] = {"self_blocks": [], "cross_blocks": []}
    for kind, tokens in seen.items():
        for block in getattr(model.stack, kind):
            # `mix` answers the tokens after a block.
            def spy(*args, mix=block.mix, tokens=tokens):
                tokens.append(mix(*args))
                return tokens[-1]

            block.mix = spy
    model.query(model.extend(model.empty(2), f["xc"], f["yc"]), f["xt"])
    for i in range(5):
        close(seen["self_blocks"][i], f[f"act.mhsa_layers.{i}"])
        close(seen["cross_blocks"][i], f[f"act.mhca_layers.{i}"])
    close(model.embed.seen(f["xc"], f["yc"]), f["act.xy_encoder.call0"])
    close(model.embed.asked(f["xt"]), f["act.xy_encoder.call1"])
