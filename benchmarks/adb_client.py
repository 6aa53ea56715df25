"""A minimal adb client on plain sockets, without any code of the package."""

from __future__ import annotations

import json
import socket
from typing import Any

ACTION = "app.clawperator.operator.ACTION_AGENT_COMMAND"
OPERATOR = "com.clawperator.operator"
DEADLINE = 30.0


class Adb:
    """The adb server's own protocol on a plain socket."""

    def __init__(self, host: str, port: int) -> None:
        self.address = (host, port)

    def open(self, serial: str, service: str) -> socket.socket:
        """Open a service of a device."""
        connection = socket.create_connection(self.address, timeout=DEADLINE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for request in (f"host:transport:{serial}", service):
            connection.sendall(b"%04x%s" % (len(request.encode()), request.encode()))
            if (answer := connection.recv(4)) != b"OKAY":
                raise SystemExit(f"{request}: {answer!r} {connection.recv(4096)!r}")
        return connection

    def shell(self, serial: str, command: str) -> bytes:
        """Run a command and return what it printed."""
        with self.open(serial, f"shell:{command}") as connection:
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def host(self, request: str) -> bytes:
        """Send a request to the server itself."""
        with socket.create_connection(self.address) as connection:
            connection.sendall(b"%04x%s" % (len(request), request.encode()))
            return b"".join(iter(lambda: connection.recv(65536), b""))


class Phone:
    """One device with its log stream open, to run executions on."""

    def __init__(self, adb: Adb, serial: str) -> None:
        self.adb, self.serial, self.count = adb, serial, 0
        self.log = adb.open(serial, "shell:logcat -v raw -T 1")
        self.pending = b""

    def execute(self, *actions: dict[str, Any]) -> bytes:
        """Run one execution, by default one that costs the phone nothing; return its envelope."""
        self.count += 1
        command_id = f"bench-{self.count}"
        payload = json.dumps(
            {
                "commandId": command_id,
                "taskId": "bench",
                "source": "bench",
                "expectedFormat": "android-ui-automator",
                "timeoutMs": 30000,
                "actions": actions or [{"id": "h", "type": "doctor_ping"}],
            }
        )
        self.adb.shell(
            self.serial,
            f"am broadcast -a '{ACTION}' -p '{OPERATOR}' --es 'payload' '{payload}'"
            " --receiver-foreground",
        )
        begin = f'[Clawperator-Result] {{"commandId":"{command_id}"'.encode()
        while (start := self.pending.find(begin)) < 0 or b"\n" not in self.pending[start:]:
            self.pending = self.pending[-4096:] + self.log.recv(65536)
        envelope, _, self.pending = self.pending[start:].partition(b"\n")
        return envelope

    def close(self) -> None:
        """Close the log stream."""
        self.log.close()
