"""Executions run through another host over HTTP, and whatever comes back is named."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.contracts.completion import complete_execution
from pytest_clawperator.contracts.events import (
    ArtifactMade,
    Event,
    ExecutionFinished,
    ExecutionStarted,
)
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.errors import (
    AdbUnavailableError,
    AmbiguousDeviceError,
    BroadcastError,
    ClawperatorError,
    ConfigurationError,
    DeviceNotFoundError,
    DeviceUnavailableError,
    DispatchError,
    EnvelopeMalformedError,
    EnvelopeTimeoutError,
    ErrorCode,
    ExecutionConflictError,
    ExecutionValidationError,
    LeaseError,
    LogcatError,
    NoDeviceError,
    OperatorNotReadyError,
    PayloadRefusedError,
    PayloadTooLargeError,
    ShellError,
    TransportError,
    TransportTimeoutError,
)
from pytest_clawperator.execution.judging import JUDGEMENTS
from pytest_clawperator.execution.remote import runner as remote
from pytest_clawperator.execution.remote.runner import RemoteRunner
from pytest_clawperator.execution.runner import Runner
from tests.doubles.host import ONE_DEVICE, SERIAL, HostDouble, Reply, answer, envelope, running_host

PNG = b"\x89PNG\r\n\x1a\n" + b"picture"


@pytest.fixture
def host() -> Iterator[HostDouble]:
    """Run a host with one device, on which everything succeeds."""
    with running_host() as host:
        yield host


@pytest.fixture
def runner(host: HostDouble) -> Iterator[RemoteRunner]:
    """Make a runner on that host's device."""
    runner = RemoteRunner(host.url)
    yield runner
    runner.close()


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


class TestChoosingADevice:
    """Which device is used follows the rules that hold for adb."""

    def states(self, host: HostDouble, **states: str) -> None:
        """Let the host see these devices."""
        devices = [{"serial": serial, "state": state} for serial, state in states.items()]
        host.devices = Reply(body={"ok": True, "devices": devices})

    def test_the_only_usable_one(self, host: HostDouble) -> None:
        """Without a serial the one device that works is used, whatever else is plugged in."""
        self.states(host, R58="unauthorized", A1="device", B2="offline")

        runner: Runner = RemoteRunner(host.url)
        runner.close()

        assert runner.serial == "A1"

    def test_the_wanted_one(self, host: HostDouble) -> None:
        """A serial chooses among several devices."""
        self.states(host, A1="device", B2="device")

        runner = RemoteRunner(host.url, serial="B2")
        runner.close()

        assert runner.serial == "B2"

    def test_several(self, host: HostDouble) -> None:
        """Several devices and no choice is an error that lists them and says how to choose."""
        self.states(host, A1="device", B2="device")

        with pytest.raises(AmbiguousDeviceError, match="A1, B2") as caught:
            RemoteRunner(host.url)

        assert caught.value.hint == f"Choose one: connect(url={host.url!r}, serial='A1')."

    def test_none(self, host: HostDouble) -> None:
        """No usable device is an error that says what the host does see."""
        self.states(host, R58="unauthorized")

        with pytest.raises(NoDeviceError, match=r"R58 \(unauthorized\)") as caught:
            RemoteRunner(host.url)

        assert host.url in str(caught.value)

    @pytest.mark.parametrize(
        ("state", "kind", "code"),
        [
            (None, DeviceNotFoundError, ErrorCode.DEVICE_NOT_FOUND),
            ("unauthorized", DeviceUnavailableError, ErrorCode.DEVICE_UNAUTHORIZED),
            ("offline", DeviceUnavailableError, ErrorCode.DEVICE_OFFLINE),
            ("recovery", DeviceUnavailableError, ErrorCode.DEVICE_OFFLINE),
        ],
    )
    def test_the_wanted_one_is_not_usable(
        self, host: HostDouble, state: str | None, kind: type[ClawperatorError], code: ErrorCode
    ) -> None:
        """A wanted device that is absent or not ready is an error of its own, with its serial."""
        self.states(host, A1="device", **({"B2": state} if state else {}))

        with pytest.raises(kind, match=state or "no such device") as caught:
            RemoteRunner(host.url, serial="B2")

        assert (caught.value.code, caught.value.serial) == (code, "B2")
        assert caught.value.hint


