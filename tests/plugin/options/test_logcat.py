"""``--claw-logcat``: when the log is kept, and whether with the hierarchies in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.conftest import Run

ONLY_LOG = ("--claw-screenshot=off", "--claw-snapshot=off")
SUITE = """
def test_fails(clawperator):
    clawperator.snapshot()
    clawperator.snapshot()
    clawperator.press_key("back")
    raise AssertionError

def test_passes(clawperator):
    clawperator.snapshot()
"""


def logs(pytester: pytest.Pytester) -> dict[str, str]:
    """Return the logs by the tests that left them."""
    paths = pytester.path.glob("claw-results/*/*/log.txt")
    return {_test_of(path): path.read_text(encoding="utf-8") for path in paths}


def _test_of(path: Path) -> str:
    return "test_fails" if "test_fails" in path.parent.name else "test_passes"


def test_a_line_stands_for_each_hierarchy(pytester: pytest.Pytester, run: Run) -> None:
    """The log has no hierarchies, but a line for each; the last one is in another file."""
    pytester.makepyfile(test_it=SUITE)

    result = run(*ONLY_LOG)

    result.assert_outcomes(failed=1, passed=1)
    (log,) = logs(pytester).values()
    assert "<node" not in log
    assert "<hierarchy" not in log
    told = [line for line in log.splitlines() if "UI Hierarchy:" in line]
    assert len(told) == 2
    assert told[0].endswith("lines; it is left out")
    assert told[1].endswith("lines; it is in envelopes.json")
    (envelopes,) = pytester.path.glob("claw-results/*/*/envelopes.json")
    step, command = told[1].partition(" step ")[2].partition(",")[0].split(" of ")
    kept = envelopes.read_text(encoding="utf-8")
    assert f'"{command}"' in kept
    assert f'"{step}"' in kept
    assert "hierarchy rotation" in kept


@pytest.mark.parametrize("ini", [False, True])
def test_full_keeps_the_whole_log_of_a_failure(
    pytester: pytest.Pytester, run: Run, ini: bool
) -> None:
    """With ``full`` the log of a test that failed has all that the device logged."""
    pytester.makepyfile(test_it=SUITE)
    pytester.makeini(f"[pytest]\n{'claw_logcat = full' if ini else ''}\n")

    result = run(*ONLY_LOG, *([] if ini else ["--claw-logcat=full"]))

    result.assert_outcomes(failed=1, passed=1)
    assert list(logs(pytester)) == ["test_fails"]
    assert logs(pytester)["test_fails"].count("</hierarchy>") == 2
    assert "left out" not in logs(pytester)["test_fails"]


def test_on_keeps_the_log_of_every_test(pytester: pytest.Pytester, run: Run) -> None:
    """With ``on`` there is a log of each test, with ``off`` of none."""
    pytester.makepyfile(test_it=SUITE)

    run(*ONLY_LOG, "--claw-logcat=off")
    assert logs(pytester) == {}
    run(*ONLY_LOG, "--claw-logcat=on")

    assert sorted(logs(pytester)) == ["test_fails", "test_passes"]
    assert "<node" not in "".join(logs(pytester).values())
