"""Android's commands as a whole: any arguments, while it boots, and ``cmd``."""

from __future__ import annotations

import asyncio
import signal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.android.commands import SERVICES, android_commands
from pytest_clawperator.simulator.shell.shell import execute
from pytest_clawperator.simulator.shell.streams import Source
from tests.doubles.simulator.android_phone import Collected, Phone, Pieces


def test_no_service_answers_while_booting() -> None:
    """Afterwards they do, and the properties report that Android has booted."""
    phone = Phone()
    phone.device.faults.set("booting")

    for command, service in {
        "pm list packages": "package",
        "cmd package list packages": "package",
        "am start x": "activity",
        "settings get global x": "settings",
        "wm size": "window",
        "input tap 1 1": "input",
        "cmd birds fly": "birds",
    }.items():
        assert phone.run(command) == (20, "", f"cmd: Can't find service: {service}\n"), command
    assert phone.out("getprop sys.boot_completed; getprop dev.bootcomplete") == "\n\n"
    phone.device.faults.clear("booting")
    assert phone.out("getprop sys.boot_completed; getprop dev.bootcomplete") == "1\n1\n"


KNOWN_WORDS = (
    "start broadcast force-stop list packages path grant revoke clear uninstall install"
    " install-write install-commit enable dump get put delete set tap swipe text keyevent size"
    " density night package window activity battery display power top -n -a -d -p -c -f -S -W"
    " -3 -A -o --es --user --uid --uri --where --bind -- - com.android.settings global secure"
    " com.clawperator.operator android.permission.CAMERA com.android.settings/.Settings"
    " 0 1 -1 99999999999999999999 1e309 nan x:y x/y / : = %s 🎉 ²"
)

COMMANDS = sorted(android_commands(Phone().system))
WORDS = st.one_of(
    st.sampled_from(KNOWN_WORDS.split()),
    st.text(max_size=20),
    st.text(st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF), max_size=3),
    st.integers().map(str),
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    # A reboot is the end of its own shell, which tests of the phone see.
    name=st.sampled_from([name for name in COMMANDS if name != "reboot"]),
    service=st.sampled_from(sorted(SERVICES)),
    words=st.lists(WORDS, max_size=7),
    stdin=st.binary(max_size=50),
)
def test_any_command_ends_with_a_status(
    name: str, service: str, words: list[str], stdin: bytes
) -> None:
    """Every command ends with a status, whatever its arguments."""
    phone = Phone(size=(200, 400), density=100)
    args = [name, service, *words] if name == "cmd" else [name, *words]

    async def act() -> int:
        shell = phone.device.make_shell()
        shell.fds = {0: Source(Pieces([stdin, b""])), 1: Collected(), 2: Collected()}
        running = asyncio.ensure_future(execute(shell, args))
        await asyncio.sleep(0)
        for program in shell.jobs.programs():  # what would go on until it is interrupted
            program.signal(signal.SIGINT)
        return await running

    assert 0 <= asyncio.run(act()) <= 255


@pytest.mark.parametrize(
    ("api", "command", "said"),
    [
        (32, "cmd locale get-app-locales a.b", "Can't find service: locale"),
        (29, "cmd connectivity airplane-mode", "No shell command implementation."),
        (28, "input -d 1 tap 5 5", "Unknown command: -d"),
    ],
)
def test_what_came_later_is_not_known_on_older_phones(api: int, command: str, said: str) -> None:
    """Services, their commands and their options have their first version."""
    before, since = Phone(api=api).run(command), Phone(api=api + 1).run(command)

    assert said in before.out + before.err
    assert said not in since.out + since.err
