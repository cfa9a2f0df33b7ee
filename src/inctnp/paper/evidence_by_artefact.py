"""Findings that one kind of artefact alone can give."""

from collections.abc import Iterator

import torch

from inctnp.paper.context_orders import distribution
from inctnp.paper.cost_curves import along, grown, power
from inctnp.paper.evidence import Finding, Judge
from inctnp.paper.markdown import number, with_error
from inctnp.paper.memory_curves import ATTENTIONS, PERSISTENT, totals
from inctnp.paper.plotting import label
from inctnp.paper.results import Results
from inctnp.paper.robustness import EQUAL_COMPUTE, peaks, spread
from inctnp.paper.static_scores import SECONDS as TIMED
from inctnp.paper.table7_total_memory import CLAIMED as MEMORY_DEGREES

INC, SEQ, TNPD = "inctnp", "inctnp-seq", "tnp-d"
NEAR = 0.15
"""How far a fitted exponent of memory may be from the derived one."""


def memory_exponents(results: Results) -> Iterator[Finding]:
    """Fitted exponents of total memory beside the derived ones."""
    for attention in ATTENTIONS:
        for model in (INC, TNPD):
            here = results.where(attention=attention, model=model)
            lengths, kept = along(here, PERSISTENT)
            fitted = grown(lengths, totals(lengths, kept, along(here, "update@")[1], along(here, "query@")[1]))
            if fitted is not None:
                claimed = MEMORY_DEGREES[attention, model]
                words = f"{attention} attention, {label(model)}: {power(fitted)}"
                yield Finding(words, abs(fitted - claimed) < NEAR, counted=True)


def cache_exponent(results: Results) -> Iterator[Finding]:
    """What is kept between steps grows linearly."""
    lengths, kept = along(results.where(attention="fused", model=INC), PERSISTENT)
    fitted = grown(lengths, kept)
    if fitted is not None:
        yield Finding(f"kept between steps: {power(fitted)}", abs(fitted - 1) < NEAR, counted=True)


def prediction_time(model: str, least: float, most: float, data: str) -> Judge:
    """Seconds of an autoregressive prediction relative to incTNP-Seq's."""

    def judge(results: Results) -> Iterator[Finding]:
        here = results.where(mode=TIMED, data=data)
        mine, base = (here.where(model=each).number("seconds") for each in (model, SEQ))
        if mine is not None and base:
            words = f"{data}: {label(model)} takes {number(mine / base, 2)} times as long as incTNP-Seq"
            yield Finding(words, least <= mine / base <= most)

    return judge


def narrower(results: Results) -> Iterator[Finding]:
    """The box of incTNP-Seq is the narrowest."""
    for data in results.labels("data"):
        here = results.where(data=data)
        boxes = {model: spread(values) for model in (TNPD, INC, SEQ) if (values := peaks(here, model))}
        widths = {model: high - low for model, (low, _, high) in boxes.items()}
        if len(widths) == 3 and _complete(here):
            words = ", ".join(f"{label(model)} {number(width, 3)}" for model, width in widths.items())
            yield Finding(f"interquartile range, {data}: {words}", widths[SEQ] < min(widths[TNPD], widths[INC]))


def _complete(here: Results) -> bool:
    """Every model with as many configurations: the best of more is better, and their box wider."""
    return len({len(peaks(here, model)) for model in (TNPD, INC, SEQ)}) == 1


def unsurpassed(results: Results) -> Iterator[Finding]:
    """No run of the others, with equal compute or without, beats the best of incTNP-Seq."""
    for data in results.labels("data"):
        here = results.where(data=data)
        mine = peaks(here, SEQ)
        for model in (TNPD, INC):
            theirs = [*peaks(here, model), *peaks(here, model, EQUAL_COMPUTE)]
            if theirs and _complete(here):
                words = f"best on {data}: incTNP-Seq {number(max(mine), 3)}, {label(model)} {number(max(theirs), 3)}"
                yield Finding(words, max(mine) >= max(theirs))


def never_fails(results: Results) -> Iterator[Finding]:
    """Within 1.5 interquartile ranges of the box, as box plots draw the line."""
    for data in results.labels("data"):
        here = results.where(data=data)
        values = peaks(here, SEQ)
        if values and _complete(here):
            low, _, high = spread(values)
            words = f"worst run of incTNP-Seq on {data}: {number(min(values), 3)}, lower quartile {number(low, 3)}"
            yield Finding(words, min(values) >= low - 1.5 * (high - low))


