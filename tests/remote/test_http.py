"""A host that does not answer, or not in HTTP, is named and given up in time."""

from __future__ import annotations

import gzip
import json
import pickle
import socket
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from pytest_clawperator import errors
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    ErrorCode,
    TransportError,
    TransportTimeoutError,
)
from pytest_clawperator.execution.pipeline import Runner
from pytest_clawperator.remote import http
from pytest_clawperator.remote.http import checked_host
from pytest_clawperator.remote.runner import RemoteRunner
from tests.doubles.host import SERIAL, HostDouble, Reply, answer, envelope, execution, failing


class TestNoAnswer:
    """If nothing answers, the error says what is wrong at which URL."""

    def test_a_refused_connection_names_the_url(self) -> None:
        """A refused connection names the URL and how to start the other host."""
        with socket.create_server(("127.0.0.1", 0)) as unused:
            url = f"http://127.0.0.1:{unused.getsockname()[1]}"

        with pytest.raises(TransportError, match=f"nothing answers at {url}") as caught:
            RemoteRunner(url)

        assert caught.value.code == ErrorCode.REMOTE_HOST_UNREACHABLE
        assert "clawperator serve" in str(caught.value)

    def test_a_connection_that_ends(self, host: HostDouble, runner: RemoteRunner) -> None:
        """A host that dies in the middle is reported with the request."""
        host.execute = lambda handler, body: None

        with pytest.raises(TransportError, match="got no HTTP answer") as caught:
            runner.run(execution())

        assert caught.value.code == ErrorCode.REMOTE_HOST_UNREACHABLE
        assert caught.value.serial == SERIAL

    def test_a_port_without_http_is_an_error(self, host: HostDouble) -> None:
        """A port that speaks something else than HTTP is reported as that."""

        def speaking(handler: BaseHTTPRequestHandler, _: bytes) -> None:
            handler.wfile.write(b"FAIL0012unknown host service")

        host.devices = speaking

        with pytest.raises(TransportError, match="got no HTTP answer"):
            RemoteRunner(host.url)

    @pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200 OK\r\n\r\n{"])
    def test_a_slow_host_is_given_up_after_the_margin(
        self, host: HostDouble, beginning: bytes
    ) -> None:
        """A silent host does not hold the caller, nor does one that sends a byte now and then."""
        over = threading.Event()

        def trickling(handler: BaseHTTPRequestHandler, _: bytes) -> None:
            handler.wfile.write(beginning)
            while not over.wait(0.02):
                handler.wfile.write(beginning[-1:])

        host.devices = trickling

        with pytest.raises(TransportTimeoutError, match=r"not answered within 0\.1 s"):
            RemoteRunner(host.url, margin=0.1)
        over.set()


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://lab-3:3000", "lab-3"),
        ("HTTPS://lab.example.com/", "lab.example.com"),
        ("http://[::1]:3000", "[::1]"),
    ],
)
def test_the_hosts_name_is_taken_from_the_url(url: str, host: str) -> None:
    """Names and addresses are accepted, with and without a port."""
    assert checked_host(url) == host


REFUSED: list[Any] = [
    *("", "localhost:3000", "127.0.0.1", "file:///etc/passwd", "ftp://host:3000", "http://"),
    *("http://:3000", "http://host:0", "http://host:65536", "http://host:port", "http://[::1"),
    *("http://host:3000/api", "http://host:3000?x=1", "http://host:3000#x", "http://a..b:3000"),
    *("http://ho st:3000", "http://host:3000\n", "http://host\\evil:3000", "http://[:::]:3000"),
    *("http://h\u00f6st:3000", "http://host:\u0663000", None, b"http://host:3000"),
    "http://user:hunter2@host:3000",
]


@pytest.mark.parametrize("url", REFUSED)
def test_a_url_with_more_than_host_and_port_is_refused(url: Any) -> None:
    """Anything but a scheme, a host and a port is refused, without repeating a password."""
    with pytest.raises(ConfigurationError, match="http:// or https://") as caught:
        checked_host(url)

    assert "http://127.0.0.1:3000" in (caught.value.hint or "")
    assert "hunter2" not in str(caught.value)
    assert ("after a user name" in str(caught.value)) == ("@" in str(url))


def see(host: HostDouble, **states: str) -> None:
    """Make the host see these devices."""
    devices = [{"serial": serial, "state": state} for serial, state in states.items()]
    host.devices = Reply(body={"ok": True, "devices": devices})


@pytest.mark.parametrize(
    ("states", "serial", "chosen"),
    [
        ({"R58": "unauthorized", "A1": "device", "B2": "offline"}, None, "A1"),
        ({"A1": "device", "B2": "device"}, "B2", "B2"),
    ],
)
def test_the_wanted_or_the_only_usable_device_is_used(
    host: HostDouble, states: dict[str, str], serial: str | None, chosen: str
) -> None:
    """Which device is used follows the rules that hold for adb."""
    see(host, **states)

    runner: Runner = RemoteRunner(host.url, serial=serial)
    runner.close()

    assert runner.serial == chosen


