"""``claw_payload``: the payload of a test, and the fixture that gives it."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run


def test_a_declared_payload_can_be_executed(pytester: pytest.Pytester, run: Run) -> None:
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


def test_a_file_that_breaks_the_contract_fails_where_it_is_used(
    pytester: pytest.Pytester, run_plain: Run
) -> None:
    """A file that breaks the contract fails where the fixture is used, without a device."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.claw_payload("wrong.json")
        def test_it(clawperator_payload):
            pass
        """
    )
    pytester.path.joinpath("wrong.json").write_text('[{"type": "clik"}]', encoding="utf-8")

    result = run_plain()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*EXECUTION_VALIDATION_FAILED: *", "*did you mean `click`?"])


def test_the_fixture_without_a_marker_says_which_to_write(
    pytester: pytest.Pytester, run_plain: Run
) -> None:
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
        ("5", ["a payload is a path, a dict or a list of actions, found 5"]),
        ("", ["it is written claw_payload(path_or_dict)"]),
        ("'x.json', 'y.json'", ["it is written claw_payload(path_or_dict)"]),
        ("'no.json'", ["the file */no.json is not there; a path starts from the folder of *"]),
        (
            "''",
            ["the file */test_an_impossible_* is a folder; a path starts from the folder of *"],
        ),
        ("{'a': 1}", ["EXECUTION_VALIDATION_FAILED: 2 problems", "1. *", "2. unknown key a *"]),
        ("{'actions': {1, 2}}", ["EXECUTION_VALIDATION_FAILED: *", "*found: *"]),
    ],
)
def test_an_impossible_payload_ends_the_run(
    pytester: pytest.Pytester, run_plain: Run, given: str, said: list[str]
) -> None:
    """What can be no payload ends the run with what is allowed, whether it is used or not."""
    pytester.makepyfile(
        test_it=f"import pytest\n\n@pytest.mark.claw_payload({given})\ndef test_it(): pass\n"
    )

    result = run_plain()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    first, *rest = said
    result.stderr.fnmatch_lines(
        [f"ERROR: test_it.py::test_it: claw_payload({given}): {first}", *rest]
    )


def test_all_nonsense_at_once(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Every marker that makes no sense is told before the first test, once for all its tests."""
    pytester.makepyfile(
        test_it="""
        import pytest

        def test_first():
            raise AssertionError

        @pytest.mark.claw_payload(1)
        @pytest.mark.parametrize("number", range(3))
        def test_many(number): pass

        @pytest.mark.claw_timeout("soon")
        @pytest.mark.claw_device(form="watch")
        def test_two(): pass
        """
    )

    result = run_plain()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    told = [line for line in result.errlines if line.startswith("ERROR: ")]
    starts = [line.split("(")[0] for line in told]
    assert starts == [
        "ERROR: test_it.py::test_many[0]: claw_payload",
        "ERROR: test_it.py::test_two: claw_device",
        "ERROR: test_it.py::test_two: claw_timeout",
    ]
    result.assert_outcomes()


def test_more_nonsense_than_anybody_reads(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Of very many such markers the first are told, and how many more there are."""
    tests = "\n".join(
        f"@pytest.mark.claw_payload({number})\ndef test_{number}(): pass" for number in range(23)
    )
    pytester.makepyfile(f"import pytest\n{tests}")

    result = run_plain()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    told = [line for line in result.errlines if line.startswith("ERROR: ")]
    assert len(told) == 21
    assert told[-1] == "ERROR: ... and 3 more markers that make no sense"


def test_a_long_payload(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Of a marker that fills the screen only the beginning is shown."""
    pytester.makepyfile(
        "import pytest\n@pytest.mark.claw_payload({'a': 'x' * 5000})\ndef test_it(): pass"
    )

    result = run_plain()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *claw_payload({'a': 'xxx*xxx...): EXECUTION_VALID*"])
    assert "x" * 300 not in result.stderr.str()


def test_nonsense_in_a_worker(pytester: pytest.Pytester, run_workers: Run) -> None:
    """With workers, which cannot refuse the run, the test itself fails with all its problems."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.claw_timeout("soon")
        @pytest.mark.claw_payload("no.json")
        def test_it(): pass
        """
    )

    result = run_workers("-n", "1")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*claw_payload('no.json'): *", "*claw_timeout('soon'): *"])
