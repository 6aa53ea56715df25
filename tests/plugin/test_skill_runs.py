"""``clawperator.run_skill`` and ``run_artifact`` in tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.doubles.skill_repository import RECIPE, add_skill, make_repository
from tests.plugin.conftest import Run

# Each command must be let on the device, though the run has leased it.
SCRIPT = """
set -e
"$CLAWPERATOR_BIN" open com.android.settings --device "$1" --json > /dev/null
"$CLAWPERATOR_BIN" read --text Connections --device "$1" --output pretty
echo "asked for $2" >&2
"""


@pytest.fixture
def registry(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository in the folder of the suite."""
    monkeypatch.delenv("CLAWPERATOR_SKILLS_REGISTRY", raising=False)
    monkeypatch.delenv("CLAWPERATOR_BIN", raising=False)
    path = make_repository(pytester.path)
    add_skill(path, "com.android.settings.check", script=SCRIPT)
    add_skill(path, "com.example.bad.run", script="echo half done; echo no zone >&2; exit 4")
    add_skill(path, "com.android.settings.open", recipe=RECIPE)
    return path


def test_a_script_uses_the_device_of_the_test(
    run: Run, registry: Path, pytester: pytest.Pytester
) -> None:
    """As the client does before and after it; another program does not get the device."""
    pytester.makepyfile(
        """
        import subprocess, sys

        def test_script(clawperator):
            clawperator.press_key("home")
            done = clawperator.run_skill("com.android.settings.check", [5])
            assert done.output == "Connections\\n"
            assert done.complaints.strip().endswith("asked for 5")
            assert clawperator.read_text(text="Connections") == "Connections"

        def test_another_program_is_refused(clawperator, request):
            options = ["--adb", request.config.getoption("claw_adb")[0], "--json"]
            program = [sys.executable, "-m", "pytest_clawperator", "snapshot"]
            done = subprocess.run(
                [*program, "--device", clawperator.serial, *options], capture_output=True, text=True
            )
            assert "DEVICE_LEASED" in done.stdout, done
        """
    )

    result = run()

    result.assert_outcomes(passed=2)


def test_what_a_script_printed_is_evidence(
    run: Run, registry: Path, pytester: pytest.Pytester
) -> None:
    """It is in the failure, in a file, and in the trace inside its step."""
    pytester.makepyfile(
        """
        def test_bad(clawperator):
            clawperator.run_skill("com.example.bad.run", ["now"])
        """
    )

    result = run("--claw-output", "kept")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*SKILL_EXECUTION_FAILED: Skill com.example.bad.run exited with code 4", "*no zone*"]
    )
    [output] = pytester.path.glob("kept/*/*/skills.txt")
    assert "half done\n--- stderr\nno zone\n" in output.read_text()
    [trace] = pytester.path.glob("kept/*/*/trace/*.jsonl")
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    [step] = [line for line in lines if line["kind"] == "step"]
    [note] = [line for line in lines if line["kind"] == "note"]
    assert step["title"] == "skill com.example.bad.run now"
    assert note["message"] == "com.example.bad.run printed:\nhalf done\nno zone\n"


def test_a_recipe_returns_its_envelope(run: Run, registry: Path, pytester: pytest.Pytester) -> None:
    """A failed one, too; each run has its own id."""
    pytester.makepyfile(
        """
        import pytest
        from pytest_clawperator import SkillError

        OPEN = "com.android.settings.open"

        def test_envelopes(clawperator):
            good, again, bad = (
                clawperator.run_artifact(OPEN, "open", APP=app)
                for app in ("com.android.settings", "com.android.settings", "com.example.none")
            )
            assert good.ok and good.step("snap").snapshot is not None
            assert good.command_id != again.command_id
            assert not bad.ok

        @pytest.mark.parametrize(
            ("values", "code"),
            [({}, "COMPILE_VAR_MISSING"), ({"APP": "x", "AP": 1}, "COMPILE_VAR_UNKNOWN"),
             ({"APP": None}, "COMPILE_VARS_PARSE_FAILED")],
        )
        def test_mistakes(clawperator, values, code):
            with pytest.raises(SkillError) as caught:
                clawperator.run_artifact(OPEN, "open", **values)
            assert caught.value.code == code
        """
    )

    result = run()

    result.assert_outcomes(passed=4)


def test_equal_values_have_different_ids(
    run_plain: Run, registry: Path, pytester: pytest.Pytester
) -> None:
    """Each set of values is its own test."""
    (recipe,) = pytester.path.glob("skills/*/artifacts/open.recipe.json")
    values = [{"APP": "com.a"}, {"APP": "com.a"}]
    recipe.with_name("open.vars.json").write_text(json.dumps(values))

    result = run_plain(f"--claw-skills={registry}", "--collect-only", "-q")

    test = "skills-registry.json::com.android.settings.open/open"
    assert [line for line in result.outlines if "::" in line] == [
        f"skills/{test}[com.a]",
        f"skills/{test}[com.a]-2",
    ]
