"""A host that does not answer, or not in HTTP, is named and given up in time."""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler

import pytest

from pytest_clawperator.errors import ErrorCode, TransportError, TransportTimeoutError
from pytest_clawperator.remote.runner import RemoteRunner
from tests.doubles.host import SERIAL, HostDouble, execution


class TestNoAnswer:
    """Where nothing answers, the error says what is wrong at which URL."""

    def test_a_refused_connection_names_the_url(self) -> None:
        """A refused connection names the URL and how to start the other host."""
        with socket.create_server(("127.0.0.1", 0)) as unused:
            url = f"http://127.0.0.1:{unused.getsockname()[1]}"

        with pytest.raises(TransportError, match=f"nothing answers at {url}") as caught:
            RemoteRunner(url)

        assert caught.value.code == ErrorCode.REMOTE_HOST_UNREACHABLE
        assert "clawperator serve" in str(caught.value)

    def test_a_connection_that_ends(self, host: HostDouble, runner: RemoteRunner) -> None:
        """A host that dies in the middle is told with the request that it did not answer."""
        host.execute = lambda handler, body: None

        with pytest.raises(TransportError, match="got no HTTP answer") as caught:
            runner.run(execution())

        assert caught.value.code == ErrorCode.REMOTE_HOST_UNREACHABLE
        assert caught.value.serial == SERIAL

    def test_a_port_without_http_is_told(self, host: HostDouble) -> None:
        """A port that speaks something else than HTTP is told as that."""

        def speaking(handler: BaseHTTPRequestHandler, _: bytes) -> None:
            handler.wfile.write(b"FAIL0012unknown host service")

        host.devices = speaking

        with pytest.raises(TransportError, match="got no HTTP answer"):
            RemoteRunner(host.url)

    @pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200 OK\r\n\r\n{"])
    def test_a_silent_host_is_given_up_after_the_margin(
        self, host: HostDouble, beginning: bytes
    ) -> None:
        """A host that begins to answer, or not even that, is given up after the margin."""
        over = threading.Event()

        def dawdling(handler: BaseHTTPRequestHandler, _: bytes) -> None:
            handler.wfile.write(beginning)
            over.wait(10)

        host.devices = dawdling

        with pytest.raises(TransportTimeoutError, match=r"not answered within 0\.1 s"):
            RemoteRunner(host.url, margin=0.1)
        over.set()

    def test_a_slow_trickle_does_not_hold_the_caller(self, host: HostDouble) -> None:
        """A host that sends a byte now and then does not hold the caller for ever."""
        over = threading.Event()

        def trickling(handler: BaseHTTPRequestHandler, _: bytes) -> None:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while not over.wait(0.02):
                handler.wfile.write(b" ")

        host.devices = trickling

        with pytest.raises(TransportTimeoutError, match=r"not answered within 0\.1 s"):
            RemoteRunner(host.url, margin=0.1)
        over.set()
