"""``settings``, ``content``, ``getprop`` and ``setprop``."""

from __future__ import annotations

import random

import pytest

from pytest_clawperator.simulator.android.state.build import Build
from pytest_clawperator.simulator.android.state.properties import Properties
from pytest_clawperator.simulator.android.state.settings import (
    SettingsStore,
    add_to_list,
    remove_from_list,
)
from tests.simulator.android.phone import SERVICE, Phone


class TestStore:
    """The tables."""

    def test_watched(self) -> None:
        """Whoever watches is told every change and every removal."""
        store = SettingsStore()
        told: list[tuple[str, str, str | None]] = []
        store.watch(lambda *change: told.append(change))

        store.put("global", "x", "1")
        store.delete("global", "x")
        store.delete("global", "x")

        assert told == [("global", "x", "1"), ("global", "x", None)]

    def test_lists(self) -> None:
        """Components are added once, and removed by their package."""
        store = SettingsStore({})

        for item in ("a/x", "b/y", "a/x"):
            add_to_list(store, "secure", "k", item)

        assert store.get("secure", "k") == "a/x:b/y"
        assert remove_from_list(store, "secure", "k", package="a") == ["b/y"]
        assert store.get("secure", "k") == "b/y"

    def test_defaults_are_not_shared(self) -> None:
        """What one phone changes stays on that phone."""
        first, second = SettingsStore(), SettingsStore()

        first.put("global", "adb_enabled", "0")

        assert second.get("global", "adb_enabled") == "1"


class TestSettings:
    """The command."""

    def test_get(self) -> None:
        """A value is printed, and null where there is none."""
        phone = Phone()

        assert phone.out("settings get global development_settings_enabled") == "1\n"
        assert phone.out("settings get secure nothing_such") == "null\n"

    def test_operator_is_set_up(self) -> None:
        """A phone comes with the Operator's service switched on."""
        phone = Phone()

        assert phone.out("settings get secure enabled_accessibility_services") == f"{SERVICE}\n"
        assert phone.out("settings get secure accessibility_enabled") == "1\n"

    def test_without_operator(self) -> None:
        """Without the Operator no service is switched on."""
        out = Phone(operator="absent").out("settings get secure enabled_accessibility_services")

        assert out == "null\n"

    def test_put_and_delete(self) -> None:
        """A value is put silently; deleting tells how many rows went."""
        phone = Phone()

        assert phone.out("settings put system 'my key' 'a b'; settings get system 'my key'") == (
            "a b\n"
        )
        assert phone.out("settings delete system 'my key'") == "Deleted 1 rows\n"
        assert phone.out("settings delete system 'my key'") == "Deleted 0 rows\n"

    def test_list(self) -> None:
        """A table is listed by key."""
        lines = Phone().out("settings list global").splitlines()

        assert "adb_enabled=1" in lines
        assert lines == sorted(lines)

    def test_user(self) -> None:
        """The user may be given."""
        assert Phone().out("settings --user 0 get global adb_enabled") == "1\n"
        assert Phone().out("settings get --user current global adb_enabled") == "1\n"

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ("fly", "Invalid command: fly\n"),
            ("get nowhere x", "Invalid namespace 'nowhere'\n"),
            ("get global", "Bad arguments\n"),
            ("get global a b", "Too many arguments\n"),
            ("put global a", "Bad arguments\n"),
        ],
    )
    def test_mistakes(self, arguments: str, complaint: str) -> None:
        """A mistake is told, with status 255."""
        assert Phone().run(f"settings {arguments}") == (255, "", complaint)

    def test_rotation(self) -> None:
        """Turning the screen by its setting turns it."""
        phone = Phone()

        phone.out("settings put system user_rotation 1")
        assert phone.device.ui.size == (2400, 1080)

        phone.out("settings put system user_rotation 0")
        assert phone.device.ui.size == (1080, 2400)


