"""Every published checkpoint the library claims to read, against the published network written out by its names.

The four fixtures cover the 1-D models. What follows knows the other variants from their description alone: it
multiplies tensors under their published names and shares no line with the library.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor

import inctnp
from inctnp.task import Task

Weights = dict[str, Tensor]
STACK = "encoder.transformer_encoder."
CONTEXT, TARGETS, LAYERS = 11, 6, 5
FEATURES = {"gp": 1, "tabular": 20, "stations": 128}
LATENTS = {"gp": 32, "tabular": 128, "stations": 256}
PARAMETERS = {
    ("tnp-d", "gp"): 1_058_818,
    ("inctnp", "gp"): 1_058_818,
    ("inctnp-seq", "gp"): 1_058_818,
    ("lbanp", "gp"): 1_558_914,
    ("tnp-a", "gp"): 562_818,
    ("cnp", "gp"): 165_890,
    ("inctnp-seq", "tabular"): 1_061_250,
    ("tnp-d", "stations"): 1_075_074,
}


def mlp(w: Weights, name: str, x: Tensor) -> Tensor:
    last = max(int(key.removeprefix(name).split(".")[0]) for key in w if key.startswith(name))
    for index in range(0, last + 1, 2):
        x = F.linear(x, w[f"{name}{index}.weight"], w[f"{name}{index}.bias"])
        x = x if index == last else F.relu(x)
    return x


def heads(x: Tensor) -> Tensor:
    return x.unflatten(-1, (8, 16)).transpose(-2, -3)


def layer(w: Weights, name: str, query: Tensor, key: Tensor, may_see: Tensor | None = None) -> Tensor:
    """A self layer where both are the same tokens, else a cross layer."""

    def norm(which: str, x: Tensor) -> Tensor:
        return F.layer_norm(x, (128,), w[f"{name}{which}.weight"], w[f"{name}{which}.bias"], 1e-5)

    q, k, v = (
        heads(F.linear(norm("norm1", side), w[f"{name}attn.to_{part}.weight"]))
        for part, side in (("q", query), ("k", key), ("v", key))
    )
    scores = 16**-0.5 * q @ k.mT
    scores = scores if may_see is None else scores.masked_fill(~may_see, -math.inf)
    heard = (torch.softmax(scores, dim=-1) @ v).transpose(-2, -3).flatten(-2)
    query = query + F.linear(heard, w[f"{name}attn.to_out.0.weight"], w[f"{name}attn.to_out.0.bias"])
    hidden = F.relu(F.linear(norm("norm2", query), w[f"{name}ff_block.0.weight"], w[f"{name}ff_block.0.bias"]))
    return query + F.linear(hidden, w[f"{name}ff_block.3.weight"], w[f"{name}ff_block.3.bias"])


def places(w: Weights, x: Tensor) -> Tensor:
    """[sin, cos] of latitude, longitude, elevation and hours, each on its sixteen wavelengths."""
    if x.shape[-1] != 4:
        return x
    grid = w["encoder.x_encoder.wave_grid"].view(4, 16)
    angles = [2 * math.pi * x[..., j : j + 1].double() / grid[j] for j in range(4)]
    return torch.cat([wave(angle) for angle in angles for wave in (torch.sin, torch.cos)], dim=-1).to(x.dtype)


def tokens(w: Weights, x: Tensor, y: Tensor | None, flag: float) -> Tensor:
    y = x.new_zeros(*x.shape[:-1], 1) if y is None else y
    return mlp(w, "encoder.xy_encoder.net.", torch.cat([places(w, x), y, torch.full_like(y, flag)], dim=-1))


def cnp(w: Weights, task: Task) -> Tensor:
    pairs = torch.cat([places(w, task.xc), task.yc], dim=-1)
    mean = mlp(w, "encoder.deepset.z_encoder.net.", pairs).mean(dim=-2, keepdim=True)
    xt = places(w, task.xt)
    return torch.cat([mean.expand(*xt.shape[:-1], -1), xt], dim=-1)


def interleaved(w: Weights, task: Task, causal: bool) -> Tensor:
    seen, asked = tokens(w, task.xc, task.yc, 0.0), tokens(w, task.xt, None, 1.0)
    mask = torch.ones(CONTEXT, CONTEXT, dtype=torch.bool).tril() if causal else None
    for i in range(LAYERS):
        seen = layer(w, f"{STACK}mhsa_layers.{i}.", seen, seen, mask)
        asked = layer(w, f"{STACK}mhca_layers.{i}.", asked, seen)
    return asked


def lbanp(w: Weights, task: Task) -> Tensor:
    seen, asked = tokens(w, task.xc, task.yc, 0.0), tokens(w, task.xt, None, 1.0)
    latents = w[f"{STACK}latents"].expand(len(seen), -1, -1)
    for i in range(LAYERS):
        latents = layer(w, f"{STACK}mhca_ctoq_layers.{i}.", latents, seen)
        latents = layer(w, f"{STACK}mhsa_layers.{i}.", latents, latents)
        asked = layer(w, f"{STACK}mhca_qtot_layers.{i}.", asked, latents)
    return asked


def tnp_a(w: Weights, task: Task) -> Tensor:
    parts = (tokens(w, task.xc, task.yc, 0.0), tokens(w, task.xt, task.yt, 1.0), tokens(w, task.xt, None, 0.0))
    rows, kinds = torch.cat(parts, dim=-2), [("context", 0)] * CONTEXT
    kinds += [(kind, i) for kind in ("real", "query") for i in range(TARGETS)]

    def sees(who: tuple[str, int], whom: tuple[str, int]) -> bool:
        earlier = whom[1] <= who[1] if who[0] == "real" else whom[1] < who[1]
        return whom[0] == "context" or (whom[0] == "real" and who[0] != "context" and earlier)

    mask = torch.tensor([[sees(who, whom) for whom in kinds] for who in kinds])
    for i in range(LAYERS):
        rows = layer(w, f"{STACK}mhsa_layers.{i}.", rows, rows, mask)
    return rows[..., -TARGETS:, :]


FORMS: dict[str, Callable[[Weights, Task], Tensor]] = {
    "cnp": cnp,
    "tnp-d": lambda w, task: interleaved(w, task, causal=False),
    "inctnp": lambda w, task: interleaved(w, task, causal=True),
    "inctnp-seq": lambda w, task: interleaved(w, task, causal=True),
    "lbanp": lbanp,
    "tnp-a": tnp_a,
}


def prediction(name: str, kind: str, w: Weights, task: Task) -> tuple[Tensor, Tensor]:
    raw = mlp(w, "decoder.z_decoder.net.", FORMS[name](w, task))
    return raw[..., :1], F.softplus(raw[..., 1:]).sqrt() + (1e-4 if kind == "tabular" else 0.0)


class Random:
    """Random weights under published names, of the fixtures' sizes."""

    def __init__(self) -> None:
        self.w: Weights = {}
        self.rng = torch.Generator().manual_seed(0)

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self.rng)

    def linear(self, key: str, inputs: int, outputs: int, bias: bool = True) -> None:
        self.w[f"{key}.weight"] = 1.2 * inputs**-0.5 * self.normal(outputs, inputs)
        if bias:
            self.w[f"{key}.bias"] = 0.1 * self.normal(outputs)

    def mlp(self, key: str, sizes: list[int]) -> None:
        for i, (inputs, outputs) in enumerate(pairwise(sizes)):
            self.linear(f"{key}{2 * i}", inputs, outputs)

    def layer(self, at: str) -> None:
        for part in "qkv":
            self.linear(f"{at}attn.to_{part}", 128, 128, bias=False)
        for part in ("attn.to_out.0", "ff_block.0", "ff_block.3"):
            self.linear(f"{at}{part}", 128, 128)
        for part in ("norm1", "norm2"):
            self.w[f"{at}{part}.weight"] = 1 + 0.2 * self.normal(128)
            self.w[f"{at}{part}.bias"] = 0.1 * self.normal(128)


