"""How features become inputs of the network: which of them, and by which statistics."""

from dataclasses import dataclass

import numpy as np

from inctnp.regressor.features import ADVICE, Key

CLIP = 4.0
"""Features further than this many standard deviations from the mean are clipped, as in training."""
FENCE = 3.0
"""Outcomes further than this many interquartile ranges from the quartiles do not count in their statistics."""
FURTHEST = 10.0
"""The network is not told outcomes further than this many of their deviations from the centre."""
RARELY, MOSTLY = 0.05, 0.95
"""A feature missing in a share of the rows between these says something by being missing."""


@dataclass(frozen=True, eq=False)
class Scheme:
    """Statistics of the rows held at one time; they never change."""

    picks: np.ndarray
    """Features that are inputs."""
    low: np.ndarray
    high: np.ndarray
    center: np.ndarray
    spread: np.ndarray
    absent: np.ndarray
    """Features whose being missing is an input, behind the others."""
    y_center: float
    y_spread: float

    def inputs(self, features: np.ndarray, dim: int) -> np.ndarray:
        """Features of rows as inputs of the network; missing ones in the middle, unused ones 0."""
        x = np.zeros((len(features), dim))
        values = features[:, self.picks]
        scaled = (np.clip(values, self.low, self.high) - self.center) / self.spread
        count = len(self.picks)
        x[:, :count] = np.where(np.isnan(scaled), 0.0, scaled)
        if len(self.absent):
            x[:, count : count + len(self.absent)] = np.isnan(features[:, self.absent])
        return x

    def outputs(self, y: np.ndarray) -> np.ndarray:
        return np.clip((y - self.y_center) / self.y_spread, -FURTHEST, FURTHEST)


@dataclass(frozen=True, eq=False)
class Rows:
    """What a scheme is made from."""

    keys: list[Key]
    active: np.ndarray
    features: np.ndarray
    y: np.ndarray


def make_scheme(
    rows: Rows, dim: int, scales: dict[str, tuple[float, float]], draw: np.random.Generator | None
) -> Scheme:
    """Statistics of these rows; of more features than `dim` those with the most evidence, or a random draw."""
    known = ~np.isnan(rows.features)
    share = known.mean(axis=0) if len(rows.y) else np.zeros(len(rows.keys))
    low, high, center, spread = _statistics(rows.features, known)
    for place, (name, part) in enumerate(rows.keys):
        if part == "" and name in scales:
            center[place], spread[place] = scales[name]
            low[place], high[place] = center[place] - CLIP * spread[place], center[place] + CLIP * spread[place]
    useful = rows.active & (spread > 1e-9 * np.abs(center))
    candidates = [i for i in np.flatnonzero(useful).tolist()]
    if len(candidates) > dim:
        candidates = _choose(rows, candidates, dim, draw)
    # By name, so that it does not matter in which order columns came.
    picks = np.array(sorted(candidates, key=lambda i: rows.keys[i]), dtype=int)
    room = dim - len(picks)
    absent = [i for i in np.flatnonzero((share >= RARELY) & (share <= MOSTLY)).tolist() if rows.keys[i][0]]
    absent = sorted(absent, key=lambda i: rows.keys[i])[:room]
    y_center, y_spread = scales[""] if "" in scales else outcome_statistics(rows.y)
    return Scheme(
        picks, low[picks], high[picks], center[picks], spread[picks], np.array(absent, dtype=int), y_center, y_spread
    )


def outcome_statistics(y: np.ndarray) -> tuple[float, float]:
    """Centre and spread, outliers held at the fences; a spread of one tenth of the centre where there is none."""
    if not len(y):
        return 0.0, 1.0
    first, third = np.quantile(y, [0.25, 0.75])
    reach = FENCE * (third - first)
    inside = np.clip(y, first - reach, third + reach) if reach > 0 else y
    center, spread = float(inside.mean()), float(inside.std())
    if spread <= 1e-9 * abs(center):
        spread = 0.1 * abs(center)
    return center, spread if spread > 0 else 1.0


def _statistics(features: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Mean and deviation, outliers clipped; nothing varies where nothing is known."""
    mean, std = _moments(features, known)
    low, high = mean - CLIP * std, mean + CLIP * std
    center, spread = _moments(np.clip(features, low, high), known)
    return low, high, center, spread


def _moments(values: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, values, 0.0).sum(axis=0) / count
    away = np.where(known, values - mean, 0.0)
    return mean, np.sqrt((away**2).sum(axis=0) / count)


def _choose(rows: Rows, candidates: list[int], dim: int, draw: np.random.Generator | None) -> list[int]:
    first = [i for i in candidates if rows.keys[i] == ("", ADVICE)]
    others = [i for i in candidates if i not in first]
    if draw is not None:
        # Drawn in the order of names, so that the order of columns does not matter.
        others = sorted(others, key=lambda i: rows.keys[i])
        return first + [others[i] for i in draw.permutation(len(others))[: dim - len(first)].tolist()]
    left = rows.y - np.where(np.isnan(rows.features[:, 0]), rows.y, rows.features[:, 0])
    evidence = np.maximum(_correlation(rows.features, rows.y), _correlation(rows.features, left))
    return first + sorted(others, key=lambda i: (-round(evidence[i], 9), rows.keys[i]))[: dim - len(first)]


def _correlation(features: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Absolute correlation of every feature with y over the rows where it is known."""
    known = ~np.isnan(features)
    mean, std = _moments(features, known)
    z = np.where(known, features - mean, 0.0)
    dy = y - y.mean()
    scale = len(y) * std * dy.std()
    return np.abs(z.T @ dy) / np.where(scale > 0, scale, np.inf)
