"""What everything that is compared has to answer."""

from typing import Protocol, runtime_checkable

from inctnp.predictive.plain import PlainMixture
from inctnp.regressor.columns import Row


@runtime_checkable
class Contestant(Protocol):
    """Asked about a row, then told its outcome, then asked about the next."""

    def ask(self, row: Row) -> PlainMixture:
        """What is expected of a row that comes next."""
        ...

    def tell(self, y: float) -> None:
        """The outcome of the row asked last."""
        ...
