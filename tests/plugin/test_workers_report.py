"""What workers do reaches the controller: one run for all that must cross the processes."""

from __future__ import annotations

import json

import pytest

from pytest_clawperator.report.index import RUN_FILE
from tests.doubles.skill_repository import add_skill, make_repository
from tests.plugin.conftest import QUICK, Run, kept, names

APP = "package: com.example.a\nname: A\nstart: home\nscreens: {home: {title: A}}\n"
SUITE = """
import sys

import pytest
from pytest_clawperator import expect
from pytest_clawperator.snapshot.tree import Snapshot

SCREEN = Snapshot.from_xml(
    '<hierarchy><node class="android.widget.FrameLayout" bounds="[0,0][100,100]">'
    '<node text="Tea" class="android.widget.TextView" bounds="[0,0][50,50]"/>'
    "</node></hierarchy>"
)

def wants(text):
    expect.soft(SCREEN).to_have_node(text=text)

@pytest.mark.parametrize("number", range(4))
def test_fails(clawperator, number):
    clawperator.click(text="Go", timeout=0)

def test_soft():
    wants("Cheese")
    wants("Wine")

def test_soft_and_hard():
    wants("Bread")
    assert 1 == 2

@pytest.mark.claw_device(api=1)
@pytest.mark.parametrize("number", range(3))
def test_unfit(clawperator, number): pass

@pytest.mark.claw_timeout("soon")
@pytest.mark.claw_payload("no.json")
def test_bad_markers(): pass

def test_skill(clawperator):
    assert clawperator.run_skill("com.android.settings.check", ["x"]).exit_code == 0

def test_costly_check_is_made_by_the_controller():
    assert "pytest_clawperator.simulator.apps.load" not in sys.modules
"""
GOLDENS = """
from pytest_clawperator import expect
from test_it import SCREEN

def test_golden():
    expect(SCREEN).to_match_tree("shop")
"""


def test_reports_of_workers_are_complete(
    pytester: pytest.Pytester, run_workers: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Evidence, index, soft failures, shared errors, wrong markers, goldens, YAML and skills."""
    monkeypatch.delenv("CLAWPERATOR_SKILLS_REGISTRY", raising=False)
    monkeypatch.delenv("CLAWPERATOR_BIN", raising=False)
    # The script must be let on the device, whose lease the controller holds.
    script = '"$CLAWPERATOR_BIN" read --text Clawperator --device "$1" --json'
    add_skill(make_repository(pytester.path), "com.android.settings.check", script=script)
    (pytester.path / "test_yaml.claw.yaml").write_text("steps: [home]\n", encoding="utf-8")
    (pytester.path / "a.yaml").write_text(APP, encoding="utf-8")
    goldens = pytester.mkdir("goldens")
    (goldens / "test_goldens.py").write_text(GOLDENS, encoding="utf-8")
    screens = goldens / "__screens__"
    screens.mkdir()
    for name in ("shop.yaml", "old.yaml"):
        (screens / name).write_text('- text "Tea"\n', encoding="utf-8")
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(test_it=SUITE)

    result = run_workers(
        *("-n2", "--claw-device=sim", "--claw-sim-app=a.yaml", "--claw-strict", "-rfE"),
        *QUICK[:2],
        "--claw-trace=on",
    )

    # Two tests of the skill, the file and the golden; the shared error is one.
    result.assert_outcomes(passed=4, failed=6, errors=2)
    for text in ("Cheese", "Wine", "Bread"):
        result.stdout.fnmatch_lines([f"*expected node(text='{text}')*"])
    result.stdout.fnmatch_lines(
        [
            "E  *NodeNotFoundError: [[]127.0.0.1:*[]] NODE_NOT_FOUND: click: no node*",
            "*and 2 more: claw_device: api=1 is required, *",
            "FAILED test_it.py::test_fails[[]?[]] - NODE_NOT_FOUND: click: no node(text='Go')*",
            "*2 errors, 2 same error in *",
        ]
    )
    result.stdout.fnmatch_lines(["*claw_payload('no.json'): *", "*claw_timeout('soon'): *"])
    unused = result.stdout.str().split("goldens that no test uses")[1]
    assert ("__screens__/old.yaml" in unused, "shop.yaml" in unused) == (True, False)

    (run_folder,) = (pytester.path / "claw-results").iterdir()
    found = kept(pytester)
    failed = [f"test_fails-{number}" for number in range(4)]
    for test in failed:
        assert names(found[test])[:2] == ["envelopes.json", "screenshot.png"]
    result.stdout.fnmatch_lines(
        [
            f"clawperator: evidence of failures goes to claw-results/{run_folder.name}",
            *("*= evidence =*", f"claw-results/{run_folder.name}", "  test_it-test_fails-?-*"),
        ]
    )
    lines = [json.loads(line) for line in (run_folder / RUN_FILE).read_text("ascii").splitlines()]
    tests = [line for line in lines if line["kind"] == "test"]
    assert {test["worker"] for test in tests} == {"gw0", "gw1"}
    devices = {test["worker"]: test["devices"] for test in tests if "devices" in test}
    assert len({tuple(serials) for serials in devices.values()}) == len(devices)
