"""Checkpoints on a simulated emulator, with the real adb."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from time import monotonic
from typing import Any

import pytest

from pytest_clawperator import Clawperator, connect
from pytest_clawperator.client.device import Device
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.emulators.checkpoints import (
    Checkpoints,
    Snapshots,
    installed_apps,
    snapshot_name,
    source_of,
)
from pytest_clawperator.errors import ConfigurationError, EmulatorError, ErrorCode
from pytest_clawperator.transport.shell import quote
from tests.doubles.clock import FakeTime
from tests.doubles.runner import Phone
from tests.doubles.runner import client as client_on
from tests.doubles.simulator.sdk_bench import SdkBench, await_true
from tests.doubles.transport import ScriptedTransport

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
    reported: list[str] = []
    checkpoints = Checkpoints(client, notify=reported.append)
    first = checkpoints.reach("shop", build=open_shop)
    client.device.shell("settings put global built no")
    client.device.uninstall(SHOP)

    second = checkpoints.reach("shop", build=open_shop)

    assert (first.how, second.how, reported) == ("saved", "restored", [])
    assert client.device.shell("settings get global built").stdout.strip() == "yes"
    assert client.device.current_package() == SHOP
    assert client.read_text(text="Welcome back") == "Welcome back"


@pytest.mark.parametrize(
    ("command", "difference"),
    [
        ("not loaded", "the emulator is not in the state that was saved"),
        (f"{SET_MARK} '{{name}} other x'", "the emulator has restarted since it was saved"),
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
def test_another_state_than_was_saved_is_built_again(
    bench: SdkBench, client: Clawperator, command: str, difference: str
) -> None:
    """The difference is found and reported, whatever the console answered."""
    time, reported = FakeTime(), list[str]()
    snapshots = Meddling(bench, client.serial)
    checkpoints = Checkpoints(
        client,
        notify=reported.append,
        snapshots=snapshots,
        clock=lambda: time.now,
        pause=lambda _: time.pass_by(3),
    )
    checkpoints.reach("shop", build=open_shop)
    snapshots.command = command

    reached = checkpoints.reach("shop", build=open_shop)

    assert reached.how == "saved"
    assert reported == [f"checkpoint 'shop' was not restored, so it is built again: {difference}"]


def test_a_slow_restore_is_reported(client: Clawperator) -> None:
    """The disk may be slow, or too many emulators run."""
    time, reported = FakeTime(), list[str]()

    class Slow(Snapshots):
        def load(self, name: str) -> None:
            super().load(name)
            time.pass_by(12)

    checkpoints = Checkpoints(
        client,
        notify=reported.append,
        snapshots=Slow(client.serial),
        clock=lambda: monotonic() + time.now,
    )
    checkpoints.reach("shop", build=open_shop)

    reached = checkpoints.reach("shop", build=open_shop)

    assert reached.how == "restored"
    assert reached.seconds > 12
    assert (
        [text for text in reported if "took 1" in text and "s to restore" in text] == reported != []
    )


def test_the_console_of_another_emulator_is_left_alone(client: Clawperator) -> None:
    """An adb server behind a tunnel may have an emulator of the same name on another machine."""
    reported: list[str] = []

    class Foreign(Snapshots):
        def avd_name(self) -> str:
            return "y"

    checkpoints = Checkpoints(client, notify=reported.append, snapshots=Foreign(client.serial))

    reached = [checkpoints.reach("shop", build=open_shop, apps=[SHOP]).how for _ in range(2)]

    assert reached == ["built", "built"]
    assert reported == [
        f"checkpoint 'shop' is built for each test, after {SHOP} was cleared: the state of this"
        " device cannot be saved (it is x, and the console at its port is that of y)"
    ]


def test_what_cannot_be_saved_or_built_is_an_error(client: Clawperator) -> None:
    """Wrong arguments and missing apps are refused; a state that is not saved is still reached."""
    reported: list[str] = []
    wrong: list[tuple[str, Any, list[str], str]] = [
        ("", open_shop, [], "name of a checkpoint is ''"),
        ("shop", "log_in", [], "'shop' is 'log_in'"),
        ("shop", open_shop, ["com.example.shpo"], "com.example.shpo is not installed"),
    ]
    for name, build, apps, problem in wrong:
        with pytest.raises(ConfigurationError, match=re.escape(problem)) as caught:
            Checkpoints(client).reach(name, build=build, apps=apps)
    names = Snapshots(client.serial).names()

    class Full(Snapshots):
        def save(self, name: str) -> None:
            raise EmulatorError("the disk is full", serial=client.serial)

    checkpoints = Checkpoints(client, notify=reported.append, snapshots=Full(client.serial))
    reached = checkpoints.reach("shop", build=open_shop)

    assert caught.value.code == ErrorCode.APP_NOT_FOUND
    assert names == []
    assert reached.how == "built"
    assert reported == [
        "checkpoint 'shop' was not saved, so the next test builds it again: the disk is full"
    ]


def test_a_device_of_another_host_has_none() -> None:
    """There is no way to its console; the error says what to do."""
    with pytest.raises(ConfigurationError, match="behind a url has no checkpoints") as caught:
        Checkpoints(client_on(Phone()))

    assert caught.value.code == ErrorCode.DEVICE_SHELL_UNAVAILABLE
    assert "hint" in str(caught.value)


OPERATOR = "com.clawperator.operator"

BANK = "package:/data/app/~~a==/com.bank-b==/base.apk=com.bank versionCode:7"

BANKER = "package:/data/app/~~c==/com.banker-d==/base.apk=com.banker versionCode:1"

SERVICE = f"package:/data/app/x=={OPERATOR}/base.apk={OPERATOR} versionCode:5"

USER = "ada"


def client_of(answers: dict[Any, Any], *, api_level: int | None = 34) -> Clawperator:
    """Return a client of a device that answers this."""
    info = DeviceInfo(serial="x", key="x", api_level=api_level, operator_package=OPERATOR)
    return Clawperator(Phone(), device=Device(ScriptedTransport(answers), info))


class TestApps:
    """The apps that a state is of."""

    def test_named_apps_and_the_operator_count_as_they_are_installed(self) -> None:
        """A name is not that of another app that begins with it."""
        listing = "pm list packages -f --show-versioncode"
        asked = f"{listing} {quote('com.bank')}; {listing} {quote(OPERATOR)}"
        client = client_of({asked: f"{BANK}\n{BANKER}\n{SERVICE}\n"})

        assert installed_apps(client, ["com.bank"]) == {"com.bank": BANK, OPERATOR: SERVICE}

    def test_without_a_name_all_that_were_installed_count(self) -> None:
        """Before Android 8 they are listed without versions."""
        listing = "pm list packages -f"
        answers = {f"{listing} {quote(OPERATOR)}": SERVICE, f"{listing} -3": f"{BANK}\n{BANKER}"}

        found = installed_apps(client_of(answers, api_level=25), [])

        assert found == {OPERATOR: SERVICE, "com.bank": BANK, "com.banker": BANKER}


def log_in(claw: object, *, user: str = USER) -> str:
    """Log in."""
    return spell(user)


def spell(user: str) -> str:
    """Spell a name."""
    return user.upper()


def log_in_as(user: object) -> Any:
    """Return a function that logs a user in."""
    return lambda claw: spell(str(user))


def endless(claw: object) -> None:
    """Call itself."""
    endless(claw)


class LogIn:
    """A function with a state."""

    def __call__(self, claw: object) -> None:
        """Log in."""

    def method(self, claw: object) -> None:
        """Log in, too."""


class TestSource:
    """The function that builds a state."""

    @pytest.mark.parametrize(
        "build", [log_in, partial(log_in, user="bob"), endless, LogIn(), LogIn().method, print]
    )
    def test_the_same_function_has_the_same_source(self, build: Any) -> None:
        """Anything that can be called has a source that stays the same."""
        assert source_of(build) == source_of(build)

    def test_what_it_calls_in_its_module_counts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A function or a value of its module that changes makes another state."""
        before = source_of(log_in)

        monkeypatch.setitem(globals(), "spell", LogIn)

        assert source_of(log_in) != before

    def test_what_it_was_made_with_counts(self) -> None:
        """Arguments and values around a function make another state."""
        made = [log_in_as("ada"), log_in_as("bob"), log_in_as(["ada"]), log_in_as({"ada": 1})]
        given = [partial(log_in, user=user) for user in ("ada", "bob")]

        assert len({*map(source_of, [*made, *given, log_in])}) == 7

    def test_without_a_file_the_code_counts(self) -> None:
        """What was typed into a console has no source to be read."""
        functions: list[Any] = []
        for text in ("1", "2"):
            space: dict[str, Any] = {}
            exec(f"def build(claw): return [{text} for _ in ()]", space)
            functions.append(space["build"])

        assert source_of(functions[0]) != source_of(functions[1])


