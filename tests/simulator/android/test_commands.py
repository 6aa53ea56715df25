"""Android's commands as a whole: any arguments, while it boots, and ``cmd``."""

from __future__ import annotations

import asyncio
import signal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.android.commands import COMMAND_NAMES, SERVICES, android_commands
from pytest_clawperator.simulator.shell.shell import Invocation
from tests.doubles.simulator.android_phone import Collected, Phone, Pieces


class TestBooting:
    """While Android comes up."""

    @pytest.mark.parametrize(
        ("command", "service"),
        [
            ("pm list packages", "package"),
            ("cmd package list packages", "package"),
            ("am start x", "activity"),
            ("settings get global x", "settings"),
            ("wm size", "window"),
            ("input tap 1 1", "input"),
        ],
    )
    def test_no_service_answers_while_booting(self, command: str, service: str) -> None:
        """No service is there yet."""
        phone = Phone()
        phone.device.faults.set("booting")

        assert phone.run(command) == (20, "", f"cmd: Can't find service: {service}\n")

    def test_the_boot_properties_change_after_booting(self) -> None:
        """The properties tell that it has not booted, and later that it has."""
        phone = Phone()
        phone.device.faults.set("booting")
        assert phone.out("getprop sys.boot_completed; getprop dev.bootcomplete") == "\n\n"

        phone.device.faults.clear("booting")
        assert phone.out("getprop sys.boot_completed; getprop dev.bootcomplete") == "1\n1\n"

    def test_an_unknown_service_gets_the_same_answer(self) -> None:
        """A service that there never is is reported in the same words."""
        assert Phone().run("cmd birds fly") == (20, "", "cmd: Can't find service: birds\n")


KNOWN_WORDS = (
    "start broadcast force-stop list packages path grant revoke clear uninstall install"
    " install-write install-commit enable dump get put delete set tap swipe text keyevent size"
    " density night package window activity battery display power top -n -a -d -p -c -f -S -W"
    " -3 -A -o --es --user --uid --uri --where --bind -- - com.android.settings global secure"
    " com.clawperator.operator android.permission.CAMERA com.android.settings/.Settings"
    " 0 1 -1 99999999999999999999 1e309 nan x:y x/y / : = %s 🎉 ²"
)

WORDS = st.one_of(
    st.sampled_from(KNOWN_WORDS.split()),
    st.text(max_size=20),
    st.text(st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF), max_size=3),
    st.integers().map(str),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    # A reboot is the end of its own shell, which tests of the phone see.
    name=st.sampled_from([name for name in COMMAND_NAMES if name != "reboot"]),
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
        out, err = Collected(), Collected()
        shell = phone.device.make_shell()
        call = Invocation(args, Pieces([stdin, b""]), out, err, shell)
        command = android_commands(phone.system)[name]
        running = asyncio.ensure_future(command(call))
        await asyncio.sleep(0)
        for program in shell.jobs.programs():  # what would go on until it is interrupted
            program.signal(signal.SIGINT)
        return await running

    assert 0 <= asyncio.run(act()) <= 255


class TestCmd:
    """The way to the services."""

    def test_cmd_lists_the_services(self) -> None:
        """The services can be listed."""
        out = Phone().out("cmd -l")

        assert out.startswith("Currently running services:\n")
        assert "  package\n" in out

    def test_cmd_requires_a_service(self) -> None:
        """A service must be named."""
        ended = Phone().run("cmd")

        assert ended == (20, "", "cmd: No service specified; use -l to list all services\n")


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
