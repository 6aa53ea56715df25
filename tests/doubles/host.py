"""Another host in a thread: a real HTTP server on loopback that answers from a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pytest_clawperator.contracts.payload import Execution, complete_execution

SERIAL = "emulator-5554"
ONE_DEVICE = {"ok": True, "devices": [{"serial": SERIAL, "state": "device"}]}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What to answer: a JSON value, or bytes as they are."""

    body: Any
    status: int = 200
    content_type: str = "application/json; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def content(self) -> bytes:
        """The body as it travels."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Answerer = Callable[[BaseHTTPRequestHandler, bytes], Reply | None]


@dataclass
class HostDouble:
    """What the host answers at each path, and what it was asked.

    An answer may be a function of the handler and the request's body; one that gives None
    has written to the connection itself.
    """

    url: str
    devices: Reply | Answerer = field(default_factory=lambda: Reply(body=ONE_DEVICE))
    execute: Reply | Answerer = field(default_factory=lambda: succeeding)
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def bodies(self) -> list[Any]:
        """The parsed bodies of all executions that were asked for."""
        return [json.loads(body) for _, path, _, body in self.requests if path == "/execute"]


def succeeding(_: BaseHTTPRequestHandler, body: bytes) -> Reply:
    """Answer as the published host does when every step succeeds."""
    asked = json.loads(body)
    execution = asked["execution"]
    steps = [
        {"id": action["id"], "actionType": action["type"], "success": True, "data": {}}
        for action in execution["actions"]
    ]
    return Reply(body=answer(envelope(execution["commandId"], steps=steps), asked["deviceId"]))


def envelope(command_id: str, **changes: Any) -> dict[str, Any]:
    """Make an envelope as it stands in an answer."""
    names = {"steps": "stepResults", "error_code": "errorCode"}
    given = {names.get(key, key): value for key, value in changes.items()}
    whole = {"commandId": command_id, "taskId": "task-1", "status": "success", "stepResults": []}
    return {**whole, "error": None, **given}


def answer(of_envelope: Any, serial: str = SERIAL) -> dict[str, Any]:
    """Wrap an envelope as the published host does."""
    about = {"deviceId": serial, "terminalSource": "clawperator_result"}
    return {"ok": True, "envelope": of_envelope, **about}


@contextmanager
def running_host() -> Iterator[HostDouble]:
    """Run a host until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def log_message(self, *_: Any) -> None:
            pass

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.path == "/v1":  # which the published program does not know
                self.send_error(404)
                return
            host.requests.append((self.command, self.path, dict(self.headers.items()), body))
            scripted = host.devices if self.path == "/devices" else host.execute
            reply = scripted if isinstance(scripted, Reply) else scripted(self, body)
            if reply is None:
                self.close_connection = True
                return
            self.send_response(reply.status)
            self.send_header("content-type", reply.content_type)
            self.send_header("content-length", str(len(reply.content)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    host = HostDouble(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.005,))
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def execution(*actions: dict[str, Any], command_id: str = "cmd-1", **more: Any) -> Execution:
    """Make an execution; one that sleeps will do where nothing else is asked for."""
    given = [*actions] or [{"id": "z", "type": "sleep", "params": {"durationMs": 1}}]
    return complete_execution({"commandId": command_id, "actions": given, **more})


def step(id: str, kind: str, *, success: bool = True, **data: str) -> dict[str, Any]:
    """Make a step's result as it stands in an envelope."""
    return {"id": id, "actionType": kind, "success": success, "data": data}


def failing(code: str, status: int = 500, **more: Any) -> Reply:
    """Answer with an error as the published host words it."""
    error = {"code": code, "message": "what went wrong", **more}
    return Reply(body={"ok": False, "error": error, "deviceId": SERIAL}, status=status)
