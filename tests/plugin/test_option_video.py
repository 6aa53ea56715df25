"""``--claw-video``: recorded while a test runs, kept as asked, and refused out loud."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

TESTS = """
def test_passes(clawperator): pass
def test_fails(clawperator): assert 0
"""
# Simulated phones record no video, so a recorder of the suite's own stands in.
RECORDER = """
import pytest
from pytest_clawperator.plugin import recorder

class Video:
    def __init__(self, transport, *, on_problem):
        self.state = "recording"

    def stop(self):
        return [b"one", b"two"]

    def drop(self):
        print("dropped")

@pytest.fixture(scope="session", autouse=True)
def recorded():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recorder, "Video", Video)
        yield
"""
QUICK = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")


def kept(pytester: pytest.Pytester) -> list[str]:
    """Give the videos, each after its test."""
    paths = sorted((pytester.path / "claw-results").glob("*/*/video*"))
    return [f"{path.parent.name.split('-')[1]}/{path.name}" for path in paths]


def test_on_failure(pytester: pytest.Pytester, run: Run) -> None:
    """The video of a test that failed is kept, in its segments; another one is dropped."""
    pytester.makepyfile(TESTS)
    pytester.makeconftest(RECORDER)

    result = run("--claw-video=only-on-failure", "-s", *QUICK)

    result.assert_outcomes(passed=1, failed=1)
    assert kept(pytester) == ["test_fails/video-1.mp4", "test_fails/video-2.mp4"]
    result.stdout.fnmatch_lines(
        ["*dropped*", "*- clawperator: evidence (teardown) -*", "video: *video-1.mp4"]
    )


def test_always(pytester: pytest.Pytester, run: Run) -> None:
    """``on`` keeps it of every test."""
    pytester.makepyfile(TESTS)
    pytester.makeconftest(RECORDER)

    run("--claw-video=on", *QUICK)

    assert {name.partition("/")[0] for name in kept(pytester)} == {"test_passes", "test_fails"}


def test_a_device_without_video(pytester: pytest.Pytester, run: Run) -> None:
    """A device that records none is named once, and the tests go on without."""
    pytester.makepyfile(
        """
        import threading

        def recorders():
            return [one for one in threading.enumerate() if one.name.startswith("video")]

        def test_first(clawperator):
            for thread in recorders():
                thread.join(10)

        def test_second(clawperator):
            assert recorders() == []
        """
    )

    result = run("--claw-video=on", *QUICK)

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["*= devices =*", "[[]*[]] no video: screenrecord ended with 1; it said: ERROR: *"]
    )
    assert kept(pytester) == []
