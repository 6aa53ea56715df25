"""``claw_payload``: the payload of a test, and the fixture that gives it."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run


def test_fixture(pytester: pytest.Pytester, run: Run) -> None:
    """A file beside the test, a dict or a list of actions can be executed as they are."""
    pytester.makepyfile(
        """
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
        """
    )
    text = '{"actions": [{"id": "snap", "type": "snapshot_ui"}]}'
    pytester.mkdir("payloads").joinpath("snap.json").write_text(text, encoding="utf-8")

    result = run("--strict-markers")

    result.assert_outcomes(passed=3)


def test_invalid_payload(pytester: pytest.Pytester, run_plain: Run) -> None:
    """A payload that breaks the contract fails where the fixture is used, without a device."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.claw_payload([{"type": "clik"}])
        def test_it(clawperator_payload):
            pass
        """
    )

    result = run_plain()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*EXECUTION_VALIDATION_FAILED: *", "*did you mean `click`?"])


def test_no_marker(pytester: pytest.Pytester, run_plain: Run) -> None:
    """The fixture without a marker says which to write."""
    pytester.makepyfile("def test_it(clawperator_payload): pass")

    result = run_plain()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "clawperator_payload: the test declares no payload; mark it with"
            " @pytest.mark.claw_payload('payloads/login.json')"
        ]
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("5", "a payload is a path, a dict or a list of actions, found 5"),
        ("", "it is written claw_payload(path_or_dict)"),
    ],
)
def test_nonsense(pytester: pytest.Pytester, run_plain: Run, given: str, said: str) -> None:
    """What can be no payload ends the run with what is allowed."""
    pytester.makepyfile(
        test_it=f"import pytest\n\n@pytest.mark.claw_payload({given})\ndef test_it(): pass\n"
    )

    result = run_plain()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: test_it.py::test_it: claw_payload({given}): {said}"])