LAYER_KINDS = {
    "tnp-d": ("mhsa_layers", "mhca_layers"),
    "inctnp": ("mhsa_layers", "mhca_layers"),
    "inctnp-seq": ("mhsa_layers", "mhca_layers"),
    "lbanp": ("mhsa_layers", "mhca_ctoq_layers", "mhca_qtot_layers"),
    "tnp-a": ("mhsa_layers",),
}


def checkpoint(name: str, kind: str) -> Weights:
    made, features = Random(), FEATURES[kind]
    if kind == "stations":
        ends = ((1e-3, 2.0), (1e-3, 2.0), (0.1, 8.0), (1.0, 8760.0))
        grid = [torch.linspace(math.log10(a), math.log10(b), 16, dtype=torch.float64).exp() for a, b in ends]
        made.w["encoder.x_encoder.wave_grid"] = torch.cat(grid)
    if name == "cnp":
        made.mlp("encoder.deepset.z_encoder.net.", [features + 1, *[128] * 6])
        made.mlp("decoder.z_decoder.net.", [128 + features, *[128] * 5, 2])
        return made.w
    made.mlp("encoder.xy_encoder.net.", [features + 2, 128, 128, 128])
    made.mlp("decoder.z_decoder.net.", [128, 128, 128, 2])
    for layers in LAYER_KINDS[name]:
        for i in range(LAYERS):
            made.layer(f"{STACK}{layers}.{i}.")
    if name == "lbanp":
        made.w[f"{STACK}latents"] = made.normal(LATENTS[kind], 128)
    return made.w


