"""Signals as requests."""

import os
import signal
import threading

import pytest

from inctnp.training.interrupt import SIGNALS, interruptions


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_is_noted_and_handlers_come_back(number: signal.Signals) -> None:
    before = [signal.getsignal(each) for each in SIGNALS]
    with interruptions() as seen:
        assert seen.signal == 0
        os.kill(os.getpid(), number)
        assert seen.signal == number
    assert [signal.getsignal(each) for each in SIGNALS] == before


def test_a_second_ctrl_c_is_not_held_up() -> None:
    with pytest.raises(KeyboardInterrupt), interruptions():
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)


def test_another_thread_trains_without_touching_signals() -> None:
    before, seen = signal.getsignal(signal.SIGTERM), []

    def work() -> None:
        with interruptions() as interruption:
            seen.append(interruption.signal)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [0]
    assert signal.getsignal(signal.SIGTERM) is before
