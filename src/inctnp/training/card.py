"""The model card: what a model was trained on, how, how well it does, and what it is not for."""

import json
from typing import Any

from inctnp.models.config import ModelConfig

CARD = "card.md"

SOURCES = {
    "GPTasks": "synthetic functions from 1-D Gaussian processes on [-2, 2]",
    "TabularPrior": "synthetic tables from random structural causal models",
    "StationTasks": "weather-station temperatures in windows of a few days",
    "TableTasks": "rows of the user's own table",
    "MixedTables": "rows of the user's own tables",
}
"""Sources of tasks in words."""


def card(config: ModelConfig, about: dict[str, Any]) -> str:
    """Markdown; values that were not measured are left out, never made up."""
    parts = [
        f"# {about.get('recipe', 'own')}/{config.name}",
        _table("Results", _results(about)),
        _table("Training", _training(about)),
        "## Data\n\n" + _data(about),
        "## Limits\n\n" + "\n".join(f"* {limit}" for limit in _limits(config, about)),
        "## Licence\n\n" + _licence(about),
    ]
    if "settings" in about:
        text = json.dumps(about["settings"], indent=2)
        parts.append(f"## Settings\n\n```json\n{text}\n```")
    return "\n\n".join(part for part in parts if part) + "\n"


def _results(about: dict[str, Any]) -> dict[str, Any]:
    held_out = about.get("held_out", {})
    return {
        "held-out log-likelihood per target": held_out.get("log_likelihood"),
        "the same before fine-tuning": held_out.get("before"),
        "below the exact posterior by": held_out.get("gap"),
        "below the exact joint density by, per target": held_out.get("joint_gap"),
        "tasks": held_out.get("tasks"),
        "seed of the tasks": held_out.get("seed"),
        "weights stored as": about.get("stored_as"),
        "change of log-likelihood by storing them so": about.get("change_by_storing"),
    }


def _training(about: dict[str, Any]) -> dict[str, Any]:
    command = about.get("command")
    return {
        "command": f"`{command}`" if command else None,
        "began with": about.get("began_with"),
        "config hash": about.get("config_hash"),
        "steps": about.get("steps"),
        "of planned steps": about.get("steps_planned"),
        "seeds of the tasks": ", ".join(map(str, about.get("seeds", []))) or None,
        "processor hours": about.get("cpu_hours"),
        "steps skipped, their loss not being finite": about.get("skipped_steps"),
    }


def _table(title: str, values: dict[str, Any]) -> str:
    known = {name: value for name, value in values.items() if value is not None}
    if not known:
        return ""
    rows = "\n".join(f"| {name} | {value} |" for name, value in known.items())
    return f"## {title}\n\n| | |\n|---|---|\n{rows}"


def _data(about: dict[str, Any]) -> str:
    names = dict.fromkeys(about.get("data", []))
    described = "; ".join(SOURCES.get(name, name) for name in names) or "not recorded"
    tables = about.get("tables")
    return f"{described[0].upper()}{described[1:]}{': ' + ', '.join(tables) if tables else ''}."


def _limits(config: ModelConfig, about: dict[str, Any]) -> list[str]:
    sources = [phase["data"] for phase in about.get("settings", {}).get("phases", [])]
    contexts = [source["context"] for source in sources if "context" in source]
    limits = [f"Takes {config.dim_x} inputs and predicts {config.dim_y} output{'s' * (config.dim_y > 1)} per point."]
    if contexts:
        longest = max(high for _, high in contexts)
        limits.append(
            f"Trained on contexts of {min(low for low, _ in contexts)} to {longest} points"
            + _dense(config, sources)
            + "; what it predicts from longer ones was not measured here."
        )
    if not config.prior:
        limits.append("Predicts from at least one point: it has no learned prior.")
    if about.get("steps", 0) < about.get("steps_planned", 0):
        limits.append("Taken from a run before its end: its learning rate had not come down.")
    limits.append("Expects inputs and outputs scaled as its training tasks were.")
    return limits


def _dense(config: ModelConfig, sources: list[dict[str, Any]]) -> str:
    if config.name not in ("inctnp-seq", "inctnp-prior"):
        return ""
    targets = max((source.get("targets", 0) for source in sources), default=0)
    return f" (its dense objective also asks after up to {targets - 1} more)" if targets > 1 else ""


def _licence(about: dict[str, Any]) -> str:
    terms = about.get("data_licence")
    return "Weights: Apache-2.0, as the package." + (f" Training data: {terms}." if terms else "")
