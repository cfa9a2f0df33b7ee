"""Saved streams: bit for bit the unbroken one, and refused whenever they are not what they should be."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import inctnp
from inctnp.errors import IncTNPError, MissingDataError, StateError, StorageError
from inctnp.predictive.base import Predictive
from inctnp.streaming import sealed
from inctnp.streaming.state import STREAM
from inctnp.testing.toy import toy_model, toy_points

MODEL = toy_model("inctnp-prior")
X, Y = toy_points(MODEL, 800)
XT, _ = toy_points(MODEL, 3, seed=1)


def same_bits(ours: Predictive, theirs: Predictive) -> bool:
    return all(torch.equal(a, b) for a, b in zip(ours.components(), theirs.components(), strict=True))


POLICIES: dict[str, dict[str, Any]] = {
    "all": {},
    "rows kept": {"keep_rows": True},
    "window": {"policy": "window", "max_points": 20},
    "anchored": {"policy": "window", "max_points": 21, "anchor": 6},
    "reservoir": {"policy": "reservoir", "max_points": 12, "seed": 5},
    "bfloat16": {"storage": "bfloat16"},
    "int8": {"storage": "int8", "policy": "window", "max_points": 10},
}


@pytest.mark.parametrize(
    ("policy", "name"),
    [("all", n) for n in ("tnp-d", "cnp", "tnp-a")]
    + [("anchored", "tnp-d"), ("reservoir", "cnp")]
    + [(p, "inctnp-prior") for p in POLICIES],
)
def test_going_on_from_a_file_is_going_on(policy: str, name: str, tmp_path: Path) -> None:
    limits = POLICIES[policy]
    model = toy_model(name)
    stream, cut = model.stream(**limits), 0
    for cut, chunk in ((9, 3), (17, 8)):
        while len(stream) < cut:
            stream.observe(X[len(stream)], Y[len(stream)])
        loaded = inctnp.Stream.load(stream.save(tmp_path / "state"), model=model)
        unbroken = stream.fork()
        assert (len(loaded), loaded.held, loaded.policy) == (len(stream), stream.held, stream.policy)
        assert same_bits(loaded.predict(XT), stream.predict(XT))
        for i in range(cut, cut + 6 * chunk, chunk):
            for other in (loaded, unbroken):
                other.observe(X[i : i + chunk], Y[i : i + chunk])
            assert same_bits(loaded.predict(XT), unbroken.predict(XT)), (cut, i)
        draws = [s.sample(XT, 3, generator=torch.Generator().manual_seed(0)).draws for s in (loaded, unbroken)]
        assert torch.equal(*draws)


@pytest.mark.parametrize("cut", [220, 301])
def test_contexts_that_share_a_buffer_still_share_it(cut: int, tmp_path: Path) -> None:
    """At row 220 the next context begins as the anchor itself: who owns the buffer decides later roundings."""
    stream = MODEL.stream(policy="window", max_points=300, anchor=140)
    for part in (slice(0, 1), slice(1, 140), slice(140, cut)):
        stream.observe(X[part], Y[part])
    loaded = inctnp.Stream.load(stream.save(tmp_path / "state"), model=MODEL)
    for i in range(cut, 420, 10):
        for other in (stream, loaded):
            other.observe(X[i : i + 10], Y[i : i + 10])
        if i > 350:
            assert same_bits(stream.predict(XT), loaded.predict(XT)), i


steps = st.lists(
    st.tuples(st.sampled_from(["observe", "observe", "rollback", "fork", "sample"]), st.sampled_from([1, 2, 60, 130])),
    min_size=1,
    max_size=8,
)


@given(steps, steps)
@settings(max_examples=10)
def test_any_history_is_continued_bit_for_bit(before: list[Any], after: list[Any]) -> None:
    import tempfile

    def run(stream: inctnp.Stream, program: list[Any]) -> None:
        for what, count in program:
            start = len(stream)
            match what:
                case "observe" if start + count < 800:
                    stream.observe(X[start : start + count], Y[start : start + count])
                case "rollback":
                    stream.rollback(max(0, start - count))
                case "fork":
                    stream.fork().observe(X[:1], Y[:1])
                case "sample":
                    stream.sample(XT, count % 3 + 1)

    stream = MODEL.stream()
    run(stream, before)
    with tempfile.TemporaryDirectory() as folder:
        loaded = inctnp.Stream.load(stream.save(Path(folder) / "state"), model=MODEL)
    for other in (stream, loaded):
        run(other, after)
    assert len(stream) == len(loaded) and same_bits(stream.predict(XT), loaded.predict(XT))


def test_a_batch_of_streams_with_several_outputs_is_saved_whole(tmp_path: Path) -> None:
    model = toy_model("inctnp", dim_y=2, components=3)
    x, y = toy_points(model, 5, batch=(2, 3))
    stream = model.stream(batch=(2, 3), keep_rows=True)
    stream.observe(x, y)
    loaded = inctnp.Stream.load(stream.save(tmp_path / "deep" / "folder" / "state"), model=model)
    assert same_bits(loaded.predict(x), stream.predict(x))
    loaded.rollback(2)
    stream.rollback(2)
    assert same_bits(loaded.predict(x), stream.predict(x))


def test_the_raw_rows_are_not_in_the_file_unless_asked_for(tmp_path: Path) -> None:
    for keep, expected in ((False, 0), (True, 9)):
        stream = MODEL.stream(keep_rows=keep)
        stream.observe(X[:9], Y[:9])
        tensors = load_file(stream.save(tmp_path / "state"))
        assert len(tensors["x"]) == expected
        found = any(X[0, 0].item() in tensor.double().flatten().tolist() for tensor in tensors.values())
        assert found == keep


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    stream = MODEL.stream()
    stream.observe(X[:5], Y[:5])
    return stream.save(tmp_path / "state.safetensors")


def refused(path: Path, error: type[IncTNPError], message: str, model: Any = MODEL) -> None:
    with pytest.raises(error, match=message) as caught:
        inctnp.Stream.load(path, model=model)
    assert path.name in str(caught.value)


def rewritten(path: Path, change: Any) -> Path:
    with safe_open(path, framework="pt") as file:
        metadata = dict(file.metadata())
    tensors = load_file(path)
    header = json.loads(metadata["header"])
    change(header, tensors, metadata)
    if metadata.get("header") is not None:
        metadata["header"] = json.dumps(header, sort_keys=True)
    save_file(tensors, path, metadata)
    return path


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    refused(tmp_path / "nothing", MissingDataError, "no saved stream at")


@pytest.mark.parametrize("rubbish", [b"", b"hello", b"\x00" * 100, b"\xff" * 1000])
def test_rubbish_is_refused(rubbish: bytes, tmp_path: Path) -> None:
    (tmp_path / "rubbish").write_bytes(rubbish)
    refused(tmp_path / "rubbish", StateError, "damaged or no saved stream")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    refused(tmp_path / "folder", StateError, "damaged or no saved stream")


@pytest.mark.parametrize("keep", [0.001, 0.3, 0.9, 0.9999])
def test_a_truncated_file_is_refused(keep: float, saved: Path) -> None:
    saved.write_bytes(saved.read_bytes()[: int(len(saved.read_bytes()) * keep)])
    refused(saved, StateError, "damaged or no saved stream")


@pytest.mark.parametrize("where", [-1, -100, -2000])
def test_one_changed_bit_is_noticed(where: int, saved: Path) -> None:
    content = bytearray(saved.read_bytes())
    content[where] ^= 1
    saved.write_bytes(bytes(content))
    refused(saved, StateError, "changed after it was saved")


def test_a_changed_header_is_noticed(saved: Path) -> None:
    refused(rewritten(saved, lambda h, t, m: h["numbers"].update(seen=4)), StateError, "changed after it was saved")


def test_a_missing_tensor_is_noticed(saved: Path) -> None:
    refused(rewritten(saved, lambda h, t, m: t.pop("x")), StateError, "changed after it was saved")


@pytest.mark.parametrize("version", [STREAM.version + 1, "two", None])
def test_a_newer_version_is_refused_before_anything_else(version: Any, saved: Path) -> None:
    refused(rewritten(saved, lambda h, t, m: h.update(version=version)), StateError, "reads up to 1.*Upgrade")


def test_other_safetensors_files_are_refused(saved: Path, tmp_path: Path) -> None:
    refused(rewritten(saved, lambda h, t, m: h.update(format="cake")), StateError, "holds 'cake'")
    save_file({"a": torch.zeros(3)}, tmp_path / "weights.safetensors")
    refused(tmp_path / "weights.safetensors", StateError, "not a saved stream")
    save_file({"a": torch.zeros(3)}, tmp_path / "list.safetensors", {"header": "[1, 2]"})
    refused(tmp_path / "list.safetensors", StateError, "not a saved stream")


@pytest.mark.parametrize(
    "other",
    [
        toy_model("inctnp-prior", seed=1),
        toy_model("tnp-d"),
        toy_model("inctnp-prior", std_min=0.2),
        toy_model("inctnp-prior").float(),
    ],
    ids=["other weights", "other kind", "other settings", "other precision"],
)
def test_a_wrong_model_is_refused(other: Any, saved: Path) -> None:
    refused(saved, StateError, "other weights or settings.*Load the model it was saved with", other)


def test_a_model_without_a_name_has_to_be_given(saved: Path) -> None:
    refused(saved, StateError, "pass it as model=", None)


def test_a_model_from_a_folder_is_found_again(tmp_path: Path) -> None:
    inctnp.save_pretrained(MODEL, tmp_path / "mine")
    stream = inctnp.load(str(tmp_path / "mine")).stream()
    stream.observe(X[:5], Y[:5])
    loaded = inctnp.Stream.load(stream.save(tmp_path / "state"))
    assert same_bits(loaded.predict(XT), stream.predict(XT))


def test_a_model_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    inctnp.save_pretrained(MODEL, tmp_path / "mine")
    path = inctnp.load(str(tmp_path / "mine")).stream().save(tmp_path / "state")
    (tmp_path / "mine").rename(tmp_path / "elsewhere")
    refused(path, StateError, r"by the model '.*mine', which is not here.*pass it as model=", None)
    assert len(inctnp.Stream.load(path, model=inctnp.load(str(tmp_path / "elsewhere")))) == 0


def test_a_folder_is_no_place_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="could not be saved"):
        MODEL.stream().save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_leaves_the_old_file_and_nothing_else(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def fail(*args: Any) -> None:
        Path(args[1]).write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(sealed, "save_file", fail)
    stream = MODEL.stream()
    with pytest.raises(StorageError, match=r"could not be saved to .*disk full\. What was there before still is"):
        stream.save(saved)
    assert saved.read_bytes() == before and list(saved.parent.iterdir()) == [saved]
