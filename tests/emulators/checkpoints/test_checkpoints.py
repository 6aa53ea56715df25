"""Checkpoints on a simulated emulator, with the real adb."""

from __future__ import annotations

import re
from collections.abc import Iterator
from time import monotonic
from typing import Any

import pytest

from pytest_clawperator import Clawperator, connect
from pytest_clawperator.emulators.checkpoints import Checkpoints, Snapshots
from pytest_clawperator.errors import ConfigurationError, EmulatorError, ErrorCode
from tests.doubles.clock import FakeTime
from tests.doubles.runner import Phone
from tests.doubles.runner import client as client_on
from tests.doubles.simulator.sdk_bench import SdkBench, await_true

SHOP = "com.example.shop"
HOME = "com.google.android.apps.nexuslauncher"
SET_MARK = "settings put global clawperator_checkpoint"


@pytest.fixture
def client(bench: SdkBench) -> Iterator[Clawperator]:
    """Connect to an emulator."""
    bench.behave(time_scale=0.05)
    bench.create("x")
    with connect(bench.boot("x"), adb=f"127.0.0.1:{bench.sdk.adb_port}") as client:
        yield client


def open_shop(claw: Clawperator) -> None:
    """Build a state: the shop is in front, and the device has a mark."""
    claw.open_app(SHOP)
    claw.wait_for_node(text="Welcome back")
    claw.device.shell("settings put global built yes")


class Meddling(Snapshots):
    """Snapshots after whose loading something happens, or that are not loaded."""

    def __init__(self, bench: SdkBench, serial: str) -> None:
        super().__init__(serial)
        self._bench = bench
        self.command = ""

    def load(self, name: str) -> None:
        """Load one, and run a command on the emulator until it is back and that worked."""
        if self.command != "not loaded":
            super().load(name)
            command = f"{self.command or 'true'} && echo done".format(name=name)
            await_true(
                lambda: self._bench.shell(self._serial, command).endswith("done"),
                "the emulator is back",
            )


def test_a_device_goes_back_to_where_it_was_saved(client: Clawperator) -> None:
    """The second time it is restored: settings, the app in front, one that a test removed."""
    told: list[str] = []
    checkpoints = Checkpoints(client, tell=told.append)
    first = checkpoints.reach("shop", build=open_shop)
    client.device.shell("settings put global built no")
    client.device.uninstall(SHOP)

    second = checkpoints.reach("shop", build=open_shop)

    assert (first.how, second.how, told) == ("saved", "restored", [])
    assert client.device.shell("settings get global built").stdout.strip() == "yes"
    assert client.device.current_package() == SHOP
    assert client.read_text(text="Welcome back") == "Welcome back"


@pytest.mark.parametrize(
    ("command", "difference"),
    [
        ("not loaded", "the emulator is not in the state that was saved"),
        (f"{SET_MARK} '{{name}} other x'", "the emulator has started anew since it was saved"),
        (
            "pm uninstall com.clawperator.conformance",
            "other versions of the apps are installed than when it was saved",
        ),
        (
            f"input keyevent HOME; dumpsys activity activities | grep topResumed | grep -q {HOME}",
            f"{HOME} is in front, not {SHOP}, as when its function ended",
        ),
    ],
)
def test_another_state_than_was_saved_is_told_and_built(
    bench: SdkBench, client: Clawperator, command: str, difference: str
) -> None:
    """What differs is found out, whatever the console said."""
    time, told = FakeTime(), list[str]()
    snapshots = Meddling(bench, client.serial)
    checkpoints = Checkpoints(
        client,
        tell=told.append,
        snapshots=snapshots,
        clock=lambda: time.now,
        pause=lambda _: time.pass_by(3),
    )
    checkpoints.reach("shop", build=open_shop)
    snapshots.command = command

    reached = checkpoints.reach("shop", build=open_shop)

    assert reached.how == "saved"
    assert told == [f"checkpoint 'shop' was not restored, so it is built again: {difference}"]


def test_a_slow_restore_is_told(client: Clawperator) -> None:
    """It may be that the disk is slow, or that too many emulators run."""
    time, told = FakeTime(), list[str]()

    class Slow(Snapshots):
        def load(self, name: str) -> None:
            super().load(name)
            time.pass_by(12)

    checkpoints = Checkpoints(
        client,
        tell=told.append,
        snapshots=Slow(client.serial),
        clock=lambda: monotonic() + time.now,
    )
    checkpoints.reach("shop", build=open_shop)

    reached = checkpoints.reach("shop", build=open_shop)

    assert reached.how == "restored"
    assert reached.seconds > 12
    assert [text for text in told if "took 1" in text and "s to restore" in text] == told != []


def test_a_state_that_cannot_be_saved_is_told(client: Clawperator) -> None:
    """The device is in it all the same."""
    told: list[str] = []

    class Full(Snapshots):
        def save(self, name: str) -> None:
            raise EmulatorError("the disk is full", serial=client.serial)

    checkpoints = Checkpoints(client, tell=told.append, snapshots=Full(client.serial))

    reached = checkpoints.reach("shop", build=open_shop)

    assert reached.how == "built"
    assert told == [
        "checkpoint 'shop' was not saved, so the next test builds it again: the disk is full"
    ]


def test_the_console_of_another_emulator_is_left_alone(client: Clawperator) -> None:
    """An adb server behind a tunnel may have an emulator of the same name on another machine."""
    told: list[str] = []

    class Foreign(Snapshots):
        def avd_name(self) -> str:
            return "y"

    checkpoints = Checkpoints(client, tell=told.append, snapshots=Foreign(client.serial))

    reached = [checkpoints.reach("shop", build=open_shop, apps=[SHOP]).how for _ in range(2)]

    assert reached == ["built", "built"]
    assert told == [
        f"checkpoint 'shop' is built for each test, after {SHOP} was cleared: the state of this"
        " device cannot be saved (it is x, and the console at its port is that of y)"
    ]


@pytest.mark.parametrize(
    ("name", "build", "found"),
    [("", open_shop, "name of a checkpoint is ''"), ("shop", "log_in", "'shop' is 'log_in'")],
)
def test_arguments_that_make_no_sense_are_told(
    name: str, build: Any, found: str, client: Clawperator
) -> None:
    """A checkpoint without a name or a function is an error before anything is done."""
    checkpoints = Checkpoints(client)

    with pytest.raises(ConfigurationError, match=re.escape(found)):
        checkpoints.reach(name, build=build)


def test_an_app_that_is_never_installed_is_an_error(client: Clawperator) -> None:
    """Its function could have installed it; nothing is saved."""
    checkpoints = Checkpoints(client)

    with pytest.raises(ConfigurationError, match=r"com\.example\.shpo is not installed") as caught:
        checkpoints.reach("shop", build=open_shop, apps=["com.example.shpo"])

    assert caught.value.code == ErrorCode.APP_NOT_FOUND
    assert Snapshots(client.serial).names() == []


def test_a_device_of_another_host_has_none() -> None:
    """There is no way to its console, and what to do is said."""
    with pytest.raises(ConfigurationError, match="behind a url has no checkpoints") as caught:
        Checkpoints(client_on(Phone()))

    assert caught.value.code == ErrorCode.DEVICE_SHELL_UNAVAILABLE
    assert "hint" in str(caught.value)
