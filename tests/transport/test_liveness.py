"""A device that does not answer is asked with patience once, and then only for an instant."""

from __future__ import annotations

import pytest

from pytest_clawperator.errors import TransportTimeoutError
from pytest_clawperator.transport.liveness import AGAIN_WITHIN, ANSWER_WITHIN, Liveness
from tests.doubles.clock import FakeTime


class Device:
    """A device that answers at once, or keeps everybody waiting."""

    def __init__(self) -> None:
        self.time = FakeTime()
        self.is_frozen = False
        self.asked: list[float] = []
        self.liveness = Liveness(self.ask, serial="PH1", clock=lambda: self.time.now)

    def ask(self, seconds: float) -> None:
        """Answer within so many seconds, or raise."""
        self.asked.append(seconds)
        if self.is_frozen:
            self.time.pass_by(seconds)
            raise TransportTimeoutError("no answer came", serial="PH1")


def is_refused(device: Device) -> bool:
    """Whether the next command is refused because the device does not answer."""
    try:
        if device.liveness.is_in_doubt:
            device.liveness.prove()
    except TransportTimeoutError:
        return True
    return False


@pytest.fixture
def device() -> Device:
    """Return a device."""
    return Device()


def test_a_device_that_answers_is_not_asked(device: Device) -> None:
    """Commands to a device that is not in doubt cost no question."""
    refused = [is_refused(device) for _ in range(100)]

    assert not any(refused)
    assert device.asked == []


def test_a_command_that_took_too_long_costs_one_question(device: Device) -> None:
    """A device that answers the question is not in doubt any more."""
    device.liveness.is_in_doubt = True

    refused = [is_refused(device) for _ in range(3)]

    assert not any(refused)
    assert device.asked == [ANSWER_WITHIN]


def test_a_frozen_device_is_waited_for_once(device: Device) -> None:
    """A hundred commands in a row after that cost no time and no question."""
    device.is_frozen = True
    with pytest.raises(TransportTimeoutError, match="does not answer, and has not for 5 s"):
        device.liveness.prove()
    begin = device.time.now

    refused = [is_refused(device) for _ in range(100)]

    assert all(refused)
    assert device.asked == [ANSWER_WITHIN]
    assert device.time.now == begin


def test_a_frozen_device_is_asked_again_for_an_instant(device: Device) -> None:
    """Some time later it is asked once more, briefly, and one that is back is used."""
    device.is_frozen = True
    with pytest.raises(TransportTimeoutError):
        device.liveness.prove()

    device.time.pass_by(10)
    with pytest.raises(TransportTimeoutError, match="has not for 16 s"):
        device.liveness.prove()
    device.time.pass_by(10)
    device.is_frozen = False
    refused = [is_refused(device) for _ in range(3)]

    assert not any(refused)
    assert device.asked == [ANSWER_WITHIN, AGAIN_WITHIN, AGAIN_WITHIN]


def test_a_service_that_could_not_be_started_is_a_question_too(device: Device) -> None:
    """A device that was waited for by somebody else gets no more than an instant."""
    device.is_frozen = True
    device.liveness.note_silence(device.time.now - ANSWER_WITHIN)

    at_once = is_refused(device)
    device.time.pass_by(10)
    later = is_refused(device)

    assert (at_once, later) == (True, True)
    assert device.asked == [AGAIN_WITHIN]
