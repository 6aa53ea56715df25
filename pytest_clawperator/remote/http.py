"""Requests to another host over HTTP: its address, each request bounded, and what its answers mean.

Success is ``{"ok": true, ...}``, anything else is
``{"ok": false, "error": {"code", "message", "details"?, "hint"?, ...}, "deviceId"?}``.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import TYPE_CHECKING, Any

from pytest_clawperator import errors
from pytest_clawperator.contracts.ecmascript import parse_json, why_not_json
from pytest_clawperator.contracts.envelope import ResultEnvelope, read_envelope
from pytest_clawperator.contracts.wording import describe, listed, quote
from pytest_clawperator.devices.inventory import trouble_of
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    ErrorCode,
    TransportError,
)
from pytest_clawperator.remedies import Hint, Remedy, RemedyKind, parts_of

if TYPE_CHECKING:
    import httpx

#: The variable with the token that a host may ask for.
TOKEN_VARIABLE = "CLAWPERATOR_TOKEN"  # noqa: S105 - the name of a variable

#: No answer, and no file of the other host, is read beyond this many bytes.
LARGEST_ANSWER = 64 * 1024 * 1024

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})

_LONGEST_MESSAGE = 4000

_LABEL = "[A-Za-z0-9_-]{1,63}"

_URL = re.compile(
    rf"https?://(?P<host>{_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{{1,5}}))?/?",
    re.IGNORECASE | re.ASCII,
)


def open_host(url: str, *, connect_timeout: float, keep_alive: bool = False) -> HttpHost:
    """Return the host at a URL, checked; nothing is asked of it yet.

    ``keep_alive`` keeps the connection open between requests.
    """
    return HttpHost(
        url,
        name=checked_host(url),
        connect_timeout=connect_timeout,
        token=os.environ.get(TOKEN_VARIABLE) or None,
        keep_alive=keep_alive,
    )


def checked_host(url: object) -> str:
    """Return the host's name in the URL; raise for a URL that is more or less than a host."""
    found = _URL.fullmatch(url) if isinstance(url, str) else None
    if found is not None and 0 < int(found["port"] or 80) < 65536 and _is_host(found["host"]):
        return found["host"]
    # What stands before an @ may be a password, and messages travel far.
    shown = quote(url.rpartition("@")[2]) if isinstance(url, str) else describe(url)
    raise ConfigurationError(
        f"an address is http:// or https://, a host and its port, and nothing else, found {shown}"
        + (" after a user name" if isinstance(url, str) and "@" in url else ""),
        hint=Remedy(RemedyKind.CORRECT_URL),
    )


def _is_host(host: str) -> bool:
    """Whether a host in brackets is an address."""
    try:
        return not host.startswith("[") or bool(IPv6Address(host[1:-1]).packed)
    except ValueError:
        return False


@dataclass(frozen=True, kw_only=True)
class HttpAnswer:
    """An HTTP answer; ``request`` is what was asked, as in ``GET http://host:3000/devices``."""

    request: str
    status: int
    content_type: str
    body: bytes


