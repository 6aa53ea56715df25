"""``test_*.claw.yaml`` files are tests like any other."""

from __future__ import annotations

import json
from dataclasses import fields
from textwrap import dedent
from typing import get_args

import pytest

from pytest_clawperator.devices.requirements import Form, Requirements
from pytest_clawperator.plugin.marker_values import MISSING, AppUse
from pytest_clawperator.plugin.markers import signature_of
from pytest_clawperator.test_files.file import as_python, read_test_file
from pytest_clawperator.test_files.header import APP_KEYS, DEVICE_KEYS
from pytest_clawperator.test_files.shapes import Choice
from tests.doubles.skill_repository import RECIPE, add_skill, make_repository
from tests.plugin.conftest import Run

SETTINGS = "com.android.settings"
PASSING = """
    tags: [smoke]
    variables:
      settings: com.android.settings
    tests:
      the settings open:
        steps:
          - open_app: ${settings}
          - expect: {to_be_in_app: "${settings}"}
      rows are there:
        app: com.android.settings
        parameters:
          first: {row: Connections, place: 0}
          other: {row: Display, place: 0}
        steps:
          - title: Look for ${row}
            steps:
              - expect: {text: "${row}", to_be_visible: true, to_be_enabled: true}
              - expect: {text: "${row}", nth: "${place}"}
          - click: Nowhere
            when: Nowhere
      a payload runs:
        fixtures: [package]
        steps:
          - open_app: ${package}
          - expect: {to_be_in_app: "${package}"}
          - payload: [{id: snap, type: snapshot_ui}]
            as: shot
          - expect: {result: shot, to_have_data: {step: snap, foreground_package: "${package}"}}
          - use: leave.claw.yaml
            with: {app: "${package}"}
"""
LEAVE = """
    needs: [app]
    steps:
      - home
      - expect: {not_to_be_in_app: "${app}"}
"""
CONFTEST = """
    import pytest

    @pytest.fixture
    def package():
        return "com.android.settings"
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """Write tests that pass, and what they use."""
    pytester.makeini("[pytest]\nmarkers = smoke: a tag\n")
    pytester.makeconftest(CONFTEST)
    write(pytester, "test_it", PASSING)
    write(pytester, "leave", LEAVE)
    return pytester


def write(pytester: pytest.Pytester, name: str, text: str) -> None:
    """Write a test file."""
    (pytester.path / f"{name}.claw.yaml").write_text(dedent(text), encoding="utf-8")


def test_each_test_of_a_file_is_an_item(suite: pytest.Pytester, run: Run) -> None:
    """Names, parameters, tags and places are those that a test in Python would have."""
    result = run("-v", "--strict-markers", "-m", "smoke")

    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        [
            "test_it.claw.yaml::test_the_settings_open PASSED*",
            "test_it.claw.yaml::test_rows_are_there[[]first[]] PASSED*",
            "test_it.claw.yaml::test_rows_are_there[[]other[]] PASSED*",
            "test_it.claw.yaml::test_a_payload_runs PASSED*",
        ]
    )


def test_one_test_can_be_chosen(suite: pytest.Pytester, run: Run) -> None:
    """A test is chosen by its id, whatever python_functions says of names in Python."""
    suite.makeini("[pytest]\nmarkers = smoke\npython_functions = check_*\n")

    result = run("test_it.claw.yaml::test_rows_are_there[other]")

    result.assert_outcomes(passed=1)


def test_the_converted_python_passes_as_well(suite: pytest.Pytester, run: Run) -> None:
    """What convert writes has the same tests with the same outcomes, and needs no YAML."""
    path = suite.path / "test_it.claw.yaml"
    written = as_python(read_test_file(path, root=suite.path))
    (suite.path / "test_it.py").write_text(written, encoding="utf-8")
    path.unlink()

    result = run("-v", "--strict-markers", "-m", "smoke")

    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["test_it.py::test_rows_are_there[[]other[]] PASSED*"])


FAILING = """
    tests:
      the menu is there:
        steps:
          - open_app: com.android.settings
          - expect: Connections
          - use: look.claw.yaml
          - home
"""
LOOK = """
    steps:
      - expect:
          text: Conections
          timeout: 0
          message: the menu
      - home
