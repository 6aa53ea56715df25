"""Which lines come into the log of a simulated phone."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.android_phone import Phone

WRITE = "log -p d -t T debug; log -p i -t T info; log -p e -t T error; logcat -d -v raw -s T"


@pytest.mark.parametrize(
    ("before", "shown"),
    [
        ("true", ["debug", "info", "error"]),
        ("setprop log.tag I", ["info", "error"]),
        ("setprop persist.log.tag Error", ["error"]),
        ("setprop persist.log.tag E; setprop log.tag V", ["debug", "info", "error"]),
        ("setprop log.tag suppress", []),
        ("setprop log.tag ?", ["debug", "info", "error"]),
        ("sim fault log_suppressed", ["error"]),
        ("sim fault log_suppressed; sim fault clear", ["debug", "info", "error"]),
    ],
)
def test_properties_and_the_maker_decide_what_is_logged(before: str, shown: list[str]) -> None:
    """Lines below the level of the properties are dropped; a maker may drop more."""
    phone = Phone()

    phone.run(before)

    lines = phone.out(WRITE).splitlines()
    assert [line for line in lines if not line.startswith("---")] == shown
