"""Goldens under pytest: the option, the ini value, unused ones, and ``==``."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.plugin.goldens import GoldenUse
from tests.plugin.conftest import Run

PRELUDE = """
from pytest_clawperator import expect
from pytest_clawperator.snapshot.tree import Snapshot

def screen(*texts):
    nodes = "".join(
        f'<node text="{text}" class="android.widget.TextView" bounds="[0,0][50,50]"/>'
        for text in texts
    )
    root = '<node class="android.widget.FrameLayout" bounds="[0,0][100,100]">'
    return Snapshot.from_xml(f"<hierarchy>{root}{nodes}</node></hierarchy>")
"""
MATCHES = f"""{PRELUDE}
def test_matches():
    expect(screen("Tea", "Milk")).to_match_tree("shop")
"""


def golden(folder: Path, *names: str) -> None:
    """Put goldens in place."""
    for name in names or ("shop.yaml",):
        path = folder / "__screens__" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text('- text "Tea"\n', encoding="utf-8")


@pytest.mark.parametrize("how", ["option", "ini", ""])
def test_goldens_are_written_on_request(
    pytester: pytest.Pytester, run_plain: Run, how: str
) -> None:
    """By option or ini value, next to the test; else a test without its golden says what to do."""
    if how == "ini":
        pytester.makeini("[pytest]\nclaw_update_goldens = true\n")

    result = run_plain(*(["--claw-update-goldens"] if how == "option" else []), suite=MATCHES)

    written = pytester.path / "__screens__" / "shop.yaml"
    if how:
        result.assert_outcomes(passed=1)
        assert written.read_text(encoding="utf-8") == '- text "Tea"\n- text "Milk"\n'
        result.stdout.fnmatch_lines(["*= goldens written =*", "__screens__/shop.yaml"])
    else:
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["E*hint: Run pytest with --claw-update-goldens to write*"])
        assert not written.parent.exists()


TWO_SCREENS = f"""{PRELUDE}
import pytest

@pytest.mark.parametrize("text", ["Tea", "Tea", "Milk", "Milk"])
def test_screen(text):
    expect(screen(text)).to_match_tree("shop")
"""


def test_one_name_for_two_screens_names_both_tests(run_plain: Run) -> None:
    """The golden of the first is kept."""
    result = run_plain("--claw-update-goldens", suite=TWO_SCREENS)

    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        ["E*two screens in this run: *::test_screen[[]Tea0] *::test_screen[[]Milk0] shows*"]
    )


def test_a_test_that_is_run_again_writes_its_golden_again(
    pytester: pytest.Pytester, run_plain: Run
) -> None:
    """What the attempt before it wrote is not another test's."""
    result = run_plain(
        *("--claw-update-goldens", "-p", "rerunfailures", "--reruns=1"),
        suite=f"""{PRELUDE}
texts = ["Loading", "Tea"]

def test_screen():
    text = texts.pop(0)
    expect(screen(text)).to_match_tree("shop")
    assert not texts
""",
    )

    result.assert_outcomes(passed=1)
    assert (pytester.path / "__screens__" / "shop.yaml").read_text() == '- text "Tea"\n'


def test_workers_share_which_goldens_are_needed(
    pytester: pytest.Pytester, run_workers: Run
) -> None:
    """Two workers, each of which gets two of the tests, do not write one golden in turn."""
    pytester.makepyfile(test_it=TWO_SCREENS)

    result = run_workers("-n2", "--claw-update-goldens")

    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["E*two screens in this run: test_it.py::test_screen*"])
    assert len((pytester.path / "__screens__" / "shop.yaml").read_text().splitlines()) == 1


