"""Scripts: their words, what they print, and how they end."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.errors import ExecutionsOnlyError, SkillError, SkillFailedError
from pytest_clawperator.skills import run
from pytest_clawperator.skills.registry import read_registry
from pytest_clawperator.skills.run import (
    DeviceSkills,
    adb_socket,
    host_program,
    run_skill,
    script_environment,
)
from pytest_clawperator.skills.script import MOST_KEPT
from tests.doubles.skill_repository import add_skill

SKILL = "com.example.app.run"


def test_words_reach_a_script_as_they_are(registry_path: Path) -> None:
    """No shell reads them."""
    words = ["PH1", "a b", "$(id)", "`id`", ";", "--", "ä\n'\""]

    done = run_skill(read_registry(registry_path), "com.example.shop.echo", words)

    assert done.output == "".join(f"{word}|" for word in words)
    assert (done.exit_code, done.complaints) == (0, "")


@pytest.mark.parametrize(
    ("script", "code", "details"),
    [
        ("echo out; echo 'no such zone' >&2; exit 3", "SKILL_EXECUTION_FAILED",
         {"exitCode": 3, "stdout": "out\n", "stderr": "no such zone\n"}),
        ("kill -9 $$", "SKILL_EXECUTION_FAILED", {"exitCode": 137}),
        ("echo out", "SKILL_OUTPUT_ASSERTION_FAILED", {"output": "out\n"}),
    ],
)  # fmt: skip
def test_a_script_that_fails_fails_the_test(
    registry_path: Path, script: str, code: str, details: dict[str, Any]
) -> None:
    """With what was asked and printed; the end of the output is the hint."""
    add_skill(registry_path, SKILL, script=script)

    with pytest.raises(SkillFailedError) as caught:
        run_skill(read_registry(registry_path), SKILL, wanted="never", timeout=30.0)

    asked = {"skillId": SKILL, "expectedSubstring": "never", "timeoutMs": 30_000}
    assert isinstance(caught.value, AssertionError)
    assert caught.value.code == code
    assert caught.value.details == {**asked, **details}
    assert ("no such zone" in str(caught.value.hint)) == ("stderr" in details)


def test_a_script_that_hangs_is_ended_with_its_children(
    registry_path: Path, tmp_path: Path
) -> None:
    """Also if neither obeys; what it had printed is kept."""
    script = (
        "trap '' TERM; echo begun; (trap '' TERM; while :; do sleep 1; done) & "
        f"echo $! > {tmp_path}/child; wait"
    )
    add_skill(registry_path, SKILL, script=script)

    with pytest.raises(SkillFailedError, match="timed out after 1000ms") as caught:
        run_skill(read_registry(registry_path), SKILL, timeout=1.0)

    assert caught.value.code == "SKILL_EXECUTION_TIMEOUT"
    assert caught.value.details["stdout"] == "begun\n"
    assert _is_gone(int((tmp_path / "child").read_text()))


def test_what_a_script_leaves_behind_is_ended(registry_path: Path, tmp_path: Path) -> None:
    """A process in the background does not outlive the script, and is not waited for."""
    add_skill(registry_path, SKILL, script=f"sleep 600 & echo $! > {tmp_path}/child; echo done")

    done = run_skill(read_registry(registry_path), SKILL)

    assert done.output == "done\n"
    assert _is_gone(int((tmp_path / "child").read_text()))


def test_megabytes_are_cut_and_searched_whole(registry_path: Path) -> None:
    """The middle is left out of what is kept, and what is wanted may be there."""
    line = "x" * 99
    script = f"yes {line} | head -30000; echo needle; yes {line} | head -30000; echo last"
    add_skill(registry_path, SKILL, script=script)

    done = run_skill(read_registry(registry_path), SKILL, wanted="\nneedle\n")

    assert len(done.output) < MOST_KEPT + 100
    assert "bytes left out" in done.output
    assert "needle" not in done.output
    assert done.output.endswith("last\n")


def test_output_is_streamed_as_it_comes(registry_path: Path, tmp_path: Path) -> None:
    """What is printed first arrives while the script still runs."""
    add_skill(registry_path, SKILL, script=f"echo first; while [ ! -e {tmp_path}/go ]; do :; done")
    heard = []

    def hear(text: str, stream: str) -> None:
        heard.append((text, stream))
        (tmp_path / "go").touch()

    run_skill(read_registry(registry_path), SKILL, timeout=60.0, on_output=hear)

    assert heard == [("first\n", "stdout")]


@pytest.mark.parametrize(
    ("scripts", "code"),
    [
        ([], "SKILL_SCRIPT_NOT_FOUND"),
        (["skills/none.sh"], "SKILL_SCRIPT_NOT_FOUND"),
        (["../outside.sh"], "SKILL_SCRIPT_NOT_FOUND"),
        (["skills/link.sh"], "SKILL_SCRIPT_NOT_FOUND"),
        (["skills/plain.sh"], "SKILL_EXECUTION_FAILED"),
        (["skills/nul\0.sh"], "SKILL_SCRIPT_NOT_FOUND"),
    ],
)
def test_a_script_that_cannot_be_run_is_refused(
    registry_path: Path, scripts: list[str], code: str
) -> None:
    """Not there, outside of the repository, or not executable."""
    outside = registry_path.parent.parent.parent / "outside.sh"
    outside.write_text("#!/bin/sh\n")
    outside.chmod(0o755)
    (registry_path.parent / "link.sh").symlink_to(outside)
    (registry_path.parent / "plain.sh").write_text("#!/bin/sh\n")
    add_skill(registry_path, SKILL, scripts=scripts)

    with pytest.raises(SkillError) as caught:
        run_skill(read_registry(registry_path), SKILL)

    assert caught.value.code == code


def test_a_script_in_python_runs_in_this_python(registry_path: Path) -> None:
    """It can import the library."""
    place = registry_path.parent / "run.py"
    place.write_text("import pytest_clawperator, sys; print(sys.argv[1])")
    add_skill(registry_path, SKILL, scripts=["skills/run.py"])

    assert run_skill(read_registry(registry_path), SKILL, ["PH1"]).output == "PH1\n"


def _is_gone(pid: int) -> bool:
    """Whether a process ended, or ends soon: it was killed, but may not have been reaped yet."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with suppress(OSError):
            if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
                return True
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_a_script_finds_program_operator_and_server() -> None:
    """What it had already stays; so does a program that was chosen."""
    found = script_environment(
        {"A": "1"}, operator_package="com.op", adb="127.0.0.1:5", more={"B": "2"}
    )
    chosen = script_environment({"CLAWPERATOR_BIN": "mine"}, operator_package="com.op")

    assert found == {
        "A": "1",
        "B": "2",
        "CLAWPERATOR_BIN": host_program(),
        "CLAWPERATOR_OPERATOR_PACKAGE": "com.op",
        "ADB_SERVER_SOCKET": "tcp:127.0.0.1:5",
    }
    assert chosen["CLAWPERATOR_BIN"] == "mine"