LOGGED_IN = snapshot_name("logged-in", "a")

STALE = snapshot_name("logged-in", "b")

OTHER = snapshot_name("logged in", "a")


class FakeConsole:
    """A console with some snapshots; one command may be refused."""

    def __init__(self, *names: str, refused: str = "-") -> None:
        self.names = list(names)
        self.asked: list[str] = []
        self._refused = refused

    def __call__(self, serial: str, command: str, timeout: float) -> str:
        """Answer as the table of the emulator does, in which long names touch the next column."""
        verb, *name = command.removeprefix("avd snapshot ").split()
        if verb == self._refused:
            raise EmulatorError("no", code=ErrorCode.UNKNOWN, serial=serial)
        if verb == "list":
            return "ID TAG VM SIZE\n" + "\n".join(f"--  {one}1.23 GiB" for one in self.names)
        self.asked.append(f"{verb} {' '.join(name)}")
        return ""


@pytest.mark.parametrize("name", ["x", "ein Käse; rm -rf", "a" * 300, "\ud800", "é", "\n"])
def test_any_name_can_be_given_to_the_console(name: str) -> None:
    """It has no spaces or other characters that a console would read otherwise."""
    snapshot = snapshot_name(name, "a")

    assert Snapshots("emulator-1", ask=FakeConsole(snapshot)).names() == [snapshot]
    assert len(snapshot) < 80


def test_saving_replaces_the_stale_one_of_the_same_checkpoint() -> None:
    """Those of other checkpoints stay, also where their names look alike."""
    console = FakeConsole(STALE, OTHER, "default_boot")

    Snapshots("emulator-1", ask=console).save(LOGGED_IN)

    assert console.asked == [f"delete {STALE}", f"save {LOGGED_IN}"]


def test_a_refusal_says_what_to_look_at() -> None:
    """An emulator that cannot save has often no room to."""
    snapshots = Snapshots("emulator-1", ask=FakeConsole(refused="save"))

    with pytest.raises(EmulatorError, match="no") as caught:
        snapshots.save(LOGGED_IN)

    assert "has room" in str(caught.value)
