"""``--claw-screenshot``, ``--claw-snapshot`` and ``--claw-logcat``: when each is kept."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

FILES = {"screenshot": "screenshot.png", "snapshot": "snapshot.xml", "logcat": "log.txt"}
TESTS = """
def test_passes(clawperator):
    clawperator.home()

def test_fails(clawperator):
    clawperator.home()
    assert 0
"""


def kept(pytester: pytest.Pytester, name: str) -> set[str]:
    """Give the tests that have a file of this name."""
    paths = (pytester.path / "claw-results").glob(f"*/*/{name}")
    return {path.parent.name.split("-")[1] for path in paths}


def test_usually_on_failure(pytester: pytest.Pytester, run: Run) -> None:
    """Without options each is kept of tests that fail."""
    pytester.makepyfile(TESTS)

    run()

    assert [kept(pytester, name) for name in FILES.values()] == [{"test_fails"}] * 3


@pytest.mark.parametrize("option", FILES)
def test_on_keeps_a_screenshot_of_every_test(
    pytester: pytest.Pytester, run: Run, option: str
) -> None:
    """``on`` keeps it of every test, as it was at its end; the others are as they are."""
    pytester.makepyfile(TESTS)
    others = {name: file for name, file in FILES.items() if name != option}

    result = run(f"--claw-{option}=on", *(f"--claw-{name}=off" for name in others))

    result.assert_outcomes(passed=1, failed=1)
    assert kept(pytester, FILES[option]) == {"test_passes", "test_fails"}
    assert [kept(pytester, file) for file in others.values()] == [set(), set()]


def test_with_everything_off_there_is_no_folder(pytester: pytest.Pytester, run: Run) -> None:
    """With everything off there is no folder at all; the ini twins are heard."""
    pytester.makepyfile(TESTS)
    pytester.makeini("[pytest]\n" + "".join(f"claw_{name} = off\n" for name in (*FILES, "trace")))

    result = run()

    result.assert_outcomes(passed=1, failed=1)
    assert not (pytester.path / "claw-results").exists()
