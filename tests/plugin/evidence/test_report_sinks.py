"""Allure, pytest-html and JUnit XML tell what happened in a test, on which device, with files."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.report.allure import write_run_files
from tests.acceptance.other_plugins import BESIDE
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


QUICK = ("--claw-snapshot=off", "--claw-screenshot=off", "--claw-logcat=off")
STEPS = """
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
"""


def results(pytester: pytest.Pytester) -> dict[str, Any]:
    """Read Allure's results into its own models, each after its test."""
    from allure_commons.model2 import TestResult

    found = [json.loads(path.read_bytes()) for path in pytester.path.glob("allure/*-result.json")]
    return {one["name"]: TestResult(**one) for one in found}


def containers(pytester: pytest.Pytester) -> dict[str, Any]:
    """Read Allure's fixtures into its own models, each after its name."""
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
    """Executions are steps with parameters, in those of the test and in expectations."""
    pytester.makepyfile(STEPS)

    run(*ALLURE, *QUICK)

    result = results(pytester)["test_steps"]
    assert outline(result.steps) == [
        "Connections: passed",
        "  click text='Connections': passed",
        "  expect node(text='Wi-Fi') to be visible: passed",
        "    snapshot_ui: passed",
        "expect node(text='nowhere') to be visible: failed",
        "  snapshot_ui: passed",
    ]
    click = result.steps[0]["steps"][0]
    told = {one["name"]: one["value"] for one in click["parameters"]}
    assert '"textEquals": "Connections"' in told["3. click"]
    assert re.fullmatch(r"test_\w+\.py:12", told["line"])
    assert result.steps[1]["statusDetails"]["message"].startswith("EXPECTATION_FAILED: expected")


def test_allure_has_fixtures_by_their_names(pytester: pytest.Pytester, run: Run) -> None:
    """The beginning and the end of a fixture have its name, and what it did."""
    pytester.makepyfile(STEPS)

    run(*ALLURE, *QUICK)

    found = containers(pytester)
    settings = found["settings"]
    assert outline(settings.befores[0]["steps"]) == ["open_app 'com.android.settings': passed"]
    assert [one["name"] for one in settings.afters] == ["settings"]
    assert [step["name"] for step in settings.afters[0]["steps"]] == ["press_key 'home'"]
    assert [one["name"] for one in found["clawperator"].afters] == ["clawperator"]


def test_allure_tells_tests_of_several_devices_apart_by_lanes_only(
    pytester: pytest.Pytester, run_workers: Run
) -> None:
    """The device is label, parameter and lane; the history of a test holds over devices."""
    pytester.makepyfile("def test_it(clawperator): clawperator.home()")
    runs = []
    for device in ("sim:phone", "sim:tablet"):
        options = ("-n1", "--claw-device", device, "--clean-alluredir", *QUICK)
        run_workers(*ALLURE, *options)
        runs.append(results(pytester)["test_it"])
        environment = (pytester.path / "allure" / "environment.properties").read_text("ascii")

    first, second = runs
    assert first.historyId == second.historyId
    serials = [{one["name"]: one["value"] for one in result.labels} for result in runs]
    assert serials[0]["device"] == serials[0]["thread"]
    assert serials[0]["device"] != serials[1]["device"]
    assert first.parameters == [
        {"name": "device", "value": f"'{serials[0]['device']}'", "excluded": True}
    ]
    escaped = serials[1]["device"].replace(":", "\\:")
    assert f"device.{escaped}=model\\ " in environment


def test_allure_has_the_device_of_each_attempt(pytester: pytest.Pytester, run: Run) -> None:
    """An attempt after another one has its device as label, parameter and lane, too."""
    pytester.makepyfile("def test_it(clawperator): assert clawperator.home() is None")

    run(*ALLURE, *QUICK, "-p", "pytest_rerunfailures", "--reruns=1")

    files = (pytester.path / "allure").glob("*-result.json")
    attempts = [json.loads(file.read_bytes()) for file in files]
    devices = [
        [one["value"] for one in attempt["labels"] if one["name"] in ("device", "thread")]
        for attempt in attempts
    ]
    assert [len({*found}) for found in devices] == [1, 1]
    assert [len(found) for found in devices] == [2, 2]
    assert [len(attempt["parameters"]) for attempt in attempts] == [1, 1]
    assert len({attempt["historyId"] for attempt in attempts}) == 1


@pytest.mark.parametrize(
    ("message", "category"),
    [
        ("ExpectationError: [1] X: \n'Shop has stopped' is on the screen", "Crashes of the app"),
        ("pkg.NoDeviceError: NO_DEVICES: none\n", "Infrastructure: device, adb or Operator"),
        ("DispatchError: [1] EXECUTION_TIMED_OUT: too long\nhint", "Timeouts"),
        ("KeyError: 'x'", "Broken tests"),
    ],
)
def test_allure_sorts_failures_by_their_messages(
    tmp_path: Path, message: str, category: str
) -> None:
    """The first category whose expression matches the whole message has the failure."""
    write_run_files(tmp_path, {})
    categories = json.loads((tmp_path / "categories.json").read_bytes())

    broken = [one for one in categories if "broken" in one["matchedStatuses"]]
    found = [
        one["name"] for one in broken if re.fullmatch(one.get("messageRegex", "(?s).*"), message)
    ]

    assert found[0] == category


