"""Shows a report in a browser of this computer, and of no other."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pytest_clawperator.errors import ConfigurationError

_LOOPBACK = "127.0.0.1"


class _Files(SimpleHTTPRequestHandler):
    """Files below a folder, for those who ask for this computer by its own name."""

    def send_head(self) -> Any:
        """Refuse pages of other sites that were led here by a name of theirs."""
        host = (self.headers.get("Host") or "").rpartition(":")[0]
        if host not in (_LOOPBACK, "localhost"):
            self.send_error(403)
            return None
        return super().send_head()

    def end_headers(self) -> None:
        """Keep what is made anew from being remembered."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Be quiet."""


def serve(index: Path, folders: Sequence[Path], *, port: int, show: Callable[[str], None]) -> None:
    """Serve an index and the folders that it links to, until Ctrl-C."""
    try:
        server, url = server_of(index, folders, port=port)
    except (OSError, OverflowError, ValueError) as exc:
        raise ConfigurationError(
            f"--port {port} cannot be used: {exc}", hint="Leave --port out to use a free one."
        ) from exc
    with server:
        show(url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            show("")


def server_of(
    index: Path, folders: Sequence[Path], *, port: int = 0
) -> tuple[ThreadingHTTPServer, str]:
    """Return a server that waits for its first request, and the address of the index."""
    places = [index.resolve().parent, *(one.resolve() for one in folders)]
    root = Path(os.path.commonpath(places))
    server = ThreadingHTTPServer((_LOOPBACK, port), partial(_Files, directory=str(root)))
    path = quote(index.resolve().relative_to(root).as_posix())
    return server, f"http://{_LOOPBACK}:{server.server_port}/{path}"