@pytest.mark.parametrize("place", ["/no/place/python", None])
def test_the_host_program_runs(place: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside this Python if it is installed there, else as a module."""
    if place is not None:
        real = sys.executable
        monkeypatch.setattr(run, "Path", lambda _: Path(place))
        assert host_program() == f"{real} -m pytest_clawperator"

    done = subprocess.run([*shlex.split(host_program()), "--version"], capture_output=True)

    assert done.returncode == 0


@pytest.mark.parametrize(
    ("server", "socket"),
    [("127.0.0.1:5037", "tcp:127.0.0.1:5037"), ("5037", "tcp:127.0.0.1:5037"),
     ("/tmp/adb", "localfilesystem:/tmp/adb"), ("tcp:lab:5037", "tcp:lab:5037")],
)  # fmt: skip
def test_servers_are_written_as_adb_reads_them(server: str, socket: str) -> None:
    """Whichever way they were given."""
    assert adb_socket(server) == socket


def test_a_script_gets_device_and_environment(registry_path: Path) -> None:
    """The serial first, then its words; and whom to ask for the device."""
    add_skill(registry_path, "com.a.b", script='echo "$@" $ADB_SERVER_SOCKET $LENT')
    skills = DeviceSkills(
        adb="127.0.0.1:5", registry=partial(read_registry, registry_path), more={"LENT": "yes"}
    )

    done = skills.run("phone-1", "com.a.b", ["x"], timeout=None, wanted=None)

    assert done.output == "phone-1 x tcp:127.0.0.1:5 yes\n"


def test_a_device_without_adb_runs_no_scripts(registry_path: Path) -> None:
    """Recipes are executions, which it runs; a likely mistake in one is an error."""
    skills = DeviceSkills(adb=None, registry=partial(read_registry, registry_path))

    assert skills.compile("com.example.mail.open", "open", {"APP": "x"}).actions
    with pytest.raises(ExecutionsOnlyError):
        skills.run("phone-1", "com.example.shop.echo", [], timeout=None, wanted=None)
    with pytest.raises(SkillError) as caught:
        skills.compile("com.example.mail.open", "open", {"APP": "x", "B": 1})
    assert caught.value.code == "COMPILE_VAR_UNKNOWN"
