"""The front door: from nothing to a client that works, and nothing left behind when it fails."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.connect import connect
from pytest_clawperator.contracts.events import Event, ExecutionFinished, Notice
from pytest_clawperator.errors import (
    AdbUnavailableError,
    AmbiguousDeviceError,
    ConfigurationError,
    DeviceNotFoundError,
    DeviceUnavailableError,
    ErrorCode,
    OperatorNotReadyError,
)
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.host import SERIAL, running_host

RELEASE = "com.clawperator.operator"
DEV = "com.clawperator.operator.dev"
SLEEP = [{"id": "nap", "type": "sleep", "params": {"durationMs": 0}}]


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody's environment choose."""
    for name in ("ANDROID_SERIAL", "CLAWPERATOR_OPERATOR_PACKAGE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    """Start two phones for the tests of this module together."""
    with Simulator(devices=2, seed=1, time_scale=0.05) as simulator:
        yield simulator


@pytest.fixture
def adb(simulator: Simulator) -> str:
    """Give the address of the phones' adb server."""
    return f"{simulator.adb_host}:{simulator.adb_port}"


@pytest.fixture
def phone(simulator: Simulator) -> Iterator[AdbTransport]:
    """Reach the first phone, and set it back afterwards."""
    server = AdbServer(simulator.adb_host, simulator.adb_port)
    transport = AdbTransport(server, simulator.serials[0])
    yield transport
    transport.shell("sim reset")
    transport.close()


def operator_apk(folder: Path, package: str) -> Path:
    """Write what the simulated phone takes for the Operator's APK."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("AndroidManifest.xml", "\0".join([*package, ""]))
    path = folder / "operator.apk"
    path.write_bytes(data.getvalue())
    return path


def runs(claw: Clawperator) -> bool:
    """Tell whether the client can do something."""
    return claw.execute(SLEEP).ok


class TestReady:
    """A client on a device that can work."""

    def test_all_that_is_known(self, phone: AdbTransport, adb: str) -> None:
        """The client runs executions, and its device tells what it is."""
        with connect(phone.serial, adb=adb) as claw:
            ran = runs(claw)
            info = claw.device.info

        assert ran
        assert (info.serial, info.model) == (phone.serial, "Pixel 9")
        assert (info.operator_package, info.operator_version) == (RELEASE, "0.5.3")

    def test_a_serial_from_the_environment(
        self, simulator: Simulator, adb: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """`ANDROID_SERIAL` chooses among several phones."""
        monkeypatch.setenv("ANDROID_SERIAL", simulator.serials[1])

        with connect(adb=adb) as claw:
            assert claw.serial == simulator.serials[1]

    def test_another_variant(
        self, phone: AdbTransport, adb: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The Operator's package comes from the keyword, else from the environment."""
        phone.shell("sim fault operator_variant")
        monkeypatch.setenv("CLAWPERATOR_OPERATOR_PACKAGE", DEV)

        with connect(phone.serial, adb=adb) as claw:
            assert claw.device.info.operator_package == DEV
        with pytest.raises(OperatorNotReadyError):
            connect(phone.serial, adb=adb, operator_package=RELEASE)

    def test_observers(self, phone: AdbTransport, adb: str) -> None:
        """One observer or several are told of every execution."""
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

    def test_a_force_stopped_operator(self, phone: AdbTransport, adb: str) -> None:
        """What was switched off is told; `grant=True` switches it on and waits for it."""
        phone.shell(f"am force-stop {RELEASE}")

        with pytest.raises(OperatorNotReadyError) as caught:
            connect(phone.serial, adb=adb)
        with connect(phone.serial, adb=adb, grant=True) as claw:
            ran = runs(claw)

        assert caught.value.code is ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING
        assert "grant=True" in str(caught.value.hint)
        assert ran

    def test_an_operator_that_crashed(
        self, phone: AdbTransport, adb: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        """A service that died is switched off and on, and that is said."""
        phone.shell("sim fault operator_crash times=1")
        told: list[Event] = []

        with caplog.at_level(logging.WARNING, "pytest_clawperator"):
            connect(phone.serial, adb=adb, grant=True, observe=told.append).close()

        (notice,) = [event for event in told if isinstance(event, Notice)]
        assert "switched off and on" in notice.message
        assert f"[{phone.serial}] {notice.message}" in caplog.messages

    @pytest.mark.parametrize("package", [RELEASE, DEV])
    def test_from_an_apk(self, phone: AdbTransport, adb: str, tmp_path: Path, package: str) -> None:
        """An Operator is installed, allowed to work, and used, whichever variant it is."""
        phone.shell(f"pm uninstall {RELEASE}")

        with connect(phone.serial, adb=adb, operator_apk=operator_apk(tmp_path, package)) as claw:
            ran = runs(claw)

        assert ran
        assert claw.device.info.operator_package == package


class TestFailing:
    """Everything that can be wrong, each under its own name, and nothing left open."""

    @pytest.fixture(autouse=True)
    def nothing_left_open(self) -> Iterator[None]:
        """See that no thread of a log stream outlives the attempt."""
        before = set(threading.enumerate())
        yield
        assert set(threading.enumerate()) <= before

    def test_several_phones(self, simulator: Simulator, adb: str) -> None:
        """Several phones and no choice."""
        with pytest.raises(AmbiguousDeviceError, match=simulator.serials[1]):
            connect(adb=adb)

    def test_no_such_phone(self, adb: str) -> None:
        """A serial that is not there."""
        with pytest.raises(DeviceNotFoundError):
            connect("nowhere", adb=adb)

    @pytest.mark.parametrize("observe", [None, 5, [5]])
    def test_no_observer(self, observe: Any) -> None:
        """What cannot be called is refused before anything is opened."""
        with pytest.raises(ConfigurationError, match="cannot be called"):
            connect(adb="127.0.0.1:1", observe=observe)

    def test_no_server(self) -> None:
        """An adb server that does not answer; one that was named is not started."""
        with pytest.raises(AdbUnavailableError):
            connect(adb="127.0.0.1:1")

    @pytest.mark.parametrize(
        ("fault", "error", "code"),
        [
            ("operator_absent", OperatorNotReadyError, ErrorCode.OPERATOR_NOT_INSTALLED),
            ("operator_variant", OperatorNotReadyError, ErrorCode.OPERATOR_VARIANT_MISMATCH),
            ("booting", DeviceUnavailableError, ErrorCode.DEVICE_OFFLINE),
        ],
    )
    def test_faults(
        self, phone: AdbTransport, adb: str, fault: str, error: Any, code: ErrorCode
    ) -> None:
        """A phone whose Operator is not as it should be."""
        phone.shell(f"sim fault {fault}")

        with pytest.raises(error) as caught:
            connect(phone.serial, adb=adb)

        assert caught.value.code is code
        assert caught.value.serial == phone.serial

    def test_a_file_that_is_not_there(self, phone: AdbTransport, adb: str) -> None:
        """An APK that is not there."""
        with pytest.raises(OperatorNotReadyError) as caught:
            connect(phone.serial, adb=adb, operator_apk="/nowhere/operator.apk")

        assert caught.value.code is ErrorCode.OPERATOR_APK_NOT_FOUND

    @pytest.mark.parametrize("package", ["x", "a.b; reboot"])
    def test_no_package(self, adb: str, package: str) -> None:
        """A package name that is none is refused before anything is opened."""
        with pytest.raises(ConfigurationError, match="is not the name of an Android package"):
            connect(adb=adb, operator_package=package)

    @pytest.mark.parametrize(
        "others", [{"adb": "5037"}, {"grant": True}, {"operator_apk": "operator.apk"}]
    )
    def test_what_a_url_excludes(self, others: dict[str, Any]) -> None:
        """What only adb can do is refused together with a url."""
        with pytest.raises(ConfigurationError, match=f"{next(iter(others))}= cannot be used"):
            connect(url="http://127.0.0.1:1", **others)

    def test_a_client_that_cannot_be_made(
        self, phone: AdbTransport, adb: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The log stream, open by then, is closed again."""

        def refuse(*_: Any, **__: Any) -> Clawperator:
            raise ConfigurationError("no client today")

        monkeypatch.setattr("pytest_clawperator.devices.connection.Clawperator", refuse)

        with pytest.raises(ConfigurationError, match="no client today"):
            connect(phone.serial, adb=adb, grant=True)


def test_a_server_that_was_started(
    adb: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What happens before there is a device is said all the same."""
    told: list[Event] = []
    monkeypatch.setattr(
        "pytest_clawperator.devices.connection.ensure_server",
        lambda server, say: say("adb was started"),
    )

    with caplog.at_level(logging.WARNING, "pytest_clawperator"), pytest.raises(DeviceNotFoundError):
        connect("nowhere", adb=adb, observe=told.append)

    assert [event.message for event in told if isinstance(event, Notice)] == ["adb was started"]
    assert caplog.messages == ["[nowhere] adb was started"]


def test_unauthorized() -> None:
    """A phone that does not accept this computer is told with what to do on it."""
    with Simulator(seed=1, faults=["unauthorized"]) as simulator:
        adb = f"{simulator.adb_host}:{simulator.adb_port}"

        with pytest.raises(DeviceUnavailableError) as caught:
            connect(simulator.serials[0], adb=adb)

    assert caught.value.code is ErrorCode.DEVICE_UNAUTHORIZED
    assert "Allow USB debugging?" in str(caught.value.hint)


def test_through_another_host() -> None:
    """Through a url executions run, and what needs a shell is refused by its name."""
    with running_host() as host, connect(url=host.url) as claw:
        ran = runs(claw)

        with pytest.raises(ConfigurationError, match=r"device\.shell is not possible here"):
            claw.device.shell("id")

    assert ran
    assert claw.serial == SERIAL


def test_a_serial_from_the_environment_through_another_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """ANDROID_SERIAL chooses among another host's devices, too."""
    monkeypatch.setenv("ANDROID_SERIAL", "absent")

    with running_host() as host, pytest.raises(DeviceNotFoundError, match="absent"):
        connect(url=host.url)


def test_no_pytest() -> None:
    """A script that connects does not load pytest."""
    script = "import sys, pytest_clawperator.connect; sys.exit('pytest' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", script], check=False)

    assert done.returncode == 0