class HttpHost:
    """The other host: one request at a time, each answer bounded in time and size.

    ``name`` is the host's name in the URL, ``token`` what it may ask for.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str,
        connect_timeout: float,
        token: str | None = None,
        keep_alive: bool = False,
    ) -> None:
        self.url = url.rstrip("/")
        self._connect_timeout = connect_timeout
        try:
            import httpx  # an extra, and slow to import
        except ImportError as exc:
            raise ConfigurationError(
                "another host is reached through the package httpx, which is not installed",
                code=ErrorCode.HOST_DEPENDENCY_MISSING,
                hint="pip install 'pytest-clawperator[remote]'",
            ) from exc
        self._client = httpx.Client(
            headers={
                "accept": "application/json",
                "accept-encoding": "identity",
                **({"authorization": f"Bearer {token}"} if token else {}),
            },
            # The other host may close an idle connection just when it is used again.
            limits=httpx.Limits(max_keepalive_connections=1 if keep_alive else 0),
            # This machine's loopback is not the proxy's.
            trust_env=name.lower() not in _LOOPBACK,
            # Reading the certificates takes longer than a request, and plain HTTP needs none.
            verify=self.url.lower().startswith("https:"),
        )

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def ask(
        self, method: str, path: str, *, timeout: float, body: bytes | None = None
    ) -> HttpAnswer:
        """Send a request and return the whole answer."""
        request = f"{method} {self.url}{path}"
        deadline = time.monotonic() + timeout
        if self._client.is_closed:
            raise _unreachable(f"{request} was not sent: the client is closed", "Connect again.")
        import httpx

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
            raise errors.TransportTimeoutError(
                f"{request} was not answered within {timeout:g} s",
                hint="The other host or its adb may be stuck: see the output of `clawperator "
                "serve` there. The device may still be acting.",
            ) from exc
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            found = f"{request} got no HTTP answer: {str(exc) or type(exc).__name__}"
            hint = "Something else listens there, or the other host died meanwhile: look there."
            raise _unreachable(found, hint) from exc


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


def read_answer(answer: HttpAnswer, *, serial: str | None) -> dict[str, Any]:
    """Return the object of a successful answer; raise any other answer."""
    given = _object(answer)
    if given.get("ok") is True:
        return given
    error = given.get("error")
    if given.get("ok") is not False or not isinstance(error, dict):
        found = f"an object with the keys {listed(given) or '(none)'}"
        raise unreadable(answer, found)
    if not isinstance(error.get("code"), str):
        raise unreadable(answer, f"an error whose code is {describe(error.get('code'))}")
    device = given.get("deviceId")
    raise _error(error, device if isinstance(device, str) else serial, answer.request)


def read_device_states(answer: HttpAnswer) -> dict[str, str]:
    """Return the state of each device that the other host sees, by serial."""
    devices = read_answer(answer, serial=None).get("devices")
    if not isinstance(devices, list) or not all(map(_is_device, devices)):
        raise unreadable(answer, f"devices that are {describe(devices)}")
    return {device["serial"]: device["state"] for device in devices}


def usable_serials(states: Mapping[str, str]) -> list[str]:
    """Return the devices that can be used."""
    return [serial for serial, state in states.items() if state == "device"]


def choose_serial(states: Mapping[str, str], *, wanted: str | None, url: str) -> str:
    """Return the serial of the device to use, by the same rules as over adb."""
    usable = usable_serials(states)
    seen = listed(f"{serial} ({state})" for serial, state in states.items()) or "no device"
    if wanted in usable:
        return wanted
    if wanted is not None:
        raise _unusable(wanted, states.get(wanted), f"the host at {url} sees {seen}")
    if not usable:
        raise errors.NoDeviceError(
            f"the host at {url} has no usable device: it sees {seen}",
            hint=(
                "Connect a device to that host and authorise it: `adb devices` there must list it;"
                " or ",
                Remedy(RemedyKind.USE_SIMULATOR),
            ),
            details={"devices": dict(states)},
        )
    if len(usable) > 1:
        raise errors.AmbiguousDeviceError(
            f"the host at {url} has {len(usable)} devices: {listed(usable)}",
            hint=Remedy(RemedyKind.CHOOSE_REMOTE_DEVICE, usable[0], url=url),
            details={"devices": usable},
        )
    return usable[0]


@dataclass(frozen=True, kw_only=True)
class Run:
    """What another host says of a run."""

    envelope: ResultEnvelope
    serial: str
    terminal_source: str


def read_run(answer: HttpAnswer, *, command_id: str, serial: str) -> Run:
    """Return the run of our execution; raise for an error and for another execution's envelope."""
    given = read_answer(answer, serial=serial)
    try:
        envelope = read_envelope(given.get("envelope"), source=f"the answer to {answer.request}")
    except errors.EnvelopeMalformedError as exc:
        exc.serial = serial
        raise
    if envelope.command_id != command_id:
        raise errors.EnvelopeMalformedError(
            f"{answer.request} answered with the envelope of another execution, "
            f"{quote(envelope.command_id)} instead of {quote(command_id)}",
            serial=serial,
            hint="Look for a cache or a proxy between this machine and the other host.",
            details={"envelope": envelope.to_wire()},
        )
    device, source = given.get("deviceId"), given.get("terminalSource")
    return Run(
        envelope=envelope,
        serial=device if isinstance(device, str) else serial,
        terminal_source=source if isinstance(source, str) else "clawperator_result",
    )


