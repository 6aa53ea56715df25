"""What is asked of adb when a device went away."""

from __future__ import annotations

import pytest

from pytest_clawperator.errors import AdbUnavailableError
from pytest_clawperator.transport import reconnect as module
from pytest_clawperator.transport.reconnect import reconnect
from pytest_clawperator.transport.wire import AdbServer


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect what a server is asked, and what is started."""
    asked: list[str] = []

    def ask(self: AdbServer, question: str, *, timeout: float) -> bytes:
        asked.append(question)
        raise AdbUnavailableError("no")

    monkeypatch.setattr(AdbServer, "ask", ask)
    monkeypatch.setattr(module, "ensure_server", lambda server, say: asked.append("ensure"))
    return asked


@pytest.mark.parametrize(
    ("serial", "question"),
    [
        ("192.168.1.7:5555", "host:connect:192.168.1.7:5555"),
        ("[fe80::1]:5555", "host:connect:[fe80::1]:5555"),
        ("adb-PH1 (2)._adb-tls-connect._tcp", "host:connect:adb-PH1 (2)._adb-tls-connect._tcp"),
        ("R58N12ABCDE", "host:reconnect-offline"),
        ("emulator-5554", "host:reconnect-offline"),
    ],
)
def test_a_network_device_is_connected_to_and_another_looked_for(
    asked: list[str], serial: str, question: str
) -> None:
    """A device of the network is connected to, another one is looked for; a refusal is no error."""
    reconnect(AdbServer("127.0.0.1", 5037), serial, say=asked.append)

    assert asked == [question]


def test_a_server_of_our_own(asked: list[str]) -> None:
    """Where a server may be started, one is seen to first."""
    reconnect(AdbServer("127.0.0.1", 5037, startable=True), "PH1", say=asked.append)

    assert asked == ["ensure", "host:reconnect-offline"]