def questions(kind: str, dtype: torch.dtype) -> Task:
    rng = torch.Generator().manual_seed(7)
    dim_x = {"gp": 1, "tabular": 20, "stations": 4}[kind]
    # Multiples of 1/256 and whole hours, so that both number types are asked about the same places.
    x = torch.randint(-512, 513, (2, CONTEXT + TARGETS, dim_x), generator=rng, dtype=dtype) / 256
    if kind == "stations":
        x[..., 3] = torch.randint(0, 8760, x.shape[:-1], generator=rng, dtype=dtype)
    y = torch.randn(2, CONTEXT + TARGETS, 1, generator=rng).to(dtype)
    return Task(xc=x[:, :CONTEXT], yc=y[:, :CONTEXT], xt=x[:, CONTEXT:], yt=y[:, CONTEXT:])


@pytest.mark.parametrize("kind", FEATURES)
@pytest.mark.parametrize("name", FORMS)
@torch.no_grad()
def test_a_published_checkpoint_predicts_what_the_published_network_does(name: str, kind: str, tmp_path: Path) -> None:
    weights = checkpoint(name, kind)
    save_file({f"sd.{key}": tensor for key, tensor in weights.items()}, tmp_path / "published.safetensors")
    model = inctnp.load_published(tmp_path / "published.safetensors", prefix="sd.", name=name)
    if (name, kind) in PARAMETERS:
        assert sum(p.numel() for p in model.parameters()) == PARAMETERS[name, kind]
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.float64, 1e-9)):
        model.to(dtype)
        task = questions(kind, dtype)
        exact = {key: tensor.to(torch.float64 if "wave" in key else dtype) for key, tensor in weights.items()}
        mean, std = prediction(name, kind, exact, task)
        context = model.extend(model.empty(2), task.xc, task.yc)
        p = (model.conditionals if name == "tnp-a" else lambda c, xt, _: model.query(c, xt))(context, task.xt, task.yt)
        torch.testing.assert_close(p.mean, mean, rtol=0, atol=tolerance)
        torch.testing.assert_close(p.stddev, std, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ["lbanp", "tnp-a"])
def test_losses_and_gradients_are_those_of_the_published_network(name: str, tmp_path: Path) -> None:
    weights = checkpoint(name, "gp")
    save_file(weights, tmp_path / "published.safetensors")
    model = inctnp.load_published(tmp_path / "published.safetensors").double()
    leaves = {key: tensor.double().requires_grad_() for key, tensor in weights.items()}
    task = questions("gp", torch.float64)
    mean, std = prediction(name, "gp", leaves, task)
    loss = -torch.distributions.Normal(mean, std).log_prob(task.yt).mean()
    loss.backward()
    ours = model.objective(task)
    ours.backward()
    torch.testing.assert_close(ours, loss, rtol=0, atol=1e-9)
    norms = [
        torch.stack([p.grad.norm() for p in parameters]).norm() for parameters in (model.parameters(), leaves.values())
    ]
    torch.testing.assert_close(*norms, rtol=1e-9, atol=0)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("gp_batched_causal_tnp.pt", "inctnp-seq"),
        ("incTNP-Seq.pt", "inctnp-seq"),
        ("causal_tnp.ckpt", "inctnp"),
        ("incTNP.pt", "inctnp"),
        ("plain_tnp.pt", "tnp-d"),
        ("TNP-D.pt", "tnp-d"),
    ],
)
def test_the_name_of_a_torch_file_tells_models_with_the_same_tensors_apart(
    file: str, expected: str, tmp_path: Path
) -> None:
    """Its name, and no folder above it: those are the user's."""
    folder = tmp_path / "explained sequences, causality"
    folder.mkdir()
    stored = {f"model.{key}": tensor for key, tensor in checkpoint("tnp-d", "gp").items()}
    torch.save({"state_dict": stored, "epoch": 3}, folder / file)
    assert inctnp.load_published(folder / file, prefix="model.").config.name == expected
