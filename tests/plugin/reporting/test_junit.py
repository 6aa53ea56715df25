"""JUnit XML: trouble with devices is an error there, too."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.plugin.conftest import Run

QUICK = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")


def test_junit_counts_trouble_with_a_device_as_an_error(
    pytester: pytest.Pytester, run: Run
) -> None:
    """JUnit XML counts trouble with the device as an error too, whenever it came."""
    pytester.makepyfile(
        """
        def test_crash(clawperator):
            clawperator.device.shell("sim fault operator_crash times=1")
            clawperator.home()

        def test_fails(clawperator):
            raise AssertionError("the app is wrong")
        """
    )

    run("--junitxml=junit.xml", *QUICK)

    suite = ElementTree.parse(pytester.path / "junit.xml").getroot()[0]
    counts = [suite.get(name) for name in ("tests", "errors", "failures")]
    told = [(node.tag, node.get("message", "")) for case in suite for node in case]
    (crash_tag, crash), (fails_tag, fails) = (one for one in told if one[1])
    assert counts == ["2", "1", "1"]
    assert (crash_tag, fails_tag) == ("error", "failure")
    assert crash.startswith("infrastructure: OPERATOR_CRASHED: ")
    assert fails.startswith("AssertionError: the app is wrong")
