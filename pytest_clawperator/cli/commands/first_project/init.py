"""``init``: writes the first files of a project that tests an app."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.commands.first_project.contents import Ci, first_files
from pytest_clawperator.cli.commands.first_project.found import Plan, make_plan
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.output import Answer, Line, Piece
from pytest_clawperator.devices.spec import parse_device_spec
from pytest_clawperator.errors import UNUSABLE_FILE, ConfigurationError, ErrorCode, file_problem
from pytest_clawperator.simulator.phone_kinds import parse_phones


@command(
    "init",
    examples=[
        "init",
        "init --dry-run",
        "init ui-tests --ci gitlab",
        "init --device auto --ci none",
    ],
)
@click.argument("folder", default=".", metavar="[FOLDER]")
@click.option(
    "--ci",
    type=click.Choice(["github", "gitlab", "none"]),
    default="github",
    help="For which CI to write a file; default: github.",
)
@click.option("--dry-run", is_flag=True, help="Only tell what would be written.")
def init(options: GlobalOptions, folder: str, ci: Ci, dry_run: bool) -> Answer:
    """Write a first test, a conftest, an ini and a CI file; never over a file that is there.

    The tests use the devices that --device names, as pytest's --claw-device does: simulated
    phones (sim) unless another is named.
    """
    spec = parse_device_spec(options.device or "sim")
    if spec.phones is not None:
        parse_phones(spec.phones)
    device = spec.text
    place = Path(folder)
    plan = make_plan(place, first_files(device=device, ci=ci), device=device)
    if not dry_run:
        _write_all(place, plan)
    document = {
        "ok": True,
        "folder": str(place),
        "written": list(plan.write),
        "left": list(plan.left),
        "toAdd": dict(plan.add),
    }
    page = _page(place, plan, is_dry=dry_run)
    return Answer({**document, "dryRun": True} if dry_run else document, page)


def _write_all(place: Path, plan: Plan) -> None:
    """Write the files of the plan; what went before a failure is taken back."""
    done: list[Path] = []
    try:
        for path, content in plan.write.items():
            _write(place / path, content, done)
    except UNUSABLE_FILE as error:
        _take_back(done)
        name = getattr(error, "filename", None) or path
        raise ConfigurationError(
            f"{name} cannot be written: {file_problem(error)}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint="Nothing was written. Call it in a folder that you may write to, or name one:"
            " clawperator-py init FOLDER.",
        ) from error


def _write(path: Path, content: str, done: list[Path]) -> None:
    """Write a new file and the folders that it needs, and note each that was made."""
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir()
        done.append(folder)
    with path.open("x", encoding="utf-8", newline="\n") as file:
        done.append(path)
        file.write(content)


def _take_back(done: list[Path]) -> None:
    for path in reversed(done):
        with suppress(OSError):  # somebody else uses the folder by now
            path.rmdir() if path.is_dir() else path.unlink()


def _page(place: Path, plan: Plan, *, is_dry: bool) -> list[Piece]:
    verb = "would write" if is_dry else "wrote"
    lines: list[Piece] = [Line(f"✓ {verb} {path}", "green") for path in plan.write]
    lines += [Line(f"! left {path} as it is", "yellow") for path in plan.left]
    for path, content in plan.add.items():
        lines += ["", f"Add to {path} by hand:", ""]
        lines += [f"    {line}".rstrip() for line in content.splitlines()]
    return lines if is_dry else [*lines, "", *_next_steps(place)]


def _next_steps(place: Path) -> list[Piece]:
    there = "" if place == Path() else f"cd {shlex.quote(str(place))} && "
    return [
        "What comes next:",
        f"  run the test            {there}pytest",
        "  on your phone           pytest --claw-device auto",
        "  look at a screen        clawperator-py simulate, and what it prints",
        "  write your own tests    begin with tests/test_first.py",
    ]
