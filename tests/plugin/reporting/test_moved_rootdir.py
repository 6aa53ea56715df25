"""An option with a path that moves the rootdir of pytest is told."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.plugin.conftest import Run


@pytest.fixture
def apk(pytester: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a project with an ini file, and an APK in a folder of another place."""
    pytester.makeini("[pytest]\n")
    pytester.makepyfile(test_it="def test_it(): pass")
    path = tmp_path_factory.mktemp("Downloads") / "x.apk"
    with ZipFile(path, "w") as archive:
        archive.writestr("AndroidManifest.xml", "")
    return path


def test_a_path_after_a_space_moves_the_rootdir_and_is_told(
    pytester: pytest.Pytester, run_plain: Run, apk: Path
) -> None:
    """The header says which option moved the rootdir, and how to write it."""
    result = run_plain("--claw-operator-apk", str(apk))

    result.stdout.fnmatch_lines(
        [
            f"rootdir: {apk.parents[1]}",
            f"clawperator: the rootdir is {apk.parents[1]} and not {pytester.path}, because"
            f" pytest takes {apk} for a place of tests: write --claw-operator-apk={apk}",
        ]
    )


@pytest.mark.parametrize("form", ["joined", "given", "inside"])
def test_nothing_is_told_where_the_rootdir_stays(
    pytester: pytest.Pytester, run_plain: Run, apk: Path, form: str
) -> None:
    """With an equals sign, with a rootdir of one's own, or for a path inside, all is well."""
    inside = pytester.path / "apks" / "x.apk"
    inside.parent.mkdir()
    inside.write_bytes(apk.read_bytes())
    options = {
        "joined": [f"--claw-operator-apk={apk}"],
        "given": ["--claw-operator-apk", str(apk), f"--rootdir={pytester.path}"],
        "inside": ["--claw-operator-apk", str(inside)],
    }

    result = run_plain(*options[form])

    result.stdout.fnmatch_lines([f"rootdir: {pytester.path}"])
    assert "for a place of tests" not in result.stdout.str()
