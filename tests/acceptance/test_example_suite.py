"""The example suite, run as its users run it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.doubles.pytest_process import TOP, passes, run_pytest, skips

SUITE = TOP / "example_suite"
SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))
# Workers of the published Operator, one phone of the documented one; the rest when soaking.
WAYS = [("documented", 0), ("0.5.3", 2), *([("documented", 4), ("0.5.3", 0)] if SOAK else [])]

#: What each failure must say, so that it need not be run again.
EXPLAINED = {
    "test_a_misspelt_text": [
        "NODE_NOT_FOUND: click: no node(text='Incremnt') on the screen within 1 s",
        "text is `Increment`, wanted `Incremnt`",
        '- button "Increment" #btn_increment',
        "hint: text= is compared letter by letter",
    ],
    "test_a_text_that_differs": [
        "clicks so far: expected node(id='txt_counter') to have text \"Counter: 2\"",
        'found "Counter: 1"',
        "waited: ",
    ],
    "test_too_little_time": ["after the deadline", "hint: It was too late"],
    "test_below_the_edge_of_the_screen": ["TARGET_NOT_FOUND", "MAX_SCROLLS_REACHED after 1 scroll"],
    "test_a_failed_envelope": [
        '1. step "count" (click) succeeded',
        '2. step "check" (read_text) failed: VALIDATOR_MISMATCH',
    ],
    "test_a_refused_payload": [
        "EXECUTION_VALIDATION_FAILED: 2 problems",
        "did you mean `click`?",
        "did you mean `down`?",
    ],
    "test_a_screen_that_differs": [
        '- - text "Counter: 1"',
        '+ - text "Counter: 0"',
        "2 of 3 golden lines are not there",
    ],
    "test_several_soft_failures": [
        "3 checks failed",
        'found "Counter: 0"',
        "not to be checked, found checked",
        "to be disabled, found enabled",
    ],
    "test_something_lies_over_it": [
        "overlay: a window of com.android.permissioncontroller lies over the app",
        "hint: Answer or close the window",
    ],
    "test_a_fixture_fails": ["expected node(text='Cart (3)') to be visible, found no match"],
    "test_the_app_crashes": ["to be in app com.example.shop", '"Shop has stopped"'],
    "test_the_lab_is_broken": ["SERVICE_UNAVAILABLE: Accessibility service is not available"],
}


def run(*options: str, output: Path) -> subprocess.CompletedProcess[str]:
    """Run lessons on quick phones, with the evidence in that folder."""
    return run_pytest("-o", "claw_sim_time_scale=0.02", "--claw-output", str(output), *options)


@pytest.mark.parametrize(("profile", "workers"), WAYS, ids=lambda value: str(value))
def test_example_suite_passes(profile: str, workers: int, tmp_path: Path) -> None:
    """Every lesson passes with both Operators, plain and spread over workers."""
    spread = ["-n", str(workers)] if workers else []

    ran = run("example_suite", "--claw-sim-profile", profile, *spread, output=tmp_path)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert passes(ran.stdout) >= 30
    assert "com.example.somewhere.else is not installed on" in ran.stdout


def test_on_a_phone_without_the_apps(tmp_path: Path) -> None:
    """The lessons about Settings pass on any phone; the others say which app they miss."""
    ran = run("example_suite", "-p", "tests.doubles.bare_phones", "-rs", output=tmp_path)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert passes(ran.stdout) >= 15
    reasons = skips(ran.stdout)
    assert reasons
    assert all(re.search(r"com\.\S+ is not installed on ", reason) for reason in reasons), reasons


def test_payloads_are_valid_without_a_device(tmp_path: Path) -> None:
    """The suite's payloads can be validated without a phone."""
    ran = run("example_suite", "--claw-validate", "-o", "claw_device=", output=tmp_path)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "deselected" in ran.stdout


def failures(ran: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Return the output about each test that failed, in any phase."""
    parts = re.split(r"^_{3,} (?:ERROR at \w+ of )?(\w+) _{3,}$", ran.stdout, flags=re.MULTILINE)
    texts: dict[str, str] = {}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        texts[name] = texts.get(name, "") + text
    return texts


def test_each_failure_says_what_to_do_next(tmp_path: Path) -> None:
    """Each example of a failure says what was found, what was expected and what to do next."""
    source = (SUITE / "failing" / "test_failures.py").read_text(encoding="utf-8")
    written = re.findall(r"^def (test_\w+)", source, re.MULTILINE)

    ran = run("example_suite/failing", output=tmp_path)

    reported = failures(ran)
    assert set(reported) == set(written) == set(EXPLAINED), ran.stdout + ran.stderr
    missing = {
        name: [part for part in parts if part not in reported[name]]
        for name, parts in EXPLAINED.items()
    }
    assert not any(missing.values()), f"{missing}\n{ran.stdout}"
    assert re.search(
        r"^ERROR \S+::test_the_lab_is_broken - infrastructure", ran.stdout, re.MULTILINE
    )
    pictures = {path.parent.name.split("-")[1] for path in tmp_path.rglob("*screenshot.png")}
    assert pictures == set(EXPLAINED)


def test_nothing_names_the_simulator() -> None:
    """Lessons and page objects run on whatever the configuration asks for."""
    files = [path for path in SUITE.rglob("*.py") if "__pycache__" not in path.parts]

    named = [path.name for path in files if re.search(r"simulat|\bsim\b", path.read_text("utf-8"))]

    assert files
    assert named == []