class TestContent:
    """The command for content providers."""

    def test_query(self) -> None:
        """A setting can be asked for as a row."""
        out = Phone().out(
            "content query --uri content://settings/global --projection name:value"
            " --where \"name='adb_enabled'\""
        )

        assert out == "Row: 0 name=adb_enabled, value=1\n"

    def test_nothing_found(self) -> None:
        """No row is told in words."""
        out = Phone().out("content query --uri content://settings/global --where \"name='no'\"")

        assert out == "No result found.\n"

    def test_insert_and_delete(self) -> None:
        """A setting can be put and deleted."""
        phone = Phone()

        phone.out(
            "content insert --uri content://settings/system"
            " --bind name:s:user_rotation --bind value:i:1"
        )
        assert phone.device.ui.rotation == 1

        phone.out("content delete --uri content://settings/system/user_rotation")
        assert phone.out("settings get system user_rotation") == "null\n"

    @pytest.mark.parametrize(
        "arguments", ["", "fly", "query", "query --uri content://contacts/people"]
    )
    def test_mistakes(self, arguments: str) -> None:
        """What is not there is told on standard error."""
        ended = Phone().run(f"content {arguments}")

        assert (ended.out, bool(ended.err)) == ("", True)


def properties(**changes: object) -> Properties:
    """Make the properties of a phone."""
    build = {
        "serial": "S1",
        "model": "Pixel 9",
        "api": 36,
        "density": 420,
        "locale": "en-US",
        **changes,
    }
    return Properties(Build(**build), rng=random.Random(0), clock=lambda: 0.0)  # type: ignore[arg-type]  # words of any test


class TestProperties:
    """What a phone says of itself."""

    @pytest.mark.parametrize(("api", "release"), [(36, "16"), (31, "12"), (26, "8.0.0")])
    def test_version(self, api: int, release: str) -> None:
        """Version and API level belong together."""
        made = properties(api=api)

        assert made.get("ro.build.version.sdk") == str(api)
        assert made.get("ro.build.version.release") == release

    def test_emulator(self) -> None:
        """An emulator says that it is one, and its name."""
        made = properties(avd_name="pixel")

        assert made.get("ro.kernel.qemu") == "1"
        assert made.get("ro.boot.qemu.avd_name") == "pixel"
        assert properties().get("ro.kernel.qemu") == ""

    def test_processor(self) -> None:
        """An emulator's model tells what its processor runs."""
        made = properties(avd_name="pixel", model="sdk_gphone64_x86_64")

        assert made.get("ro.product.cpu.abi") == "x86_64"
        assert made.get("ro.product.name") == "sdk_gphone64_x86_64"
        assert properties().get("ro.product.cpu.abi") == "arm64-v8a"

    def test_banner(self) -> None:
        """The host is told name, model and device."""
        assert properties().banner() == (
            "ro.product.name=tokay;ro.product.model=Pixel 9;ro.product.device=tokay;"
        )

    def test_same_seed(self) -> None:
        """The same seed makes the same phone."""
        assert properties().items() == properties().items()


class TestGetprop:
    """The commands for properties."""

    def test_one(self) -> None:
        """One property is printed; one that is not there is an empty line, or the default."""
        phone = Phone(api=34, serial_number="SIM7")

        assert phone.out("getprop ro.build.version.sdk") == "34\n"
        assert phone.out("getprop ro.serialno") == "SIM7\n"
        assert phone.out("getprop no.such.thing") == "\n"
        assert phone.out("getprop no.such.thing fallback") == "fallback\n"

    def test_all(self) -> None:
        """All properties are listed in brackets, by name."""
        lines = Phone().out("getprop").splitlines()

        assert "[ro.product.model]: [Pixel 9]" in lines
        assert "[sys.boot_completed]: [1]" in lines
        names = [line.partition("]")[0] for line in lines]
        assert names == sorted(names)

    def test_set(self) -> None:
        """A property can be set."""
        assert Phone().out("setprop debug.test 'a b'; getprop debug.test") == "a b\n"

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ("ro.serialno x", "setprop: failed to set property 'ro.serialno' to 'x'\n"),
            (
                "sys.boot_completed 0",
                "setprop: failed to set property 'sys.boot_completed' to '0'\n",
            ),
            ("debug.x", 'setprop: Need 2 arguments (see "setprop --help")\n'),
            ("debug.x a b", 'setprop: Max 2 arguments (see "setprop --help")\n'),
        ],
    )
    def test_refused(self, arguments: str, complaint: str) -> None:
        """What may not be set is refused, with status 1."""
        assert Phone().run(f"setprop {arguments}") == (1, "", complaint)

    def test_too_long(self) -> None:
        """A value may not be longer than Android keeps."""
        ended = Phone().run(f"setprop debug.x {'y' * 92}")

        assert ended.status == 1
        assert "too long" in ended.err
