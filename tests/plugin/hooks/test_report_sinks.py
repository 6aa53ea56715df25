"""``pytest_clawperator_report_sinks``: reports of other formats, told what happens in a test."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

QUICK = ("--claw-snapshot=off", "--claw-logcat=off")
CONFTEST = """
    from pathlib import Path

    from pytest_clawperator import ReportSink

    class Diary(ReportSink):
        def write(self, event):
            self.note(event.kind, getattr(event, "title", ""))

        def attach(self, attachment):
            self.note("file", attachment.kind, attachment.name)

        def complete(self, report):
            self.note("phase", report.when)

        def note(self, *words):
            with Path("diary.txt").open("a") as file:
                print(*words, file=file)

    def pytest_clawperator_report_sinks(config):
        return [Diary()]
"""


@pytest.mark.parametrize("trace", ["off", "retain-on-failure"])
def test_a_sink_hears_all_that_happens(pytester: pytest.Pytester, run: Run, trace: str) -> None:
    """Events come as they happen, whether traces are kept or not; files and phases, too."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(
        """
        def test_it(clawperator):
            with clawperator.step("go home"):
                clawperator.home()
            assert 0
        """
    )

    run(*QUICK, f"--claw-trace={trace}")

    told = (pytester.path / "diary.txt").read_text().splitlines()
    wanted = [
        "trace ",
        "device ",
        "phase setup",
        "step go home",
        "execution press_key 'home'",
        "execution-end ",
        "step-end ",
        "error ",
        "file screenshot screenshot.png",
        "phase call",
        "outcome ",
        "phase teardown",
    ]
    assert sorted(set(wanted) - set(told)) == []
    assert told[0] == "trace "
    assert told[-1] == "phase teardown"


def test_a_sink_sees_no_secret(pytester: pytest.Pytester, run: Run) -> None:
    """What is typed as a secret is hidden before a sink is told."""
    pytester.makeconftest(CONFTEST.replace('getattr(event, "title", "")', "event"))
    pytester.makepyfile(
        """
        def test_types(clawperator):
            clawperator.open_app("com.android.settings")
            clawperator.click(desc="Search settings")
            clawperator.enter_text("swordfish-42", role="textfield", secret=True)
        """
    )

    result = run(*QUICK)

    result.assert_outcomes(passed=1)
    told = (pytester.path / "diary.txt").read_text()
    assert "enter_text" in told
    assert "swordfish" not in told


def test_a_sink_that_fails_fails_no_test(pytester: pytest.Pytester, run: Run) -> None:
    """It is told in a line, and others go on."""
    pytester.makeconftest(
        """
        class Broken:
            def write(self, event): raise ValueError("full disk")
            attach = complete = write

        def pytest_clawperator_report_sinks(config):
            return [Broken()]
        """
    )
    pytester.makepyfile("def test_it(clawperator): clawperator.home()")

    result = run(*QUICK, "--junitxml=junit.xml")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*the report sink Broken failed: ValueError('full disk')*"])
    assert "clawperator_model" in (pytester.path / "junit.xml").read_text()


@pytest.mark.parametrize("result", ["5", "[object()]", "{}"])
def test_a_wrong_result_names_the_hook(pytester: pytest.Pytester, run: Run, result: str) -> None:
    """Every test that uses a device fails with the error that says what is wanted."""
    pytester.makeconftest(f"def pytest_clawperator_report_sinks(config): return {result}")
    pytester.makepyfile("def test_it(clawperator): clawperator.home()")

    ran = run(*QUICK)

    ran.assert_outcomes(errors=1)
    ran.stdout.fnmatch_lines(
        ["*the hook pytest_clawperator_report_sinks returned *, wanted is a list of objects with*"]
    )
