"""A chart as scalable vector graphics: axes that choose their own ticks, lines, bands, dots and bars."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

Points = Sequence[tuple[float, float]]
LEFT, RIGHT, TOP, BOTTOM = 62.0, 14.0, 10.0, 34.0


@dataclass
class Chart:
    """Drawn in the units of the data; `text` is the picture.

    >>> chart = Chart((0, 10), (0, 1), "row", "error")
    >>> chart.line([(0, 0), (10, 1)], "so-far")
    >>> "<polyline" in chart.text and 'class="so-far"' in chart.text
    True
    """

    x: tuple[float, float]
    """What the axis runs over."""
    y: tuple[float, float]
    across: str
    """What the horizontal axis is called."""
    up: str
    width: float = 760
    height: float = 230
    parts: list[str] = field(default_factory=list)

    def line(self, points: Points, kind: str) -> None:
        for run in _unbroken(points):
            self.parts.append(f'<polyline class="{kind}" points="{self._places(run)}"/>')

    def band(self, lower: Points, upper: Points, kind: str) -> None:
        outline = self._places([*lower, *reversed(upper)])
        self.parts.append(f'<polygon class="{kind}" points="{outline}"/>')

    def dots(self, points: Points, kind: str, told: Sequence[str]) -> None:
        for (x, y), text in zip(points, told, strict=True):
            title = f"<title>{escape(text)}</title>"
            self.parts.append(
                f'<circle class="{kind}" cx="{self._x(x):.1f}" cy="{self._y(y):.1f}" r="2.2">{title}</circle>'
            )

    def bars(self, edges: Sequence[float], heights: Sequence[float], kind: str) -> None:
        for left, right, height in zip(edges[:-1], edges[1:], heights, strict=True):
            top, bottom = self._y(height), self._y(0)
            self.parts.append(
                f'<rect class="{kind}" x="{self._x(left) + 0.5:.1f}" y="{top:.1f}" '
                f'width="{self._x(right) - self._x(left) - 1:.1f}" height="{bottom - top:.1f}"/>'
            )

    def level(self, y: float, kind: str) -> None:
        """A horizontal line across everything."""
        self.line([(self.x[0], y), (self.x[1], y)], kind)

    @property
    def text(self) -> str:
        box = f'viewBox="0 0 {self.width:g} {self.height:g}"'
        label = escape(f"{self.up} by {self.across}")
        return f'<svg {box} role="img" aria-label="{label}">{self._axes()}{"".join(self.parts)}</svg>'

    def _axes(self) -> str:
        right, bottom = self.width - RIGHT, self.height - BOTTOM
        drawn = []
        for tick in ticks(*self.y, 5):
            at = f"{self._y(tick):.1f}"
            drawn.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{at}" y2="{at}"/>')
            drawn.append(_label("tick", f'x="{LEFT - 6}" y="{at}" dy="0.32em"', f"{tick:.6g}", "end"))
        across = [(f'x="{self._x(tick):.1f}" y="{bottom + 14}"', f"{tick:.8g}") for tick in ticks(*self.x, 8)]
        drawn += [_label("tick", place, text) for place, text in across]
        drawn.append(_label("axis", f'x="{(LEFT + right) / 2}" y="{self.height - 4}"', self.across))
        drawn.append(_label("axis", f'transform="translate(11 {(TOP + bottom) / 2}) rotate(-90)"', self.up))
        return "".join(drawn)

    def _places(self, points: Points) -> str:
        return " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in points)

    def _x(self, x: float) -> float:
        low, high = self.x
        return LEFT + (x - low) / (high - low or 1) * (self.width - LEFT - RIGHT)

    def _y(self, y: float) -> float:
        low, high = self.y
        # What lies outside is drawn at the edge: one wild interval must not flatten the rest.
        share = min(max((y - low) / (high - low or 1), 0.0), 1.0)
        return self.height - BOTTOM - share * (self.height - TOP - BOTTOM)


def ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers inside a range.

    >>> ticks(0, 1, 5), ticks(3, 1003, 5)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [200.0, 400.0, 600.0, 800.0, 1000.0])
    """
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return [low]
    raw = span / about
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, 12) for place in range(first, last + 1)]


def padded(values: Sequence[float], share: float = 0.06) -> tuple[float, float]:
    """A range that holds these values with some room around them.

    >>> padded([1.0, float("nan")])
    (0.5, 1.5)
    """
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    room = (high - low) * share or abs(low) / 2 or 0.5
    return low - room, high + room


def _unbroken(points: Points) -> list[list[tuple[float, float]]]:
    """The runs between values that are not known."""
    runs: list[list[tuple[float, float]]] = [[]]
    for x, y in points:
        if math.isfinite(y):
            runs[-1].append((x, y))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _label(kind: str, place: str, text: str, anchor: str = "middle") -> str:
    return f'<text class="{kind}" {place} text-anchor="{anchor}">{escape(text)}</text>'
