"""The client: whole payloads, wrong arguments, and releasing its device."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from pytest_clawperator.contracts.actions import Click, CloseApp, OpenApp, SnapshotUi
from pytest_clawperator.errors import ClawperatorError, ClawperatorWarning, ErrorCode, PayloadError
from tests.doubles.runner import SERIAL, SHOP, Phone, client


def test_the_client_releases_its_device_after_the_block() -> None:
    """A client knows its device and lets go of it at the end of the block."""
    phone = Phone()

    with client(phone, timeout=7) as claw:
        assert claw.serial == SERIAL
        assert claw.device.serial == SERIAL
        assert claw.timeout == 7
        assert repr(claw) == "<Clawperator phone-1>"
        assert not phone.is_closed

    assert phone.is_closed


class TestExecute:
    """Whole payloads."""

    @pytest.mark.parametrize(
        "payload",
        [
            [{"type": "snapshot"}],
            [SnapshotUi()],
            {"actions": [{"type": "snapshot_ui"}]},
            '{"actions": [{"type": "snapshot"}]}',
        ],
    )
    def test_execute_takes_every_form_of_a_payload(self, payload: Any) -> None:
        """A payload may be a list of actions, an object, or text."""
        phone = Phone(SHOP)

        envelope = client(phone).execute(payload)

        assert envelope.ok
        assert envelope.step("snapshot_ui-1").snapshot.find(text="Tea")
        assert phone.executions[0].source == "pytest-clawperator"

    def test_a_failed_envelope_is_data(self) -> None:
        """What failed is given back, not raised."""
        phone = Phone(data={"click": {"error": "NODE_NOT_FOUND"}})

        envelope = client(phone).execute([Click({"text": "Tea"})])

        assert not envelope.ok
        assert envelope.code is ErrorCode.NODE_NOT_FOUND
        assert phone.types == [["click"]]

    def test_execute_overrides_the_payloads_timeout(self) -> None:
        """The timeout is the execution's, in seconds."""
        phone = Phone()

        client(phone).execute({"timeoutMs": 5000, "actions": [SnapshotUi()]}, timeout=20)

        assert phone.executions[0].timeout_ms == 20_000

    def test_a_timeout_out_of_range(self) -> None:
        """Nothing is sent with a timeout that cannot be."""
        phone = Phone()

        with pytest.raises(PayloadError, match="timeoutMs must be between 1000 and 120000"):
            client(phone).execute([SnapshotUi()], timeout=0.5)

        assert phone.executions == []

    def test_a_late_close_is_warned_of(self) -> None:
        """A close_app runs before everything, wherever it stands; the caller's line is named."""
        phone = Phone()

        with pytest.warns(ClawperatorWarning, match="before all others") as caught:
            client(phone).execute([OpenApp("com.a"), CloseApp("com.a", id="shut")])

        assert "'shut'" in str(caught[0].message)
        assert caught[0].filename == __file__
        assert len(phone.executions) == 1

    def test_an_early_close_is_not(self) -> None:
        """Those that stand before everything run before everything."""
        phone = Phone()

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            client(phone).execute([CloseApp("com.a"), CloseApp("com.b"), OpenApp("com.a")])

        assert phone.types == [["close_app", "close_app", "open_app"]]


class TestWrongArguments:
    """What cannot be meant is refused where it is written, before anything is sent."""

    @pytest.mark.parametrize(
        ("call", "words"),
        [
            (lambda claw: setattr(claw, "timeout", -5), "timeout= must be"),
            (lambda claw: claw.sleep(-1), "sleep\\(\\) must be"),
            (lambda claw: claw.sleep(2500), "sleep\\(\\) is at most 600 seconds, found 2500"),
            (lambda claw: claw.node(id="a") == "b", "which has no value to compare with 'b'"),
            (lambda claw: claw.node(id="a") != "b", "which has no value to compare with 'b'"),
            (lambda claw: claw.screenshot(5), "cannot write to 5"),
            (lambda claw: claw.close_app("no package"), "not the name of"),
            (lambda claw: claw.open_app("com.%s.%s"), "not the name of"),
            (lambda claw: claw.enter_text(None, id="x"), "a field can hold"),
            (lambda claw: claw.enter_text("a\0b", id="x"), "a field can hold"),
            (lambda claw: claw.click(text="x", within=5), "click\\(within=...\\) cannot aim"),
        ],
    )
    def test_wrong_arguments_are_refused_before_sending(self, call: Any, words: str) -> None:
        """The message says what is wrong."""
        phone = Phone(SHOP)

        with pytest.raises(ClawperatorError, match=words):
            call(client(phone))

        assert phone.types == []
