"""``skills``: list, read, compile, validate, run, write and fetch them."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.options import GlobalOptions, Mistake, invalid, read_number
from pytest_clawperator.cli.output import Answer, Line, Piece, Table, notice
from pytest_clawperator.devices.connection import chosen_package
from pytest_clawperator.redaction import hide
from pytest_clawperator.skills.compile import compile_artifact
from pytest_clawperator.skills.registry import REGISTRY_VARIABLE, read_registry
from pytest_clawperator.skills.run import run_skill, script_environment
from pytest_clawperator.skills.script import Stream
from pytest_clawperator.skills.skill import Skill
from pytest_clawperator.skills.sync import DEFAULT_REF, URL_VARIABLE, Synced, sync_skills
from pytest_clawperator.skills.validate import (
    WHY_SKIPPED,
    Checked,
    make_skill,
    validate_all,
    validate_skill,
)
from pytest_clawperator.text import visible

_words = click.argument("words", nargs=-1, metavar="[SKILL_ID]")


@command("skills list", examples=["skills list"])
def skills_list(options: GlobalOptions) -> Answer:
    """List the skills of the registry."""
    return _listing(read_registry().skills)


@command("skills get", examples=["skills get com.android.settings.capture-overview"])
@_words
def skills_get(options: GlobalOptions, words: tuple[str, ...]) -> Answer:
    """Show the registry entry of a skill."""
    skill_id = only(words, usage="skills get <skill_id>")
    return Answer({"skill": dict(read_registry().get(skill_id).entry)})


@command(
    "skills search",
    examples=["skills search battery", "skills search --app com.android.settings"],
)
@click.argument("words", nargs=-1, metavar="[KEYWORD]")
@click.option(
    *("--app", "--package", "--package-id", "--application-id", "--app-id"),
    metavar="PACKAGE",
    help="For this app.",
)
@click.option("--intent", metavar="INTENT", help="With this intent.")
@click.option("--keyword", metavar="TEXT", help="With this text in id, summary or app.")
def skills_search(
    options: GlobalOptions,
    words: tuple[str, ...],
    app: str | None,
    intent: str | None,
    keyword: str | None,
) -> Answer:
    """Find skills by app, intent and keyword; all that are given must match."""
    wanted = {"app": app, "intent": intent, "keyword": keyword or (words[0] if words else None)}
    if not any(wanted.values()):
        raise Mistake(
            "skills search requires --app <package_id>, --intent <intent>, or --keyword <text>",
            exit_code=0,
            fields={"example": "clawperator-py skills search --keyword battery"},
        )
    given = {name: value or "" for name, value in wanted.items()}
    return _listing(read_registry().search(**given))


@command(
    "skills compile-artifact",
    examples=["skills compile-artifact com.example.shop.read-cart --artifact cart --vars '{}'"],
)
@_words
@click.option("--skill-id", "--skill", metavar="SKILL_ID", help="The same as the argument.")
@click.option("--artifact", metavar="NAME", help="The recipe, with or without .recipe.json.")
@click.option("--vars", "variables", default="{}", metavar="JSON", help="Values for variables.")
def compile_(
    options: GlobalOptions,
    words: tuple[str, ...],
    skill_id: str | None,
    artifact: str | None,
    variables: str,
) -> Answer:
    """Compile a recipe to an execution payload, which `exec` runs."""
    skill_id = skill_id or (words[0] if words else None)
    if not skill_id or not artifact:
        raise Mistake(
            "skills compile-artifact requires <skill_id> (positional) or --skill-id <id>, and"
            " --artifact <name>",
            exit_code=0,
            hint="See `clawperator-py skills compile-artifact --help`.",
        )
    compiled = compile_artifact(read_registry(), skill_id, artifact, variables)
    if not options.is_quiet:
        for doubt in compiled.doubts:
            notice(str(doubt))
    return Answer({"execution": compiled.execution.to_wire()})


@command(
    "skills validate",
    examples=["skills validate com.example.shop.read-cart", "skills validate --all --dry-run"],
)
@_words
@click.option("--all", "is_all", is_flag=True, help="Every skill of the registry.")
@click.option("--dry-run", is_flag=True, help="The payloads of recipes, too.")
def validate(options: GlobalOptions, words: tuple[str, ...], is_all: bool, dry_run: bool) -> Answer:
    """Check the files of a skill, its metadata, and with --dry-run its payloads."""
    registry = read_registry()
    if is_all:
        found = validate_all(registry, payloads=dry_run)
        listed = [{"skill": dict(one.skill.entry), "checks": one.to_json()} for one in found]
        document = {"totalSkills": len(found), "registryPath": str(registry.path)}
        return Answer(
            {"valid": True, **document, "validSkills": listed},
            [Line(f"✓ {len(found)} skills are as they should be", "green")],
        )
    usage = "skills validate <skill_id> [--dry-run] | skills validate --all [--dry-run]"
    skill = registry.get(only(words, usage=usage))
    one = validate_skill(registry, skill, payloads=dry_run)
    about: dict[str, Any] = {"skill": dict(skill.entry), "registryPath": str(registry.path)}
    if dry_run and not one.artifacts:
        about["dryRun"] = {"payloadValidation": "skipped", "reason": WHY_SKIPPED}
    return Answer({"valid": True, **about, "checks": one.to_json()}, _valid_page(one))


def only(words: Sequence[str], *, usage: str) -> str:
    """Return the only argument; raise with the usage if it is missing."""
    if not words or not words[0]:
        raise Mistake(usage, exit_code=0)
    if len(words) > 1:
        raise Mistake(f"one skill at a time: {' '.join(words)}", hint=usage)
    return words[0]


def _listing(skills: Sequence[Skill]) -> Answer:
    document = {"skills": [dict(skill.entry) for skill in skills], "count": len(skills)}
    if not skills:
        return Answer(document, ["No skills."])
    rows = [(skill.id, skill.summary) for skill in skills]
    return Answer(document, [Table(("skill", "what it does"), rows)])


def _valid_page(one: Checked) -> list[Piece]:
    count = 2 + len(one.scripts) + len(one.artifacts)
    return [Line(f"✓ {one.skill.id}: {count} files are as they should be", "green")]


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
    package = chosen_package(options.operator_package)
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
    """Show the output of a script to people as it arrives."""
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


_url = click.argument("words", nargs=-1, metavar="[URL]")

_ref_help = "A branch, a tag or a commit."


@command(
    "skills install",
    examples=["skills install https://example.com/skills.git", "skills install skills.bundle"],
)
@_url
@click.option("--ref", default=DEFAULT_REF, metavar="REF", help=f"{_ref_help} Default: main.")
def install(options: GlobalOptions, words: tuple[str, ...], ref: str) -> Answer:
    """Fetch a skills repository with git, or a bundle of one, into ~/.clawperator/skills."""
    done = sync_skills(_given(words), ref=ref)
    export = f'export {REGISTRY_VARIABLE}="{done.registry}"'
    more = {"registryPath": str(done.registry), "envInstruction": export}
    return _synced(done, **more)


@command("skills update", examples=["skills update", "skills update --ref v2"])
@_url
@click.option("--ref", default=DEFAULT_REF, metavar="REF", help=f"{_ref_help} Default: main.")
def update(options: GlobalOptions, words: tuple[str, ...], ref: str) -> Answer:
    """Update the installed repository."""
    return _synced(sync_skills(_given(words), ref=ref or DEFAULT_REF))


@command("skills sync", examples=["skills sync --ref 4f2a9c1"])
@_url
@click.option("--ref", metavar="REF", help=_ref_help)
def sync(options: GlobalOptions, words: tuple[str, ...], ref: str | None) -> Answer:
    """Pin the installed repository to a branch, a tag or a commit."""
    if not ref:
        raise Mistake("skills sync --ref <git-ref>", exit_code=0)
    return _synced(sync_skills(_given(words), ref=ref))


@command(
    "skills new",
    examples=["skills new com.example.shop.read-cart --summary 'Read what is in the cart'"],
)
@click.argument("words", nargs=-1, metavar="SKILL_ID")
@click.option("--summary", "--description", default="", metavar="TEXT", help="What it does.")
@click.option("--python", is_flag=True, help="A script in Python, not for Node.js.")
def new(options: GlobalOptions, words: tuple[str, ...], summary: str, python: bool) -> Answer:
    """Write the first files of a skill, and add it to the registry."""
    skill_id = only(words, usage="skills new <skill_id> [--summary <text>]")
    registry = read_registry()
    made = make_skill(registry, skill_id, summary=summary, python=python)
    then = f"clawperator-py skills validate {made.skill_id}"
    document = {
        "created": True,
        "skillId": made.skill_id,
        "registryPath": str(registry.path),
        "skillPath": str(made.folder),
        "files": [str(path) for path in made.files],
        "next": f"Edit SKILL.md and the script, then verify with: {then}",
    }
    wrote = [Line(f"✓ wrote {path}", "green") for path in made.files]
    return Answer(document, [*wrote, f"Check it: {then}"])


def _given(words: tuple[str, ...]) -> str | None:
    if len(words) > 1:
        raise Mistake(f"one url at a time: {' '.join(words)}")
    return words[0] if words else os.environ.get(URL_VARIABLE)


def _synced(done: Synced, **more: str) -> Answer:
    document = {"synced": True, "message": done.message, "commit": done.commit, **more}
    page = [Line(f"✓ {done.message}", "green")]
    return Answer(document, [*page, f"{done.registry}, commit {done.commit[:12]}"])
