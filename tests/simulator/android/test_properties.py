"""System properties, ``getprop`` and ``setprop``."""

from __future__ import annotations

import random

import pytest

from pytest_clawperator.simulator.android.properties import Build, Properties
from tests.doubles.simulator.android_phone import Phone


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
    def test_version_and_api_level_belong_together(self, api: int, release: str) -> None:
        """Version and API level belong together."""
        made = properties(api=api)

        assert made.get("ro.build.version.sdk") == str(api)
        assert made.get("ro.build.version.release") == release

    def test_an_emulator_names_itself(self) -> None:
        """An emulator says that it is one, and its name."""
        made = properties(avd_name="pixel")

        assert made.get("ro.kernel.qemu") == "1"
        assert made.get("ro.boot.qemu.avd_name") == "pixel"
        assert properties().get("ro.kernel.qemu") == ""

    def test_an_emulators_model_decides_its_abi(self) -> None:
        """An emulator's model tells what its processor runs."""
        made = properties(avd_name="pixel", model="sdk_gphone64_x86_64")

        assert made.get("ro.product.cpu.abi") == "x86_64"
        assert made.get("ro.product.name") == "sdk_gphone64_x86_64"
        assert properties().get("ro.product.cpu.abi") == "arm64-v8a"

    def test_the_banner_has_name_model_and_device(self) -> None:
        """The host is reported name, model and device."""
        assert properties().banner() == (
            "ro.product.name=tokay;ro.product.model=Pixel 9;ro.product.device=tokay;"
        )

    def test_the_same_seed_gives_the_same_properties(self) -> None:
        """The same seed makes the same phone."""
        assert properties().items() == properties().items()


class TestGetprop:
    """The commands for properties."""

    def test_a_missing_property_prints_the_default(self) -> None:
        """One property is printed; one that is not there is an empty line, or the default."""
        phone = Phone(api=34, serial_number="SIM7")

        assert phone.out("getprop ro.build.version.sdk") == "34\n"
        assert phone.out("getprop ro.serialno") == "SIM7\n"
        assert phone.out("getprop no.such.thing") == "\n"
        assert phone.out("getprop no.such.thing fallback") == "fallback\n"

    def test_all_properties_are_listed_by_name(self) -> None:
        """All properties are listed in brackets, by name."""
        lines = Phone().out("getprop").splitlines()

        assert "[ro.product.model]: [Pixel 9]" in lines
        assert "[sys.boot_completed]: [1]" in lines
        names = [line.partition("]")[0] for line in lines]
        assert names == sorted(names)

    def test_a_property_can_be_set(self) -> None:
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
    def test_read_only_properties_are_refused(self, arguments: str, complaint: str) -> None:
        """What may not be set is refused, with status 1."""
        assert Phone().run(f"setprop {arguments}") == (1, "", complaint)

    def test_a_value_over_91_bytes_is_refused(self) -> None:
        """A value may not be longer than Android keeps."""
        ended = Phone().run(f"setprop debug.x {'y' * 92}")

        assert ended.status == 1
        assert "too long" in ended.err
