"""``--claw-video``: recorded while a test runs, kept as asked, and refused out loud."""

from __future__ import annotations

import pytest

from pytest_clawperator.transport.adb import AdbTransport
from tests.doubles.simulator.films import shown
from tests.plugin.conftest import Run

TESTS = """
from pytest_clawperator import expect

def test_passes(clawperator): pass
def test_fails(clawperator, clawperator_transport):
    assert clawperator_transport.shell("until pidof screenrecord; do sleep 0.05; done").ok
    clawperator.open_app("com.android.settings")
    expect(clawperator.node(text="Connections")).to_be_visible()
    assert 0
"""

QUICK = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")

LEFT = "ls /data/local/tmp | grep clawperator; pidof screenrecord"


def kept(pytester: pytest.Pytester) -> dict[str, int]:
    """Return the videos, by their tests, and how many pictures are in each."""
    paths = sorted((pytester.path / "claw-results").glob("*/*/video*"))
    return {
        f"{path.parent.name.split('-')[1]}/{path.name}": len(shown(path.read_bytes()).frames)
        for path in paths
    }


def test_on_keeps_a_video_of_every_test(pytester: pytest.Pytester, run_plain: Run) -> None:
    """``on`` keeps a video of every test, whole and in its folder."""
    pytester.makepyfile(TESTS)

    result = run_plain("--claw-device=sim", "--claw-video=on", *QUICK)

    result.assert_outcomes(passed=1, failed=1)
    assert list(kept(pytester)) == ["test_fails/video.mp4", "test_passes/video.mp4"]
    result.stdout.no_fnmatch_line("*no video*")


def test_only_the_video_of_a_failed_test_is_kept(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport
) -> None:
    """The video of a test that failed is kept; another one is dropped, on the phone too."""
    pytester.makepyfile(TESTS)

    result = run("--claw-video=only-on-failure", *QUICK)

    assert list(kept(pytester)) == ["test_fails/video.mp4"]
    result.stdout.fnmatch_lines(["*- clawperator: evidence -*", "*test_fails*", "  video.mp4"])
    assert phone.shell(LEFT).stdout == ""


def test_at_the_failure(pytester: pytest.Pytester, run: Run, phone: AdbTransport) -> None:
    """The debugger finds the video there; what follows is not recorded."""
    pytester.makepyfile(
        quick_pdb="""
        import pdb
        from pathlib import Path

        class Quick(pdb.Pdb):
            def interaction(self, *_):
                found = Path().glob("claw-results/*/test_it-*/*")
                print("found", [path.name for path in found])
        """,
        test_it=TESTS,
    )
    pytester.syspathinsert()

    result = run("--pdb", "--pdbcls=quick_pdb:Quick", "--claw-video=on", "-k=fails", *QUICK)

    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["found [[]'video.mp4'[]]"])
    assert list(kept(pytester)) == ["test_fails/video.mp4"]
    assert phone.shell(LEFT).stdout == ""


def test_a_long_test(pytester: pytest.Pytester, run: Run, phone: AdbTransport) -> None:
    """A test that lasts longer than a recording can has its video in parts."""
    pytester.makeconftest(
        """
        from functools import partial

        import pytest
        from pytest_clawperator.plugin import video as attempt_videos

        @pytest.fixture(scope="session", autouse=True)
        def short_segments():
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(attempt_videos, "Video", partial(attempt_videos.Video, segment=1))
                yield
        """
    )
    pytester.makepyfile(
        """
        def test_long(clawperator, clawperator_transport):
            second = "/data/local/tmp/clawperator-*-2.mp4"
            wait = f"until ls {second}; do sleep 0.05; done"
            assert clawperator_transport.shell(wait, timeout=30).ok
        """
    )

    result = run("--claw-video=on", *QUICK)

    result.assert_outcomes(passed=1)
    assert list(kept(pytester)) == ["test_long/video-1.mp4", "test_long/video-2.mp4"]
    assert phone.shell(LEFT).stdout == ""


def test_a_device_without_video(pytester: pytest.Pytester, run: Run) -> None:
    """A device that has no screenrecord is named once, and the tests go on without."""
    pytester.makeconftest(
        """
        import pytest
        from pytest_clawperator.transport.adb import AdbTransport

        @pytest.fixture(scope="session", autouse=True)
        def no_screenrecord():
            shell = AdbTransport.shell

            def other(self, command, **options):
                return shell(self, command.replace("screenrecord", "norecord"), **options)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(AdbTransport, "shell", other)
                yield
        """
    )
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
    said = "no video: screenrecord ended with 127; it printed: *norecord: inaccessible or not found"
    result.stdout.fnmatch_lines([f"clawperator: *{said}", "*= devices =*", f"[[]*[]] {said}"])
    assert str(result.stdout).count("no video: ") == 2
    assert kept(pytester) == {}


def test_an_interrupted_run_leaves_no_recording_on_the_phone(
    pytester: pytest.Pytester, phone: AdbTransport, adb: str
) -> None:
    """After Ctrl-C."""
    pytester.makepyfile(
        """
        def test_it(clawperator, clawperator_transport):
            wait = "until pidof screenrecord; do sleep 0.05; done"
            assert clawperator_transport.shell(wait).ok
            raise KeyboardInterrupt
        """
    )
    options = ("--claw-device", phone.serial, "--claw-adb", adb, "--claw-video=on")

    result = pytester.runpytest_inprocess(*options, no_reraise_ctrlc=True)

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert phone.shell(LEFT).stdout == ""
    assert kept(pytester) == {}


def test_the_recording_of_a_killed_run_ends(
    pytester: pytest.Pytester, phone: AdbTransport, adb: str
) -> None:
    """Even the recording of a run that was killed ends, as its connection does."""
    pytester.makepyfile(
        """
        import os
        import signal

        def test_it(clawperator, clawperator_transport):
            wait = "until pidof screenrecord; do sleep 0.05; done"
            assert clawperator_transport.shell(wait).ok
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )

    device = ["--claw-device", phone.serial, "--claw-adb", adb]

    result = pytester.runpytest_subprocess(*device, "--claw-video=on", timeout=60)

    assert result.ret == -9
    gone = "while pidof screenrecord; do sleep 0.05; done; rm /data/local/tmp/clawperator-*"
    assert phone.shell(gone, timeout=30).ok
