"""Scripts: their words, what they print, and how they end."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from pytest_clawperator.errors import SkillError, SkillFailedError
from pytest_clawperator.skills.registry import read_registry
from pytest_clawperator.skills.run import run_skill
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
    ("script", "code"),
    [
        ("echo out; echo err >&2; exit 3", "SKILL_EXECUTION_FAILED"),
        ("kill -9 $$", "SKILL_EXECUTION_FAILED"),
        ("echo out", "SKILL_OUTPUT_ASSERTION_FAILED"),
    ],
)
def test_a_script_that_fails_is_a_failure_of_the_test(
    registry_path: Path, script: str, code: str
) -> None:
    """With what was printed, and what was asked."""
    add_skill(registry_path, SKILL, script=script)

    with pytest.raises(SkillFailedError) as caught:
        run_skill(read_registry(registry_path), SKILL, wanted="never", timeout=30.0)

    assert isinstance(caught.value, AssertionError)
    assert caught.value.code == code
    assert caught.value.details["expectedSubstring"] == "never"
    assert caught.value.details["timeoutMs"] == 30_000


def test_the_end_of_what_a_failed_script_printed_is_in_its_hint(registry_path: Path) -> None:
    """Where usually the reason is; the exit code is that of a shell."""
    add_skill(registry_path, SKILL, script="echo out; echo 'no such zone' >&2; exit 3")

    with pytest.raises(SkillFailedError, match="no such zone") as caught:
        run_skill(read_registry(registry_path), SKILL)

    told = {name: caught.value.details[name] for name in ("exitCode", "stdout", "stderr")}
    assert told == {"exitCode": 3, "stdout": "out\n", "stderr": "no such zone\n"}


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
    told = []

    def heard(text: str, stream: str) -> None:
        told.append((text, stream))
        (tmp_path / "go").touch()

    run_skill(read_registry(registry_path), SKILL, timeout=60.0, on_output=heard)

    assert told == [("first\n", "stdout")]


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
def test_a_script_that_cannot_be_run_is_told(
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
    """Whether a process ended, or ends soon: it was killed, but nobody may have seen it yet."""
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
