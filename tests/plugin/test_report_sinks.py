"""Allure, pytest-html and JUnit XML show what happened in a test, on which device, with files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.report.allure import write_run_files
from pytest_clawperator.simulator import Simulator
from tests.acceptance.other_plugins import BESIDE
from tests.plugin.conftest import QUICK, Run

pytest.importorskip("allure_pytest")

ALLURE = ("-p", "allure_pytest", "--alluredir=allure")


def results(pytester: pytest.Pytester) -> list[Any]:
    """Read Allure's results into its own models."""
    from allure_commons.model2 import TestResult

    paths = pytester.path.glob("allure/*-result.json")
    return [TestResult(**json.loads(path.read_bytes())) for path in paths]


def containers(pytester: pytest.Pytester) -> dict[str, Any]:
    """Read Allure's fixtures into its own models, each by its name."""
    from allure_commons.model2 import TestResultContainer

    paths = pytester.path.glob("allure/*-container.json")
    found = [TestResultContainer(**json.loads(path.read_bytes())) for path in paths]
    return {before["name"]: one for one in found for before in one.befores}


def outline(steps: list[dict[str, Any]], depth: int = 0) -> list[str]:
    """Return the names of steps with their statuses, indented as they are nested."""
    lines = []
    for step in steps:
        lines.append(f"{'  ' * depth}{step['name']}: {step['status']}")
        assert step["start"] <= step["stop"]
        lines += outline(step.get("steps", []), depth + 1)
    return lines


def test_allure_has_the_steps(pytester: pytest.Pytester, run: Run) -> None:
    """Executions are steps with parameters, in those of the test, in expectations and fixtures."""
    run(
        *(*ALLURE, *QUICK),
        suite="""
        import pytest
        from pytest_clawperator import expect

        @pytest.fixture
        def settings(clawperator):
            clawperator.open_app("com.android.settings")
            yield clawperator
            clawperator.home()

        def test_steps(settings):
            with settings.step("Connections"):
                settings.click(text="Connections")
                expect(settings.node(text="Wi-Fi")).to_be_visible()
            expect(settings.node(text="nowhere")).to_be_visible(timeout=0)
        """,
    )

    (result,) = results(pytester)
    assert outline(result.steps) == [
        "Connections: passed",
        "  click text='Connections': passed",
        "  expect node(text='Wi-Fi') to be visible: passed",
        "    snapshot_ui: passed",
        "expect node(text='nowhere') to be visible: failed",
        "  snapshot_ui: passed",
    ]
    click = result.steps[0]["steps"][0]
    parameters = {one["name"]: one["value"] for one in click["parameters"]}
    assert '"textEquals": "Connections"' in parameters["3. click"]
    assert parameters["line"] == "test_it.py:12"
    assert result.steps[1]["statusDetails"]["message"].startswith("EXPECTATION_FAILED: expected")
    fixtures = containers(pytester)
    settings = fixtures["settings"]
    assert outline(settings.befores[0]["steps"]) == ["open_app 'com.android.settings': passed"]
    assert [one["name"] for one in settings.afters] == ["settings"]
    assert [step["name"] for step in settings.afters[0]["steps"]] == ["press_key 'home'"]
    assert [one["name"] for one in fixtures["clawperator"].afters] == ["clawperator"]


def test_allure_has_files_and_evidence(pytester: pytest.Pytester, run: Run) -> None:
    """Files of the test and evidence of its failures are attachments of the test."""
    run(
        *(*ALLURE, "--claw-logcat=off"),
        suite="""
        import pytest

        @pytest.fixture
        def bad_end(clawperator):
            yield
            raise ValueError

        def test_it(clawperator, clawperator_artifacts, bad_end):
            clawperator_artifacts.attach("note.txt", b"look")
            assert 0
        """,
    )

    (result,) = results(pytester)
    attached = {one["name"]: one for one in result.attachments}
    assert list(attached) == [
        "note.txt",
        *("screenshot.png", "snapshot.xml"),
        *("teardown-screenshot.png", "teardown-snapshot.xml"),
        "trace.html",
    ]
    picture = attached["screenshot.png"]
    assert picture["type"] == "image/png"
    assert (pytester.path / "allure" / picture["source"]).read_bytes().startswith(b"\x89PNG")


