"""``snapshot`` and ``screenshot``: what is on the screen."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.commands.executions.payloads import OBSERVE, direct, payload, unique
from pytest_clawperator.cli.commands.executions.running import perform
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import Mistake
from pytest_clawperator.cli.output import Answer
from pytest_clawperator.contracts.ecmascript import is_blank
from pytest_clawperator.execution.result import RunResult
from pytest_clawperator.text import visible_in_xml

# A whole screen for people; the messages of errors show less.
_OUTLINE_LINES = 400


@command(
    "snapshot",
    examples=[
        "snapshot",
        "snapshot --outline --device emulator-5554",
        "snapshot --xml > screen.xml",
        "snapshot --json | jq -r '.envelope.stepResults[0].data.text'",
    ],
)
@click.option("--outline", is_flag=True, help="Print what a person sees, one line for each node.")
@click.option("--xml", is_flag=True, help="Print the hierarchy as XML.")
def snapshot(options: GlobalOptions, outline: bool, xml: bool) -> Answer:
    """Capture the UI hierarchy of the screen."""
    if outline and xml:
        raise Mistake("use --outline OR --xml, not both")

    def finish(result: RunResult, answer: Answer) -> Answer:
        if xml:
            return replace(answer, text=visible_in_xml(result.step("snap").snapshot.xml))
        if not outline and options.output == "json":
            return answer
        from pytest_clawperator.snapshot.near_miss import outline as outlined  # XML needs it not

        told = outlined(result.step("snap").snapshot, limit=_OUTLINE_LINES)
        if not outline:
            return replace(answer, page=[told])
        return Answer({**answer.document, "outline": told}, [told], text=told)

    wanted = direct("snapshot", "snapshot_ui", source=OBSERVE, step="snap")
    return perform(options, wanted, finish=finish)


@command(
    "screenshot",
    examples=["screenshot", "screenshot --path screen.png", "screenshot --open"],
)
@click.option("--path", "--file", metavar="FILE", help="Where to write the picture.")
@click.option("--open", "is_opened", is_flag=True, help="Show the picture when it is taken.")
def screenshot(options: GlobalOptions, path: str | None, is_opened: bool) -> Answer:
    """Capture the screen as a PNG picture; without a path, into the folder for temporary files."""
    if path == "":
        raise Mistake("--path requires a value")

    def finish(result: RunResult, answer: Answer) -> Answer:
        [step] = answer.document["envelope"]["stepResults"]
        if is_opened:
            _open(step["data"]["path"])
        return replace(answer, page=[step["data"]["path"]])

    wanted = payload(
        "take_screenshot",
        {} if path is None else {"path": path if is_blank(path) else str(Path(path).absolute())},
        step="snap",
        command_id=unique("screenshot"),
        source=OBSERVE,
    )
    return perform(options, wanted, finish=finish)


def _open(path: str) -> None:
    """Show a picture with the program that the system has for pictures."""
    if click.launch(path) != 0:
        sys.stderr.write(f"no program could be started to show {path}\n")