class TestRunning:
    """An execution goes out as it is and comes back as a result."""

    def test_what_is_sent(self, host: HostDouble) -> None:
        """The body holds the payload's wire form, the device and the Operator's package."""
        given = execution(mode="direct")
        runner = RemoteRunner(host.url, operator_package="com.clawperator.operator.dev")

        runner.run(given)
        runner.close()

        assert host.bodies == [
            {
                "execution": given.to_wire(),
                "deviceId": SERIAL,
                "operatorPackage": "com.clawperator.operator.dev",
            }
        ]

    def test_the_host_decides_on_the_operator(self, host: HostDouble, runner: RemoteRunner) -> None:
        """Without a package none is sent, so that the other host's own setting holds."""
        runner.run(execution())

        assert "operatorPackage" not in host.bodies[0]

    def test_half_characters_travel(self, host: HostDouble, runner: RemoteRunner) -> None:
        """Text that UTF-8 cannot hold goes out as an escape."""
        params = {"matcher": {"textEquals": "x"}, "text": "half \ud83d, whole 😀"}

        runner.run(execution({"id": "t", "type": "enter_text", "params": params}))

        assert host.bodies[0]["execution"]["actions"][0]["params"]["text"] == params["text"]

    def test_the_result(self, host: HostDouble, runner: RemoteRunner) -> None:
        """The result has the steps, the device that answered and how the run ended."""
        steps = [step("z", "sleep", duration_ms="1")]
        host.execute = Reply(body=answer(envelope("cmd-1", steps=steps), "other-name"))

        result = runner.run(execution())

        assert result.ok
        assert result.step("z").data == {"duration_ms": "1"}
        assert (result.serial, result.terminal_source) == ("other-name", "clawperator_result")
        assert result.elapsed > 0
        assert (len(result.log), result.screenshot) == (0, None)

    def test_a_snapshot_is_not_processed_again(
        self, host: HostDouble, runner: RemoteRunner
    ) -> None:
        """The other host's post-processing stands: its texts and warnings, and no second ones."""
        xml = '<hierarchy rotation="0"><node text="Wi-Fi" bounds="[0,0][9,9]"/></hierarchy>'
        given = envelope(
            "cmd-1",
            steps=[
                step("c", "click"),
                step("s", "snapshot_ui", text=xml),
                step("lost", "snapshot_ui"),
            ],
        )
        host.execute = Reply(body=answer(given))

        result = runner.run(execution())

        assert result.to_wire() == given
        assert result.step("s").snapshot.find(text="Wi-Fi")

    def test_processors_of_a_run_are_applied_before_observers_hear(self, host: HostDouble) -> None:
        """What the client's methods send is judged here, too; a raw payload is left alone."""
        missed = step("find", "scroll_until", termination_reason="EDGE_REACHED")
        host.execute = Reply(body=answer(envelope("cmd-1", steps=[missed])))
        search = {"id": "find", "type": "scroll_until", "params": {"matcher": {"text": "Tea"}}}
        events: list[Event] = []
        runner = RemoteRunner(host.url, observers=[events.append])

        result = runner.run(execution(search), processors=JUDGEMENTS)
        raw = runner.run(execution(search))
        runner.close()

        told = [event.result for event in events if isinstance(event, ExecutionFinished)]
        assert told == [result, raw]
        assert (result.code, raw.code) == (ErrorCode.TARGET_NOT_FOUND, None)

    def test_a_failed_envelope_is_data(self, host: HostDouble, runner: RemoteRunner) -> None:
        """A failed envelope is returned; asked to raise, it does so with a hint that fits here."""
        failed = envelope(
            "cmd-1",
            status="failed",
            error="svc",
            error_code="SERVICE_UNAVAILABLE",
            hint="Run the doctor.",
        )
        host.execute = Reply(body=answer(failed))

        result = runner.run(execution())

        assert result.to_wire() == failed
        with pytest.raises(OperatorNotReadyError, match=r"connect\(grant=True\)"):
            result.raise_for_status()

    def test_how_long_it_waits(self, runner: RemoteRunner, monkeypatch: pytest.MonkeyPatch) -> None:
        """The wait for the answer is the execution's own timeout and a margin."""
        waits: list[float] = []
        ask = remote._Host.ask

        def spying(self: Any, method: str, path: str, *, timeout: float, **more: Any) -> Any:
            waits.append(timeout)
            return ask(self, method, path, timeout=timeout, **more)

        monkeypatch.setattr(remote._Host, "ask", spying)

        runner.run(execution(timeoutMs=12_500))

        assert waits == [12.5 + 30]

    def test_threads_take_turns(self, host: HostDouble, runner: RemoteRunner) -> None:
        """While one execution is out, another thread's stays here."""
        overlapping = threading.Event()
        first_is_out = threading.Event()

        def answering(_: BaseHTTPRequestHandler, body: bytes) -> Reply:
            command_id = json.loads(body)["execution"]["commandId"]
            if command_id == "first":
                first_is_out.set()
                overlapping.wait(0.1)
            elif threads[0].is_alive():
                overlapping.set()
            return Reply(body=answer(envelope(command_id)))

        host.execute = answering
        threads = [
            threading.Thread(target=runner.run, args=[execution(command_id=name)])
            for name in ("first", "second")
        ]

        threads[0].start()
        first_is_out.wait(10)
        threads[1].start()
        for thread in threads:
            thread.join(10)

        assert [body["execution"]["commandId"] for body in host.bodies] == ["first", "second"]
        assert not overlapping.is_set()

    def test_a_proxy_is_no_way_to_this_machine(
        self, host: HostDouble, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A proxy in the environment is not used for loopback addresses."""
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

        runner = RemoteRunner(host.url)
        runner.close()

        assert runner.serial == SERIAL

    def test_after_closing(self, runner: RemoteRunner) -> None:
        """A closed runner says that it is closed; closing twice is fine."""
        runner.close()
        runner.close()

        with pytest.raises(TransportError, match="closed"):
            runner.run(execution())


CODES: list[tuple[str, type[ClawperatorError]]] = [
    ("PAYLOAD_TOO_LARGE", PayloadTooLargeError),
    ("NO_DEVICES", NoDeviceError),
    ("MULTIPLE_DEVICES_DEVICE_ID_REQUIRED", AmbiguousDeviceError),
    ("DEVICE_NOT_FOUND", DeviceNotFoundError),
    ("DEVICE_UNAUTHORIZED", DeviceUnavailableError),
    ("DEVICE_OFFLINE", DeviceUnavailableError),
    ("DEVICE_LEASED", LeaseError),
    ("OPERATOR_NOT_INSTALLED", OperatorNotReadyError),
    ("RECEIVER_NOT_INSTALLED", OperatorNotReadyError),
    ("ADB_NOT_FOUND", AdbUnavailableError),
    ("DEVICE_SHELL_UNAVAILABLE", ShellError),
    ("LOGCAT_UNAVAILABLE", LogcatError),
    ("BROADCAST_FAILED", BroadcastError),
    ("PAYLOAD_REJECTED", PayloadRefusedError),
    ("EXECUTION_CONFLICT_IN_FLIGHT", ExecutionConflictError),
    ("RESULT_ENVELOPE_TIMEOUT", EnvelopeTimeoutError),
    ("RESULT_ENVELOPE_MALFORMED", EnvelopeMalformedError),
    ("INVALID_OPERATOR_PACKAGE", ConfigurationError),
    ("A_CODE_OF_TOMORROW", DispatchError),
]


class TestErrorsOfTheHost:
    """Each code of the other host is the class that stands for it here."""

    @pytest.mark.parametrize(("code", "kind"), CODES)
    def test_class(
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

        with pytest.raises(EnvelopeTimeoutError) as caught:
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

        with pytest.raises(ExecutionValidationError) as caught:
            runner.run(execution())

        error = caught.value
        assert [(problem.path, problem.message) for problem in error.problems] == [
            ("actions.0.params", "what went wrong"),
            ("actions.1.id", "second"),
        ]
        assert (error.serial, error.details["actionId"]) == (SERIAL, "z")
        assert "compare their versions" in str(error)

    def test_a_sentence_for_a_code(self, host: HostDouble, runner: RemoteRunner) -> None:
        """A log stream that ended, which the published host tells in the code, gets its code."""
        host.execute = failing("logcat exited before terminal envelope (code=1, signal=null)")

        with pytest.raises(LogcatError, match=r"LOGCAT_UNAVAILABLE: .*code=1, signal=null"):
            runner.run(execution())

    @pytest.mark.parametrize("message", [None, "", 5, ["a"]])
    def test_no_message(self, host: HostDouble, runner: RemoteRunner, message: Any) -> None:
        """An error without words is still an error with a code."""
        host.execute = Reply(body={"ok": False, "error": {"code": "X", "message": message}})

        with pytest.raises(DispatchError, match="X: the other host gives no reason") as caught:
            runner.run(execution())

        assert caught.value.serial == SERIAL


HTML = b"<!DOCTYPE html>\n<pre>Cannot GET /devices</pre>"


class TestAnswersOfSomebodyElse:
    """What no Clawperator host answers is shown for what it is, with the URL."""

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
    def test_unreadable(self, host: HostDouble, reply: Reply, found: str) -> None:
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
    def test_no_envelope(self, host: HostDouble, runner: RemoteRunner, given: Any) -> None:
        """A success without an envelope in it is a malformed one."""
        host.execute = Reply(body=answer(given))

        with pytest.raises(EnvelopeMalformedError, match="the answer to POST") as caught:
            runner.run(execution())

        assert caught.value.serial == SERIAL

    def test_the_envelope_of_another(self, host: HostDouble, runner: RemoteRunner) -> None:
        """An envelope of another command is never taken for ours."""
        host.execute = Reply(body=answer(envelope("cmd-0")))

        with pytest.raises(EnvelopeMalformedError, match='"cmd-0" instead of "cmd-1"'):
            runner.run(execution())

    def test_too_large(
        self, host: HostDouble, runner: RemoteRunner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An answer past the limit is refused, and not read to its end."""
        monkeypatch.setattr(remote, "LARGEST_ANSWER", 1000)
        host.execute = Reply(body=answer(envelope("cmd-1", error="x" * 1000)))

        with pytest.raises(TransportError, match="more than 1000 bytes") as caught:
            runner.run(execution())

        assert caught.value.serial == SERIAL


class TestNoAnswer:
    """Where nothing answers, the error says what is wrong at which URL."""

    def test_nobody_there(self) -> None:
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

    def test_another_protocol(self, host: HostDouble) -> None:
        """A port that speaks something else than HTTP is told as that."""

        def speaking(handler: BaseHTTPRequestHandler, _: bytes) -> None:
            handler.wfile.write(b"FAIL0012unknown host service")

        host.devices = speaking

        with pytest.raises(TransportError, match="got no HTTP answer"):
            RemoteRunner(host.url)

    @pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200 OK\r\n\r\n{"])
    def test_silence(self, host: HostDouble, beginning: bytes) -> None:
        """A host that begins to answer, or not even that, is given up after the margin."""
        over = threading.Event()

        def dawdling(handler: BaseHTTPRequestHandler, _: bytes) -> None:
            handler.wfile.write(beginning)
            over.wait(10)

        host.devices = dawdling

        with pytest.raises(TransportTimeoutError, match=r"not answered within 0\.1 s"):
            RemoteRunner(host.url, margin=0.1)
        over.set()

    def test_a_trickle(self, host: HostDouble) -> None:
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


class TestConfiguration:
    """What cannot work is refused before anything is sent."""

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "localhost:3000",
            "127.0.0.1",
            "file:///etc/passwd",
            "ftp://host:3000",
            "http://",
            "http://:3000",
            "http://host:0",
            "http://host:65536",
            "http://host:port",
            "http://host:3000/api",
            "http://host:3000?x=1",
            "http://host:3000#x",
            "http://a..b:3000",
            "http://ho st:3000",
            "http://host:3000\n",
            "http://host\\evil:3000",
            "http://[::1",
            "http://[:::]:3000",
            "http://h\u00f6st:3000",
            "http://host:\u0663000",
            None,
            b"http://host:3000",
        ],
    )
    def test_odd_urls(self, url: Any) -> None:
        """Anything but a scheme, a host and a port is refused with an example."""
        with pytest.raises(ConfigurationError, match="http:// or https://") as caught:
            RemoteRunner(url)

        assert "http://127.0.0.1:3000" in (caught.value.hint or "")

    def test_a_password_is_not_repeated(self) -> None:
        """A URL with credentials is refused without printing them."""
        with pytest.raises(ConfigurationError, match="after a user name") as caught:
            RemoteRunner("http://user:hunter2@host:3000")

        assert "hunter2" not in str(caught.value)

    @pytest.mark.parametrize("end", ["", "/"])
    def test_good_urls(self, host: HostDouble, end: str) -> None:
        """Upper case in the scheme and a final slash make no difference."""
        runner = RemoteRunner(host.url.replace("http", "HTTP") + end)
        runner.close()

        assert [path for _, path, _, _ in host.requests] == ["/devices"]

    def test_without_httpx(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A missing httpx is told with the command that installs it."""
        monkeypatch.setitem(sys.modules, "httpx", None)

        with pytest.raises(ConfigurationError) as caught:
            RemoteRunner("http://127.0.0.1:3000")

        assert caught.value.code == ErrorCode.HOST_DEPENDENCY_MISSING
        assert "pip install 'pytest-clawperator[remote]'" in str(caught.value)


class TestScreenshots:
    """The picture is read where the other host's path leads to it, and nowhere else."""

    def taken(self, host: HostDouble, runner: RemoteRunner, path: str) -> bytes | None:
        """Run a screenshot whose picture the host says to have put at the path."""
        steps = [step("shot", "take_screenshot", path=path)]
        host.execute = Reply(body=answer(envelope("cmd-1", steps=steps)))
        return runner.run(execution({"id": "shot", "type": "take_screenshot"})).screenshot

    def test_readable_here(self, host: HostDouble, runner: RemoteRunner, tmp_path: Path) -> None:
        """A picture that the host wrote where it can be read here comes with the result."""
        path = tmp_path / "shot.png"
        path.write_bytes(PNG)

        assert self.taken(host, runner, str(path)) == PNG

    def test_not_a_picture(self, host: HostDouble, runner: RemoteRunner, tmp_path: Path) -> None:
        """Some other file at that path is left alone."""
        path = tmp_path / "notes"
        path.write_text("secret")

        assert self.taken(host, runner, str(path)) is None

    def test_an_old_picture(self, host: HostDouble, runner: RemoteRunner, tmp_path: Path) -> None:
        """A picture from before the execution is another one."""
        path = tmp_path / "shot.png"
        path.write_bytes(PNG)
        os.utime(path, (1_000_000_000, 1_000_000_000))

        assert self.taken(host, runner, str(path)) is None

    def test_a_pipe(self, host: HostDouble, runner: RemoteRunner, tmp_path: Path) -> None:
        """A path that leads to a pipe does not hang the run."""
        path = tmp_path / "pipe"
        os.mkfifo(path)

        assert self.taken(host, runner, str(path)) is None

    @pytest.mark.parametrize(
        "path", ["", "/nowhere/shot.png", "shot.png", "/", "/a\0b", "/\ud83d", "/" + "x" * 5000]
    )
    def test_unreadable_here(self, host: HostDouble, runner: RemoteRunner, path: str) -> None:
        """A path that leads nowhere from here gives no picture, and no error."""
        assert self.taken(host, runner, path) is None


class TestObserving:
    """Those who watch are told what happens, in order."""

    def test_a_run(self, host: HostDouble, tmp_path: Path) -> None:
        """Start, end, and each snapshot and picture."""
        events: list[Event] = []
        path = tmp_path / "shot.png"
        path.write_bytes(PNG)
        steps = [
            step("s", "snapshot_ui", text="<hierarchy/>"),
            step("shot", "take_screenshot", path=str(path)),
        ]
        host.execute = Reply(body=answer(envelope("cmd-1", steps=steps)))
        runner = RemoteRunner(host.url, observers=[events.append])

        result = runner.run(given := execution())
        runner.close()

        started, finished, snapshot, picture = events
        assert isinstance(started, ExecutionStarted)
        assert started.execution is given
        assert isinstance(finished, ExecutionFinished)
        assert (finished.execution, finished.result) == (given, result)
        assert "keeps the device's log" in repr(result.log)
        assert isinstance(snapshot, ArtifactMade)
        assert (snapshot.step_id, snapshot.kind, snapshot.data) == (
            "s",
            "snapshot",
            b"<hierarchy/>",
        )
        assert isinstance(picture, ArtifactMade)
        assert (picture.kind, picture.data, picture.path) == ("screenshot", PNG, None)
        assert {event.serial for event in events} == {SERIAL}

    def test_an_error(self, host: HostDouble) -> None:
        """A run that ends with an error is told with it."""
        events: list[Event] = []
        host.execute = failing("EXECUTION_CONFLICT_IN_FLIGHT", 423)
        runner = RemoteRunner(host.url, observers=[events.append])

        with pytest.raises(ExecutionConflictError) as caught:
            runner.run(execution())
        runner.close()

        finished = events[-1]
        assert isinstance(finished, ExecutionFinished)
        assert (finished.result, finished.error) == (None, caught.value)


def test_a_device_that_goes_after_connecting(host: HostDouble, runner: RemoteRunner) -> None:
    """The device is looked up once; that it went is the other host's to say at the next run."""
    host.devices = Reply(body={**ONE_DEVICE, "devices": []})
    host.execute = failing("DEVICE_NOT_FOUND", 404)

    with pytest.raises(DeviceNotFoundError):
        runner.run(execution())

    assert [path for _, path, _, _ in host.requests] == ["/devices", "/execute"]
