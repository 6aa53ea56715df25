"""Writes the tests of the table, and reads what the reports say of them."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import indent
from xml.etree import ElementTree

from pytest_clawperator.report.index import read_run
from pytest_clawperator.report.trace import glance
from tests.acceptance.verdict_table import USUAL, Cell, Channels
from tests.doubles.skill_repository import RECIPE, add_skill, make_repository

CONFTEST = '''
import os
import re
from pathlib import Path

import pytest

from pytest_clawperator import ClawperatorError, SimulatorScenario, expect

HERE = Path(__file__).parent
LOST = {"text": "Nowhere"}


def pytest_clawperator_simulator_scenario():
    return SimulatorScenario(seed=6, time_scale=0.05)


def crash(claw):
    claw.device.shell("sim fault operator_crash times=1")


def passes(claw, skip):
    claw.home()


def fails(claw, skip):
    claw.wait_for_node(**LOST, timeout=0)


def soft(claw, skip):
    expect.soft(claw.node(**LOST)).to_be_visible(timeout=0)


def skips(claw, skip):
    skip("not today")


def soft_then_skip(claw, skip):
    soft(claw, skip)
    skip("the rest")


def trouble(claw, skip):
    crash(claw)
    claw.home()


def wrapped(claw, skip):
    try:
        trouble(claw, skip)
    except ClawperatorError as error:
        raise AssertionError("not signed in") from error


def trouble_once(claw, skip):
    name = re.sub(r"\\W", "-", os.environ["PYTEST_CURRENT_TEST"].split()[0])
    try:
        (HERE / f"{name}.once").touch(exist_ok=False)
    except FileExistsError:
        return
    trouble(claw, skip)


def unreadable(claw, skip):
    claw.device.shell("sim fault truncated_dump times=1")
    claw.snapshot()


def act(situation, claw, skip=pytest.skip):
    name = situation.removeprefix("xfail_").removeprefix("strict_")
    globals()[{"xpass": "passes"}.get(name, name)](claw, skip)


def situation_of(name):
    found = [one for one in SITUATIONS if one in name]
    return max(found, key=len, default="")


def pytest_collection_modifyitems(items):
    for item in items:
        situation = situation_of(item.name)
        if situation.startswith(("xfail", "strict")) and "expected" not in item.name:
            strict = situation.startswith("strict")
            item.add_marker(pytest.mark.xfail(reason="known", strict=strict))


@pytest.fixture
def armed(request, clawperator):
    """Have something happen in a test that has no Python."""
    situation = situation_of(request.node.name)
    if situation.endswith("trouble"):
        crash(clawperator)
    elif situation.endswith("unreadable"):
        clawperator.device.shell("sim fault missing_dump times=1")
    elif request.node.get_closest_marker("claw_skill") and not situation.endswith("fails"):
        clawperator.home()


@pytest.fixture(autouse=True)
def armed_skill(request):
    if request.node.get_closest_marker("claw_skill"):
        request.getfixturevalue("armed")


@pytest.fixture
def before(request, clawperator):
    act(situation_of(request.node.name), clawperator)


@pytest.fixture
def after(request, clawperator):
    yield
    act(situation_of(request.node.name), clawperator)


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(autouse=True)
def for_doctests(doctest_namespace):
    doctest_namespace["act"] = act
'''

HEAD = """
import asyncio
import unittest

