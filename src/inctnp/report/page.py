"""The page itself: everything in one file, nothing fetched from anywhere."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

from inctnp.atomic import write_atomically
from inctnp.report import charts
from inctnp.report.journal import Journal
from inctnp.report.words import facts, summary

STYLE = """
:root { color-scheme: light dark; --ink: #1d2433; --dim: #5d6778; --paper: #ffffff; --line: #d9dee7;
  --blue: #2463c5; --band: #2463c533; --red: #c8352b; --green: #2c8c5a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf2; --dim: #9aa5b8; --paper: #151a23; --line: #2d3646;
  --blue: #78aaff; --band: #78aaff33; --red: #ff7a6e; --green: #63c892; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 800px; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0.2rem; } h2 { font-size: 1.1rem; margin: 2rem 0 0.2rem; }
p.dim, figcaption { color: var(--dim); font-size: 0.9rem; margin: 0.2rem 0; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(115px, 1fr)); gap: 0.6rem; margin: 1rem 0; }
dl div { border: 1px solid var(--line); border-radius: 8px; padding: 0.5rem 0.7rem; }
dt { color: var(--dim); font-size: 0.8rem; } dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 1rem; }
figure { margin: 0.5rem 0; } svg { width: 100%; height: auto; display: block; }
table { border-collapse: collapse; font-size: 0.9rem; } td, th { padding: 0.15rem 1rem 0.15rem 0; text-align: left; }
svg text { fill: var(--dim); font: 11px system-ui, sans-serif; } .grid { stroke: var(--line); }
polyline { fill: none; stroke-width: 1.5; } polyline.mean { stroke: var(--blue); }
polyline.stretch { stroke: var(--dim); stroke-width: 1; opacity: 0.6; }
polyline.promise { stroke: var(--green); stroke-dasharray: 5 4; }
.band { fill: var(--band); } .bar { fill: var(--blue); opacity: 0.7; }
circle.hit { fill: var(--ink); } circle.miss { fill: var(--red); }
"""


def write_report(
    path: Path, title: str, journal: Journal, settings: Mapping[str, object], notes: Sequence[str]
) -> None:
    """Write the page; whoever reads the file finds all of it or what was there before."""
    page = render(title, journal, settings, notes)
    write_atomically(path, lambda part: part.write_text(page, encoding="utf-8"))


def render(title: str, journal: Journal, settings: Mapping[str, object], notes: Sequence[str]) -> str:
    """The page as text; `notes` are further sentences for the summary."""
    tiles = "".join(f"<div><dt>{escape(name)}</dt><dd>{value}</dd></div>" for name, value in facts(journal).items())
    told = "".join(f"<li>{escape(sentence)}</li>" for sentence in [*summary(journal), *notes])
    chosen = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in settings.items()
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1><p class='dim'>Every row was predicted first and learned afterwards.</p>"
        f"<dl>{tiles}</dl><h2>In words</h2><ul>{told}</ul>{_pictures(journal)}"
        f"<h2>Settings</h2><table>{chosen}</table></body></html>\n"
    )


def _pictures(journal: Journal) -> str:
    if not journal.outcomes:
        return _shown(journal)
    believed = (
        (charts.pit_histogram, "Level bars are honest; a U is overconfident, a hump too cautious, a slope biased."),
        (
            charts.coverage_by_level,
            "How often intervals of each size held the outcome; on the dashed line: as promised.",
        ),
    )
    along = (
        (charts.error, "Typical error, in units of the outcome: lower is better."),
        (charts.log_score, "Log-density given to what happened: higher is better."),
        (charts.inside, f"Share of outcomes inside the {journal.level:.0%} interval; dashed: promised."),
        (charts.latency, "Milliseconds to predict and learn a row."),
    )
    return (
        f"{_shown(journal)}<h2>Can the intervals be believed?</h2>{_pairs(journal, believed)}<h2>Along the stream</h2>"
        f"<p class='dim'>Blue: all rows so far. Grey: one stretch of rows at a time.</p>{_pairs(journal, along)}"
    )


def _pairs(journal: Journal, pictures: Sequence[tuple[Callable[[Journal], str], str]]) -> str:
    figures = "".join(_figure(draw(journal), caption) for draw, caption in pictures)
    return f"<div class='pair'>{figures}</div>"


def _shown(journal: Journal) -> str:
    first, last = list(journal.first), list(journal.last)
    if not first:
        return ""
    whose = f" of stream {escape(repr(journal.shown))}" if journal.shown is not None else ""
    caption = (
        f"Line and band: mean and {journal.level:.0%} interval, made before the outcome (dot) was known. Red: outside."
    )
    follows = bool(last) and last[0].row == first[-1].row + 1
    parts = (
        [("Predictions", first + last)] if not last or follows else [("The first rows", first), ("The last rows", last)]
    )
    return "".join(f"<h2>{name}{whose}</h2>{_figure(charts.predictions(rows), caption)}" for name, rows in parts)


def _figure(picture: str, caption: str) -> str:
    return f"<figure>{picture}<figcaption>{escape(caption)}</figcaption></figure>"
