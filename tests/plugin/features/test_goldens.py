"""Goldens under pytest: the option, the ini value, unused ones, and ``==``."""

from __future__ import annotations

from pathlib import Path

import pytest

PRELUDE = """
    from pytest_clawperator.assertions.expect import expect
    from pytest_clawperator.snapshot.tree import Snapshot

    def screen(*texts):
        nodes = "".join(
            f'<node text="{text}" class="android.widget.TextView" bounds="[0,0][50,50]"/>'
            for text in texts
        )
        root = '<node class="android.widget.FrameLayout" bounds="[0,0][100,100]">'
        return Snapshot.from_xml(f"<hierarchy>{root}{nodes}</node></hierarchy>")
"""
MATCHES = """
    def test_matches():
        expect(screen("Tea", "Milk")).to_match_tree("shop")
"""


def run(pytester: pytest.Pytester, *options: str, xdist: bool = False) -> pytest.RunResult:
    """Run the suite, with two workers or without any."""
    workers = ["-p", "xdist", "-n", "2"] if xdist else []
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", *workers, *options)


def golden(folder: Path, name: str = "shop.yaml", text: str = '- text "Tea"\n') -> Path:
    """Put a golden in place."""
    path = folder / "__screens__" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("how", ["option", "ini"])
def test_goldens_are_written_on_request(pytester: pytest.Pytester, how: str) -> None:
    """Goldens are written by option or ini value, next to the test, and listed."""
    pytester.makepyfile(PRELUDE + MATCHES)
    if how == "ini":
        pytester.makeini("[pytest]\nclaw_update_goldens = true\n")

    result = run(pytester, *(["--claw-update-goldens"] if how == "option" else []))

    result.assert_outcomes(passed=1)
    written = pytester.path / "__screens__" / "shop.yaml"
    assert written.read_text(encoding="utf-8") == '- text "Tea"\n- text "Milk"\n'
    result.stdout.fnmatch_lines(["*= goldens written =*", "__screens__/shop.yaml"])


def test_missing_golden_fails(pytester: pytest.Pytester) -> None:
    """Without the option nothing is written, and the test says what to do."""
    pytester.makepyfile(PRELUDE + MATCHES)

    result = run(pytester)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*hint: Run pytest with --claw-update-goldens to write*"])
    assert not (pytester.path / "__screens__").exists()


def test_golden_is_the_tests_own(pytester: pytest.Pytester) -> None:
    """A golden used through a helper in another folder lies next to the test."""
    helpers = pytester.mkpydir("helpers")
    (helpers / "pages.py").write_text(
        "def check(expect, snapshot):\n    expect(snapshot).to_match_tree('shop')\n"
    )
    pytester.makepyfile(
        PRELUDE
        + """
    def test_helped():
        from helpers.pages import check
        check(expect, screen("Tea"))
    """
    )
    golden(pytester.path)
    pytester.syspathinsert()

    result = run(pytester)

    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("xdist", [False, True], ids=["plain", "xdist"])
def test_unused_goldens_are_listed(pytester: pytest.Pytester, xdist: bool) -> None:
    """After a full run goldens that no test uses are listed, whoever ran the tests."""
    pytester.makepyfile(PRELUDE + MATCHES, test_other=PRELUDE + MATCHES.replace("shop", "shop2"))
    unsure = pytester.mkpydir("unsure")
    (unsure / "test_skipped.py").write_text("import pytest\ndef test_x(): pytest.skip()\n")
    golden(unsure)
    for name in ("shop.yaml", "shop2.yaml", "old.yaml", "old-10x10.png", "notes.txt"):
        golden(pytester.path, name)

    result = run(pytester, xdist=xdist)

    result.assert_outcomes(passed=2, skipped=1)
    listed = result.stdout.str().split("goldens that no test uses")[1]
    assert "__screens__/old.yaml" in listed
    assert "__screens__/old-10x10.png" in listed
    assert "unsure: unknown, because" in listed
    assert "shop" not in listed
    assert "notes" not in listed


