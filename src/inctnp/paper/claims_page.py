"""What the paper claims, and what our rows say of it: one line each, with a verdict that follows from the numbers."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from inctnp.atomic import write_atomically
from inctnp.paper.claims import CLAIMS, Claim
from inctnp.paper.evidence import LEVEL, SIMILAR, SURE, Finding
from inctnp.paper.markdown import table
from inctnp.paper.page import SCALE_NOTES
from inctnp.paper.run import Outcome

HOLDS, AT_OUR_BUDGET, FAILS, UNTESTED = "holds", "holds at our budget", "**does not hold here**", "not tested"
Findings = Mapping[str, Sequence[Finding]]
"""What each artefact that bears on a claim has found."""


def write_claims(outcomes: Sequence[Outcome], out: Path) -> Path:
    """Write the page about all claims."""
    scale, found = outcomes[0].scale, {outcome.artefact.name: outcome for outcome in outcomes}
    lines = [_line(claim, findings(claim, found), scale) for claim in CLAIMS]
    text = "\n\n".join([*_opening(scale), table(["part", "claim", "evidence", "verdict"], lines)]) + "\n"
    text = text.replace("|---|---:|---:|---:|", "|---|---|---|---|")
    path = out / "claims.md"
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8"))
    return path


def findings(claim: Claim, outcomes: Mapping[str, Outcome]) -> Findings:
    """Every number that bears on a claim."""
    return {name: list(judge(outcomes[name].results)) for name, judge in claim.evidence.items()}


def verdict(found: Findings, scale: str) -> str:
    """One number against a claim is enough to refuse it; exact counts and the full protocol alone confirm it."""
    every = [finding for some in found.values() for finding in some]
    if not every:
        return UNTESTED
    if not all(finding.holds for finding in every):
        return FAILS
    return HOLDS if scale == "paper" or all(finding.counted for finding in every) else AT_OUR_BUDGET


def _opening(scale: str) -> Iterator[str]:
    yield "# Claims"
    yield SCALE_NOTES[scale]
    yield (
        "A verdict follows from the numbers in its line by one rule. Every number has to clear its threshold by "
        f"{SURE:g} standard errors: *better* means above, *matches* means less than {LEVEL} nats per target behind, "
        f"*comparable* consistency means at most {SIMILAR} times TNP-D's gap. One that does not clear it (✗), be it "
        "too small or too uncertain, makes the verdict *does not hold here*. Counts of work and bytes are exact, so "
        "they say *holds*; what rests on our own training says at most *holds at our budget*. A comparison that lacks "
        "weights, data or time is left out of its line, and a line that has none is *not tested*."
    )


def _line(claim: Claim, found: Findings, scale: str) -> list[str]:
    told = [f"[{name}]({name}.md): {_told(some)}" for name, some in found.items()]
    return [claim.part, claim.text, "<br>".join(told), verdict(found, scale)]


def _told(some: Sequence[Finding]) -> str:
    if not some:
        return "not measured"
    return "; ".join(f"{'✓' if finding.holds else '✗'} {finding.words}" for finding in some)
