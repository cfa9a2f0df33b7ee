"""Table 2: the log-likelihoods of Table 1 with their standard errors."""

from collections.abc import Iterator

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.markdown import Block
from inctnp.paper.results import Results
from inctnp.paper.table1_static import CPU, SMOKE, StaticSettings, plan, score_blocks


def tell(results: Results) -> Iterator[Block]:
    """Both tables with errors."""
    yield (
        "Errors are standard errors over batches of tasks (a batch shares its number of points). Those of differences "
        "are of the difference task by task; the paper prints those of each model alone."
    )
    yield from score_blocks(results, digits=4, errors=True)


TABLE2 = Artefact(
    name="table2",
    title="average test log-likelihood with standard errors",
    shows="Table 1 with standard errors: which of its differences are more than noise.",
    study="static",
    settings=scales(SMOKE, CPU, StaticSettings()),
    plan=plan,
    tell=tell,
)
