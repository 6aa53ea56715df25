"""The tools for pages are installed where possible, and CI hides no missing one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import page_tools

TOP = Path(__file__).parent.parent


class Npm:
    """Installs packages as npm does, or nothing without a network."""

    def __init__(self, *, is_reached: bool = True) -> None:
        self.is_reached = is_reached
        self.commands: list[Sequence[str]] = []

    def run(self, command: Sequence[str]) -> int:
        """Take note of a command, and do what it says."""
        self.commands.append(command)
        if "install" not in command:
            return 7
        if not self.is_reached:
            return 1
        folder = Path(command[command.index("--prefix") + 1])
        for package in command[-2:]:
            name, _, version = package.rpartition("@")
            about = folder / "node_modules" / name / "package.json"
            about.parent.mkdir(parents=True)
            about.write_text(json.dumps({"version": version}), encoding="utf-8")
        return 0


def test_what_is_missing_is_installed_once(tmp_path: Path) -> None:
    """The exact versions, and nothing where they are there."""
    npm = Npm()

    page_tools.install(npm.run, folder=tmp_path)
    page_tools.install(npm.run, folder=tmp_path)

    assert page_tools.missing(tmp_path) is None
    assert len(npm.commands) == 1
    assert npm.commands[0][-2:] == [f"{n}@{v}" for n, v in page_tools.PACKAGES.items()]
    assert Path(npm.commands[0][0]).is_file()


def test_lint_fails_with_the_check_of_types(tmp_path: Path) -> None:
    """The exit code of the compiler decides."""
    npm = Npm()
    makefile = (TOP / "Makefile").read_text(encoding="utf-8")

    assert page_tools.main(npm.run, {}, folder=tmp_path) == 7
    assert npm.commands[-1][-2:] == ["--project", str(TOP / "jsconfig.json")]
    assert "-m tests.page_tools" in makefile.partition("\nlint:")[2].partition("\n\n")[0]


@pytest.mark.parametrize(("environ", "status"), [({}, 0), ({"CI": "true"}, 1)])
def test_a_missing_tool_is_reported_and_fails_in_ci(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], environ: dict[str, str], status: int
) -> None:
    """A machine without network can be worked on; CI must not pass without the check."""
    assert page_tools.main(Npm(is_reached=False).run, environ, folder=tmp_path) == status

    said = capsys.readouterr().err
    assert "typescript 5" in said
    assert "python -m tests.page_tools" in said