import pytest
from conftest import act
"""

CASE = """
class TestCase(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def use(self, clawperator):
        self.claw = clawperator
"""


def _function(situation: str) -> str:
    return f"""
def test_{situation}_function(clawperator):
    act("{situation}", clawperator)
"""


def _method(situation: str) -> str:
    return f"""
    def test_{situation}_method(self, clawperator):
        act("{situation}", clawperator)
"""


def _parameter(situation: str) -> str:
    return f"""
@pytest.mark.parametrize("number", [1])
def test_{situation}_parameter(clawperator, number):
    act("{situation}", clawperator)
"""


def _unittest(situation: str) -> str:
    return f"""
    def test_{situation}_unittest(self):
        act("{situation}", self.claw, self.skipTest)
"""


def _expected(situation: str) -> str:
    is_expected = situation.startswith(("xfail", "strict"))
    decorator = "@unittest.expectedFailure" if is_expected else ""
    return f"""
    {decorator}
    def test_{situation}_expected(self):
        act("{situation}", self.claw, self.skipTest)
"""


def _spare(situation: str) -> str:
    return f"""
def test_{situation}_spare(clawperator_devices):
    first, second = clawperator_devices(2)
    first.home()
    act("{situation}", second)
"""


def _setup(situation: str) -> str:
    return f"""
def test_{situation}_setup(before):
    pass
"""


def _teardown(situation: str) -> str:
    return f"""
def test_{situation}_teardown(after):
    pass
"""


def _subtests(situation: str) -> str:
    return f"""
def test_{situation}_subtests(clawperator, subtests):
    with subtests.test("before"):
        clawperator.home()
    with subtests.test("the one"):
        act("{situation}", clawperator)
"""


def _sub_test(situation: str) -> str:
    return f"""
    def test_{situation}_subTest(self):
        with self.subTest("before"):
            self.claw.home()
        with self.subTest("the one"):
            act("{situation}", self.claw, self.skipTest)
"""


def _group(situation: str) -> str:
    return f"""
def test_{situation}_group(clawperator):
    async def step():
        act("{situation}", clawperator)

    async def steps():
        async with asyncio.TaskGroup() as group:
            group.create_task(step())

    asyncio.run(steps())
"""


def _async(situation: str) -> str:
    return f"""
@pytest.mark.anyio
async def test_{situation}_async(clawperator):
    await asyncio.sleep(0)
    act("{situation}", clawperator)
"""


def _hypothesis(situation: str) -> str:
    return f"""
@settings(max_examples=1, database=None, suppress_health_check=list(HealthCheck))
@given(number=just(1))
def test_{situation}_hypothesis(clawperator, number):
    act("{situation}", clawperator)
"""


HYPOTHESIS = """
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import just
"""

_YAML_STEPS = {
    "fails": "wait_for_node: {text: Nowhere, timeout: 0}",
    "soft": "expect: {text: Nowhere, soft: true, timeout: 0}",
    "unreadable": "expect: {text: Nowhere, timeout: 0}",
}

#: How the tests of a kind are written in Python: what stands above them, and a test.
IN_PYTHON: dict[str, tuple[str, Callable[[str], str]]] = {
    "function": ("", _function),
    "method": ("\nclass TestMethods:\n", _method),
    "parameter": ("", _parameter),
    "unittest": (CASE, _unittest),
    "expected": (CASE, _expected),
    "spare": ("", _spare),
    "setup": ("", _setup),
    "teardown": ("", _teardown),
    "subtests": ("", _subtests),
    "subTest": (CASE, _sub_test),
    "group": ("", _group),
    "async": ("", _async),
    "hypothesis": (HYPOTHESIS, _hypothesis),
}


def write_suite(folder: Path, cells: Iterable[Cell]) -> None:
    """Write a file of tests for each kind, with a test for each situation."""
    by_kind: dict[str, list[str]] = defaultdict(list)
    for kind, situation in cells:
        by_kind[kind].append(situation)
    known = f"SITUATIONS = {tuple(USUAL)}\n"
    (folder / "conftest.py").write_text(known + CONFTEST, encoding="utf-8")
    for kind, wanted in by_kind.items():
        if kind in IN_PYTHON:
            head, test = IN_PYTHON[kind]
            text = "".join([HEAD, head, *map(test, wanted)])
            (folder / f"test_{kind}.py").write_text(text, encoding="utf-8")
        else:
            {"doctest": _write_doctests, "yaml": _write_yaml, "skill": _write_skills}[kind](
                folder, wanted
            )


def _write_doctests(folder: Path, situations: Sequence[str]) -> None:
    for one in situations:
        text = f">>> claw = getfixture('clawperator')\n>>> act('{one}', claw)\n"
        (folder / f"test_{one}_doctest.txt").write_text(text, encoding="utf-8")


def _write_yaml(folder: Path, situations: Sequence[str]) -> None:
    lines = ["tests:"]
    for one in situations:
        step = _YAML_STEPS.get(one.removeprefix("xfail_"), "home")
        test = f"{one} yaml:\n  fixtures: [armed]\n  steps:\n    - {step}"
        lines.append(indent(test, "  "))
    (folder / "test_all.claw.yaml").write_text("\n".join(lines), encoding="utf-8")


def _write_skills(folder: Path, situations: Sequence[str]) -> None:
    registry = make_repository(folder)
    for one in situations:
        app = "com.example.nowhere" if one.endswith("fails") else "com.android.settings"
        recipe = {**RECIPE, "taskId": "task"}
        recipe["actions"] = [
            {"id": "open", "type": "open_app", "params": {"applicationId": app}},
            {"id": "snap", "type": "snapshot_ui"},
        ]
        add_skill(registry, f"com.example.{one}-skill", recipe=recipe)


# What reports say

_WORD = re.compile(
    r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (?:at setup of )?(\S+)", re.MULTILINE
)
_TEST = re.compile(rf"({'|'.join(sorted(USUAL, key=len, reverse=True))})[_-](\w+)")


def cell_of(name: str) -> Cell | None:
    """Return the kind and the situation of a test, by any of its names."""
    found = _TEST.search(name)
    return None if found is None else (found[2], found[1])


def said(folder: Path, output: str) -> dict[Cell, Channels]:
    """Return what all reports of a run say of each test: of its last attempt."""
    (run,) = (folder / "claw-results").iterdir()
    tests = {test.nodeid: test for test in read_run(run).tests}
    kept = {name: glance(run / test.folder / "trace") for name, test in tests.items()}
    terminal = _by_cell((name, word) for word, name in _WORD.findall(output))
    junit = _by_cell(_of_junit(folder / "junit.xml"))
    allure = _by_cell(_of_allure(folder / "allure"))
    index = _by_cell((name, test.outcome) for name, test in tests.items())
    traces = _by_cell((name, str(one.outcome)) for name, one in kept.items() if one is not None)
    return {
        cell: Channels(
            terminal=terminal.get(cell, ""),
            junit=junit.get(cell, ""),
            allure=allure.get(cell, ""),
            index=index.get(cell, ""),
            trace=traces.get(cell),
        )
        for cell in {*terminal, *junit, *allure, *index}
    }


def _by_cell(named: Iterable[tuple[str, str]]) -> dict[Cell, str]:
    found: dict[Cell, set[str]] = defaultdict(set)
    for name, word in named:
        if (cell := cell_of(name)) is not None:
            found[cell].add(word)
    return {cell: " ".join(sorted(filter(None, words))) for cell, words in found.items()}


def _of_junit(path: Path) -> Iterator[tuple[str, str]]:
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        yield name, ""
        for child in case:
            if child.tag in ("failure", "error", "skipped"):
                is_trouble = "infrastructure: " in child.get("message", "")
                yield name, f"{child.tag} infrastructure" if is_trouble else child.tag


def _of_allure(folder: Path) -> Iterator[tuple[str, str]]:
    results = [json.loads(path.read_bytes()) for path in folder.glob("*-result.json")]
    results.sort(key=lambda result: result["start"])
    last = {f"{one['fullName']} {one['name']}": one["status"] for one in results}
    yield from last.items()
