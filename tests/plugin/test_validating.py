"""``--claw-validate``: the payloads of a suite are judged, and no device is used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.conftest import Run

GOOD = {"actions": [{"type": "snapshot_ui"}]}

BAD = {"actions": [{"type": "clik", "params": {}}]}


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Path:
    """Write a suite whose tests would fail if they ran."""
    pytester.makepyfile(
        """
        import pytest

        def test_without_payload(clawperator):
            raise AssertionError

        @pytest.mark.claw_payload("payloads/good.json")
        @pytest.mark.claw_payload({"actions": [{"type": "snapshot_ui"}]})
        def test_with_payloads(clawperator, clawperator_payload):
            raise AssertionError
        """
    )
    write(pytester.path / "payloads" / "good.json", GOOD)
    return pytester.path


def write(path: Path, payload: Any) -> None:
    """Put a payload file in place."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(payload), encoding="utf-8")


def test_valid_payloads_are_the_tests_of_the_run(suite: Path, run_plain: Run) -> None:
    """Payloads of markers and files are the tests of the run; others are left out."""
    write(suite / "flows" / "login.claw.json", GOOD)
    write(suite / "flows" / "other.json", BAD)

    result = run_plain("-v", "--claw-validate")

    result.assert_outcomes(passed=4, deselected=2)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines_random(
        [
            "flows/login.claw.json::payload PASSED*",
            "payloads/good.json::payload PASSED*",
            "*.py::test_with_payloads::claw_payload[[]good.json] PASSED*",
            "*.py::test_with_payloads::claw_payload[[]1] PASSED*",
        ]
    )


def test_an_invalid_payload_fails_with_what_is_wrong(suite: Path, run_plain: Run) -> None:
    """Each payload that is wrong fails with what is wrong and no code, and the run with 1."""
    write(suite / "payloads" / "bad.json", BAD)
    (suite / "payloads" / "broken.json").write_text('{"actions": [', encoding="utf-8")

    result = run_plain("--claw-validate")

    result.assert_outcomes(passed=3, failed=2, deselected=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "_* payloads/bad.json: payload _*",
            "EXECUTION_VALIDATION_FAILED: All action types must be supported (at actions)",
            "*did you mean `click`?",
            "_* payloads/broken.json: payload _*",
            "EXECUTION_VALIDATION_FAILED: *JSON*",
        ]
    )
    assert "def runtest" not in result.stdout.str()


def test_the_summary_names_a_payload_once(suite: Path, run_plain: Run) -> None:
    """The summary says once which payload it is, and what is wrong with it."""
    write(suite / "payloads" / "bad.json", BAD)

    result = run_plain("-rf", "--claw-validate")

    result.stdout.fnmatch_lines(
        [
            "_* payloads/bad.json: payload _*",
            "EXECUTION_VALIDATION_FAILED: *",
            "*= short test summary info =*",
            "FAILED payloads/bad.json::payload - EXECUTION_VALIDATION_FAILED: All action types*",
        ]
    )


def test_a_marker_that_breaks_the_contract(pytester: pytest.Pytester, run_plain: Run) -> None:
    """A payload in a marker fails like one in a file, and the others are judged, too."""
    pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.claw_payload({"nonsense": 1})
        @pytest.mark.claw_payload([{"type": "snapshot_ui"}])
        def test_it(): pass
        """
    )

    result = run_plain("-rf", "--claw-validate")

    result.assert_outcomes(passed=1, failed=1, deselected=1)
    result.stdout.fnmatch_lines(
        [
            "_* test_it.py::test_it: claw_payload[[]2] _*",
            "FAILED test_it.py::test_it::claw_payload[[]2] - EXECUTION_VALIDATION_FAILED: 2*",
        ]
    )


def test_a_file_that_is_not_there(pytester: pytest.Pytester, run_plain: Run) -> None:
    """A marker that names no file fails with the path that was looked at."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.claw_payload("missing.json")
        def test_it(): pass
        """
    )

    result = run_plain("--claw-validate")

    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(
        [
            f"FILE_UNAVAILABLE: the payload file {pytester.path}/missing.json cannot be read: *",
            "*hint: The path of a claw_payload marker starts from the folder of the test file.",
        ]
    )


def test_the_ini_twin_validates_payloads(
    suite: Path, run_plain: Run, pytester: pytest.Pytester
) -> None:
    """The ini twin asks for it, too; without payloads nothing is collected."""
    pytester.makeini("[pytest]\nclaw_validate = true\n")
    (suite / "payloads" / "good.json").unlink()

    result = run_plain("-k", "without")

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize("options", [[], ["-q"]], ids=["plain", "quiet"])
def test_nothing_to_judge(pytester: pytest.Pytester, run_plain: Run, options: list[str]) -> None:
    """Where no payload is found, that is said, and where it was looked for."""
    pytester.makepyfile("def test_it(): pass")
    write(pytester.path / "flows" / "other.json", GOOD)

    result = run_plain("--claw-validate", *options)

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(
        [
            f"--claw-validate: no payload was found in {pytester.path}: no test there has a"
            " claw_payload marker, and no file is called *.claw.json or is a .json in a folder"
            " called payloads"
        ]
    )


def test_files_are_no_tests_otherwise(suite: Path, run_plain: Run) -> None:
    """Without the option payload files are left alone."""
    write(suite / "payloads" / "bad.json", BAD)

    result = run_plain("--collect-only", "-q")

    result.stdout.no_fnmatch_line("*json*")


def test_workers_share_the_payloads_without_devices(suite: Path, run_workers: Run) -> None:
    """Workers share the payloads, and need no devices for it."""
    write(suite / "payloads" / "bad.json", BAD)

    result = run_workers("--claw-validate", "-n", "2", "--claw-device", "auto")

    result.assert_outcomes(passed=3, failed=1)
    result.stdout.no_fnmatch_line("clawperator: *")
