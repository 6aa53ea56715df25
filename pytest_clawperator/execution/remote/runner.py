"""Running through another host: the HTTP API of ``clawperator serve``."""

from __future__ import annotations

import json
import re
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv6Address
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_clawperator.contracts.envelope import StepResult
from pytest_clawperator.contracts.events import (
    Observer,
)
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.contracts.wording import describe, quote
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    ErrorCode,
    TransportError,
    TransportTimeoutError,
)
from pytest_clawperator.execution.flight import Clearance, always_clear
from pytest_clawperator.execution.observing import Observers
from pytest_clawperator.execution.postprocess import Collected, Processor, postprocess
from pytest_clawperator.execution.remote.answers import (
    HttpAnswer,
    choose_serial,
    read_device_states,
    read_run,
    unreadable,
)
from pytest_clawperator.execution.result import LogSlice, RunResult
from pytest_clawperator.execution.screenshots import is_png

if TYPE_CHECKING:
    import httpx

LARGEST_ANSWER = 64 * 1024 * 1024

_LABEL = "[A-Za-z0-9_-]{1,63}"
_URL = re.compile(
    rf"https?://(?P<host>{_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{{1,5}}))?/?",
    re.IGNORECASE | re.ASCII,
)
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
# File systems round the time of a change, some to two seconds.
_CLOCK_SLACK = 2.0


class RemoteRunner:
    """Runs executions on a device of another host, where ``clawperator serve`` listens.

    ``url`` says where, as in ``http://lab-3:3000``. Without a ``serial`` that host's only
    device is used; without an ``operator_package`` it decides itself. ``margin`` is how many
    seconds it may take beyond the execution's own timeout, because it waits a little longer
    than that and runs adb commands before and after.
    """

    def __init__(
        self,
        url: str,
        *,
        serial: str | None = None,
        operator_package: str | None = None,
        observers: Iterable[Observer] = (),
        clearance: Clearance = always_clear,
        margin: float = 30.0,
        connect_timeout: float = 10.0,
    ) -> None:
        self._operator_package = operator_package
        self._clearance = clearance
        self._margin = margin
        self._turn = threading.Lock()
        self._host = _Host(url, connect_timeout=connect_timeout)
        try:
            states = read_device_states(self._host.ask("GET", "/devices", timeout=margin))
            self._serial = choose_serial(states, wanted=serial, url=self._host.url)
        except BaseException:
            self._host.close()
            raise
        self.observers = Observers(observers, serial=self._serial)

    @property
    def serial(self) -> str:
        """The device's serial."""
        return self._serial

    @property
    def url(self) -> str:
        """The other host's address."""
        return self._host.url

    def run(self, execution: Execution, *, processors: Sequence[Processor] = ()) -> RunResult:
        """Run the execution; a failed envelope is returned, not raised.

        ``processors`` are applied to the other host's answer, before observers see it.

        Another thread waits its turn; another client of that host gets an
        :class:`ExecutionConflictError`.
        """
        return self.observers.watch(execution, lambda: self._named(execution, processors))

    def close(self) -> None:
        """Close the connection to the other host."""
        self._host.close()

    def _named(self, execution: Execution, processors: Sequence[Processor]) -> RunResult:
        """Run, and let every error say which device it is about."""
        try:
            with self._turn:
                return self._executed(execution, processors)
        except ClawperatorError as exc:
            exc.serial = exc.serial or self._serial
            raise

    def _executed(self, execution: Execution, processors: Sequence[Processor]) -> RunResult:
        started_at, begin = time.time(), time.monotonic()
        timeout = execution.timeout_ms / 1000 + self._margin
        self._clearance(execution.command_id, timeout)
        answer = self._host.ask("POST", "/execute", timeout=timeout, body=self._body(execution))
        run = read_run(answer, command_id=execution.command_id, serial=self._serial)
        # The other host has done the usual post-processing; a second time would be wrong.
        collected = Collected(actions=execution.actions, serial=run.serial)
        return RunResult.of(
            postprocess(run.envelope, collected, processors),
            serial=run.serial,
            elapsed=time.monotonic() - begin,
            terminal_source=run.terminal_source,
            log=LogSlice(lacking="the other host keeps the device's log to itself"),
            screenshot=_picture(run.envelope.steps, taken_after=started_at),
        )

    def _body(self, execution: Execution) -> bytes:
        about = {"deviceId": self._serial}
        if self._operator_package is not None:
            about["operatorPackage"] = self._operator_package
        # Joined as text: the payload has its own way of writing JSON, half characters too.
        return f'{json.dumps(about)[:-1]}, "execution": {execution.to_json()}}}'.encode()


def list_remote(url: str, *, timeout: float = 30.0) -> dict[str, str]:
    """Return the state of each device of another host, by serial."""
    host = _Host(url, connect_timeout=10.0)
    try:
        return read_device_states(host.ask("GET", "/devices", timeout=timeout))
    finally:
        host.close()


