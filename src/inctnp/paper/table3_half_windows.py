"""Table 3: temperature over half the window that models were trained on (24 hours for HadISD)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cast import Cast
from inctnp.paper.cells import Cell
from inctnp.paper.markdown import Block
from inctnp.paper.reported import HALF_WINDOWS
from inctnp.paper.results import Results
from inctnp.paper.score_tables import difference_table
from inctnp.paper.sources import COLLECTIONS, HALF_SIZE, StationSize, station_source
from inctnp.paper.static_scores import FACTORISED_MODELS, JOINT_MODELS, Share, score_cells


@dataclass(frozen=True, kw_only=True)
class HalfWindowSettings:
    """How much is tested; the defaults are the paper's."""

    batches: int = 10_000
    """Of 8 windows."""
    joint_batches: int = 512
    size: StationSize = HALF_SIZE


SMOKE = HalfWindowSettings(
    batches=1, joint_batches=1, size=StationSize(share=0.5, batch_size=2, context=(20, 40), targets=6)
)
CPU = HalfWindowSettings(batches=64, joint_batches=2)


def plan(settings: HalfWindowSettings, cast: Cast) -> list[Cell]:
    """Interpolation is scored factorised, forecasting autoregressively."""
    shares = [share for setting in COLLECTIONS for share in _shares(setting, settings)]
    return list(score_cells(shares, cast))


def tell(results: Results) -> Iterator[Block]:
    """One table for each deployment."""
    yield (
        "In brackets the paper's number, for HadISD. Half the snapshots of the training window, so 24 hours "
        "where they are 6 hours apart and 4 days where they are daily."
    )
    yield "## (a) Interpolation, factorised"
    yield difference_table(results.where(mode="factorised"), FACTORISED_MODELS, HALF_WINDOWS, 4, errors=True)
    yield "## (b) Forecasting, autoregressive"
    yield difference_table(results.where(mode="AR"), JOINT_MODELS, HALF_WINDOWS, 4, errors=True)


def _shares(setting: str, settings: HalfWindowSettings) -> Sequence[Share]:
    seen, ahead = (station_source(setting, goal, settings.size) for goal in ("interpolation", "forecasting"))
    return (
        Share(source=seen, batches=settings.batches, part=8),
        Share(source=ahead, batches=0, joint_batches=settings.joint_batches, part=2),
    )


TABLE3 = Artefact(
    name="table3",
    title="temperature over half the training window",
    shows=(
        "Models trained on 48-hour windows asked about shorter ones. The paper finds incTNP level with TNP-D and "
        "incTNP-Seq ahead of it."
    ),
    study="half-windows",
    settings=scales(SMOKE, CPU, HalfWindowSettings()),
    plan=plan,
    tell=tell,
)
