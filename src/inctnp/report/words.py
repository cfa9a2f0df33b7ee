"""What the numbers of a journal mean, in words."""

import math

from inctnp.report.journal import BESIDE_IT, INSIDE, LAST_VALUE, SCORE, SQUARED, WIDTH, Journal


def summary(journal: Journal) -> list[str]:
    """Sentences for someone who was not there."""
    told = [_rows(journal)]
    if journal.outcomes:
        told += [_error(journal), _coverage(journal), _shape(journal)]
    return [*told, _speed(journal)]


def facts(journal: Journal) -> dict[str, str]:
    """The headline numbers by name."""
    return {
        "rows": f"{journal.rows:,}",
        "RMSE": number(rmse(journal)),
        "log score": number(journal.total(SCORE)),
        f"inside the {journal.level:.0%} interval": share(journal.total(INSIDE)),
        "mean width": number(journal.total(WIDTH)),
        "ms a row": number(journal.latency_below(0.5) * 1e3),
    }


def rmse(journal: Journal) -> float:
    """The root mean square error of the means."""
    return math.sqrt(journal.total(SQUARED)) if journal.outcomes else math.nan


def number(value: float) -> str:
    """Four digits, or a dash for what is not known."""
    return f"{value:.4g}" if math.isfinite(value) else "–"


def share(value: float) -> str:
    """Per cent, or a dash."""
    return f"{value:.1%}" if math.isfinite(value) else "–"


def _rows(journal: Journal) -> str:
    streams = f" of {len(journal.keys):,} streams" if journal.keys else ""
    unknown = journal.rows - journal.outcomes
    rest = f"; {unknown:,} had no outcome and were only predicted" if unknown else ""
    return f"{journal.rows:,} rows{streams} were predicted, each before its outcome was looked at{rest}."


def _error(journal: Journal) -> str:
    told = f"Predictions missed by {number(rmse(journal))} in the typical row (root mean square)."
    naive, beside = (math.sqrt(journal.total(quantity)) for quantity in (LAST_VALUE, BESIDE_IT))
    if not naive > 0:
        return told
    change = 1 - beside / naive
    verdict = f"{abs(change):.0%} {'less' if change > 0 else 'more'} than"
    verdict = verdict if abs(change) >= 0.005 else "the same as"
    later = f"Without the first row{' of each stream' if journal.keys else ''} by {number(beside)}"
    return f"{told} {later}, {verdict} repeating the last outcome would have ({number(naive)})."


def _coverage(journal: Journal) -> str:
    found, wanted = journal.total(INSIDE), journal.level
    told = f"The {wanted:.0%} interval held the outcome in {share(found)} of rows"
    # Beyond chance, and beyond what anybody would notice.
    tolerance = max(3 * math.sqrt(wanted * (1 - wanted) / journal.outcomes), 0.03)
    if abs(found - wanted) <= tolerance:
        return f"{told}: it can be taken at its word."
    narrow = found < wanted
    advice = "treat it as too confident" if narrow else "it is wider than it needs to be"
    return f"{told}: {'too rarely' if narrow else 'too often'}, so {advice}."


def _shape(journal: Journal) -> str:
    low, high = journal.pit[: len(journal.pit) // 2].sum(), journal.pit[len(journal.pit) // 2 :].sum()
    total = low + high
    if total < 50:
        return "With fewer than 50 outcomes the shape of the distributions cannot be judged yet."
    if abs(high - low) / total > 4 / math.sqrt(total) and abs(high - low) / total > 0.1:
        side = "above" if high > low else "below"
        return (
            f"Outcomes fell {side} the middle of their distribution more often than not: predictions lean to one side."
        )
    return "Outcomes fell above and below the middle of their distributions about equally often."


def _speed(journal: Journal) -> str:
    typical, slow = (journal.latency_below(level) * 1e3 for level in (0.5, 0.99))
    return f"A row took {number(typical)} ms (median), and 99 % took at most {number(slow)} ms."