class _Host:
    """The other host: one request at a time, each answer bounded in time and size."""

    def __init__(self, url: str, *, connect_timeout: float) -> None:
        name = _checked_host(url)
        self.url = url.rstrip("/")
        self._connect_timeout = connect_timeout
        _require_httpx()
        import httpx

        self._client = httpx.Client(
            headers={"accept": "application/json", "accept-encoding": "identity"},
            # The other host may close an idle connection just when it is used again.
            limits=httpx.Limits(max_keepalive_connections=0),
            # This machine's loopback is not the proxy's.
            trust_env=name.lower() not in _LOOPBACK,
            # Reading the certificates takes longer than a request, and plain HTTP needs none.
            verify=self.url.lower().startswith("https:"),
        )

    def close(self) -> None:
        self._client.close()

    def ask(
        self, method: str, path: str, *, timeout: float, body: bytes | None = None
    ) -> HttpAnswer:
        """Send a request and return the whole answer."""
        import httpx

        request = f"{method} {self.url}{path}"
        deadline = time.monotonic() + timeout
        if self._client.is_closed:
            raise _unreachable(f"{request} was not sent: the client is closed", "Connect again.")
        headers = {"content-type": "application/json"} if body is not None else None
        with self._errors_mapped(request, timeout):
            limits = httpx.Timeout(timeout, connect=self._connect_timeout)
            with self._client.stream(
                method, self.url + path, content=body, headers=headers, timeout=limits
            ) as response:
                return _read(response, request, deadline)

    @contextmanager
    def _errors_mapped(self, request: str, timeout: float) -> Iterator[None]:
        import httpx

        start_it = "Start it there with `clawperator serve --host 0.0.0.0`, or correct the URL."
        try:
            yield
        except httpx.ConnectTimeout as exc:
            found = f"{self.url} takes no connection within {self._connect_timeout:g} s"
            raise _unreachable(found, start_it) from exc
        except httpx.ConnectError as exc:
            raise _unreachable(f"nothing answers at {self.url}: {exc}", start_it) from exc
        except (httpx.TimeoutException, TimeoutError) as exc:
            raise TransportTimeoutError(
                f"{request} was not answered within {timeout:g} s",
                hint="The other host or its adb may be stuck: see the output of `clawperator "
                "serve` there. The device may still be acting.",
            ) from exc
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            found = f"{request} got no HTTP answer: {str(exc) or type(exc).__name__}"
            hint = "Something else listens there, or the other host died meanwhile: look there."
            raise _unreachable(found, hint) from exc


def _require_httpx() -> None:
    try:
        import httpx  # noqa: F401 - an extra, so it is asked for where it is needed
    except ImportError as exc:
        raise ConfigurationError(
            "connect(url=...) needs the package httpx, which is not installed",
            code=ErrorCode.HOST_DEPENDENCY_MISSING,
            hint="pip install 'pytest-clawperator[remote]'",
        ) from exc


def _checked_host(url: object) -> str:
    """Return the host's name in the URL; raise for a URL that is more or less than a host."""
    found = _URL.fullmatch(url) if isinstance(url, str) else None
    if found is not None and 0 < int(found["port"] or 80) < 65536 and _is_host(found["host"]):
        return found["host"]
    # What stands before an @ may be a password, and messages travel far.
    shown = quote(url.rpartition("@")[2]) if isinstance(url, str) else describe(url)
    raise ConfigurationError(
        f"url= must be http:// or https://, a host and its port, and nothing else, found {shown}"
        + (" after a user name" if isinstance(url, str) and "@" in url else ""),
        hint="Give the address that `clawperator serve` prints when it starts, as in "
        "connect(url='http://127.0.0.1:3000').",
    )


def _is_host(host: str) -> bool:
    """Whether a host in brackets is an address."""
    try:
        return not host.startswith("[") or bool(IPv6Address(host[1:-1]).packed)
    except ValueError:
        return False


def _read(response: httpx.Response, request: str, deadline: float) -> HttpAnswer:
    """Return an answer with its body; raise for one too large, too slow, packed or redirected."""
    chunks: list[bytes] = []
    size = 0
    for chunk in response.iter_raw():
        chunks.append(chunk)
        size += len(chunk)
        if size > LARGEST_ANSWER:
            break
        if time.monotonic() > deadline:
            raise TimeoutError
    answer = HttpAnswer(
        request=request,
        status=response.status_code,
        content_type=response.headers.get("content-type", ""),
        body=b"".join(chunks),
    )
    if size > LARGEST_ANSWER:
        raise unreadable(answer, f"more than {LARGEST_ANSWER} bytes")
    if response.is_redirect:
        raise unreadable(answer, f"a redirect to {quote(response.headers['location'])}")
    packing = response.headers.get("content-encoding", "identity")
    if packing != "identity":
        raise unreadable(answer, f"a body packed with {quote(packing)}, which was not asked for")
    return answer


def _unreachable(message: str, hint: str) -> TransportError:
    return TransportError(message, code=ErrorCode.REMOTE_HOST_UNREACHABLE, hint=hint)


def _picture(steps: Sequence[StepResult], *, taken_after: float) -> bytes | None:
    """Return the screenshot that the other host wrote, if its path leads to it from here.

    The same path may lead to another file here, so it must be a picture, and a new one.
    """
    taken = (step for step in steps if step.action_type == "take_screenshot" and step.success)
    path = Path(next((step.data.get("path", "") for step in taken), ""))
    if not path.is_absolute():
        return None
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode) or about.st_mtime < taken_after - _CLOCK_SLACK:
            return None
        with path.open("rb") as file:
            picture = file.read(LARGEST_ANSWER)
    except (OSError, ValueError):  # not there, not ours to read, or no path at all
        return None
    return picture if is_png(picture) else None
