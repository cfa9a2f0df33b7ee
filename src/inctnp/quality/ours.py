"""Our regressor as a contestant: the shipped tabular model with the settings it has when nobody chooses any."""

from typing import Any

from inctnp.predictive.plain import PlainMixture
from inctnp.regressor import StreamingRegressor
from inctnp.regressor.columns import Row

OURS: dict[str, tuple[str, dict[str, Any]]] = {
    "inctnp": ("the default settings", {}),
    "inctnp conformal": ('and `recalibration="conformal"`', {"recalibration": "conformal"}),
    "network alone": ("and `blend=False, advice=False`", {"blend": False, "advice": False}),
}
"""By name: what differs, and the settings."""


class Ours:
    """Asks and tells as a user would."""

    def __init__(self, regressor: StreamingRegressor) -> None:
        self._regressor = regressor
        self._ticket = 0

    def ask(self, row: Row) -> PlainMixture:
        self._ticket = self._regressor.ask(row)
        log_weights, means, stddevs = self._regressor.asked(self._ticket).components()
        return PlainMixture(log_weights.exp().flatten().tolist(), means.flatten().tolist(), stddevs.flatten().tolist())

    def tell(self, y: float) -> None:
        self._regressor.tell(self._ticket, y)
