"""The table of measurements as a page of the documentation; drawing reads rows and measures nothing."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from inctnp.quality.comparison import Scale
from inctnp.quality.ledger import Row
from inctnp.quality.ours import OURS
from inctnp.quality.prequential import LEVEL, UNSCORED
from inctnp.quality.rivals import RIVALS
from inctnp.quality.streams import source

AVERAGED = ("log_score", "crps", "rmse", "microseconds")
DEFAULT = "inctnp"


def page(scale: Scale, rows: Sequence[Row]) -> str:
    """Everything that was measured, and how."""
    parts = [
        "# How good are the predictions?",
        _what(scale),
        "## On the whole",
        _summary(scale, rows),
        _losses(rows),
        "## Log score",
        "Larger is better; outcomes in units of their standard deviation over the stream.",
        _by_stream(rows, "log_score", 2, best=max),
        "## CRPS",
        "Smaller is better; same unit.",
        _by_stream(rows, "crps", 3, best=min),
        "## RMSE",
        _by_stream(rows, "rmse", 3, best=min),
        "## Outcomes inside the 90 % interval",
        _by_stream(rows, "coverage", 2, best=lambda values: min(values, key=lambda value: abs(value - LEVEL))),
        "## Who is who",
        _contestants(scale),
        "## Streams",
        _streams(scale, rows),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _what(scale: Scale) -> str:
    return f"""`python -m inctnp.quality` writes this page; the measurements behind it are in `quality.jsonl` beside it.

Every row is predicted, scored and then learned, by everybody, in the order of the stream; the first {UNSCORED} rows
are not scored. Of each stream the first {scale.limit:,} rows are taken. Nothing is tuned to any of them: every
contestant has its library's default settings unless stated below.

All rivals see the features that our regressor sees (phases of moments, lagged outcomes, texts as codes and mean
outcomes), clipped at four standard deviations and standardised by what is known when the question is asked. Those that
predict a number only get a predictive distribution from their own past errors: a mixture of five Gaussians of fixed
relative widths whose scale and shape follow these errors, a row fading by 2 % with every later one, and of one that is
as wide as the outcomes, so that a jump is no surprise beyond measure
(`inctnp.regressor.spread.Spread`, the rule by which our regressor widens the linear forecast it blends in). Times are
processor time of one core, of asking and telling, without scoring; a busy machine lengthens them, and `inctnp bench`
is there to measure them."""


def _summary(scale: Scale, rows: Sequence[Row]) -> str:
    """Averages over the streams measured, of all contestants that have finished them."""
    cells = {(row["contestant"], row["stream"]): row for row in rows}
    streams = [stream for stream in scale.streams if any(row["stream"] == stream for row in rows)]
    present = [name for name in scale.contestants if any(row["contestant"] == name for row in rows)]
    names = [name for name in present if all((name, stream) in cells for stream in streams)]
    if not names:
        return "Nobody has finished all streams yet."
    averages = {name: _average([cells[name, stream] for stream in streams]) for name in names}
    wins = {name: sum(_wins(name, names, stream, cells) for stream in streams) for name in names}
    lines = [
        [
            name,
            *(_number(averages[name][key], 3) for key in ("log_score", "crps", "rmse", "off")),
            f"{averages[name]['microseconds']:,.0f}",
            f"{wins[name]} of {len(streams)}",
        ]
        for name in sorted(names, key=lambda name: -averages[name]["log_score"])
    ]
    header = ["", "log score", "CRPS", "RMSE", "coverage off by", "µs a row", "best log score"]
    told = (
        f"Averages over {len(streams)} stream{'s' * (len(streams) > 1)}. A variant of ours competes with rivals only."
    )
    left_out = [name for name in present if name not in names]
    if left_out:
        told += f" Not measured on all of them yet, and left out here: {', '.join(left_out)}."
    return f"{told}\n\n{_table(header, lines)}"


def _losses(rows: Sequence[Row]) -> str:
    """Where somebody else is better than our default."""
    ours = {row["stream"]: row for row in rows if row["contestant"] == DEFAULT}
    if not ours:
        return "Our regressor has not been measured yet."
    parts = []
    for key, noun, sign in (("log_score", "log score", 1), ("crps", "CRPS", -1), ("rmse", "RMSE", -1)):
        ahead = []
        for stream, mine in ours.items():
            rivals = [row for row in rows if row["stream"] == stream and row["contestant"] in RIVALS]
            best = max(rivals, key=lambda row: sign * row[key], default=mine)
            if sign * best[key] > sign * mine[key]:
                ahead.append(f"{stream} ({best['contestant']})")
        parts.append(f"In {noun} on {len(ahead)} of {len(ours)} streams" + (f": {', '.join(ahead)}." if ahead else "."))
    hashes = dict.fromkeys(row["config"]["weights"] for row in rows if row["contestant"] in OURS)
    weights = ", ".join(f"`{each}`" for each in hashes)
    return f"Where a rival is ahead of `{DEFAULT}`. {' '.join(parts)} Our weights: {weights}."


def _average(cells: Sequence[Row]) -> dict[str, float]:
    averages = {key: float(np.mean([cell[key] for cell in cells])) for key in AVERAGED}
    return {**averages, "off": float(np.mean([abs(cell["coverage"] - LEVEL) for cell in cells]))}


def _wins(name: str, names: Sequence[str], stream: str, cells: Mapping[tuple[str, str], Row]) -> bool:
    rows = [cells[other, stream] for other in _against(name, names)]
    return bool(max(rows, key=lambda row: row["log_score"])["contestant"] == name)


def _against(name: str, names: Sequence[str]) -> list[str]:
    """A variant of ours competes with the rivals, a rival with the rivals and our default."""
    others = [other for other in names if other in RIVALS and other != name]
    return [name, *others] if name in OURS else [name, *others, *(n for n in names if n == DEFAULT)]


def _by_stream(rows: Sequence[Row], key: str, digits: int, best: Callable[[list[float]], float]) -> str:
    streams = list(dict.fromkeys(row["stream"] for row in rows))
    names = list(dict.fromkeys(row["contestant"] for row in rows))
    cells = {(row["contestant"], row["stream"]): row[key] for row in rows}
    bests = {stream: best([cells[name, stream] for name in names if (name, stream) in cells]) for stream in streams}

    def shown(name: str, stream: str) -> str:
        value = cells.get((name, stream))
        if value is None:
            return "—"
        text = _number(value, digits)
        return f"**{text}**" if value == bests[stream] else text

    return _table(["", *streams], [[name, *(shown(name, stream) for stream in streams)] for name in names])


def _contestants(scale: Scale) -> str:
    ours = {name: f"`StreamingRegressor`, {what}" for name, (what, _) in OURS.items()}
    known = {**ours, **{name: what for name, (what, _) in RIVALS.items()}}
    return _table(["", "what"], [[name, known[name]] for name in scale.contestants])


def _streams(scale: Scale, rows: Sequence[Row]) -> str:
    scored = {row["stream"]: row["rows"] for row in rows}
    lines = []
    for name in scale.streams:
        stream = source(name)
        lags = ", ".join(map(str, stream.lags))
        lines.append([name, stream.about, lags, f"{scored[name]:,}" if name in scored else "not measured"])
    return _table(["", "what", "lagged outcomes", "rows scored"], lines)


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = "|".join(["---", *["---:"] * (len(header) - 1)])
    return "\n".join([f"| {' | '.join(header)} |", f"|{rule}|", *(f"| {' | '.join(line)} |" for line in lines)])


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("-", "−")