def test_unused_goldens_are_listed(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Also in a folder that has no tests any more; a golden used by a helper is the test's own."""
    helpers = pytester.mkpydir("helpers")
    (helpers / "pages.py").write_text(
        "def check(expect, snapshot):\n    expect(snapshot).to_match_tree('helped')\n"
    )
    pytester.makepyfile(
        test_helped=f"""{PRELUDE}
def test_helped():
    from helpers.pages import check
    check(expect, screen("Tea"))
"""
    )
    pytester.syspathinsert()
    unsure = pytester.mkpydir("unsure")
    (unsure / "test_skipped.py").write_text("import pytest\ndef test_x(): pytest.skip()\n")
    golden(unsure)
    golden(pytester.mkdir("gone"), "old.yaml")
    golden(pytester.path, "shop.yaml", "helped.yaml", "old.yaml", "old-10x10.png", "notes.txt")

    result = run_plain(suite=MATCHES)

    result.assert_outcomes(passed=2, skipped=1)
    listed = result.stdout.str().split("goldens that no test uses")[1].split("\n")
    assert [line for line in listed if "__screens__" in line] == [
        "__screens__/old-10x10.png",
        "__screens__/old.yaml",
        "gone/__screens__/old.yaml",
    ]
    assert any(line.startswith("unsure: unknown, because") for line in listed)


@pytest.mark.parametrize(
    "options", [("-k", "matches"), ("test_it.py",), ("test_it.py::test_matches",), ("--lf",)]
)
def test_part_of_a_run_proves_nothing(pytester: pytest.Pytester, options: tuple[str, ...]) -> None:
    """If only some tests were asked for, nothing is said about goldens."""
    pytester.makepyfile(test_it=MATCHES, test_two=f"{PRELUDE}\ndef test_other(): pass\n")
    golden(pytester.path, "shop.yaml", "old.yaml")

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
def test_tests_that_did_not_pass_prove_nothing(
    pytester: pytest.Pytester, run_plain: Run, other: str
) -> None:
    """Such a test may be the one that uses a golden; a line says so."""
    pytester.makepyfile(test_two=other)
    golden(pytester.path, "shop.yaml", "old.yaml")

    result = run_plain(suite=MATCHES)

    result.stdout.fnmatch_lines(
        ["*: unknown, because 1 of its tests did not finish (failed or skipped)"]
    )
    assert "old.yaml" not in result.stdout.str()


def test_a_worker_that_ran_a_part_or_died_proves_nothing() -> None:
    """What it used counts all the same."""
    use, part = GoldenUse(is_full=True), GoldenUse(is_full=False)
    part.used.add(Path("a.yaml"))

    use.add(part.to_output())
    died = GoldenUse(is_full=True)
    died.add(None)

    assert (use.used, use.is_full, died.is_full) == ({Path("a.yaml")}, False, False)


def test_plain_asserts_explain_themselves(run_plain: Run) -> None:
    """How a screen differs from a golden or another screen; near misses; the step that failed."""
    result = run_plain(
        suite=f"""{PRELUDE}
from pytest_clawperator import ResultEnvelope

def test_equal():
    assert screen("Tea", "Milk") == '- text "Milk"'
    assert screen("Tea") != '- text "Milk"'
    assert screen("Tea") == screen("Tea")
    assert screen("Tea") != screen("Milk")

def test_golden_text():
    assert screen("Tea") == '- text "Milk"'

def test_two_screens():
    assert screen("Tea") == screen("Milk")

def test_no_golden():
    assert screen("Tea") != "Milk"

def test_find():
    screen("Wi-Fi").find(text="WiFi")

def test_in():
    assert "WiFi" in screen("Wi-Fi")

def test_ok():
    step = {{"id": "tap", "actionType": "click", "success": False, "data": {{"error": "X"}}}}
    envelope = ResultEnvelope.model_validate({{
        "commandId": "c", "taskId": "t", "status": "success", "stepResults": [step],
        "error": None,
    }})
    assert envelope.ok
"""
    )

    result.assert_outcomes(passed=1, failed=6)
    result.stdout.fnmatch_lines(
        [
            "E*assert <Snapshot of *> == golden",
            "E*1 of 1 golden lines is not there (- golden, + screen):",
            *('E*- - text "Milk"', 'E*+ - text "Tea"'),
            "E*They show different things (- right, + left):",
            *('E*- - text "Milk"', 'E*+ - text "Tea"'),
            "E*GOLDEN_UNREADABLE: line 1, column 1 of the golden: a line begins with*",
            *("E*NODE_NOT_FOUND: no node fits textEquals='WiFi'", "E*nearest: *wanted `WiFi`*"),
            *("E*assert 'WiFi' in <Snapshot *", "E*text is `Wi-Fi`, wanted `WiFi`*"),
            'E*where False = <ResultEnvelope failed: step "tap" (click) failed: X; 1 step>.ok',
        ]
    )