def unreadable(answer: HttpAnswer, found: str) -> TransportError:
    """Return the error for an answer that no Clawperator host gives."""
    return TransportError(
        f"{answer.request} answered {answer.status} with {found}, "
        "expected the JSON of a Clawperator host",
        code=ErrorCode.REMOTE_ANSWER_UNREADABLE,
        hint="Check that the URL is the one that `clawperator serve` prints when it starts.",
        details={
            "status": answer.status,
            "contentType": answer.content_type,
            "body": answer.body[:_LONGEST_MESSAGE].decode("utf-8", "replace"),
        },
    )


def _object(answer: HttpAnswer) -> dict[str, Any]:
    text = answer.body.decode("utf-8", "replace")
    try:
        given = parse_json(text)
    except (ValueError, RecursionError) as exc:
        kind = answer.content_type.partition(";")[0] or "a body of no type"
        found = f"{kind}, {quote(text)}" if text else "an empty body"
        raise unreadable(
            answer, f"{found} ({why_not_json(exc)})" if "json" in kind else found
        ) from exc
    if not isinstance(given, dict):
        raise unreadable(answer, describe(given))
    return given


def _is_device(given: Any) -> bool:
    return isinstance(given, dict) and all(
        isinstance(given.get(key), str) for key in ("serial", "state")
    )


def _unusable(serial: str, state: str | None, seen: str) -> ClawperatorError:
    if state is None:
        return errors.DeviceNotFoundError(
            f"no such device: {seen}",
            serial=serial,
            hint="Check the serial, and that the device is connected to that host.",
        )
    code, hint = trouble_of(state)
    return errors.DeviceUnavailableError(
        f"the device is {state}: {seen}", code=code, serial=serial, hint=hint
    )


def _error(error: Mapping[str, Any], serial: str | None, request: str) -> ClawperatorError:
    """Return the error that the other host's error object stands for."""
    code, message = _code_and_message(error)
    own = {key: error[key] for key in error if key not in ("code", "message", "details", "hint")}
    given = error.get("details")
    details = {**own, **(given if isinstance(given, dict) else {}), "request": request}
    hint = _hint(error, details, code)
    if code == ErrorCode.EXECUTION_VALIDATION_FAILED:
        refusal = errors.ExecutionValidationError(
            _problems(message, details), hint=hint, details=details
        )
        refusal.serial = serial
        return refusal
    cls = _CLASSES.get(code, errors.DispatchError)
    found = cls(message, code=code, serial=serial, details=details)
    found.advice = parts_of(hint)  # what would help here does not help at that host
    return found


def _code_and_message(error: Mapping[str, Any]) -> tuple[ErrorCode | str, str]:
    code = error["code"]
    message = error.get("message")
    text = message if isinstance(message, str) and message else "the other host gives no reason"
    # The published host puts the sentence itself in the code's place.
    if code.startswith("logcat exited"):
        return ErrorCode.LOGCAT_UNAVAILABLE, code[:_LONGEST_MESSAGE]
    return errors.known_code(code), text[:_LONGEST_MESSAGE]


def _hint(error: Mapping[str, Any], details: Mapping[str, Any], code: ErrorCode | str) -> Hint:
    for given in (error.get("hint"), details.get("hint")):
        if isinstance(given, str) and given:
            return given[:_LONGEST_MESSAGE]
    return _HINTS.get(code, "See the output and the log of `clawperator serve` on the other host.")


def _problems(message: str, details: Mapping[str, Any]) -> list[errors.Problem]:
    """Return the problems: the first from the message, the rest from the full report."""
    path = details.get("path")
    problems = [errors.Problem(path if isinstance(path, str) else "", message)]
    try:
        issues = parse_json(str(details.get("reason")))
    except (ValueError, RecursionError):
        issues = None
    for issue in issues[1:] if isinstance(issues, list) else ():
        if isinstance(issue, dict) and isinstance(issue.get("path"), list):
            where = ".".join(map(str, issue["path"]))
            problems.append(errors.Problem(where, str(issue.get("message"))))
    return problems


