"""``date``."""

from __future__ import annotations

import pytest

from tests.simulator.shell.scripts import run


@pytest.mark.parametrize(
    ("script", "out"),
    [
        ("date", "Sat Mar 28 10:00:00 GMT 2026\n"),
        ("date +%s; date -u '+%D %R'", "1774692000\n03/28/26 10:00\n"),
        ("date '+%Y-%m-%d %H:%M:%S.%3N'", "2026-03-28 10:00:00.500\n"),
        ("date +%Y-%m-%dT%T%z", "2026-03-28T10:00:00+0000\n"),
        ("date '+%m-%d %H:%M:%S.000'", "03-28 10:00:00.000\n"),
        ("date '+%F %N %j %e%%%n%q'", "2026-03-28 500000000 087 28%\n%q\n"),
    ],
)
def test_the_time_is_the_devices(script: str, out: str) -> None:
    """Formats of adb clients are filled with the device's clock, in its language."""
    assert run(script) == (0, out, "")


def test_the_date_cannot_be_set() -> None:
    """The shell's user may not."""
    assert run("date 010203042020").err == "date: cannot set date: Operation not permitted\n"
