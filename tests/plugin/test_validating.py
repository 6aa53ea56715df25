"""``--claw-validate``: the payloads of a suite are validated, and no device is used."""

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
        test_it="""
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
    """Write a payload file."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(payload), encoding="utf-8")


def test_valid_payloads_are_the_tests_of_the_run(suite: Path, run_plain: Run) -> None:
    """Those of markers and files; without the option payload files are left alone."""
    write(suite / "flows" / "login.claw.json", GOOD)
    write(suite / "flows" / "other.json", BAD)

    result = run_plain("-v", "--claw-validate")
    otherwise = run_plain("--collect-only", "-q")

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
    otherwise.stdout.no_fnmatch_line("*json*")


def test_an_invalid_payload_fails_with_what_is_wrong(
    suite: Path, pytester: pytest.Pytester, run_plain: Run
) -> None:
    """In files and markers, without code, and named once in the summary."""
    write(suite / "payloads" / "bad.json", BAD)
    (suite / "payloads" / "broken.json").write_text('{"actions": [', encoding="utf-8")
    pytester.makepyfile(
        test_marked="""
        import pytest

        @pytest.mark.claw_payload("missing.json")
        @pytest.mark.claw_payload({"nonsense": 1})
        @pytest.mark.claw_payload([{"type": "snapshot_ui"}])
        def test_it(): pass
        """
    )

    result = run_plain("-rf", "--claw-validate")

    result.assert_outcomes(passed=4, failed=4, deselected=3)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines_random(
        [
            "_* payloads/bad.json: payload _*",
            "EXECUTION_VALIDATION_FAILED: All action types must be supported (at actions)",
            "*did you mean `click`?",
            "_* payloads/broken.json: payload _*",
            "EXECUTION_VALIDATION_FAILED: *JSON*",
            "_* test_marked.py::test_it: claw_payload[[]2] _*",
            f"FILE_UNAVAILABLE: the payload file {suite}/missing.json cannot be read: *",
            "*hint: The path of a claw_payload marker starts from the folder of the test file.",
            "FAILED payloads/bad.json::payload - EXECUTION_VALIDATION_FAILED: All action types*",
            "FAILED test_marked.py::test_it::claw_payload[[]2] - EXECUTION_VALIDATION_FAILED: 2*",
        ]
    )
    assert "def runtest" not in result.stdout.str()


@pytest.mark.parametrize("options", [[], ["-q"]], ids=["plain", "quiet"])
def test_a_run_without_payloads_says_where_it_looked(
    pytester: pytest.Pytester, run_plain: Run, options: list[str]
) -> None:
    """By the ini twin, too."""
    pytester.makepyfile("def test_it(): pass")
    pytester.makeini("[pytest]\nclaw_validate = true\n")
    write(pytester.path / "flows" / "other.json", GOOD)

    result = run_plain(*options)

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(
        [
            "--claw-validate: no payload was found: looked for claw_payload markers in"
            f" {pytester.path}, and in {pytester.path} for *.claw.json files and .json files in"
            " folders called payloads"
        ]
    )


@pytest.mark.parametrize("places", [(), ("tests",)], ids=["testpaths", "named"])
def test_payload_files_are_looked_for_below_the_rootdir(
    suite: Path, pytester: pytest.Pytester, run_plain: Run, places: tuple[str, ...]
) -> None:
    """Unless places are named; the run says where it looked."""
    pytester.makeini("[pytest]\ntestpaths = tests\n")
    pytester.mkdir("tests")
    write(suite / "tests" / "in.claw.json", GOOD)
    write(suite / "flows" / "beside.claw.json", BAD)
    write(suite / ".cache" / "hidden.claw.json", BAD)

    result = run_plain("--claw-validate", *places)

    result.assert_outcomes(**({"passed": 1} if places else {"passed": 2, "failed": 1}))
    below = "tests" if places else f"everything below {suite}"
    result.stdout.fnmatch_lines(
        [
            f"--claw-validate: looked for claw_payload markers in tests, and in {below} for"
            " *.claw.json files and .json files in folders called payloads"
        ]
    )


def test_workers_share_the_payloads_without_devices(suite: Path, run_workers: Run) -> None:
    """Each is validated once."""
    write(suite / "payloads" / "bad.json", BAD)

    result = run_workers("--claw-validate", "-n", "2", "--claw-device", "auto")

    result.assert_outcomes(passed=3, failed=1)
    result.stdout.no_fnmatch_line("clawperator: *")
