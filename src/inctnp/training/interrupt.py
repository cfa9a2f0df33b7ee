"""Ctrl-C and SIGTERM as a request to stop at the next good moment."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass
class Interruption:
    """Which signal arrived; 0 while none has."""

    signal: int = 0


@contextmanager
def interruptions() -> Iterator[Interruption]:
    """Note the first signal; a second one of its kind acts as it always does, so that nobody is held up."""
    seen = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield seen  # signals reach the main thread alone
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def note(number: int, frame: FrameType | None) -> None:
        seen.signal = number
        signal.signal(number, before[signal.Signals(number)])

    for number in SIGNALS:
        signal.signal(number, note)
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