@pytest.mark.parametrize(
    ("states", "serial", "code", "text"),
    [
        (
            {"A1": "device", "B2": "device"},
            None,
            ErrorCode.MULTIPLE_DEVICES_DEVICE_ID_REQUIRED,
            "devices: A1, B2\n  hint: Choose one: connect(url={url!r}, serial='A1').",
        ),
        (
            {"R58": "unauthorized"},
            None,
            ErrorCode.NO_DEVICES,
            "{url} has no usable device: it sees",
        ),
        ({"A1": "device"}, "B2", ErrorCode.DEVICE_NOT_FOUND, "[B2] DEVICE_NOT_FOUND: no such"),
        ({"B2": "unauthorized"}, "B2", ErrorCode.DEVICE_UNAUTHORIZED, "the device is unauthorized"),
        ({"B2": "offline"}, "B2", ErrorCode.DEVICE_OFFLINE, "the device is offline"),
        ({"B2": "recovery"}, "B2", ErrorCode.DEVICE_OFFLINE, "the device is recovery"),
    ],
)
def test_without_a_clear_choice_there_is_an_error(
    host: HostDouble, states: dict[str, str], serial: str | None, code: ErrorCode, text: str
) -> None:
    """It says what the host sees, and what to do."""
    see(host, **states)

    with pytest.raises(errors.DeviceError) as caught:
        RemoteRunner(host.url, serial=serial)

    assert (caught.value.code, caught.value.serial) == (code, serial)
    assert text.format(url=host.url) in str(caught.value)
    assert caught.value.hint


CODES: list[tuple[str, type[ClawperatorError]]] = [
    ("PAYLOAD_TOO_LARGE", errors.PayloadTooLargeError),
    ("NO_DEVICES", errors.NoDeviceError),
    ("MULTIPLE_DEVICES_DEVICE_ID_REQUIRED", errors.AmbiguousDeviceError),
    ("DEVICE_NOT_FOUND", errors.DeviceNotFoundError),
    ("DEVICE_UNAUTHORIZED", errors.DeviceUnavailableError),
    ("DEVICE_OFFLINE", errors.DeviceUnavailableError),
    ("DEVICE_LEASED", errors.LeaseError),
    ("OPERATOR_NOT_INSTALLED", errors.OperatorNotReadyError),
    ("RECEIVER_NOT_INSTALLED", errors.OperatorNotReadyError),
    ("ADB_NOT_FOUND", errors.AdbUnavailableError),
    ("DEVICE_SHELL_UNAVAILABLE", errors.ShellError),
    ("LOGCAT_UNAVAILABLE", errors.LogcatError),
    ("BROADCAST_FAILED", errors.BroadcastError),
    ("PAYLOAD_REJECTED", errors.PayloadRefusedError),
    ("EXECUTION_CONFLICT_IN_FLIGHT", errors.ExecutionConflictError),
    ("RESULT_ENVELOPE_TIMEOUT", errors.EnvelopeTimeoutError),
    ("RESULT_ENVELOPE_MALFORMED", errors.EnvelopeMalformedError),
    ("INVALID_OPERATOR_PACKAGE", ConfigurationError),
    ("A_CODE_OF_TOMORROW", errors.DispatchError),
]


class TestErrorsOfTheHost:
    """Each code of the other host is the class that stands for it here."""

    @pytest.mark.parametrize(("code", "kind"), CODES)
    def test_each_code_has_its_error_class(
        self, host: HostDouble, runner: RemoteRunner, code: str, kind: type[ClawperatorError]
    ) -> None:
        """Class, code, serial, message, details and hint are all there, and survive pickling."""
        host.execute = failing(code, details={"commandId": "cmd-1"}, lastCorrelatedEvents=["x"])

        with pytest.raises(kind) as caught:
            runner.run(execution())

        error = pickle.loads(pickle.dumps(caught.value))
        assert type(error) is kind
        assert error.code == code.replace("RECEIVER", "OPERATOR")
        assert (error.serial, error.message) == (SERIAL, "what went wrong")
        assert error.details["commandId"] == "cmd-1"
        assert error.details["lastCorrelatedEvents"] == ["x"]
        assert error.details["request"] == f"POST {host.url}/execute"
        assert error.hint

    def test_the_hosts_own_hint_wins(self, host: HostDouble, runner: RemoteRunner) -> None:
        """What the other host advises is passed on."""
        host.execute = failing("RESULT_ENVELOPE_TIMEOUT", 504, hint="Run the doctor there.")

        with pytest.raises(errors.EnvelopeTimeoutError) as caught:
            runner.run(execution())

        assert caught.value.hint == "Run the doctor there."

    def test_every_problem_of_a_refused_payload(
        self, host: HostDouble, runner: RemoteRunner
    ) -> None:
        """A payload that the other host refuses is explained with all that it found."""
        issues = [
            {"path": ["actions", 0, "params"], "message": "first"},
            {"path": ["actions", 1, "id"], "message": "second"},
        ]
        details = {"path": "actions.0.params", "reason": json.dumps(issues), "actionId": "z"}
        host.execute = failing("EXECUTION_VALIDATION_FAILED", 400, details=details)

        with pytest.raises(errors.ExecutionValidationError) as caught:
            runner.run(execution())

        error = caught.value
        assert [(problem.path, problem.message) for problem in error.problems] == [
            ("actions.0.params", "what went wrong"),
            ("actions.1.id", "second"),
        ]
        assert (error.serial, error.details["actionId"]) == (SERIAL, "z")
        assert "compare their versions" in str(error)

    def test_a_sentence_for_a_code(self, host: HostDouble, runner: RemoteRunner) -> None:
        """A log stream that ended, which the published host states in the code, gets its code."""
        host.execute = failing("logcat exited before terminal envelope (code=1, signal=null)")

        with pytest.raises(errors.LogcatError, match=r"LOGCAT_UNAVAILABLE: .*code=1, signal=null"):
            runner.run(execution())

    @pytest.mark.parametrize("message", [None, "", 5, ["a"]])
    def test_an_error_without_a_message_keeps_its_code(
        self, host: HostDouble, runner: RemoteRunner, message: Any
    ) -> None:
        """An error without words is still an error with a code."""
        host.execute = Reply(body={"ok": False, "error": {"code": "X", "message": message}})

        with pytest.raises(
            errors.DispatchError, match="X: the other host gives no reason"
        ) as caught:
            runner.run(execution())

        assert caught.value.serial == SERIAL


