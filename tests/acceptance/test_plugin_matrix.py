"""No clash with other plugins, on every supported pytest."""

from __future__ import annotations

import html
import json
import os
import re
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.other_plugins import (
    ALLURE,
    ASYNCIO,
    HTML,
    PLUGINS,
    RERUNS,
    WAYS,
    WORKERS,
    Ran,
    Way,
    build_wheel,
    install,
    make_environment,
    run,
)

IS_SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))
RELEASES = {
    **{
        release: (f"pytest=={release}.*",) for release in ("8.2", "8.3", "8.4", "9.0", "9.1", "9.2")
    },
    "oldest": (
        "pytest==8.2.0",
        "pytest-xdist==3.6.1",
        "allure-pytest==2.13.5",
        "pytest-rerunfailures==14.0",
    ),
}
LISTED = re.compile(r"claw-results/\S+\.(?:txt|json|png|xml)")
EVIDENCE = re.compile(r"claw-results/\S+\.(?:txt|json|png|xml|html)")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the package of this checkout once."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def spare_folder() -> Iterator[Path]:
    """Return a folder that is removed after the test: environments are large."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.mark.parametrize("way", WAYS if IS_SOAK else (WORKERS,), ids=str)
def test_the_suite_runs_beside_installed_plugins(way: Way, tmp_path: Path) -> None:
    """The suite runs beside all other plugins, with workers too."""
    missing = [plugin.distribution for plugin in way.plugins if not plugin.is_installed]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")

    ran = run(way, tmp_path / "suite")

    check(ran)


@pytest.mark.skipif(not IS_SOAK, reason="by design: make soak installs the others")
@pytest.mark.parametrize("release", RELEASES)
def test_the_suite_runs_on_each_release_of_pytest(
    release: str, wheel: Path, spare_folder: Path
) -> None:
    """Each release runs the suite with nothing else installed, and beside the other plugins."""
    first, *rest = RELEASES[release]
    python = make_environment(spare_folder / "environment")

    install(python, [str(wheel), first])
    bare = run(Way("bare", is_chosen=False), spare_folder / "bare", python)
    install(python, [str(wheel), first, *rest, *[plugin.distribution for plugin in PLUGINS]])
    others = [run(way, spare_folder / way.name, python) for way in WAYS]

    assert first.rstrip("*").replace("==", "-") in bare.stdout
    for ran in (bare, *others):
        check(ran)


def check(ran: Ran) -> None:
    """Require that a run came to its results, and that each report has the evidence once."""
    assert ran.code == pytest.ExitCode.TESTS_FAILED, str(ran)
    assert ran.stderr == "", str(ran)
    if "-pno:terminal" not in ran.way.options:
        check_terminal(ran)
    check_junit(ran)
    if ALLURE in ran.way.plugins:
        check_allure(ran)
    if HTML in ran.way.plugins:
        check_html(ran)


def check_terminal(ran: Ran) -> None:
    """Require the counts of the last line, and each file of evidence in one place."""
    assert pytest.RunResult.parse_summary_nouns(ran.stdout.splitlines()) == expected(ran.way), str(
        ran
    )
    assert Counter(listed_files(ran.stdout)) == Counter(ran.kept_last()), str(ran)


def listed_files(text: str) -> list[str]:
    """Return the files of evidence that failures list, each below its folder.

    The page of a trace is written when a test has ended: pytest does not list that of a
    test that did not begin, and lists it more than once with reruns.
    """
    found, folder = [], ""
    for line in re.split(r"\n|<br ?/?>", text):
        if line.startswith("  ") and LISTED.fullmatch(path := f"{folder}/{line.strip()}"):
            found.append(path)
        elif line.startswith("claw-results/"):
            folder = line.strip()
    return found


def expected(way: Way) -> dict[str, int]:
    """Return the outcomes that the suite must have."""
    counts = Counter(passed=3, failed=3, errors=2, skipped=1, xfailed=1)
    if ASYNCIO in way.plugins:
        counts += Counter(passed=1, failed=1)
    if RERUNS in way.plugins:
        # One passes in the end; and one of those that end badly does so after passing again.
        counts["rerun"] = counts["failed"] + counts["errors"]
        counts["failed"] -= 1
        counts["passed"] += 2
    return dict(counts)


def check_junit(ran: Ran) -> None:
    """Require each file of evidence once among the properties, and each device once."""
    cases = list(ET.parse(ran.folder / "junit.xml").getroot().iter("testcase"))
    device = "./properties/property[@name='clawperator_device']"

    values = [str(one.get("value")) for case in cases for one in case.iter("property")]
    devices = [len(case.findall(device)) for case in cases]

    files = Counter(value for value in values if EVIDENCE.fullmatch(value))
    assert files == Counter(list(ran.kept())), str(ran)
    assert Counter(devices) == {1: len(cases)}, str(ran)


def check_allure(ran: Ran) -> None:
    """Require each file of evidence as an attachment of a test, with the same content."""
    folder = ran.folder / "allure"
    results = [json.loads(path.read_bytes()) for path in folder.glob("*-result.json")]

    attached = Counter(
        (one["name"], (folder / one["source"]).read_bytes())
        for result in results
        for one in result.get("attachments", ())
    )

    kept = Counter((Path(path).name, content) for path, content in ran.kept().items())
    assert attached.keys() == kept.keys(), str(ran)
    assert attached == kept, str(ran)


def check_html(ran: Ran) -> None:
    """Require all evidence of last attempts, and no row that has a file twice.

    pytest-html itself shows the end of a test in two rows, and of earlier attempts little.
    """
    page = (ran.folder / "report.html").read_text(encoding="utf-8")
    found = re.search(r'data-jsonblob="([^"]*)"', page)
    assert found is not None, page
    tests = json.loads(html.unescape(found[1]))["tests"]

    rows = [listed_files(html.unescape(row["log"])) for rows in tests.values() for row in rows]

    assert {path for row in rows for path in row} >= ran.kept_last(), str(ran)
    assert all(len(row) == len(set(row)) for row in rows), str(ran)
