"""One look for every figure: the same colour and marker for the same model, readable in print."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from inctnp.errors import ConfigError
from inctnp.metrics.score import Score

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = {
    "tnp-d": "TNP-D",
    "inctnp": "incTNP",
    "inctnp-seq": "incTNP-Seq",
    "inctnp-prior": "incTNP-Prior",
    "cnp": "CNP",
    "lbanp": "LBANP",
    "tnp-a": "TNP-A",
    "tnp-a-original": "TNP-A (original)",
    "wiski": "WISKI",
    "exact-gp": "exact GP",
}
"""What the paper calls them."""
_STYLES = {
    "tnp-d": ("#0072b2", "o"),
    "inctnp": ("#e69f00", "s"),
    "inctnp-seq": ("#d55e00", "^"),
    "inctnp-prior": ("#d55e00", "v"),
    "cnp": ("#7f7f7f", "P"),
    "lbanp": ("#009e73", "D"),
    "tnp-a": ("#cc79a7", "X"),
    "tnp-a-original": ("#882255", "x"),
    "wiski": ("#56b4e9", "*"),
    "exact-gp": ("#000000", "+"),
}


def label(model: str) -> str:
    """The paper's spelling of a model."""
    return LABELS.get(model, model)


def colour(model: str) -> str:
    """A model's colour, told apart by readers who do not see red and green as different."""
    return _STYLES.get(model, ("#333333", "o"))[0]


def marker(model: str) -> str:
    """A model's marker."""
    return _STYLES.get(model, ("#333333", "o"))[1]


def panels(columns: int, rows: int = 1, width: float = 3.6, height: float = 2.9) -> "tuple[Figure, list[Axes]]":
    """A figure of so many panels, row after row."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigError("Drawing takes matplotlib: pip install 'inctnp[plot]'.") from error
    figure = Figure(figsize=(max(4.2, width * columns), height * rows), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
        axis.title.set_fontsize(9)
    return figure, axes


def curve(axis: "Axes", model: str, x: Sequence[float], scores: Sequence[Score | None]) -> None:
    """A line with a band of one standard error."""
    known = [(a, s) for a, s in zip(x, scores, strict=True) if s is not None]
    if not known:
        return
    places = [a for a, _ in known]
    mean = torch.tensor([s.mean for _, s in known])
    error = torch.tensor([s.sem for _, s in known]).nan_to_num(nan=0.0)
    dots = marker(model) if len(places) < 15 else None
    axis.plot(places, mean, color=colour(model), marker=dots, ms=4, lw=1.4, label=label(model))
    axis.fill_between(places, mean - error, mean + error, color=colour(model), alpha=0.18, lw=0)


def legend(figure: "Figure") -> None:
    """One small legend below all panels, where it covers nothing."""
    named: dict[str, Any] = {}
    for axis in figure.axes:
        handles, names = axis.get_legend_handles_labels()
        named = {**dict(zip(names, handles, strict=True)), **named}
    if named:
        columns = min(len(named), max(3, round(figure.get_figwidth() / 1.3)))
        figure.legend(
            named.values(), named.keys(), loc="outside lower center", ncols=columns, fontsize=7, frameon=False
        )


def name_axes(axis: "Axes", x: str, y: str, title: str = "") -> None:
    """Labels in the house size."""
    axis.set_xlabel(x, fontsize=8)
    axis.set_ylabel(y, fontsize=8)
    if title:
        axis.set_title(title, fontsize=9)