def test_allure_has_categories_unless_there_are_some(pytester: pytest.Pytester, run: Run) -> None:
    """Failures are sorted by their causes; files that are there already are kept."""
    pytester.makepyfile("def test_it(clawperator): clawperator.home()")
    folder = pytester.mkdir("allure")
    (folder / "environment.properties").write_text("branch=main\npytest=old\n")

    run(*ALLURE, *QUICK)
    categories = json.loads((folder / "categories.json").read_bytes())
    (folder / "categories.json").write_text("[]")
    run(*ALLURE, *QUICK)

    assert {"Product defects", "Timeouts"} < {one["name"] for one in categories}
    for one in categories:
        re.compile(one.get("messageRegex", ""))
    assert (folder / "categories.json").read_text() == "[]"
    lines = (folder / "environment.properties").read_text().splitlines()
    assert lines[0] == "branch=main"
    assert f"pytest={pytest.__version__}" in lines
    assert "pytest=old" not in lines


def test_allure_shows_how_a_screen_differs(pytester: pytest.Pytester, run: Run) -> None:
    """Golden, screen and difference are one attachment of Allure's own type."""
    pytest.importorskip("pixelmatch")
    pytester.makepyfile(
        """
        from pytest_clawperator import expect

        def test_it(clawperator):
            clawperator.home()
            expect(clawperator).to_match_screenshot("home")
        """
    )
    run(*QUICK, "--claw-update-goldens")
    (golden,) = pytester.path.glob("__screens__/*.png")
    from PIL import Image

    with Image.open(golden) as picture:
        Image.new("RGB", picture.size, "red").save(golden)

    run(*ALLURE, *QUICK)

    attached = results(pytester)["test_it"].attachments
    (difference,) = [one for one in attached if one["type"] == "application/vnd.allure.image.diff"]
    body = json.loads((pytester.path / "allure" / difference["source"]).read_bytes())
    assert set(body) == {"expected", "actual", "diff"}
    assert len({*body.values()}) == 3
    assert body["diff"].startswith("data:image/png;base64,")


def test_junit_names_device_and_files(pytester: pytest.Pytester, run: Run) -> None:
    """Serial, model, API level and paths stand beside what the test recorded itself."""
    pytester.makepyfile(
        """
        def test_it(clawperator, record_property):
            record_property("ticket", "A-1")
            clawperator.home()
            assert 0
        """
    )

    run("--junitxml=junit.xml", "-ojunit_family=xunit1", "--claw-trace=off", "--claw-logcat=off")

    case = ET.parse(pytester.path / "junit.xml").getroot().find(".//testcase")
    assert case is not None
    told = [(one.get("name"), str(one.get("value"))) for one in case.iter("property")]
    names = [name for name, _ in told]
    assert len(set(names)) == len(names)
    assert {"ticket", "clawperator_device", "clawperator_screenshot"} < set(names)
    assert dict(told)["clawperator_api"] == "36"
    assert dict(told)["clawperator_model"]


@pytest.mark.parametrize("is_whole", [False, True])
def test_html_has_the_picture_and_links(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, is_whole: bool
) -> None:
    """The row of a test has its picture, and links to the trace and the other files."""
    if not (BESIDE / "pytest_html").is_dir():
        pytest.skip("pytest-html is not installed beside this environment")
    monkeypatch.setenv("PYTHONPATH", str(BESIDE))
    pytester.makepyfile("def test_it(clawperator): clawperator.home(); assert 0")
    plugins = ["-pxdist", "-ppytest_metadata.plugin", "-ppytest_html.plugin"]
    whole = ["--self-contained-html"] if is_whole else []
    options = ["--html=out/report.html", "--claw-device=sim", "-n1", *whole]

    pytester.runpytest_subprocess(*plugins, *options)

    page = (pytester.path / "out" / "report.html").read_text("utf-8")
    found = re.search(r'data-jsonblob="([^"]*)"', page)
    assert found is not None
    blob = json.loads(found[1].replace("&#34;", '"').replace("&amp;", "&"))
    ((test,),) = blob["tests"].values()
    extras = {(one["format_type"], one["name"]): one["content"] for one in test["extras"]}
    trace = extras["url", "trace.html"]
    assert (pytester.path / "out" / trace).is_file()
    picture = extras["image", "screenshot.png"]
    if is_whole:
        assert picture.startswith("data:image/webp;base64,")
    else:
        assert Path(pytester.path / "out" / picture).read_bytes().startswith(b"\x89PNG")
