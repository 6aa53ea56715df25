"""The markers: what each does for its test, and what is refused before any test runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.conftest import Run

SECONDS = "the value must be a number of seconds"
LEVELS = "Allowed: a level or comparisons"
# What cannot be asked for, by the marker, with what is allowed.
IMPOSSIBLE = {
    "claw_app": {
        "": "it is written claw_app(package, launch=True, stop=True, clear=False, grant=[],*)",
        "'com.example', start=True": "it is written claw_app(package, launch=True, *)",
        "'shop'": "'shop' is not the name of an Android package. It is *",
        "5": "the package is a text such as 'com.example.shop', found 5",
        "'com.example', missing=True": "missing=True is not a choice; allowed is 'error' *",
        "'com.example', clear=1": "clear=1 is neither True nor False",
        "'com.example', grant=['CAMERA']": "'CAMERA' is not the name of a permission. *",
        "'com.example', grant='a.B'": "grant='a.B' is not a list *; write grant=['a.B']",
        "'com.example', grant=5": "grant=5 is not a list of permissions; write grant=['and*",
    },
    "claw_device": {
        "apy=33": "unknown requirement apy. Allowed: api=a level *; abi=*; form='phone'*",
        "api='new'": f"api='new' is not a requirement *. {LEVELS},*",
        "api=True": "api=True is not a requirement*",
        "form='watch'": "form='watch' is not a requirement *. Allowed: 'phone' or 'tablet'.",
        "emulator='no'": "emulator='no' is not a requirement *. Allowed: True or False.",
        "model=''": "model='' is not a requirement *. Allowed: a text*",
        "api='>=36,<30'": f"api='>=36,<30' is not a requirement *. {LEVELS}*",
        "": "it requires nothing. Allowed: api=a level *; abi=*; form='phone' or*",
        "33": "it is written claw_device(api=*, manufacturer=None)",
    },
    "claw_matchers": {
        "'any'": "found 'any', allowed is 'strict' or 'first'",
        "": "it is written claw_matchers(kind)",
    },
    "claw_payload": {
        "5": "a payload is a path, a dict or a list of actions, found 5",
        "": "it is written claw_payload(path_or_dict)",
        "'x.json', 'y.json'": "it is written claw_payload(path_or_dict)",
        "'no.json'": "the file */no.json is not there; a path starts from the folder of *",
        "''": "the file */test_impossible_* is a folder; a path starts from the folder of *",
        "{'a': 1}": "EXECUTION_VALIDATION_FAILED: 2 problems",
        "{'actions': {1, 2}}": "EXECUTION_VALIDATION_FAILED: *",
        "{'a': 'x' * 5000}": "EXECUTION_VALIDATION_FAILED: 2 problems",
    },
    "claw_timeout": {
        "'5 s'": f"{SECONDS}, found '5 s'. *",
        "-1": f"{SECONDS}, found -1. *",
        "True": f"{SECONDS}, found True. *",
        "20000": "the value is at most 600 seconds, found 20000. Seconds, not milliseconds? *",
        "": "it is written claw_timeout(seconds)",
    },
}


@pytest.mark.parametrize("marker", IMPOSSIBLE)
def test_impossible_values_end_the_run(
    pytester: pytest.Pytester, run_plain: Run, marker: str
) -> None:
    """All of them, with what is allowed, before the first test, which is not run."""
    cases = IMPOSSIBLE[marker]
    tests = "\n".join(
        f"@pytest.mark.{marker}({given})\ndef test_{number}(): pass"
        for number, given in enumerate(cases)
    )

    result = run_plain(suite=f"import pytest\ndef test_first(): raise AssertionError\n{tests}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.assert_outcomes()
    assert "x" * 300 not in result.stderr.str()  # of a long value only the beginning is shown
    for number, (given, why) in enumerate(cases.items()):
        shown = "{'a': 'xxx*xxx..." if "5000" in given else given
        line = f"ERROR: test_it.py::test_{number}: {marker}({shown}): {why}"
        result.stderr.fnmatch_lines([line.replace("[", "[[]")])


def test_many_impossible_values_are_counted(run_plain: Run) -> None:
    """Once for all parameters of a test; of very many the first are shown."""
    few = """
        import pytest

        @pytest.mark.claw_payload(1)
        @pytest.mark.parametrize("number", range(3))
        def test_many(number): pass

        @pytest.mark.claw_timeout("soon")
        @pytest.mark.claw_device(form="watch")
        def test_two(): pass
    """
    many = "\n".join(
        f"@pytest.mark.claw_payload({number})\ndef test_{number}(): pass" for number in range(23)
    )

    shown = [
        [line for line in run_plain(suite=suite).errlines if line.startswith("ERROR: ")]
        for suite in (few, f"import pytest\n{many}")
    ]

    assert [line.split("(")[0] for line in shown[0]] == [
        "ERROR: test_it.py::test_many[0]: claw_payload",
        "ERROR: test_it.py::test_two: claw_device",
        "ERROR: test_it.py::test_two: claw_timeout",
    ]
    assert len(shown[1]) == 21
    assert shown[1][-1] == "ERROR: ... and 3 more markers that make no sense"


@pytest.mark.parametrize(("registered", "outcome"), [("", 4), ("claw_ap: ours", 0)])
def test_a_misspelt_marker_ends_the_run(
    pytester: pytest.Pytester, run: Run, registered: str, outcome: int
) -> None:
    """A marker that is nearly one of ours would do nothing; one that a project has is its own."""
    pytester.makeini(f"[pytest]\nmarkers = {registered}\n")

    result = run(
        *("-W", "ignore::pytest.PytestUnknownMarkWarning"),
        suite="import pytest\n\n@pytest.mark.claw_ap('com.a')\ndef test_it(clawperator): pass\n",
    )

    assert result.ret == outcome
    line = "ERROR: test_it.py::test_it: claw_ap('com.a'): no such marker; did you mean claw_app?"
    assert (line in result.errlines) is bool(outcome)


def test_the_closest_timeout_and_matchers_are_those_of_the_test(run: Run) -> None:
    """The option holds for tests without a marker."""
    result = run(
        *("--strict-markers", "--claw-timeout", "3"),
        suite="""
        import pytest

        @pytest.mark.claw_timeout(30)
        @pytest.mark.claw_matchers("first")
        class TestSlow:
            def test_slow(self, clawperator):
                assert (clawperator.timeout, clawperator.matchers) == (30, "first")

            @pytest.mark.claw_timeout(0.5)
            @pytest.mark.claw_matchers("strict")
            def test_quick(self, clawperator):
                assert (clawperator.timeout, clawperator.matchers) == (0.5, "strict")

        def test_usual(clawperator, clawperator_client):
            assert (clawperator_client.timeout, clawperator_client.matchers) == (3, "strict")
        """,
    )

    result.assert_outcomes(passed=3)


def test_a_device_that_does_not_fit_skips_the_test(run: Run) -> None:
    """With the reasons, for all markers above it, and before its own fixtures do anything."""
    result = run(
        "--strict-markers",
        suite="""
        import pytest

        pytestmark = pytest.mark.claw_device(api=">=30")

        @pytest.fixture(scope="session")
        def logged_in(clawperator_client):
            raise AssertionError

        @pytest.mark.claw_device(api="<99", form="phone", emulator=False, model="pixel *")
        def test_met(clawperator): pass

        @pytest.mark.claw_device(form="tablet", abi="x86")
        def test_unmet(clawperator): raise AssertionError

        @pytest.mark.claw_device(emulator=True)
        class TestEmulator:
            @pytest.mark.claw_device(form="phone")
            def test_it(self, clawperator): raise AssertionError

        @pytest.mark.claw_device(api=1)
        def test_before_fixtures(logged_in): raise AssertionError

        @pytest.mark.claw_device(api=1)
        def test_without_fixture(): raise AssertionError
        """,
    )

    result.assert_outcomes(passed=1, skipped=4)
    result.stdout.fnmatch_lines_random(
        [
            "SKIPPED*claw_device: abi='x86' is required, the device has 'arm64-v8a';"
            " form='tablet' is required, the device has 'phone': *(Google Pixel 9, API 36)",
            "SKIPPED*emulator=True is required, the device has False*",
        ]
    )


def test_a_declared_payload_can_be_executed(pytester: pytest.Pytester, run: Run) -> None:
    """From a file beside the test, a dict or a list of actions."""
    text = '{"actions": [{"id": "snap", "type": "snapshot_ui"}]}'
    pytester.mkdir("payloads").joinpath("snap.json").write_text(text, encoding="utf-8")

    result = run(
        "--strict-markers",
        suite="""
        import pytest

        ACTIONS = [{"id": "snap", "type": "snapshot_ui"}]

        @pytest.mark.parametrize(
            "kind",
            [
                pytest.param("file", marks=pytest.mark.claw_payload("payloads/snap.json")),
                pytest.param("dict", marks=pytest.mark.claw_payload({"actions": ACTIONS})),
                pytest.param("list", marks=pytest.mark.claw_payload(ACTIONS)),
            ],
        )
        def test_it(clawperator, clawperator_payload, kind):
            assert clawperator.execute(clawperator_payload).step("snap").success
        """,
    )

    result.assert_outcomes(passed=3)


def test_a_payload_that_cannot_be_used_is_an_error(
    pytester: pytest.Pytester, run_plain: Run
) -> None:
    """A file that breaks the contract where the fixture is used; no marker: which to write."""
    Path(pytester.path / "wrong.json").write_text('[{"type": "clik"}]', encoding="utf-8")

    result = run_plain(
        suite="""
        import pytest

        @pytest.mark.claw_payload("wrong.json")
        def test_wrong(clawperator_payload): pass

        def test_none(clawperator_payload): pass
        """
    )

    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        [
            "*EXECUTION_VALIDATION_FAILED: *",
            "*did you mean `click`?",
            "clawperator_payload: the test declares no payload; mark it with"
            " @pytest.mark.claw_payload('payloads/login.json')",
        ]
    )
