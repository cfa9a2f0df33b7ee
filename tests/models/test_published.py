"""Our models, with the weights of the published code, against what that code answered."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import inctnp
from inctnp.errors import ConfigError, MissingDataError, StateError, UnknownNameError
from inctnp.models.base import NeuralProcess
from inctnp.task import Task

FIXTURES = Path(os.environ.get("INCTNP_FIXTURES", Path(__file__).parents[3] / "shared" / "fixtures"))
NAMES = {"CNP": "cnp", "TNP-D": "tnp-d", "incTNP": "inctnp", "incTNP-Seq": "inctnp-seq"}

needs_fixtures = pytest.mark.skipif(not FIXTURES.is_dir(), reason=f"the parity fixtures are not in {FIXTURES}")


@pytest.fixture(params=NAMES)
def case(request: pytest.FixtureRequest) -> tuple[NeuralProcess, dict[str, torch.Tensor], str]:
    path = FIXTURES / f"{request.param}.safetensors"
    return inctnp.load_published(path, prefix="sd."), load_file(path), request.param


def close(actual: torch.Tensor, expected: torch.Tensor, tolerance: float = 1e-5) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)


@needs_fixtures
def test_the_kind_of_model_is_read_off_the_file(case) -> None:
    model, _, name = case
    assert model.config.name == NAMES[name]
    assert not model.training and model.dtype == torch.float32


@needs_fixtures
def test_predictions_in_float32(case) -> None:
    model, f, _ = case
    p = model.query(model.extend(model.empty(2), f["xc"], f["yc"]), f["xt"])
    close(p.mean, f["mean"])
    close(p.stddev, f["std"])
    torch.testing.assert_close(p.log_prob(f["yt"]).sum((-2, -1)), f["logprob_sum"], rtol=2e-5, atol=0)


@needs_fixtures
def test_predictions_in_float64(case) -> None:
    model, f, _ = case
    model.double()
    p = model.query(model.extend(model.empty(2), f["xc"].double(), f["yc"].double()), f["xt"].double())
    close(p.mean, f["mean64"], 1e-9)
    close(p.stddev, f["std64"], 1e-9)


@needs_fixtures
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


@needs_fixtures
def test_autoregressive_density(case) -> None:
    model, f, _ = case
    context = model.extend(model.empty(2), f["xc"], f["yc"])
    p = model.conditionals(context, f["xt"], f["yt"])
    close(p.mean, f["ar_tf_mean"])
    close(p.stddev, f["ar_tf_std"])
    torch.testing.assert_close(model.joint_log_prob(context, f["xt"], f["yt"]), f["ar_tf_loglik"], rtol=2e-5, atol=0)


@needs_fixtures
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


@needs_fixtures
def test_dense_training_pass() -> None:
    path = FIXTURES / "incTNP-Seq.safetensors"
    model, f = inctnp.load_published(path, prefix="sd."), load_file(path)
    x, y = torch.cat([f["xc"], f["xt"]], 1), torch.cat([f["yc"], f["yt"]], 1)
    p = model.dense(x, y)
    close(p.mean, f["train_mean"])
    close(p.stddev, f["train_std"])


@needs_fixtures
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


PUBLISHED_NAMES = {
    "embed.net.": "encoder.xy_encoder.net.",
    "decoder.net.": "decoder.z_decoder.net.",
    "stack.latents": "encoder.transformer_encoder.latents",
    "stack.self_blocks.": "encoder.transformer_encoder.mhsa_layers.",
    "stack.gather_blocks.": "encoder.transformer_encoder.mhca_ctoq_layers.",
    "out.": "attn.to_out.0.",
    "up.": "ff_block.0.",
    "down.": "ff_block.3.",
}


def as_published(model: NeuralProcess) -> dict[str, torch.Tensor]:
    """Our weights under the published names, for the kinds of model there is no fixture of."""
    cross = "mhca_qtot_layers." if model.config.name == "lbanp" else "mhca_layers."
    names = {**PUBLISHED_NAMES, "stack.cross_blocks.": f"encoder.transformer_encoder.{cross}"}
    if model.config.name == "cnp":
        names = {"encoder.": "encoder.deepset.z_encoder.net.", "decoder.net.": "decoder.z_decoder.net."}
    published = {}
    for name, tensor in model.state_dict().items():
        for ours, theirs in names.items():
            name = name.replace(ours, theirs)
        if name.endswith("project.weight"):
            for part, chunk in zip("qkv", tensor.chunk(3), strict=True):
                published[name.replace("project", f"attn.to_{part}")] = chunk.clone()
        else:
            published[name] = tensor
    if model.config.grids:
        published["encoder.x_encoder.wave_grid"] = torch.tensor(model.config.grids, dtype=torch.float64).flatten()
    return published


def with_sines_first(weight: torch.Tensor, start: int) -> torch.Tensor:
    """First-layer columns as a network that was fed [sin, cos] of four inputs would have them."""
    features = weight[:, start : start + 128].unflatten(1, (4, 2, 16)).flip(2).flatten(1)
    return torch.cat([weight[:, :start], features, weight[:, start + 128 :]], dim=1)


@pytest.mark.parametrize("name", ["cnp", "tnp-d", "lbanp", "tnp-a", "inctnp", "inctnp-seq"])
@pytest.mark.parametrize("kind", ["gp", "tabular", "stations"])
@pytest.mark.parametrize("stored", ["with the grid", "without it"])
def test_every_kind_of_published_checkpoint_is_recognised(name: str, kind: str, stored: str, tmp_path: Path) -> None:
    grids = published_grids() if kind == "stations" else ()
    dim_x = {"gp": 1, "tabular": 20, "stations": 4}[kind]
    config = inctnp.ModelConfig(name=name, dim_x=dim_x, grids=grids, latents=7, layers=3, hidden_layers=5)
    torch.manual_seed(0)
    model = inctnp.build(config)
    tensors = as_published(model)
    if kind == "stations":
        first = "encoder.deepset.z_encoder.net.0.weight" if name == "cnp" else "encoder.xy_encoder.net.0.weight"
        tensors[first] = with_sines_first(tensors[first], 0)
        if name == "cnp":
            tensors["decoder.z_decoder.net.0.weight"] = with_sines_first(tensors["decoder.z_decoder.net.0.weight"], 128)
    if stored == "without it":
        tensors.pop("encoder.x_encoder.wave_grid", None)
    save_file({key: tensor.contiguous() for key, tensor in tensors.items()}, tmp_path / "published.safetensors")

    loaded = inctnp.load_published(tmp_path / "published.safetensors", name=name)

    assert loaded.config.std_min == (1e-4 if kind == "tabular" else 0.0)
    assert loaded.config.dim_x == dim_x
    x, y, xt = torch.randn(2, 6, dim_x), torch.randn(2, 6, 1), torch.randn(2, 3, dim_x)
    ours = model.query(model.extend(model.empty(2), x, y), xt)
    theirs = loaded.query(loaded.extend(loaded.empty(2), x, y), xt)
    close(theirs.mean, ours.mean)
    close(theirs.stddev, ours.stddev + loaded.config.std_min)


def published_grids() -> tuple[tuple[float, ...], ...]:
    """exp of an even spacing in log10, as found."""
    ranges = ((1e-3, 2), (1e-3, 2), (0.1, 8), (1, 8760))
    return tuple(tuple(np.exp(np.linspace(np.log10(a), np.log10(b), 16)).tolist()) for a, b in ranges)


def test_a_file_that_does_not_say_which_model_it_is_asks_for_the_name(tmp_path: Path) -> None:
    model = inctnp.build(inctnp.ModelConfig(name="inctnp", dim_x=1, layers=1))
    save_file({k: t.contiguous() for k, t in as_published(model).items()}, tmp_path / "weights.safetensors")
    with pytest.raises(StateError, match="name='tnp-d', 'inctnp' or 'inctnp-seq'"):
        inctnp.load_published(tmp_path / "weights.safetensors")


@pytest.mark.parametrize("file", ["weights.pt", "unexplained/causes.pt"])
def test_a_torch_file_that_does_not_say_it_either_asks_too(file: str, tmp_path: Path) -> None:
    model = inctnp.build(inctnp.ModelConfig(name="inctnp", dim_x=1, layers=1))
    (tmp_path / file).parent.mkdir(exist_ok=True)
    torch.save(as_published(model), tmp_path / file)
    with pytest.raises(StateError, match="nothing in the file says which"):
        inctnp.load_published(tmp_path / file)


@pytest.mark.parametrize("name", ["nothing.safetensors", "nothing.pt", "."])
def test_a_checkpoint_that_is_not_there_is_missing(name: str, tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="no checkpoint at"):
        inctnp.load_published(tmp_path / name)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"depth": 3}, ConfigError, r"settings \['depth'\]: choose from components"),
        ({"name": "bert"}, UnknownNameError, "No model is called 'bert'"),
        ({"name": "lbanp"}, StateError, "does not fit lbanp: it lacks 'encoder.transformer_encoder.latents'"),
        ({"name": "cnp"}, StateError, "does not fit cnp: it lacks 'encoder.deepset"),
        ({"name": "inctnp-prior"}, StateError, "does not fit inctnp-prior"),
        ({"name": "inctnp", "width": 64}, StateError, "does not fit inctnp"),
    ],
)
def test_settings_that_do_not_fit_the_file_are_refused(
    settings: dict[str, object], error: type[Exception], message: str, tmp_path: Path
) -> None:
    model = inctnp.build(inctnp.ModelConfig(name="inctnp", dim_x=1, layers=1))
    torch.save(as_published(model), tmp_path / "weights.pt")
    with pytest.raises(error, match=message):
        inctnp.load_published(tmp_path / "weights.pt", **settings)


@pytest.mark.parametrize("part", ["decoder.z_decoder.net.", "encoder.xy_encoder.", "mhsa_layers.", "attn.to_k."])
def test_an_incomplete_file_is_refused_and_what_lacks_is_named(part: str, tmp_path: Path) -> None:
    model = inctnp.build(inctnp.ModelConfig(name="inctnp", dim_x=1, layers=1))
    kept = {key: tensor for key, tensor in as_published(model).items() if part not in key}
    torch.save(kept, tmp_path / "weights.pt")
    with pytest.raises(StateError, match=rf"does not fit inctnp: .*{part}"):
        inctnp.load_published(tmp_path / "weights.pt", name="inctnp")


def test_rubbish_is_refused(tmp_path: Path) -> None:
    for number, rubbish in enumerate(([1, 2], {"a": object()}, None)):
        torch.save(rubbish, tmp_path / f"{number}.pt")
        with pytest.raises(StateError, match=f"{number}.pt holds no"):
            inctnp.load_published(tmp_path / f"{number}.pt")
    (tmp_path / "text.pt").write_bytes(b"not tensors")
    with pytest.raises(StateError, match=r"text\.pt holds no state dict"):
        inctnp.load_published(tmp_path / "text.pt")
    (tmp_path / "rubbish.safetensors").write_bytes(b"not tensors")
    with pytest.raises(StateError, match="not a readable safetensors file"):
        inctnp.load_published(tmp_path / "rubbish.safetensors")
    save_file({"a": torch.zeros(1)}, tmp_path / "other.safetensors")
    with pytest.raises(StateError, match="holds no published model"):
        inctnp.load_published(tmp_path / "other.safetensors")
