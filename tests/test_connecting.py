"""The front door: from nothing to a client that works, and nothing left behind when it fails."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator import errors
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.connecting import connect
from pytest_clawperator.contracts.events import Event, ExecutionFinished
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.host import SERIAL, running_host
from tests.doubles.operator_apk import operator_apk
from tests.doubles.skill_repository import RECIPE, add_skill, make_repository

RELEASE = "com.clawperator.operator"
DEV = "com.clawperator.operator.dev"
SLEEP = [{"id": "nap", "type": "sleep", "params": {"durationMs": 0}}]


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the environment from choosing."""
    for name in ("ANDROID_SERIAL", "CLAWPERATOR_OPERATOR_PACKAGE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    """Start two phones for the tests of this module together."""
    with Simulator(devices=2, seed=1, time_scale=0.05) as simulator:
        yield simulator


@pytest.fixture
def adb(simulator: Simulator) -> str:
    """Return the address of the phones' adb server."""
    return f"{simulator.adb_host}:{simulator.adb_port}"


@pytest.fixture
def phone(simulator: Simulator) -> Iterator[AdbTransport]:
    """Reach the first phone, and set it back afterwards."""
    server = AdbServer(simulator.adb_host, simulator.adb_port)
    transport = AdbTransport(server, simulator.serials[0])
    yield transport
    transport.shell("sim reset")
    transport.close()


def runs(claw: Clawperator) -> bool:
    """Whether the client can run an execution."""
    return claw.execute(SLEEP).ok


class TestReady:
    """A client on a device that can work."""

    def test_a_client_runs_executions_and_knows_its_device(
        self, phone: AdbTransport, adb: str
    ) -> None:
        """The client runs executions, and its device knows what it is."""
        with connect(phone.serial, adb=adb) as claw:
            ran = runs(claw)
            info = claw.device.info

        assert ran
        assert (info.serial, info.model) == (phone.serial, "Pixel 9")
        assert (info.operator_package, info.operator_version) == (RELEASE, "0.5.3")

    def test_the_environment_names_the_device_and_the_operator(
        self,
        simulator: Simulator,
        phone: AdbTransport,
        adb: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """`ANDROID_SERIAL` chooses among several phones; a keyword wins over the environment."""
        monkeypatch.setenv("ANDROID_SERIAL", simulator.serials[1])
        with connect(adb=adb) as claw:
            assert claw.serial == simulator.serials[1]

        phone.shell("sim fault operator_variant")
        monkeypatch.setenv("CLAWPERATOR_OPERATOR_PACKAGE", DEV)
        with connect(phone.serial, adb=adb) as claw:
            assert claw.device.info.operator_package == DEV
        with pytest.raises(errors.OperatorNotReadyError):
            connect(phone.serial, adb=adb, operator_package=RELEASE)

    def test_every_observer_gets_the_events(self, phone: AdbTransport, adb: str) -> None:
        """One observer or several are called for every execution."""
        first: list[Event] = []
        second: list[Event] = []

        with connect(phone.serial, adb=adb, observe=first.append) as claw:
            runs(claw)
        with connect(phone.serial, adb=adb, observe=[first.append, second.append]) as claw:
            runs(claw)

        assert [type(event) for event in first].count(ExecutionFinished) == 2
        assert [type(event) for event in second].count(ExecutionFinished) == 1


class TestSettingUp:
    """A device that is made ready first."""

    def test_a_force_stopped_operator_is_switched_on_if_granted(
        self, phone: AdbTransport, adb: str
    ) -> None:
        """Without ``grant=True`` the error names it; with it the service is switched on."""
        phone.shell(f"am force-stop {RELEASE}")

        with pytest.raises(errors.OperatorNotReadyError) as caught:
            connect(phone.serial, adb=adb)
        with connect(phone.serial, adb=adb, grant=True) as claw:
            ran = runs(claw)

        assert caught.value.code is ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING
        assert "grant=True" in str(caught.value.hint)
        assert ran

    def test_an_operator_is_installed_from_its_apk(
        self, phone: AdbTransport, adb: str, tmp_path: Path
    ) -> None:
        """A phone without an Operator works with the one of the file."""
        phone.shell(f"pm uninstall {RELEASE}")

        with connect(phone.serial, adb=adb, operator_apk=operator_apk(tmp_path)) as claw:
            ran = runs(claw)

        assert ran
        assert claw.device.info.operator_package == RELEASE


class TestFailing:
    """Connecting that fails, with an error of its own class, and nothing left open."""

    @pytest.fixture(autouse=True)
    def nothing_left_open(self) -> Iterator[None]:
        """Fail if a thread of a log stream outlives the attempt."""
        before = set(threading.enumerate())
        yield
        assert set(threading.enumerate()) <= before

    def test_the_device_must_be_known(self, simulator: Simulator, adb: str) -> None:
        """The error names the phones that are there."""
        with pytest.raises(errors.AmbiguousDeviceError, match=simulator.serials[1]):
            connect(adb=adb)
        with pytest.raises(errors.DeviceNotFoundError):
            connect("nowhere", adb=adb)

    def test_arguments_are_checked_before_anything_is_opened(self) -> None:
        """They are refused before it is noticed that no adb server answers."""
        nowhere = "127.0.0.1:1"
        with pytest.raises(errors.ConfigurationError, match="cannot be called"):
            connect(adb=nowhere, observe=[5])  # type: ignore[list-item]  # which is the test
        with pytest.raises(
            errors.ConfigurationError, match="is not the name of an Android package"
        ):
            connect(adb=nowhere, operator_package="a.b; reboot")
        with pytest.raises(errors.AdbUnavailableError):
            connect(adb=nowhere)

    def test_an_apk_that_is_not_there_is_refused(self, phone: AdbTransport, adb: str) -> None:
        """The error has its own code."""
        with pytest.raises(errors.OperatorNotReadyError) as caught:
            connect(phone.serial, adb=adb, operator_apk="/nowhere/operator.apk")

        assert caught.value.code is ErrorCode.OPERATOR_APK_NOT_FOUND

    @pytest.mark.parametrize(
        ("fault", "error", "code"),
        [
            ("operator_absent", errors.OperatorNotReadyError, ErrorCode.OPERATOR_NOT_INSTALLED),
            ("operator_variant", errors.OperatorNotReadyError, ErrorCode.OPERATOR_VARIANT_MISMATCH),
            ("booting", errors.DeviceUnavailableError, ErrorCode.DEVICE_OFFLINE),
        ],
    )
    def test_a_phone_that_is_not_ready_is_refused(
        self, phone: AdbTransport, adb: str, fault: str, error: Any, code: ErrorCode
    ) -> None:
        """Each fault has its own class and code, and the serial of the phone."""
        phone.shell(f"sim fault {fault}")

        with pytest.raises(error) as caught:
            connect(phone.serial, adb=adb)

        assert caught.value.code is code
        assert caught.value.serial == phone.serial


def test_a_script_can_use_skills(
    adb: str, simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the registry that is found; scripts reach the same adb server."""
    registry = make_repository(tmp_path)
    look = '"$CLAWPERATOR_BIN" devices --json'
    add_skill(registry, "com.android.settings.look", script=look, recipe=RECIPE)
    monkeypatch.setenv("CLAWPERATOR_SKILLS_REGISTRY", str(registry))
    monkeypatch.delenv("CLAWPERATOR_BIN", raising=False)

    with connect(simulator.serials[0], adb=adb) as claw:
        done = claw.run_skill("com.android.settings.look")
        envelope = claw.run_artifact(
            "com.android.settings.look", "open", APP="com.android.settings"
        )

    assert simulator.serials[0] in done.output
    assert envelope.ok


def test_an_unauthorized_phone_has_a_hint() -> None:
    """The hint names the dialog on the phone's screen."""
    with Simulator(seed=1, faults=["unauthorized"]) as simulator:
        adb = f"{simulator.adb_host}:{simulator.adb_port}"

        with pytest.raises(errors.DeviceUnavailableError) as caught:
            connect(simulator.serials[0], adb=adb)

    assert caught.value.code is ErrorCode.DEVICE_UNAUTHORIZED
    assert "Allow USB debugging?" in str(caught.value.hint)


def test_a_client_works_through_another_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Executions run, and what needs adb is refused by its name; ANDROID_SERIAL counts too."""
    with pytest.raises(errors.ConfigurationError, match="adb= cannot be used"):
        connect(url="http://127.0.0.1:1", adb="5037")
    with running_host() as host:
        with pytest.raises(errors.ConfigurationError, match="operator_apk=, grant= cannot be used"):
            connect(url=host.url, grant=True, operator_apk="operator.apk")
        with connect(url=host.url) as claw:
            assert runs(claw)
            assert claw.serial == SERIAL
            with pytest.raises(
                errors.ConfigurationError, match=r"device\.shell is not possible here"
            ):
                claw.device.shell("id")
        monkeypatch.setenv("ANDROID_SERIAL", "absent")
        with pytest.raises(errors.DeviceNotFoundError, match="absent"):
            connect(url=host.url)
