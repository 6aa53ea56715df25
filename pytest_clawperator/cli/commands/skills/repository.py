"""``skills install``, ``update``, ``sync`` and ``new``."""

from __future__ import annotations

import os

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.commands.skills.reading import only
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import Mistake
from pytest_clawperator.cli.output import Answer, Line
from pytest_clawperator.skills.registry import REGISTRY_VARIABLE, read_registry
from pytest_clawperator.skills.sync import DEFAULT_REF, URL_VARIABLE, Synced, sync_skills
from pytest_clawperator.skills.validate import make_skill

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
    """Fetch what is new in the installed repository."""
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