def test_allure_has_the_device_as_a_lane(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """The device is label, parameter and lane of each attempt; the history ignores it."""
    reruns = ("-p", "pytest_rerunfailures", "--reruns=1")
    histories = set()
    for serial in simulator.serials:
        device = (f"--claw-device={serial}", f"--claw-adb={adb}", "--clean-alluredir")
        suite = "def test_it(clawperator): assert clawperator.home() is None"

        run_plain(*ALLURE, *reruns, *QUICK, *device, suite=suite)

        attempts = results(pytester)
        assert len(attempts) == 2
        for attempt in attempts:
            labels = [one["value"] for one in attempt.labels if one["name"] in ("device", "thread")]
            assert labels == [serial, serial]
            assert attempt.parameters == [
                {"name": "device", "value": f"'{serial}'", "excluded": True}
            ]
            histories.add(attempt.historyId)
        environment = (pytester.path / "allure" / "environment.properties").read_text("ascii")
        escaped = serial.replace(":", "\\:")
        assert f"device.{escaped}=model\\ " in environment
    assert len(histories) == 1


def test_allure_sorts_failures_by_their_messages(tmp_path: Path) -> None:
    """The first category whose expression matches the whole message has the failure."""
    cases = {
        "ExpectationError: [1] X: \n'Shop has stopped' is on the screen": "Crashes of the app",
        "pkg.NoDeviceError: NO_DEVICES: none\n": "Infrastructure: device, adb or Operator",
        "DispatchError: [1] EXECUTION_TIMED_OUT: too long\nhint": "Timeouts",
        "KeyError: 'x'": "Broken tests",
    }
    write_run_files(tmp_path, {})
    categories = json.loads((tmp_path / "categories.json").read_bytes())
    broken = [one for one in categories if "broken" in one["matchedStatuses"]]

    for message, category in cases.items():
        found = [
            one["name"]
            for one in broken
            if re.fullmatch(one.get("messageRegex", "(?s).*"), message)
        ]
        assert found[0] == category, message


def test_allure_files_that_exist_are_kept(pytester: pytest.Pytester, run: Run) -> None:
    """Own categories stay as they are, and own lines of the environment, too."""
    suite = "def test_it(clawperator): clawperator.home()"
    folder = pytester.mkdir("allure")
    (folder / "environment.properties").write_text("branch=main\npytest=old\n")

    run(*ALLURE, *QUICK, suite=suite)
    categories = json.loads((folder / "categories.json").read_bytes())
    (folder / "categories.json").write_text("[]")
    run(*ALLURE, *QUICK)

    assert {"Product defects", "Timeouts"} < {one["name"] for one in categories}
    assert (folder / "categories.json").read_text() == "[]"
    lines = (folder / "environment.properties").read_text().splitlines()
    assert lines[0] == "branch=main"
    assert f"pytest={pytest.__version__}" in lines
    assert "pytest=old" not in lines


def test_allure_shows_how_a_screen_differs(pytester: pytest.Pytester, run: Run) -> None:
    """Golden, screen and difference are one attachment of Allure's own type."""
    pytest.importorskip("pixelmatch")
    suite = """
        from pytest_clawperator import expect

        def test_it(clawperator):
            clawperator.home()
            expect(clawperator).to_match_screenshot("home", timeout=0)
    """
    run(*QUICK, "--claw-update-goldens", suite=suite)
    (golden,) = pytester.path.glob("__screens__/*.png")
    from PIL import Image

    with Image.open(golden) as picture:
        picture.paste("red", (0, 600, 40, 640))
        picture.save(golden)

    run(*ALLURE, *QUICK)

    (result,) = results(pytester)
    (difference,) = [
        one for one in result.attachments if one["type"] == "application/vnd.allure.image.diff"
    ]
    body = json.loads((pytester.path / "allure" / difference["source"]).read_bytes())
    assert set(body) == {"expected", "actual", "diff"}
    assert len({*body.values()}) == 3
    assert body["diff"].startswith("data:image/png;base64,")


@pytest.mark.parametrize("is_whole", [False, True])
def test_html_has_the_picture_and_links(
    pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch, is_whole: bool
) -> None:
    """The row of a test has its picture, and links to the trace and the other files."""
    if not (BESIDE / "pytest_html").is_dir():
        pytest.skip("pytest-html is not installed beside this environment")
    monkeypatch.syspath_prepend(str(BESIDE))
    plugins = ["-ppytest_metadata.plugin", "-ppytest_html.plugin", "--html=out/report.html"]
    whole = ["--self-contained-html"] if is_whole else []

    run(*plugins, *whole, suite="def test_it(clawperator): clawperator.home(); assert 0")

    page = (pytester.path / "out" / "report.html").read_text("utf-8")
    found = re.search(r'data-jsonblob="([^"]*)"', page)
    assert found is not None
    blob = json.loads(found[1].replace("&#34;", '"').replace("&amp;", "&"))
    ((test,),) = blob["tests"].values()
    extras = {(one["format_type"], one["name"]): one["content"] for one in test["extras"]}
    assert (pytester.path / "out" / extras["url", "trace.html"]).is_file()
    picture = extras["image", "screenshot.png"]
    if is_whole:
        assert picture.startswith("data:image/webp;base64,")
    else:
        assert Path(pytester.path / "out" / picture).read_bytes().startswith(b"\x89PNG")
