"""Whatever is typed, no command of Android's comes to grief."""

from __future__ import annotations

import asyncio
import signal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.android.commands import COMMAND_NAMES, SERVICES, android_commands
from pytest_clawperator.simulator.android.managers.apk import InstallFailed, install_apk
from pytest_clawperator.simulator.shell.shell import Invocation
from tests.simulator.android.phone import Collected, Phone, Pieces
from tests.simulator.android.test_install import app_apk

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
    name=st.sampled_from(COMMAND_NAMES),
    service=st.sampled_from(sorted(SERVICES)),
    words=st.lists(WORDS, max_size=7),
    stdin=st.binary(max_size=50),
)
def test_any_words(name: str, service: str, words: list[str], stdin: bytes) -> None:
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


@settings(max_examples=150, deadline=None)
@given(cut=st.integers(0, 400), junk=st.binary(max_size=12), at=st.integers(0, 400))
def test_broken_archives(cut: int, junk: bytes, at: int) -> None:
    """A broken APK is refused, never more than that."""
    apk = app_apk()
    broken = (apk[:at] + junk + apk[at + len(junk) :])[: len(apk) - cut % 40]

    try:
        install_apk(Phone().system, broken, file_name="a.apk")
    except InstallFailed as failure:
        refusal = str(failure)
    else:
        refusal = "INSTALL_SUCCEEDED"

    assert refusal.startswith("INSTALL_")
