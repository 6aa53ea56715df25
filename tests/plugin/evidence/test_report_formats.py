"""Allure has the evidence on the test itself."""

from __future__ import annotations

import json

import pytest

from tests.plugin.conftest import Run

pytest.importorskip("allure_pytest")

ALLURE = ("-p", "allure_pytest", "--alluredir=allure")


def test_files_and_evidence_are_attached_in_allure(pytester: pytest.Pytester, run: Run) -> None:
    """Files of the test and evidence of its failures are attachments of the test."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def bad_end(clawperator):
            yield
            raise ValueError

        def test_it(clawperator, clawperator_artifacts, bad_end):
            clawperator_artifacts.attach("note.txt", b"look")
            assert 0
        """
    )

    run(*ALLURE, "--claw-logcat=off")

    (path,) = (pytester.path / "allure").glob("*-result.json")
    attached = {one["name"]: one for one in json.loads(path.read_bytes())["attachments"]}
    assert list(attached) == [
        "note.txt",
        "screenshot.png",
        "snapshot.xml",
        "teardown-screenshot.png",
        "teardown-snapshot.xml",
        "trace.html",
    ]
    picture = attached["screenshot.png"]
    assert picture["type"] == "image/png"
    assert (pytester.path / "allure" / picture["source"]).read_bytes().startswith(b"\x89PNG")


def test_a_broken_device(pytester: pytest.Pytester, run: Run) -> None:
    """A test whose device failed is broken there, and one whose app is wrong has failed."""
    pytester.makepyfile(
        """
        import pytest

        def test_app(clawperator):
            clawperator.wait_for_node(text="Nowhere", timeout=0)

        def test_device(clawperator):
            clawperator.device.shell("sim fault operator_crash times=1")
            clawperator.home()

        @pytest.mark.xfail
        def test_known(clawperator):
            clawperator.device.shell("sim fault operator_crash times=1")
            clawperator.home()
        """
    )

    run(*ALLURE, "--claw-snapshot=off", "--claw-screenshot=off", "--claw-logcat=off")

    paths = (pytester.path / "allure").glob("*-result.json")
    results = [json.loads(path.read_bytes()) for path in paths]
    statuses = {one["name"]: one["status"] for one in results}
    assert statuses == {"test_app": "failed", "test_device": "broken", "test_known": "broken"}