@pytest.mark.parametrize(
    "options", [("-k", "matches"), ("test_one.py",), ("test_one.py::test_matches",), ("--lf",)]
)
def test_part_of_a_run_proves_nothing(pytester: pytest.Pytester, options: tuple[str, ...]) -> None:
    """Where only some tests were asked for, nothing is said about goldens."""
    pytester.makepyfile(
        test_one=PRELUDE + MATCHES, test_two=PRELUDE + "\n    def test_other(): pass\n"
    )
    golden(pytester.path)
    golden(pytester.path, "old.yaml")

    result = pytester.runpytest_inprocess(*options)

    assert result.ret == 0
    assert "no test uses" not in result.stdout.str()


@pytest.mark.parametrize(
    "other",
    [
        "import pytest\ndef test_skipped(): pytest.skip('no phone')",
        "import pytest\npytest.skip('no phone', allow_module_level=True)",
        "def test_failed(): assert 0",
    ],
    ids=["skipped", "skipped file", "failed"],
)
def test_tests_that_did_not_pass_prove_nothing(pytester: pytest.Pytester, other: str) -> None:
    """A test that did not run to its end may be the one that uses a golden; that is said."""
    pytester.makepyfile(test_one=PRELUDE + MATCHES, test_two=other)
    golden(pytester.path)
    golden(pytester.path, "old.yaml")

    result = run(pytester)

    result.stdout.fnmatch_lines(
        ["*: unknown, because 1 of its tests did not finish (failed or skipped)"]
    )
    assert "old.yaml" not in result.stdout.str()


def test_goldens_without_tests_are_listed(pytester: pytest.Pytester) -> None:
    """Goldens in a folder that has no tests any more are unused, too."""
    pytester.makepyfile(PRELUDE + MATCHES)
    golden(pytester.path)
    golden(pytester.mkdir("gone"), "old.yaml")

    result = run(pytester)

    listed = result.stdout.str().split("goldens that no test uses")[1]
    assert "gone/__screens__/old.yaml" in listed


EQUAL = """
    def test_text():
        assert screen("Tea", "Milk") == '''
            - text "Milk"
        '''.replace(" " * 12, "")
        assert screen("Tea") != '- text "Milk"'
        assert screen("Tea") == screen("Tea")
        assert screen("Tea") != screen("Milk")

    def test_golden_text():
        assert screen("Tea") == '- text "Milk"'

    def test_two_screens():
        assert screen("Tea") == screen("Milk")

    def test_no_golden():
        assert screen("Tea") == "Milk"
"""


def test_equality_explains_itself(pytester: pytest.Pytester) -> None:
    """A plain assert shows how a screen differs from a golden, or from another screen."""
    pytester.makepyfile(PRELUDE + EQUAL)

    result = run(pytester)

    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [
            "E*assert <Snapshot of *> == golden",
            "E*1 of 1 golden lines is not there (- golden, + screen):",
            'E*- - text "Milk"',
            'E*+ - text "Tea"',
            "E*They show different things (- right, + left):",
            'E*- - text "Milk"',
            'E*+ - text "Tea"',
            "E*== a text that is not a golden",
            "E*line 1, column 1*",
        ]
    )


def test_plain_asserts_explain_themselves(pytester: pytest.Pytester) -> None:
    """``find`` names near misses, and an envelope the step that failed."""
    pytester.makepyfile(
        PRELUDE
        + """
    from pytest_clawperator import ResultEnvelope

    def test_find():
        assert screen("Wi-Fi").find(text="WiFi")

    def test_ok():
        step = {"id": "tap", "actionType": "click", "success": False, "data": {"error": "X"}}
        envelope = ResultEnvelope.model_validate({
            "commandId": "c", "taskId": "t", "status": "success", "stepResults": [step],
            "error": None,
        })
        assert envelope.ok
    """
    )

    result = run(pytester)

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "E*<NoMatch *text is `Wi-Fi`, wanted `WiFi`*",
            'E*where False = <ResultEnvelope failed: step "tap" (click) failed: X; 1 step>.ok',
        ]
    )
