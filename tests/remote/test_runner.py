"""Executions run through another host over HTTP."""

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

    def test_what_is_sent(self, host: HostDouble, runner: RemoteRunner) -> None:
        """The body has the payload, lone surrogates included, the device and a chosen package."""
        params = {"matcher": {"textEquals": "x"}, "text": "half \ud83d, whole 😀"}
        given = execution({"id": "t", "type": "enter_text", "params": params}, mode="direct")
        package = "com.clawperator.operator.dev"
        other = RemoteRunner(host.url, operator_package=package)

        other.run(given)
        other.close()
        runner.run(given)

        body = {"execution": given.to_wire(), "deviceId": SERIAL}
        assert host.bodies == [{**body, "operatorPackage": package}, body]

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

    def test_processors_of_a_run_are_applied_before_observers(self, host: HostDouble) -> None:
        """What the client's methods send is judged here, too; a raw payload is left alone."""
        missed = step("find", "scroll_until", termination_reason="EDGE_REACHED")
        host.execute = Reply(body=answer(envelope("cmd-1", steps=[missed])))
        search = {"id": "find", "type": "scroll_until", "params": {"matcher": {"text": "Tea"}}}
        events: list[Event] = []
        runner = RemoteRunner(host.url, observers=[events.append])

        result = runner.run(execution(search), processors=JUDGEMENTS)
        raw = runner.run(execution(search))
        runner.close()

        seen = [event.result for event in events if isinstance(event, ExecutionFinished)]
        assert seen == [result, raw]
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

    def test_loopback_addresses_are_reached_without_a_proxy(
        self, host: HostDouble, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Upper case in the scheme and a final slash make no difference."""
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

        runner = RemoteRunner(host.url.replace("http", "HTTP") + "/")
        runner.close()

        assert runner.serial == SERIAL
        assert [path for _, path, _, _ in host.requests] == ["/devices"]

    def test_a_closed_runner_says_so(self, runner: RemoteRunner) -> None:
        """A closed runner says that it is closed; closing twice is fine."""
        runner.close()
        runner.close()

        with pytest.raises(TransportError, match="closed"):
            runner.run(execution())


def test_a_missing_httpx_has_its_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the command that installs it."""
    monkeypatch.setitem(sys.modules, "httpx", None)

    with pytest.raises(ConfigurationError) as caught:
        RemoteRunner("http://127.0.0.1:3000")

    assert caught.value.code == ErrorCode.HOST_DEPENDENCY_MISSING
    assert "pip install 'pytest-clawperator[remote]'" in str(caught.value)


@pytest.mark.parametrize(
    "place",
    [
        *("picture", "notes", "old", "pipe"),
        *("", "/nowhere/shot.png", "shot.png", "/", "/a\0b", "/\ud83d", "/" + "x" * 5000),
    ],
)
def test_only_a_new_picture_is_read(
    host: HostDouble, runner: RemoteRunner, tmp_path: Path, place: str
) -> None:
    """The picture is read if the other host's path leads to it from here, and nothing else is."""
    (tmp_path / "picture").write_bytes(PNG)
    (tmp_path / "notes").write_text("secret")
    (tmp_path / "old").write_bytes(PNG)
    os.utime(tmp_path / "old", (1_000_000_000, 1_000_000_000))
    os.mkfifo(tmp_path / "pipe")
    path = str(tmp_path / place) if place.isalpha() else place
    steps = [step("shot", "take_screenshot", path=path)]
    host.execute = Reply(body=answer(envelope("cmd-1", steps=steps)))

    result = runner.run(execution({"id": "shot", "type": "take_screenshot"}))

    assert result.screenshot == (PNG if place == "picture" else None)


class TestObserving:
    """Observers get what happens, in order."""

    def test_observers_get_start_end_and_artefacts(self, host: HostDouble, tmp_path: Path) -> None:
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

    def test_observers_get_an_error(self, host: HostDouble) -> None:
        """A run that ends with an error is reported with it."""
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
    """The device is looked up once; its absence is noticed by the other host at the next run."""
    host.devices = Reply(body={**ONE_DEVICE, "devices": []})
    host.execute = failing("DEVICE_NOT_FOUND", 404)

    with pytest.raises(DeviceNotFoundError):
        runner.run(execution())

    assert [path for _, path, _, _ in host.requests] == ["/devices", "/execute"]
