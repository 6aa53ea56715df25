"""Executions run through another host over HTTP, and whatever comes back is named."""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.contracts.events import (
    ArtifactMade,
    Event,
    ExecutionFinished,
    ExecutionStarted,
)
from pytest_clawperator.errors import (
    ConfigurationError,
    DeviceNotFoundError,
    ErrorCode,
    ExecutionConflictError,
    OperatorNotReadyError,
    TransportError,
)
from pytest_clawperator.execution.postprocess import JUDGEMENTS
from pytest_clawperator.remote.http import HttpHost
from pytest_clawperator.remote.runner import RemoteRunner
from tests.doubles.host import (
    ONE_DEVICE,
    SERIAL,
    HostDouble,
    Reply,
    answer,
    envelope,
    execution,
    failing,
    step,
)

PNG = b"\x89PNG\r\n\x1a\n" + b"picture"


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

    def test_the_result_has_steps_device_and_source(
        self, host: HostDouble, runner: RemoteRunner
    ) -> None:
        """The result has the steps, the device that answered and how the run ended."""
        steps = [step("z", "sleep", duration_ms="1")]
        host.execute = Reply(body=answer(envelope("cmd-1", steps=steps), "other-name"))

        result = runner.run(execution())

        assert result.ok
        assert result.step("z").data == {"duration_ms": "1"}
        assert (result.serial, result.terminal_source) == ("other-name", "clawperator_result")
        assert result.elapsed > 0
        assert (len(result.log), result.screenshot) == (0, None)

    def test_what_proves_an_action_is_left_out(
        self, host: HostDouble, runner: RemoteRunner
    ) -> None:
        """The result of a published host is as if the action had been sent alone."""
        tap = {"id": "tap", "type": "click", "params": {"matcher": {"textEquals": "OK"}}}
        wait = {"id": "w", "type": "wait_for_node", "params": {"matcher": {"textEquals": "OK"}}}
        given = execution(wait, {"id": "l", "type": "snapshot_ui"}, tap)
        failed = [step("w", "wait_for_node", success=False, error="NODE_NOT_FOUND")]
        done = [step("w", "wait_for_node"), step("l", "snapshot_ui", text="<x/>")]

        host.execute = Reply(body=answer(envelope("cmd-1", steps=[*done, step("tap", "click")])))
        proved = runner.run(given, proofs={"w": "tap", "l": "tap"})
        host.execute = Reply(
            body=answer(envelope("cmd-1", steps=failed, status="failed", error="Step w failed"))
        )
        missed = runner.run(given, proofs={"w": "tap", "l": "tap"})

        assert [one.id for one in proved.steps] == ["tap"]
        assert proved.last_proof is not None
        assert proved.last_proof.data["text"] == "<x/>"
        assert missed.error == "Step tap (click) failed: NODE_NOT_FOUND"

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
        ask = HttpHost.ask

        def spying(self: Any, method: str, path: str, *, timeout: float, **more: Any) -> Any:
            waits.append(timeout)
            return ask(self, method, path, timeout=timeout, **more)

        monkeypatch.setattr(HttpHost, "ask", spying)

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

    def test_a_closed_runner_says_so(self, runner: RemoteRunner) -> None:
        """A closed runner says that it is closed; closing twice is fine."""
        runner.close()
        runner.close()

        with pytest.raises(TransportError, match="closed"):
            runner.run(execution())


class TestConfiguration:
    """What cannot work is refused before anything is sent."""

    @pytest.mark.parametrize("end", ["", "/"])
    def test_case_and_a_final_slash_make_no_difference(self, host: HostDouble, end: str) -> None:
        """Upper case in the scheme and a final slash make no difference."""
        runner = RemoteRunner(host.url.replace("http", "HTTP") + end)
        runner.close()

        assert [path for _, path, _, _ in host.requests] == ["/devices"]

    def test_a_missing_httpx_is_told_with_its_install_command(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
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

    def test_a_picture_readable_here_comes_with_the_result(
        self, host: HostDouble, runner: RemoteRunner, tmp_path: Path
    ) -> None:
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

    def test_a_path_to_a_pipe_does_not_hang(
        self, host: HostDouble, runner: RemoteRunner, tmp_path: Path
    ) -> None:
        """A path that leads to a pipe does not hang the run."""
        path = tmp_path / "pipe"
        os.mkfifo(path)

        assert self.taken(host, runner, str(path)) is None

    @pytest.mark.parametrize(
        "path", ["", "/nowhere/shot.png", "shot.png", "/", "/a\0b", "/\ud83d", "/" + "x" * 5000]
    )
    def test_an_unreadable_path_gives_no_picture(
        self, host: HostDouble, runner: RemoteRunner, path: str
    ) -> None:
        """A path that leads nowhere from here gives no picture, and no error."""
        assert self.taken(host, runner, path) is None


class TestObserving:
    """Those who watch are told what happens, in order."""

    def test_observers_hear_of_start_end_and_artefacts(
        self, host: HostDouble, tmp_path: Path
    ) -> None:
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

    def test_observers_hear_of_an_error(self, host: HostDouble) -> None:
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
