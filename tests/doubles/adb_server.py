"""An adb server that answers with scripted bytes, and checks for leftover threads."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping

from pytest_clawperator.transport.wire import AdbServer

DEADLINE = 20.0
SERIAL = "PH1"

Answer = bytes | Callable[["Conversation"], None]


class Conversation:
    """One connection to the fake server, seen from the server."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.service = ""

    def send(self, data: bytes) -> None:
        """Send bytes to the client."""
        self.connection.sendall(data)

    def read(self, size: int) -> bytes:
        """Read so many bytes from the client."""
        data = b""
        while len(data) < size and (piece := self.connection.recv(size - len(data))):
            data += piece
        return data

    def wait_for_close(self) -> bytes:
        """Read until the client is gone; return what it still sent."""
        said = b""
        with contextlib.suppress(OSError):
            while data := self.connection.recv(65536):
                said += data
        return said

    def close(self) -> None:
        """Close the connection, so that the client notices immediately."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()


class FakeAdb:
    """Answers each request by the table; what is not in it is accepted and left to the test.

    Keys are the beginnings of requests, the longest that fits wins. A value is bytes to send,
    after which the connection closes, or a function that talks itself.
    """

    def __init__(
        self, answers: Mapping[str, Answer] | None = None, *, path: str | None = None
    ) -> None:
        self.answers: dict[str, Answer] = {
            f"host-serial:{SERIAL}:features": block("shell_v2,cmd"),
            "exec:date ": b"OKAY12-31 23:59:59.000\n",
            **(answers or {}),
        }
        self.requests: list[str] = []
        self._accepted: queue.Queue[Conversation] = queue.Queue()
        self._conversations: list[Conversation] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        self._listener.bind(path or ("127.0.0.1", 0))
        self._listener.listen()
        host, port = ("", 0) if path else self._listener.getsockname()
        self.server = AdbServer(path=path) if path else AdbServer(host, port)
        self._start(self._accept)

    def __enter__(self) -> FakeAdb:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Close everything, as a killed server does."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        # The accepting thread ends first: it may have one more connection in its hands.
        self._threads[0].join(DEADLINE)
        for conversation in self._conversations:
            conversation.close()
        for thread in self._threads:
            thread.join(DEADLINE)

    def next(self, service: str) -> Conversation:
        """Return the next connection that was left to the test; it must be for this service."""
        conversation = self._accepted.get(timeout=DEADLINE)
        assert conversation.service.startswith(service), conversation.service
        return conversation

    def _start(self, run: Callable[[], None]) -> None:
        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                conversation = Conversation(connection)
                self._conversations.append(conversation)
                self._start(lambda it=conversation: self._serve(it))  # type: ignore[misc]

    def _serve(self, conversation: Conversation) -> None:
        with contextlib.suppress(OSError, ValueError):
            while size := conversation.read(4):
                request = conversation.read(int(size, 16)).decode()
                self.requests.append(request)
                if not self._answer(request, conversation):
                    return

    def _answer(self, request: str, conversation: Conversation) -> bool:
        """Answer one request; False when the connection is no longer ours."""
        fitting = [key for key in self.answers if request.startswith(key)]
        conversation.service = request
        if fitting:
            answer = self.answers[max(fitting, key=len)]
            if isinstance(answer, bytes):
                conversation.send(answer)
                conversation.close()
            else:
                answer(conversation)
            return False
        conversation.send(b"OKAY")
        if request.startswith("host:transport:"):
            return True
        self._accepted.put(conversation)
        return False


def block(text: str | bytes) -> bytes:
    """Return a positive answer: OKAY, length, text."""
    data = text.encode() if isinstance(text, str) else text
    return b"OKAY%04x%b" % (len(data), data)


def failure(text: str) -> bytes:
    """Return a negative answer: FAIL, length, text."""
    return b"FAIL%04x%b" % (len(text.encode()), text.encode())


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether a condition becomes true before the deadline."""
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)  # there is no event for the end of a thread or a socket
    return True


@contextlib.contextmanager
def nothing_left() -> Iterator[None]:
    """Check that a block ends with the threads of the log that it began with."""

    def ours() -> set[threading.Thread]:
        return {t for t in threading.enumerate() if t.name.startswith("log of ")}

    before = ours()
    yield
    assert ours() <= before
