"""Tables of log-likelihoods: the reference as it is, the others as differences from it, the paper's beside them."""

from collections.abc import Mapping, Sequence

from inctnp.paper.markdown import NONE, Block, number, table, with_error
from inctnp.paper.plotting import label
from inctnp.paper.reported import Line, Reported
from inctnp.paper.results import Results

REFERENCE = "tnp-d"


def difference_table(
    results: Results, models: Sequence[str], reported: Mapping[str, Line], digits: int, errors: bool
) -> Block:
    """One line of data after the other; the paper's numbers in brackets."""
    lines = [
        [data, *(_entry(results.where(data=data), model, reported.get(data, {}), digits, errors) for model in models)]
        for data in results.labels("data")
    ]
    heads = [f"{label(model)} (paper)" if model == REFERENCE else f"Δ {label(model)} (paper)" for model in models]
    return table(["data", *heads], lines)


def gap_table(results: Results, models: Sequence[str], digits: int = 4) -> Block | None:
    """How far each model is from the optimum on the same tasks, where the optimum is known."""
    known = [data for data in results.labels("data") if "gap" in results.where(data=data).names()]
    if not known:
        return None
    lines = []
    for data in known:
        here = results.where(data=data)
        gaps = [with_error(here.where(model=model).score("gap"), digits) for model in models]
        # Every model met the same tasks, so any of them that met all knows the optimum.
        best = max((here.where(model=model) for model in models), key=lambda r: len(r.units("optimum")))
        lines.append([data, with_error(best.score("optimum"), digits), *gaps])
    heads = [f"gap of {label(model)}" for model in models]
    return table(["data", "optimum", *heads], lines)


def _entry(results: Results, model: str, line: Mapping[str, Reported], digits: int, errors: bool) -> str:
    theirs = _paper(line.get(model), digits, signed=model != REFERENCE, errors=errors)
    mine, reference = results.where(model=model), results.where(model=REFERENCE)
    if model == REFERENCE:
        score, signed = mine.score("ll"), False
    elif reference.rows:
        score, signed = mine.difference(reference, "ll"), True
    else:
        score, signed = mine.score("ll"), False
    if score is None:
        return f"{NONE} ({theirs})"
    ours = with_error(score, digits, signed) if errors else number(score.mean, digits, signed)
    note = "" if signed or model == REFERENCE else "LL "
    return f"{note}{ours} ({theirs})"


def _paper(reported: Reported | None, digits: int, signed: bool, errors: bool) -> str:
    if reported is None:
        return NONE
    value = number(reported.mean, digits, signed)
    return f"{value} ± {reported.sem:.{digits}f}" if errors and reported.sem == reported.sem else value
