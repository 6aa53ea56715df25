"""``--claw-skills``: the recipes of a skills repository as tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.doubles.skill_repository import RECIPE, add_skill, make_repository
from tests.plugin.conftest import Run

SETTINGS = "com.android.settings"


@pytest.fixture
def registry(pytester: pytest.Pytester) -> Path:
    """Make a repository with two recipes: one for two apps, and one for an app that is missing."""
    path = make_repository(pytester.mkdir("repository"))
    folder = add_skill(path, f"{SETTINGS}.open", recipe=RECIPE, keywords=["navigation"])
    values = [{"APP": SETTINGS}, {"APP": "com.example.shop"}]
    (folder / "artifacts" / "open.vars.json").write_text(json.dumps(values))
    folder = add_skill(path, "com.example.none.start", recipe=RECIPE)
    (folder / "artifacts" / "open.vars.json").write_text('{"APP": "com.example.none"}')
    add_skill(path, "com.example.shop.echo", script="echo hello")
    return path


def test_each_recipe_is_a_test(run: Run, registry: Path) -> None:
    """Each recipe runs once per set of values.

    A failed envelope fails the test, without our traceback.
    """
    result = run("--claw-skills", "repository", "-v")

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*registry.json::com.android.settings.open/open[[]com.android.settings[]] PASSED*",
            "*skills-registry.json::com.android.settings.open/open[[]com.example.shop[]] PASSED*",
            "*skills-registry.json::com.example.none.start/open[[]com.example.none[]] FAILED*",
            "*APP_NOT_FOUND: *",
        ]
    )
    result.stdout.no_fnmatch_line("*run_artifact*")


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (["-k", "navigation"], 2),
        (["-k", "none"], 1),
        (["-m", "claw_skill"], 3),
        (["-m", 'claw_skill(app="com.example.none")'], 1),
        (["-m", 'claw_skill(intent="open")'], 2),
    ],
)
def test_recipes_are_selected_by_their_metadata(
    run: Run, registry: Path, options: list[str], count: int
) -> None:
    """By keywords and by the marker, whose values are those of the registry."""
    result = run("--claw-skills", str(registry), "--collect-only", "-q", *options)

    assert sum("::" in line for line in result.outlines) == count


def test_a_recipe_runs_in_each_worker(run_workers: Run, registry: Path) -> None:
    """Workers get devices for them, though no file names a fixture."""
    result = run_workers("--claw-skills", "repository", "-k", "navigation", "-n", "2",
                         "--claw-device", "sim")  # fmt: skip

    result.assert_outcomes(passed=2)


def test_other_tests_run_only_if_they_are_named(
    run: Run, registry: Path, pytester: pytest.Pytester
) -> None:
    """An ini file adds the recipes to them."""
    pytester.makepyfile("def test_plain():\n    pass\n")

    alone = run("--claw-skills", "repository", "-k", "navigation or plain")
    both = run("--claw-skills", "repository", "-k", "navigation or plain", ".")
    pytester.makeini("[pytest]\nclaw_skills = repository\n")
    added = run("-k", "navigation or plain")

    alone.assert_outcomes(passed=2)
    both.assert_outcomes(passed=3)
    added.assert_outcomes(passed=3)


def test_a_variable_without_a_value_is_named(run: Run, registry: Path) -> None:
    """With what to do."""
    (registry.parent / f"{SETTINGS}.open/artifacts/open.vars.json").unlink()

    result = run("--claw-skills", "repository", "-k", "navigation")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["COMPILE_VAR_MISSING: Missing required variable: APP"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "Expecting"),
        ("[]", "neither an object"),
        ("[5]", "neither an object"),
        (None, "outside"),
    ],
)
def test_broken_values_are_an_error_of_the_registry(
    run: Run, registry: Path, text: str | None, why: str
) -> None:
    """The file is named; one outside of the repository is not read."""
    values = registry.parent / f"{SETTINGS}.open/artifacts/open.vars.json"
    if text is None:
        values.unlink()
        values.symlink_to("/etc/hostname")
    else:
        values.write_text(text)

    result = run("--claw-skills", "repository")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*open.vars.json: *{why}*"])


def test_a_broken_registry_is_an_error(run: Run, registry: Path) -> None:
    """One that cannot be read fails to be collected; one that is not there is a usage error."""
    registry.write_text("{}")
    broken = run("--claw-skills", "repository")
    registry.unlink()
    missing = run("--claw-skills", "repository")

    broken.assert_outcomes(errors=1)
    broken.stdout.fnmatch_lines(["*REGISTRY_READ_FAILED*skills array required*"])
    assert missing.ret == pytest.ExitCode.USAGE_ERROR
    missing.stderr.fnmatch_lines(["ERROR: --claw-skills: found 'repository'*"])
