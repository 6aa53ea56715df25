"""A command whose end was not seen is waited for, as long as the device may be busy with it."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.events import Notice
from pytest_clawperator.errors import (
    BroadcastError,
    DeviceNotFoundError,
    EnvelopeMalformedError,
    EnvelopeTimeoutError,
)
from pytest_clawperator.execution.processes import Processes
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.log import line
from tests.doubles.pipeline import SLEEP, MakeBench, envelope, step


def test_the_next_execution_waits_for_a_late_envelope(bench: MakeBench) -> None:
    """After a timeout the device may be busy: nothing is sent before its envelope was seen."""
    here = bench()
    with pytest.raises(EnvelopeTimeoutError):
        here.run(SLEEP, command_id="slow")
    gave_up_at = here.transport.clock()
    here.answer((2.0, envelope("slow")), (2.5, envelope("next", step("sleep"))))
    here.transport.log.sent_at = gave_up_at

    result = here.run(SLEEP, command_id="next")

    assert result.ok
    assert any("slow" in event.message for event in here.events if isinstance(event, Notice))
    assert [c for c in here.transport.commands if "logcat" in c] == ["logcat -d -v threadtime"]


def test_an_earlier_envelope_of_the_same_id_is_no_end(bench: MakeBench) -> None:
    """A command id that is used twice does not make a device free that is still busy."""
    here = bench((0.1, envelope("mine", step("sleep"))))
    here.run(SLEEP, command_id="mine")
    here.answer()
    with pytest.raises(EnvelopeTimeoutError):
        here.run(SLEEP, command_id="mine")
    here.transport.dump = b"\n".join([*here.transport.log.lines, b""])
    gave_up_at = here.transport.clock()
    late = envelope("mine", step("sleep", id="second"))
    own = envelope("mine", step("sleep", id="third"))
    here.answer((2.0, late), (2.5, own))
    here.transport.log.sent_at = gave_up_at

    result = here.run(SLEEP, command_id="mine")

    assert [each.id for each in result.steps] == ["third"]


def test_the_wait_for_a_late_envelope_is_bounded(bench: MakeBench) -> None:
    """An envelope that never comes holds the next execution up for a while, once."""
    here = bench()
    with pytest.raises(EnvelopeTimeoutError):
        here.run(SLEEP, command_id="lost")
    gave_up_at = here.transport.clock()
    here.answer((0.1, envelope("next", step("sleep"))))

    result = here.run(SLEEP, command_id="next")

    assert result.ok
    assert 0 < here.transport.clock() - gave_up_at < 10


def test_a_late_envelope_that_is_in_the_log_already_is_found(bench: MakeBench) -> None:
    """It may have come while nobody read: the device's own buffer is searched first."""
    here = bench()
    with pytest.raises(EnvelopeTimeoutError):
        here.run(SLEEP, command_id="slow")
    gave_up_at = here.transport.clock()
    here.transport.dump = b"noise\n" + envelope("slow") + b"\n"
    here.answer((0.1, envelope("next", step("sleep"))))

    result = here.run(SLEEP, command_id="next")

    assert result.ok
    assert here.transport.clock() - gave_up_at == pytest.approx(0.1)


@pytest.mark.parametrize(
    "ending",
    [
        {"broadcast": ShellResult("", "refused", 1)},
        {"script": [(0.1, envelope("cmd-1")[:110])]},
    ],
    ids=["the broadcast failed", "the envelope was malformed"],
)
def test_nobody_waits_for_a_command_whose_end_was_seen(
    bench: MakeBench, ending: dict[str, Any]
) -> None:
    """A run that ended without an envelope has ended all the same."""
    here = bench(*ending.pop("script", ()), **ending)
    with pytest.raises((BroadcastError, EnvelopeMalformedError)):
        here.run(SLEEP)
    ended_at = here.transport.clock()
    here.transport._broadcast = ShellResult("", "", 0)
    here.answer((0.1, envelope("next", step("sleep"))))

    here.run(SLEEP, command_id="next")

    assert here.transport.clock() - ended_at == pytest.approx(0.1)


def test_a_command_on_a_vanished_device_is_waited_for(bench: MakeBench) -> None:
    """A device that went away may come back still busy."""
    gone = DeviceNotFoundError("gone", serial="PH1")
    here = bench((0.1, gone))
    with pytest.raises(DeviceNotFoundError):
        here.run(SLEEP, command_id="lost")
    here.answer((0.1, envelope("next", step("sleep"))))

    here.run(SLEEP, command_id="next")

    assert any("lost" in event.message for event in here.events if isinstance(event, Notice))


@pytest.mark.parametrize("taken", [True, False])
def test_a_command_sent_into_a_breaking_connection(bench: MakeBench, taken: bool) -> None:
    """It is waited for to its latest end if the Operator took it, else for a moment only."""
    here = bench((0.001, DeviceNotFoundError("gone", serial="PH1")))
    with pytest.raises(DeviceNotFoundError):
        here.run(SLEEP, command_id="lost")
    if taken:
        here.transport.dump = line("[Clawperator-Command] start commandId=lost taskId=t") + b"\n"
    here.answer((0.1, envelope("next", step("sleep"))))

    here.run(SLEEP, command_id="next")

    waited = here.transport.clock() - 0.1
    assert waited > 30 if taken else waited < 6
    assert any("lost" in event.message for event in here.events if isinstance(event, Notice))


def test_a_command_that_was_never_sent_is_not_waited_for(bench: MakeBench) -> None:
    """A device that went away before the broadcast is busy with nothing."""
    here = bench()
    here.transport.problem = DeviceNotFoundError("gone", serial="PH1")
    with pytest.raises(DeviceNotFoundError):
        here.run(SLEEP, command_id="lost")
    here.transport.problem = None
    here.answer((0.1, envelope("next", step("sleep"))))

    here.run(SLEEP, command_id="next")

    assert here.transport.clock() == pytest.approx(0.1)
    assert not [event for event in here.events if isinstance(event, Notice)]


def test_another_app_cannot_end_the_wait(bench: MakeBench) -> None:
    """The envelope of a command that was not seen to end counts only if the Operator logged it."""
    here = bench(processes=Processes(10145, frozenset({4242}), frozenset({700})))
    with pytest.raises(EnvelopeTimeoutError):
        here.run(SLEEP, command_id="slow")
    gave_up_at = here.transport.clock()
    here.transport.dump = envelope("slow").replace(b" 4242", b" 5000") + b"\n"
    here.answer((2.0, envelope("slow")), (2.5, envelope("next", step("sleep"))))
    here.transport.log.sent_at = gave_up_at

    here.run(SLEEP, command_id="next")

    assert here.transport.clock() - gave_up_at == pytest.approx(2.0 + 2.5)
