"""Several questions in one round trip."""

from __future__ import annotations

import pytest

from pytest_clawperator.devices.inventory import ask_all
from pytest_clawperator.errors import TransportTimeoutError
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.transport import ScriptedTransport


def test_each_answer_stands_under_its_name(phone: AdbTransport) -> None:
    """Outputs and exit codes are separated, without a final line break too."""
    answers = ask_all(
        phone,
        {
            "plain": "echo one; echo two",
            "bare": "printf abc",
            "bad": "echo no >&2; (exit 3)",
            "none": "nosuchcommand",
            "quiet": "true",
        },
    )

    assert answers["plain"] == ShellResult("one\ntwo\n", "", 0)
    assert answers["bare"] == ShellResult("abc", "", 0)
    assert answers["bad"] == ShellResult("no\n", "", 3)
    assert answers["none"].missing
    assert answers["quiet"] == ShellResult("", "", 0)


def test_output_cannot_pass_for_a_mark() -> None:
    """The mark is random, so no output can hold it."""
    hostile = "0123456789abcdef:0\n:0\n$?\nrest"
    transport = ScriptedTransport({"first": hostile, "second": "2"})

    answers = ask_all(transport, {"first": "first", "second": "second"})

    assert answers["first"].stdout == hostile
    assert answers["second"].stdout == "2"
    assert transport.round_trips == 1


def test_a_timeout_names_the_first_command(phone: AdbTransport) -> None:
    """The error shows a readable command instead of the line that was sent."""
    with pytest.raises(TransportTimeoutError) as caught:
        ask_all(phone, {"a": "sleep 9", "b": "dumpsys power"}, timeout=0.2)

    assert caught.value.message == "no answer to `sleep 9; ...` came within 0.2 s"


def test_commands_that_were_not_reached_fail() -> None:
    """Where the shell died half way, the rest has an exit code that is no success."""

    class Dying(ScriptedTransport):
        def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
            whole = super().shell(command).stdout
            return ShellResult(whole[: whole.index("two")], "", 1)

    transport = Dying({"a": "one", "b": "two", "c": "three"})

    answers = ask_all(transport, {"a": "a", "b": "b", "c": "c"})

    assert answers["a"] == ShellResult("one", "", 0)
    assert [answers[name].ok for name in "abc"] == [True, False, False]
