"""A service in a thread of this process, on a port that the system picks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse

from pytest_clawperator.service.server import Service, ServiceOptions, make_app, open_listener
from pytest_clawperator.simulator import Simulator

DEADLINE = 30.0


@dataclass(frozen=True)
class RunningService:
    """A service that answers at ``url``."""

    url: str
    service: Service

    def stop(self) -> None:
        """Ask it to end, as a signal does."""
        self.service.server.should_exit = True


@contextmanager
def running_service(
    simulator: Simulator, *, token: str | None = None, **options: Any
) -> Iterator[RunningService]:
    """Run a service on simulated phones until the block ends."""
    adb = f"{simulator.adb_host}:{simulator.adb_port}"
    chosen = ServiceOptions(adb=adb, port=0, **options)
    with serving(Service(chosen, token=token)) as service:
        yield service


@contextmanager
def executions_only(simulator: Simulator) -> Iterator[RunningService]:
    """Run a service that offers what the published program does, and nothing else."""
    adb = f"{simulator.adb_host}:{simulator.adb_port}"
    service = Service(ServiceOptions(adb=adb, port=0), token=None)
    published = [one for one in service.endpoints if not one.path.startswith("/v1")]
    service.app = make_app(published, gate=service.gate)
    service.app.exception_handlers[HTTPException] = _page
    with serving(service) as running:
        yield running


@contextmanager
def serving(service: Service) -> Iterator[RunningService]:
    """Run a service until the block ends."""
    listener, started = open_listener(service.options), threading.Event()
    thread = threading.Thread(
        target=lambda: asyncio.run(service.serve(listener, started=started.set)), name="service"
    )
    with listener:
        thread.start()
        try:
            assert started.wait(DEADLINE)
            running = RunningService(f"http://127.0.0.1:{listener.getsockname()[1]}", service)
            yield running
        finally:
            service.server.should_exit = True
            thread.join(DEADLINE)
    assert not thread.is_alive(), "the service did not end"


async def _page(request: Request, error: Exception) -> HTMLResponse:
    return HTMLResponse(f"<pre>Cannot {request.method} {request.url.path}</pre>", status_code=404)