def quieter(results: Results) -> Iterator[Finding]:
    """Less gradient noise at every checkpoint."""
    pairs = []
    for steps in results.labels("steps"):
        both = [results.where(model=model, steps=steps).number("gnsr") for model in (SEQ, INC)]
        if both[0] is not None and both[1] is not None:
            pairs.append((both[0], both[1]))
    if pairs:
        lower = sum(mine < theirs for mine, theirs in pairs)
        last = f"at the last {number(pairs[-1][0], 2)} against {number(pairs[-1][1], 2)}"
        yield Finding(f"incTNP-Seq lower at {lower} of {len(pairs)} checkpoints, {last}", lower == len(pairs))


def no_gap(results: Results) -> Iterator[Finding]:
    """The exact posterior depends on no order."""
    gap = results.where(model="exact-gp").score("gap")
    if gap is not None:
        yield Finding(
            f"by the paper's estimate, with true outcomes fed back, the exact posterior has {with_error(gap)}; "
            "Eq. 9 itself, with its own outcomes, gives it zero (`tests/metrics/test_kl_gap.py`)",
            abs(gap.mean) < 2 * gap.sem,
        )


def averaging_helps(results: Results) -> Iterator[Finding]:
    """Averaging gains surely, and more than half of it by ten orders."""
    orders = sorted({int(name.removeprefix("ll@")) for name in results.names() if name.startswith("ll@")})
    for data in results.labels("data"):
        for model in (INC, SEQ):
            here = results.where(data=data, model=model)
            gain = here.difference(here, f"ll@{orders[-1]}", f"ll@{orders[0]}")
            early = here.difference(here, "ll@10", f"ll@{orders[0]}")
            if gain is not None and early is not None:
                words = (
                    f"{data}, {label(model)}: {with_error(gain, 4, signed=True)}, of it {number(early.mean, 4)} by 10"
                )
                yield Finding(words, gain.mean > 2 * gain.sem and early.mean > gain.mean / 2)


def steadier(results: Results) -> Iterator[Finding]:
    """The score of a test set varies less for incTNP-Seq than for incTNP."""
    for data in results.labels("data"):
        tried = {model: distribution(results.where(data=data, model=model)) for model in (SEQ, INC)}
        mine, theirs = tried[SEQ], tried[INC]
        if mine is not None and theirs is not None:
            words = f"{data}: std {number(mine.stddev, 5)} against {number(theirs.stddev, 5)}"
            yield Finding(words, mine.stddev < theirs.stddev)


def greedy_first(results: Results) -> Iterator[Finding]:
    """Where greedy orders fall among random ones."""
    tried = distribution(results.where(data="random"))
    best, worst = (results.where(data="greedy", choice=choice).score("ll") for choice in ("max", "min"))
    if tried is not None and best is not None and worst is not None:
        sampled = tried.resampled(4000, torch.Generator().manual_seed(0))
        over, under = ((sampled < score.mean).double().mean().item() for score in (best, worst))
        yield Finding(f"highest variance first is above {over:.1%} of random orders", over >= 0.99)
        yield Finding(f"lowest variance first is above {under:.1%}", under == 0)


def recovers(model: str) -> Judge:
    """Gained from the middle of the shift to the end of the stream."""

    def judge(results: Results) -> Iterator[Finding]:
        for temperature in results.labels("temperature"):
            here = results.where(temperature=temperature, model=model)
            lengths = sorted(int(name.removeprefix("ll@")) for name in here.names() if name.startswith("ll@"))
            if lengths:
                low = min((n for n in lengths if 16 <= n <= 40), default=lengths[0], key=lambda n: _mean(here, n))
                gain = here.difference(here, f"ll@{lengths[-1]}", f"ll@{low}")
                if gain is not None:
                    words = f"τ = {temperature:g}: {label(model)} {with_error(gain, signed=True)} since point {low}"
                    yield Finding(words, gain.mean > 2 * gain.sem)

    return judge


def _mean(here: Results, points: int) -> float:
    score = here.score(f"ll@{points}")
    return 0.0 if score is None else score.mean
