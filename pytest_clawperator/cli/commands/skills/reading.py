"""``skills list``, ``get``, ``search``, ``compile-artifact`` and ``validate``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import Mistake
from pytest_clawperator.cli.output import Answer, Line, Piece, Table, notice
from pytest_clawperator.skills.compile import compile_artifact
from pytest_clawperator.skills.registry import read_registry
from pytest_clawperator.skills.skill import Skill
from pytest_clawperator.skills.validate import WHY_SKIPPED, Checked, validate_all, validate_skill

_words = click.argument("words", nargs=-1, metavar="[SKILL_ID]")


@command("skills list", examples=["skills list"])
def skills_list(options: GlobalOptions) -> Answer:
    """List the skills of the registry."""
    return _listing(read_registry().skills)


@command("skills get", examples=["skills get com.android.settings.capture-overview"])
@_words
def skills_get(options: GlobalOptions, words: tuple[str, ...]) -> Answer:
    """Tell what the registry says of a skill."""
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
    """Find skills by app, intent and keyword; all that are given must fit."""
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
    """Return the only argument; raise with how the command is used if there is none."""
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
