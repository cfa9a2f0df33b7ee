"""The folder of a run: settings, checkpoint, one line of metrics per report, and a lock while it is trained."""

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inctnp.atomic import cache_dir, write_atomically
from inctnp.errors import StateError, StorageError
from inctnp.training.checkpoint import read_checkpoint
from inctnp.training.plain import flatten, telling_fields, to_plain
from inctnp.training.progress import Report
from inctnp.training.recipe import Recipe
from inctnp.training.schedule import SCHEDULES


@dataclass(frozen=True)
class RunDirectory:
    """Where one run lives."""

    path: Path

    @property
    def checkpoint(self) -> Path:
        return self.path / "checkpoint.safetensors"

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def settings(self) -> Path:
        return self.path / "recipe.json"

    def describe(self, recipe: Recipe) -> None:
        """Write the resolved settings down, which also shows that the folder can be written to."""
        text = json.dumps({"hash": recipe.hash, "recipe": recipe.as_dict()}, indent=2) + "\n"
        try:
            write_atomically(self.settings, lambda part: part.write_text(text, encoding="utf-8"))
        except OSError as error:
            raise StorageError(
                f"The run cannot be kept in {self.path}: {error}. Choose another --directory, or set INCTNP_CACHE "
                "to a folder that can be written to."
            ) from error

    def rows(self) -> list[dict[str, Any]]:
        """Every report so far, oldest first; a line that a crash cut short is left out."""
        rows = []
        for line in self.metrics.read_text(encoding="utf-8").splitlines() if self.metrics.exists() else []:
            with contextlib.suppress(json.JSONDecodeError):
                rows.append(json.loads(line))
        return rows

    def append(self, report: Report) -> None:
        """One more line of metrics; names whose value is not known are left out."""
        plain = dataclasses.asdict(report)
        row = {**{name: value for name, value in plain.items() if value is not None}, **plain.pop("measured")}
        row.pop("measured")
        try:
            with self.metrics.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        except OSError as error:
            raise StorageError(
                f"{self.metrics} could not be written: {error}. The last checkpoint is intact: make room and start "
                "the same command again."
            ) from error

    def forget_after(self, step: int) -> None:
        """Drop what was reported of steps that will be taken again."""
        if self.metrics.exists():
            kept = "".join(json.dumps(row) + "\n" for row in self.rows() if row["step"] <= step)
            write_atomically(self.metrics, lambda part: part.write_text(kept, encoding="utf-8"))

    def set_aside(self) -> Path | None:
        """Move an earlier run out of the way, to the first free numbered name; answers where it went."""
        if not self.path.exists():
            return None
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.before-{number}")).exists():
            number += 1
        return self.path.rename(aside)

    def step(self) -> int:
        """Steps the checkpoint has behind it; 0 where there is none."""
        return int(read_checkpoint(self.checkpoint)[0]["progress"]["step"]) if self.checkpoint.exists() else 0

    @contextmanager
    def opened(self, recipe: Recipe) -> Iterator[None]:
        """Held for training with this recipe, which is written down when the run is new."""
        if not self.checkpoint.exists():
            self.describe(recipe)
        with self.held():
            yield

    @contextmanager
    def held(self) -> Iterator[None]:
        """Refuse a second process that would train the same run; the lock dies with its holder."""
        try:
            import fcntl
        except ImportError:  # not on Windows
            yield
            return
        with (self.path / ".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise StateError(
                    f"Another process is training the run in {self.path}. Wait for it, or choose another --directory."
                ) from error
            for part in self.path.glob(f".{self.checkpoint.name}.*"):
                part.unlink()  # half written when an earlier process was killed
            yield


def run_directory(setting: str, variant: str, recipe: Recipe) -> RunDirectory:
    """Where a run is kept unless told otherwise: in the user's cache, by its settings."""
    return RunDirectory(cache_dir() / "runs" / f"{setting}-{variant}" / f"{recipe.model.name}-{recipe.hash}")


def require_same_recipe(saved: dict[str, Any], recipe: Recipe, where: Path, step: int = 0) -> None:
    """Refuse to go on with a run of other settings; a setting that is newer than the run must be at its default.

    The number of steps may differ where that changes neither the rate nor the source of tasks at the step at hand.
    """
    before, now = flatten(saved), flatten(recipe.as_dict())
    if {"steps", "phases"} <= saved.keys() and len(recipe.phases) == 1 and same_rate(saved["steps"], recipe, step):
        before["steps"] = now["steps"]
    new = set(flatten(to_plain(recipe, telling_fields))) - set(before)
    other = sorted(new | {path for path in before if before[path] != now.get(path)})
    if other:
        pairs = [(path, before.get(path, "unset"), now.get(path, "unset")) for path in other[:3]]
        shown = ", ".join(f"{path} ({there} there, {here} here)" for path, there, here in pairs)
        raise StateError(
            f"{where} holds a run of other settings: {shown}{' and more' * (len(other) > 3)}. "
            "Give the same settings to go on with it, another --directory, or --fresh to start over."
        )


def same_rate(steps: int, recipe: Recipe, step: int) -> bool:
    """Whether the rate of a step would be the same in a run of so many steps in all."""
    settings = recipe.optimisation
    schedule = SCHEDULES[settings.schedule]
    here, there = (schedule(step, total, settings.warmup, settings.floor) for total in (recipe.steps, steps))
    return here == there