_CLASSES: Mapping[ErrorCode | str, type[ClawperatorError]] = {
    ErrorCode.PAYLOAD_TOO_LARGE: errors.PayloadTooLargeError,
    ErrorCode.NO_DEVICES: errors.NoDeviceError,
    ErrorCode.MULTIPLE_DEVICES_DEVICE_ID_REQUIRED: errors.AmbiguousDeviceError,
    ErrorCode.DEVICE_NOT_FOUND: errors.DeviceNotFoundError,
    ErrorCode.DEVICE_UNAUTHORIZED: errors.DeviceUnavailableError,
    ErrorCode.DEVICE_OFFLINE: errors.DeviceUnavailableError,
    ErrorCode.DEVICE_LEASED: errors.LeaseError,
    ErrorCode.OPERATOR_NOT_INSTALLED: errors.OperatorNotReadyError,
    ErrorCode.OPERATOR_VARIANT_MISMATCH: errors.OperatorNotReadyError,
    ErrorCode.OPERATOR_CRASHED: errors.OperatorNotReadyError,
    ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING: errors.OperatorNotReadyError,
    ErrorCode.SERVICE_UNAVAILABLE: errors.OperatorNotReadyError,
    ErrorCode.ADB_NOT_FOUND: errors.AdbUnavailableError,
    ErrorCode.ADB_SERVER_FAILED: errors.AdbUnavailableError,
    ErrorCode.ADB_NO_USB_PERMISSIONS: errors.AdbUnavailableError,
    ErrorCode.DEVICE_SHELL_UNAVAILABLE: errors.ShellError,
    ErrorCode.LOGCAT_UNAVAILABLE: errors.LogcatError,
    ErrorCode.TRANSPORT_TIMEOUT: errors.TransportTimeoutError,
    ErrorCode.BROADCAST_FAILED: errors.BroadcastError,
    ErrorCode.PAYLOAD_REJECTED: errors.PayloadRefusedError,
    ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT: errors.ExecutionConflictError,
    ErrorCode.RESULT_ENVELOPE_TIMEOUT: errors.EnvelopeTimeoutError,
    ErrorCode.RESULT_ENVELOPE_MALFORMED: errors.EnvelopeMalformedError,
    ErrorCode.SNAPSHOT_EXTRACTION_FAILED: errors.SnapshotError,
    "TOKEN_REQUIRED": ConfigurationError,
    "TOKEN_WRONG": ConfigurationError,
    "HOST_NOT_ALLOWED": ConfigurationError,
    "INVALID_DEVICE_ID": ConfigurationError,
    "INVALID_OPERATOR_PACKAGE": ConfigurationError,
}

_HINTS: Mapping[ErrorCode | str, Hint] = {
    ErrorCode.EXECUTION_VALIDATION_FAILED: "This package takes the payload and the other host "
    "does not: compare their versions.",
    ErrorCode.PAYLOAD_TOO_LARGE: "Split the actions over several executions, or shorten their "
    "texts.",
    ErrorCode.NO_DEVICES: (
        "Connect a device to the other host and check that adb runs there, or ",
        Remedy(RemedyKind.USE_SIMULATOR),
    ),
    ErrorCode.MULTIPLE_DEVICES_DEVICE_ID_REQUIRED: Remedy(
        RemedyKind.CHOOSE_REMOTE_DEVICE, "SERIAL", url="URL"
    ),
    ErrorCode.DEVICE_NOT_FOUND: "The device left the other host or lost its authorisation: see "
    "`adb devices` there.",
    ErrorCode.OPERATOR_NOT_INSTALLED: (
        "Install the Operator on the device; where another variant is there, ",
        Remedy(RemedyKind.NAME_PACKAGE),
    ),
    ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT: "Another client uses this device through the same "
    "host: wait for it, or choose another device.",
    ErrorCode.RESULT_ENVELOPE_TIMEOUT: "Look at the device: the Operator took the command and "
    "said nothing, or its accessibility service is off.",
    ErrorCode.RESULT_ENVELOPE_MALFORMED: "Check that the Operator app and the other host are of "
    "the same version.",
    ErrorCode.BROADCAST_FAILED: "Check that the device still answers `adb shell` on the other "
    "host.",
    ErrorCode.DEVICE_SHELL_UNAVAILABLE: "Check that the device still answers `adb shell` on the "
    "other host.",
    ErrorCode.LOGCAT_UNAVAILABLE: "The device's log stream ended: check its connection to the "
    "other host and run again.",
    ErrorCode.ADB_NOT_FOUND: "Install adb on the other host, or set ADB_PATH for `clawperator "
    "serve`.",
    "INVALID_OPERATOR_PACKAGE": (
        Remedy(RemedyKind.NAME_PACKAGE),
        "; or leave it to the other host.",
    ),
}
