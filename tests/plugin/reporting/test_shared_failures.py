"""A failure that tests share because the run is to blame is told once."""

from __future__ import annotations

import pytest

from tests.doubles.adb_server import FakeAdb, block
from tests.plugin.conftest import Run

SUITE = """
import pytest

@pytest.mark.parametrize("number", range(37))
def test_phone(clawperator, number):
    pass

def test_plain():
    pass
"""
# What an adb server without devices answers.
NO_DEVICES = {"host:version": block("0029"), "host:devices": block("")}


def test_without_a_device_there_is_one_error(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Tests that have no device share one error, and those that need none run."""
    pytester.makepyfile(test_it=SUITE)

    with FakeAdb(NO_DEVICES) as server:
        result = run_plain(f"--claw-adb={server.server}", "--junit-xml=junit.xml", "-rE")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at setup of test_phone[[]0[]]*",
            "*= same error =*",
            "test_it.py::test_phone[[]0[]] and 36 more: NO_DEVICES: no device is connected",
            "ERROR test_it.py::test_phone[[]0[]] - infrastructure: NO_DEVICES: *",
            "*1 passed, 1 error, 36 same error in *",
        ]
    )
    assert result.stdout.str().count("ERROR at setup") == 1
    assert len(result.outlines) < 40
    junit = (pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert junit.count("<error ") == 37


def test_workers_without_devices_share_one_error(
    pytester: pytest.Pytester, run_workers: Run
) -> None:
    """With workers it is one error, too, whichever of them had it first."""
    pytester.makepyfile(test_it=SUITE)

    with FakeAdb(NO_DEVICES) as server:
        result = run_workers("-n", "2", f"--claw-adb={server.server}")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["* and 36 more: *", "*1 passed, 1 error, 36 same error in *"])
    assert result.stdout.str().count("ERROR at setup") == 1


def test_errors_of_different_causes_are_told_each(pytester: pytest.Pytester, run: Run) -> None:
    """Errors of different causes are told each, and so are those of the tests themselves."""
    pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.claw_device(api=1)
        class TestOld:
            def test_a(self, clawperator): pass
            def test_b(self, clawperator): pass

        @pytest.mark.claw_device(form="tablet")
        class TestBig:
            def test_a(self, clawperator): pass
            def test_b(self, clawperator): pass

        @pytest.fixture
        def broken(clawperator): raise ValueError("mine")

        def test_c(broken): pass
        def test_d(broken): pass
        """
    )

    result = run("--claw-strict")

    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(
        [
            "*::TestOld::test_a and 1 more: claw_device: api=1 is required, *",
            "*::TestBig::test_a and 1 more: claw_device: form='tablet' is required, *",
            "*4 errors, 2 same error in *",
        ]
    )


def test_no_screen_is_kept_of_a_test_that_did_not_begin(
    pytester: pytest.Pytester, run: Run
) -> None:
    """The screen says nothing about a test whose device does not fit."""
    pytester.makepyfile(
        "import pytest\n\n@pytest.mark.claw_device(api=1)\ndef test_it(clawperator): pass\n"
    )

    result = run("--claw-strict")

    result.assert_outcomes(errors=1)
    assert not list(pytester.path.glob("claw-results/*/*/*.*"))
