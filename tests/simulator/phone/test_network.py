"""Hosts that are kept out or cut off, and HTTP servers behind the loopback."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pytest_clawperator.connecting import connect
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.simulator.faults import parse_fault
from pytest_clawperator.simulator.phone.network import Web
from pytest_clawperator.simulator.screen.phone_state import WebAnswer
from pytest_clawperator.simulator.wire.forwarding import Sockets
from pytest_clawperator.transport.adb_program import find_adb
from tests.doubles.simulator.android_phone import DEADLINE, HOME, Phone, broadcast


@pytest.mark.parametrize("state", ["offline", "unauthorized"])
def test_a_fault_keeps_hosts_out_until_cleared(state: str) -> None:
    """It drops those that are in, and can be set before anything runs."""
    phone = Phone()
    dropped = asyncio.Event()
    phone.device.set_fault(parse_fault([state]))
    assert phone.device.admission() == state
    phone.device.clear_faults()

    async def act() -> None:
        phone.device.cable.disconnect = dropped.set
        phone.device.set_fault(parse_fault([state]))
        await asyncio.wait_for(dropped.wait(), DEADLINE)
        assert phone.device.admission() == state
        dropped.clear()
        phone.device.clear_faults(state)
        await asyncio.wait_for(dropped.wait(), DEADLINE)

    asyncio.run(act())
    assert phone.device.admission() == "device"


@pytest.mark.parametrize("options", ["after=now", "times=1"])
def test_a_disconnect_drops_the_connections_once(options: str) -> None:
    """It comes after it was answered, or waits for an execution."""
    phone = Phone()
    dropped = asyncio.Event()

    async def act() -> None:
        phone.device.cable.disconnect = dropped.set
        await phone.shell(f"sim fault disconnect {options}")
        assert not dropped.is_set()
        if options == "times=1":
            await phone.shell(broadcast(HOME))
        await asyncio.wait_for(dropped.wait(), DEADLINE)

    asyncio.run(act())
    assert phone.out("sim fault list") == ""


APP = """\
package: com.example.prices
name: Prices
start: main
state: {article: "a b&c=ü", price: none, trouble: none}
screens:
  main:
    items:
      - {text: "Price {price}"}
      - {text: "Trouble {trouble}"}
    on_open:
      - fetch:
          url: "http://localhost:8080/price?of={article}"
          into: price
          on_failure: [{set: {trouble: "no price"}}]
      - fetch: {url: "http://127.0.0.1:8080/missing", on_failure: [{set: {trouble: missing}}]}
"""


class MockServer(BaseHTTPRequestHandler):
    """Knows one price, and keeps what was asked."""

    asked: list[str]

    def do_GET(self) -> None:
        """Answer with the price, in two chunks, or with 404."""
        self.asked.append(self.path)
        found = self.path.startswith("/price")
        self.send_response(200 if found else 404)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"2\r\n12\r\n3\r\n.50\r\n0\r\n\r\n" if found else b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def mock_server() -> Iterator[tuple[int, list[str]]]:
    """Run a server on the host; yield its port and what it was asked for."""
    asked: list[str] = []
    handler = type("Handler", (MockServer,), {"asked": asked, "protocol_version": "HTTP/1.1"})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port, asked
        finally:
            server.shutdown()
            thread.join()


def test_an_app_shows_what_a_mock_server_behind_adb_reverse_answers(tmp_path: Path) -> None:
    """The whole way: a server of the tester's, adb reverse, the app, and its screen."""
    (tmp_path / "prices.yaml").write_text(APP)
    with mock_server() as (port, asked), Simulator(apps=[tmp_path / "prices.yaml"]) as simulator:
        serial, address = simulator.serials[0], f"{simulator.adb_host}:{simulator.adb_port}"
        adb = [str(find_adb()), "-P", str(simulator.adb_port), "-s", serial]
        subprocess.run([*adb, "reverse", "tcp:8080", f"tcp:{port}"], check=True)
        with connect(serial, adb=address) as claw:
            claw.open_app("com.example.prices")
            claw.wait_for_node(text="Price 12.50")
            claw.wait_for_node(text="Trouble missing")
            log = claw.device.shell("logcat -d -s AppFile").stdout

    assert sorted(asked) == ["/missing", "/price?of=a%20b&c=%C3%BC"]
    assert "the server answered 404" in log


def fetched(url: str) -> WebAnswer:
    """Ask a phone to which nothing is reversed."""

    async def run() -> WebAnswer:
        answer: asyncio.Future[WebAnswer] = asyncio.get_running_loop().create_future()
        Web(Sockets()).fetch(url, answer.set_result)
        return await asyncio.wait_for(answer, DEADLINE)

    return asyncio.run(run())


def test_nothing_but_the_phones_loopback_is_reached() -> None:
    """The problem says what can be reached, and how; no address stops the phone."""
    for url in ("http://example.com/", "http://10.0.2.2/", "https://localhost/", "file:///a", ""):
        assert "adb reverse tcp:PORT tcp:PORT" in fetched(url).problem, url
    for url in ("http://localhost:99999/", "http://localhost:x/", "http://[/"):
        assert fetched(url).problem.startswith(url)
    assert fetched("http://localhost:8080/").problem.endswith("nothing listens on tcp:8080")
