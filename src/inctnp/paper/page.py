"""An artefact's page: the picture, its tables with the paper's numbers beside ours, and what is missing and why."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from inctnp.atomic import write_atomically
from inctnp.paper.markdown import table
from inctnp.paper.plotting import label
from inctnp.paper.run import Outcome

SHA256_LENGTH = 64

SCALE_NOTES = {
    "smoke": "**Smoke test.** A few tiny tasks, random weights where none are trained: the numbers mean nothing.",
    "cpu": "Reduced protocol, made to fit a processor: fewer tasks than the paper's, and our own weights.",
    "paper": "The paper's protocol.",
}


def write_page(outcome: Outcome, out: Path) -> Path:
    """Write the Markdown page and the picture; answers the page."""
    picture = _write_picture(outcome, out)
    path = out / f"{outcome.artefact.name}.md"
    text = "\n\n".join(_blocks(outcome, picture)) + "\n"
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8"))
    return path


def write_index(outcomes: Sequence[Outcome], out: Path) -> Path:
    """One line for each artefact: what it shows and how complete it is."""
    lines = [
        [f"[{o.artefact.label}]({o.artefact.name}.md)", o.artefact.title, _state(o), f"{o.seconds / 60:.1f} min"]
        for o in outcomes
    ]
    scale = outcomes[0].scale
    blocks = [
        "# Results",
        SCALE_NOTES[scale],
        f"Every page is made by `inctnp paper all --scale {scale}`, from the rows below `rows/{scale}/`; "
        "what the paper claims, and what these results say of it, is in [claims](claims.md).",
        table(["artefact", "what", "state", "measured in"], lines).replace(
            "|---|---:|---:|---:|", "|---|---|---|---:|"
        ),
    ]
    path = out / "index.md"
    write_atomically(path, lambda part: part.write_text("\n\n".join(blocks) + "\n", encoding="utf-8"))
    return path


def _blocks(outcome: Outcome, picture: str | None) -> Iterable[str]:
    artefact, results = outcome.artefact, outcome.results
    yield f"# {artefact.label}: {artefact.title}"
    yield artefact.shows
    yield SCALE_NOTES[outcome.scale]
    if picture:
        yield f"![{artefact.title}]({picture})"
    if results.rows:
        yield from artefact.tell(results)
        yield from _weights(outcome)
    if outcome.absent:
        yield "## Not here"
        yield _absent(outcome.absent)
    yield (
        f"`inctnp paper {artefact.name} --scale {outcome.scale}`: {_state(outcome)}, {outcome.seconds:.0f} s of "
        f"measuring."
    )


def _write_picture(outcome: Outcome, out: Path) -> str | None:
    if outcome.artefact.draw is None or not outcome.results.rows:
        return None
    name = f"{outcome.artefact.name}.png"
    figure = outcome.artefact.draw(outcome.results)
    write_atomically(out / name, lambda part: figure.savefig(part, dpi=130, format="png"))
    return name


def _state(outcome: Outcome) -> str:
    present = len(outcome.results.rows)
    if outcome.complete:
        return "complete"
    return f"{present} of {outcome.planned} measurements" if present else "nothing measured yet"


def _absent(absent: Mapping[tuple[str, str], str]) -> str:
    """Reasons, and below each where it applies and to which models."""
    by_reason: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (where, model), reason in absent.items():
        by_reason[reason][where].append(label(model))
    return "\n".join(
        f"* {reason}: {'; '.join(_for_models(where, models) for where, models in places.items())}."
        for reason, places in by_reason.items()
    )


def _for_models(where: str, models: Sequence[str]) -> str:
    named = ", ".join(dict.fromkeys(models))
    return f"{where} ({named})" if where else named


def _weights(outcome: Outcome) -> Iterable[str]:
    """Which weights the numbers come from."""
    if outcome.artefact.counted:
        return
    models = {row["model"]["name"]: row["model"] for row in outcome.results.rows}
    trained = {name: model for name, model in models.items() if len(model["weights"]) == SHA256_LENGTH}
    lines = []
    for name, model in trained.items():
        facts = [f"{key} {value}" for key, value in model.items() if key not in ("name", "weights")]
        lines.append(f"* `{name}`: {', '.join([*facts, 'sha256 ' + model['weights'][:12]])}")
    if lines:
        yield "Weights:\n\n" + "\n".join(lines)
    if random := [name for name, model in models.items() if model["weights"].startswith("random")]:
        yield f"Random weights stand in for {len(random)} models, or are enough where only time is measured."
