"""All artefacts together: which are meant, making their pages, and the pages about all of them."""

from collections.abc import Callable, Sequence
from pathlib import Path

from inctnp.paper.artefact import Artefact
from inctnp.paper.cast import Cast
from inctnp.paper.catalogue import ARTEFACTS
from inctnp.paper.claims_page import write_claims
from inctnp.paper.ledger import Ledger
from inctnp.paper.page import write_index, write_page
from inctnp.paper.run import Outcome, Tick, collect, compute, ledger_of
from inctnp.training.choices import pick

ALL, CLAIMS = "all", "claims"


def names() -> list[str]:
    """Everything that can be asked for."""
    return [*ARTEFACTS, CLAIMS, ALL]


def choose(name: str) -> list[Artefact]:
    """The artefacts of a name; `claims` measures nothing and reads what the others left."""
    groups = {**{key: [artefact] for key, artefact in ARTEFACTS.items()}, ALL: list(ARTEFACTS.values()), CLAIMS: []}
    return pick(groups, name.replace("_", "").replace("tab.", "table").lower(), "table or figure")


def make(
    chosen: Sequence[Artefact],
    scale: str,
    cast: Cast,
    out: Path,
    watch: Callable[[Artefact], Tick] | None = None,
) -> list[Outcome]:
    """Measure what is missing and write the pages of these artefacts, then those about all; `watch` None only draws."""
    made: dict[str, Outcome] = {}
    for artefact in chosen:
        outcome = compute(artefact, scale, cast, out, watch(artefact)) if watch else collect(artefact, scale, cast, out)
        write_page(outcome, out)
        made[artefact.name] = outcome
    every = [made.get(name) or collect(artefact, scale, cast, out) for name, artefact in ARTEFACTS.items()]
    write_index(every, out)
    write_claims(every, out)
    return list(made.values())


def trim(scale: str, cast: Cast, out: Path) -> int:
    """Drop rows that no artefact asks for any more, left behind by other weights or settings; answers how many."""
    wanted: dict[Path, set[str]] = {}
    for artefact in ARTEFACTS.values():
        keys = {cell.key(artefact.study) for cell in artefact.plan(artefact.at(scale), cast)}
        wanted.setdefault(ledger_of(artefact, scale, out).path, set()).update(keys)
    return sum(Ledger(path).keep(keys) for path, keys in wanted.items())
