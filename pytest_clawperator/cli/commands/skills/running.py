"""``skills run``: the script of a skill, with what it prints as it comes."""

from __future__ import annotations

import math
import sys

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.commands.executions.numbers import read_number
from pytest_clawperator.cli.commands.skills.reading import only
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import invalid
from pytest_clawperator.cli.output import Answer, Line
from pytest_clawperator.contracts.device import OPERATOR_PACKAGE
from pytest_clawperator.devices.connection import wanted_package
from pytest_clawperator.redaction.redaction import hide
from pytest_clawperator.skills.registry import read_registry
from pytest_clawperator.skills.run import run_skill, script_environment
from pytest_clawperator.skills.script import Stream
from pytest_clawperator.skills.validate import validate_skill
from pytest_clawperator.visible_text import visible

_USAGE = "skills run <skill_id> [--device <id>] [--timeout <ms>] [-- <extra_args>]"
_LONGEST_MS = 24 * 3600 * 1000


@command(
    "skills run",
    examples=[
        "skills run com.android.settings.capture-overview --device emulator-5554",
        "skills run com.example.shop.buy --expect-contains bought -- 'Item 3' 2",
    ],
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": True},
)
@click.argument("words", nargs=-1, metavar="SKILL_ID [-- ARGUMENT...]")
@click.option("--expect-contains", metavar="TEXT", help="What the script must print.")
@click.option("--skip-validate", is_flag=True, help="Do not check the skill before.")
def run(
    options: GlobalOptions, words: tuple[str, ...], expect_contains: str | None, skip_validate: bool
) -> Answer:
    """Run the script of a skill; it gets the device of --device, and what follows --."""
    skill_id = only(words[:1], usage=_USAGE)
    timeout = _timeout(options.timeout)
    registry = read_registry()
    if not skip_validate:
        validate_skill(registry, registry.get(skill_id), payloads=True)
    package = wanted_package(options.operator_package) or OPERATOR_PACKAGE
    done = run_skill(
        registry,
        skill_id,
        [*([options.device] if options.device else []), *words[1:]],
        timeout=timeout,
        wanted=expect_contains,
        environment=script_environment(operator_package=package, adb=options.adb),
        on_output=_stream if options.output == "pretty" else None,
    )
    document = {
        "skillId": done.skill_id,
        "output": done.output,
        "exitCode": done.exit_code,
        "durationMs": round(done.elapsed * 1000),
    }
    if timeout is not None:
        document["timeoutMs"] = round(timeout * 1000)
    if expect_contains is not None:
        document["expectedSubstring"] = expect_contains
    return Answer(document, [Line(f"✓ {done.skill_id} took {done.elapsed:.1f} s", "green")])


def _stream(text: str, stream: Stream) -> None:
    """Show people what a script prints, as it comes."""
    place = sys.stdout if stream == "stdout" else sys.stderr
    place.write(visible(hide(text)))
    place.flush()


def _timeout(text: str | None) -> float | None:
    if text is None:
        return None
    number = read_number(text)
    if not math.isfinite(number) or not 0 < number <= _LONGEST_MS:
        raise invalid(
            f"--timeout must be a positive number of milliseconds, found {text!r}",
            hint="As in --timeout 30000.",
        )
    return number / 1000