"""


def test_a_failure_shows_the_lines_of_the_files(pytester: pytest.Pytester, run: Run) -> None:
    """A step that fails is shown with its lines, and with the explanation that Python gives."""
    write(pytester, "test_it", FAILING)
    write(pytester, "look", LOOK)

    result = run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "    the menu is there:",
            "      steps:",
            "        - open_app: com.android.settings",
            "        - expect: Connections",
            ">       - use: look.claw.yaml",
            "test_it.claw.yaml:7: ",
            "    steps:",
            ">     - expect:",
            "          text: Conections",
            "          timeout: 0",
            "          message: the menu",
            "E     *EXPECTATION_FAILED: the menu: expected node(text='Conections') to be visible*",
            "E       nearest: * \"Connections\"*",
            "look.claw.yaml:3: ExpectationError",
        ]
    )  # fmt: skip
    assert "files.py" not in result.stdout.str()


def test_soft_failures_and_traces_name_their_lines(pytester: pytest.Pytester, run: Run) -> None:
    """Soft expectations fail together, each with its line; titled steps are named in the trace."""
    write(
        pytester,
        "test_it",
        """
        steps:
          - open_app: com.android.settings
          - title: Leave
            steps:
              - expect: {text: Nowhere, soft: true, timeout: 0}
              - home
          - expect: {text: Nothing, soft: true, timeout: 0}
        """,
    )

    result = run("--claw-trace=on")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*test_it.claw.yaml:6: - expect: {text: Nowhere*"])
    result.stdout.fnmatch_lines(["*test_it.claw.yaml:8: - expect: {text: Nothing*"])
    (trace,) = pytester.path.glob("claw-results/**/trace/*.jsonl")
    events = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    places = {
        (event["source"]["file"], event["source"]["line"], event["source"]["text"])
        for event in events
        if event.get("source")
    }
    assert places >= {
        ("test_it.claw.yaml", 4, "- title: Leave"),
        ("test_it.claw.yaml", 7, "- home"),
    }
    assert {file for file, _, _ in places} == {"test_it.claw.yaml"}
    assert "Leave" in {event.get("title") for event in events}


def test_a_secret_of_a_file_is_hidden(pytester: pytest.Pytester, run: Run) -> None:
    """In the lines of a failing test, and in those of a step that could not type it."""
    write(
        pytester,
        "test_it",
        """
        app: com.example.shop
        tests:
          it is typed:
            steps:
              - enter_text: {value: hunter-of-secrets, id: email, secret: true}
              - expect:
                  id: email
                  to_have_text:
                    expected: not hunter-of-secrets
                  timeout: 0
          it could not be typed:
            steps:
              - enter_text:
                  id: nowhere
                  value: fisher-of-secrets
                  secret: true
                  timeout: 0
        """,
    )

    result = run("-l")

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*enter_text: {value: [[]*]*, id: email*",
            *("*- enter_text:*", "*value: [[]*]*", "*secret: true*"),
        ]
    )
    assert "of-secrets" not in result.stdout.str()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("steps: [clik]", '1:9: there is no step "clik"; did you mean `click`?'),
        ("steps: [back", "this is not YAML"),
        ("steps: [{use: ../../more.claw.yaml}]", "1:15: use: *leaves the project"),
    ],
)
def test_a_mistake_is_an_error_at_collection(
    text: str, problem: str, suite: pytest.Pytester, run: Run
) -> None:
    """A file that makes no sense stops the run before a device is touched; no code is shown."""
    write(suite, "test_wrong", text)

    result = run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"TEST_FILE_INVALID: test_wrong.claw.yaml:*{problem}*"])
    assert "Traceback" not in result.stdout.str()


def test_a_marker_that_makes_no_sense_is_refused(pytester: pytest.Pytester, run: Run) -> None:
    """Markers of files are checked as those of Python, and unknown tags as pytest does it."""
    write(pytester, "test_it", "app: not a package\nsteps: [back]")
    write(pytester, "test_other", "steps: [back]\ntags:\n- unheard\n")

    assert "claw_app('not a package')" in run("test_it.claw.yaml").stderr.str()
    result = run("--strict-markers", "test_other.claw.yaml")

    result.stdout.fnmatch_lines(["test_other.claw.yaml:3: 'unheard' not found in `markers`*"])


def test_a_missing_variable_of_the_environment_is_named_at_its_line(
    pytester: pytest.Pytester, run: Run
) -> None:
    """A secret that is not there fails the test that uses it, at the line that names it."""
    write(
        pytester,
        "test_it",
        """
        variables:
          password: {env: NO_SUCH_PASSWORD}
        tests:
          with it: {steps: [{click: "${password}"}]}
          without it: {steps: [home]}
        """,
    )

    result = run()

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            ">     password: {env: NO_SUCH_PASSWORD}",
            "E   Failed: the environment variable NO_SUCH_PASSWORD is not set",
            "test_it.claw.yaml:3: Failed",
        ]
    )
    assert "PYTEST_PLUGINS" not in result.stdout.str()


def test_a_step_runs_a_recipe_of_a_skill(
    pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recipe is compiled with the values of the step; a failed one fails the test, or is data."""
    monkeypatch.delenv("CLAWPERATOR_SKILLS_REGISTRY", raising=False)
    add_skill(make_repository(pytester.path), "com.android.settings.open", recipe=RECIPE)
    write(
        pytester,
        "test_it",
        """
        variables: {app: com.android.settings}
        tests:
          it runs:
            steps:
              - skill: com.android.settings.open
                artifact: open
                with: {TASK_ID: test, APP: "${app}"}
              - expect: Connections
          it is data:
            steps:
              - skill: com.android.settings.open
                artifact: open
                with: {TASK_ID: test, APP: "${app}"}
                as: opened
              - expect: {result: opened, to_have_succeeded: true}
          a variable is missing:
            steps:
              - skill: com.android.settings.open
                artifact: open
        """,
    )

    result = run()

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines([">*- skill: com.android.settings.open", "E *COMPILE*"])


def test_app_and_device_have_the_keys_of_their_markers() -> None:
    """What `app:` and `device:` take is what the markers take."""
    written = [name for name in APP_KEYS if name in signature_of("claw_app")]
    required = {field.name for field in fields(Requirements)}

    assert set(APP_KEYS) == {field.name for field in fields(AppUse)} == set(written)
    assert APP_KEYS["missing"] == Choice(tuple(MISSING))
    assert set(DEVICE_KEYS) == required
    assert DEVICE_KEYS["form"] == Choice(get_args(Form))
