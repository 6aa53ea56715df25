"""System properties, ``getprop`` and ``setprop``."""

from __future__ import annotations

import random

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
    return Properties(Build(**build), rng=random.Random(0))  # type: ignore[arg-type]  # words of any test


def test_a_phone_describes_itself() -> None:
    """Version and API level belong together; the same seed makes the same phone."""
    for api, release in ((36, "16"), (31, "12"), (26, "8.0.0")):
        made = properties(api=api)
        assert made.get("ro.build.version.sdk") == str(api)
        assert made.get("ro.build.version.release") == release
    assert properties().get("ro.kernel.qemu") == ""
    assert properties().get("ro.product.cpu.abi") == "arm64-v8a"
    assert properties().items() == properties().items()
    assert properties().banner() == (
        "ro.product.name=tokay;ro.product.model=Pixel 9;ro.product.device=tokay;"
    )


def test_an_emulator_names_itself() -> None:
    """It has the name of its AVD, and its model decides what its processor runs."""
    made = properties(avd_name="pixel", model="sdk_gphone64_x86_64")

    assert made.get("ro.kernel.qemu") == "1"
    assert made.get("ro.boot.qemu.avd_name") == "pixel"
    assert made.get("ro.product.cpu.abi") == "x86_64"
    assert made.get("ro.product.name") == "sdk_gphone64_x86_64"


def test_properties_are_printed_and_set() -> None:
    """One that is not there is an empty line, or the default."""
    phone = Phone(api=34, serial_number="SIM7")
    for command, out in {
        "getprop ro.build.version.sdk": "34\n",
        "getprop ro.serialno": "SIM7\n",
        "getprop no.such.thing": "\n",
        "getprop no.such.thing fallback": "fallback\n",
        "setprop debug.test 'a b'; getprop debug.test": "a b\n",
    }.items():
        assert phone.out(command) == out, command
    lines = phone.out("getprop").splitlines()
    assert "[ro.product.model]: [Pixel 9]" in lines
    assert "[sys.boot_completed]: [1]" in lines
    names = [line.partition("]")[0] for line in lines]
    assert names == sorted(names)


def test_what_may_not_be_set_is_refused() -> None:
    """Read-only properties, and values longer than Android keeps."""
    phone = Phone()
    for arguments, complaint in {
        "ro.serialno x": "failed to set property 'ro.serialno' to 'x'",
        "sys.boot_completed 0": "failed to set property 'sys.boot_completed' to '0'",
        ".debug x": "failed to set property '.debug' to 'x'",
        "debug.x": "Need 2 arguments",
        "debug.x a b": "Max 2 arguments",
        f"debug.x {'y' * 92}": f"value '{'y' * 92}' too long",
    }.items():
        ended = phone.run(f"setprop {arguments}")
        assert (ended.status, ended.out) == (1, "")
        assert ended.err.startswith(f"setprop: {complaint}"), arguments
