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

from pytest_clawperator.connect import connect
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.simulator.faults import parse_fault
from pytest_clawperator.simulator.phone.network import Web
from pytest_clawperator.simulator.screen.phone_state import WebAnswer
from pytest_clawperator.simulator.wire.forwarding import Sockets
from pytest_clawperator.transport.adb_program import find_adb
from tests.doubles.simulator.android_phone import DEADLINE, HOME, Phone, broadcast


class TestAdmission:
    """Who may connect."""

    @pytest.mark.parametrize("state", ["offline", "unauthorized"])
    def test_a_fault_keeps_hosts_out_until_cleared(self, state: str) -> None:
        """A fault keeps hosts out, drops those that are in, and lets them in again."""
        phone = Phone()
        dropped = asyncio.Event()

        async def act() -> None:
            phone.device.cable.disconnect = dropped.set
            phone.device.set_fault(parse_fault([state]))
            assert phone.device.admission() == state
            await asyncio.wait_for(dropped.wait(), DEADLINE)
            dropped.clear()
            phone.device.clear_faults(state)
            await asyncio.wait_for(dropped.wait(), DEADLINE)

        asyncio.run(act())

        assert phone.device.admission() == "device"

    def test_before_it_runs(self) -> None:
        """Faults can be set before anything runs."""
        phone = Phone()

        phone.device.set_fault(parse_fault(["offline"]))

        assert phone.device.admission() == "offline"

    def test_a_disconnect_drops_the_connections_once(self) -> None:
        """A disconnect drops the connections once, after it was answered."""
        phone = Phone()
        dropped = asyncio.Event()

        async def act() -> str:
            phone.device.cable.disconnect = dropped.set
            await phone.shell("sim fault disconnect after=now")
            await asyncio.wait_for(dropped.wait(), DEADLINE)
            return (await phone.shell("sim fault list")).out

        assert asyncio.run(act()) == ""

    def test_disconnect_in_an_execution(self) -> None:
        """A disconnect can wait for an execution, and happens as often as it was asked for."""
        phone = Phone()
        dropped = asyncio.Event()

        async def act() -> None:
            phone.device.cable.disconnect = dropped.set
            await phone.shell("sim fault disconnect times=1")
            assert not dropped.is_set()
            await phone.shell(broadcast(HOME))
            await asyncio.wait_for(dropped.wait(), DEADLINE)

        asyncio.run(act())

        assert phone.out("sim fault list") == ""

    def test_the_banner_names_the_phone(self) -> None:
        """A host is reported what phone it is."""
        assert "ro.product.model=Pixel 9;" in Phone().device.banner


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


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/",
        "https://localhost/",
        "file:///etc/passwd",
        "http://10.0.2.2/",
        "x",
        "",
    ],
)
def test_other_places_than_the_phones_loopback_are_not_reached(url: str) -> None:
    """The problem says what can be reached, and how."""
    assert "adb reverse tcp:PORT tcp:PORT" in fetched(url).problem


@pytest.mark.parametrize("url", ["http://localhost:99999/", "http://localhost:x/", "http://[/"])
def test_an_address_that_is_none_is_a_problem_and_no_crash(url: str) -> None:
    """Whatever an app file asks for, the phone goes on."""
    assert fetched(url).problem.startswith(url)


def test_a_port_where_nothing_listens_refuses() -> None:
    """Without ``adb reverse`` there is nothing on the phone's own loopback."""
    assert fetched("http://localhost:8080/").problem.endswith("nothing listens on tcp:8080")