HTML = b"<!DOCTYPE html>\n<pre>Cannot GET /devices</pre>"


class TestAnswersOfOtherServers:
    """An answer that no Clawperator host gives is shown, with the URL."""

    @pytest.mark.parametrize(
        ("reply", "found"),
        [
            (Reply(body=HTML, status=404, content_type="text/html"), "404 with text/html"),
            (Reply(body=b""), "an empty body"),
            (Reply(body=b"{"), "application/json"),
            (Reply(body=b"hello", content_type=""), 'a body of no type, "hello"'),
            (Reply(body=b'{"ok": NaN}'), "NaN is not a JSON value"),
            (Reply(body=b"[" * 100_000), "nested too deeply"),
            (Reply(body=b"\xff\xfe{}"), "application/json"),
            (Reply(body=[1]), "a list of 1"),
            (Reply(body={}), r"the keys \(none\)"),
            (Reply(body={"status": "UP"}), "the keys status"),
            (Reply(body={"ok": 1, "devices": []}), "the keys ok, devices"),
            (Reply(body={"ok": False, "error": "no"}), "the keys ok, error"),
            (Reply(body={"ok": False, "error": {"code": 5}}), "code is number 5"),
            (Reply(body={"ok": True}), "devices that are null"),
            (Reply(body={"ok": True, "devices": [{"serial": 1}]}), "devices that are a list"),
            (
                Reply(body=gzip.compress(b"{}"), headers={"content-encoding": "gzip"}),
                'packed with "gzip"',
            ),
            (
                Reply(body=b"", status=302, headers={"location": "https://login.example"}),
                'a redirect to "https://login.example"',
            ),
        ],
    )
    def test_an_answer_of_another_server_is_unreadable(
        self, host: HostDouble, reply: Reply, found: str
    ) -> None:
        """The message names the request, what came, and what to check."""
        host.devices = reply

        with pytest.raises(TransportError, match=found) as caught:
            RemoteRunner(host.url)

        assert caught.value.code == ErrorCode.REMOTE_ANSWER_UNREADABLE
        assert f"GET {host.url}/devices" in str(caught.value)
        assert "clawperator serve" in (caught.value.hint or "")

    @pytest.mark.parametrize(
        "given",
        [None, [], "x", {}, envelope("cmd-1", status="fine"), envelope("cmd-1", steps=[{"id": 1}])],
    )
    def test_a_success_without_an_envelope_is_malformed(
        self, host: HostDouble, runner: RemoteRunner, given: Any
    ) -> None:
        """A success without an envelope in it is a malformed one."""
        host.execute = Reply(body=answer(given))

        with pytest.raises(errors.EnvelopeMalformedError, match="the answer to POST") as caught:
            runner.run(execution())

        assert caught.value.serial == SERIAL

    def test_the_envelope_of_another(self, host: HostDouble, runner: RemoteRunner) -> None:
        """An envelope of another command is never taken for ours."""
        host.execute = Reply(body=answer(envelope("cmd-0")))

        with pytest.raises(errors.EnvelopeMalformedError, match='"cmd-0" instead of "cmd-1"'):
            runner.run(execution())

    def test_an_answer_past_the_limit_is_refused(
        self, host: HostDouble, runner: RemoteRunner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An answer past the limit is refused, and not read to its end."""
        monkeypatch.setattr(http, "LARGEST_ANSWER", 1000)
        host.execute = Reply(body=answer(envelope("cmd-1", error="x" * 1000)))

        with pytest.raises(TransportError, match="more than 1000 bytes") as caught:
            runner.run(execution())

        assert caught.value.serial == SERIAL
