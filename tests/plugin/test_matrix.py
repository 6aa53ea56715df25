"""``--claw-matrix``: every test once on each class of devices."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.simulator import Simulator
from tests.plugin.conftest import Run

CLASSES = ("--claw-matrix", "emulator=true,false")
# There is no adb server here, so that looking for devices would fail.
NOWHERE = ("--claw-device", "auto", "--claw-adb", "127.0.0.1:1")
# Each test leaves a line: its name and its device.
LEAVES_LINES = """
from pathlib import Path

import pytest

LINES = Path(__file__).with_name("lines")

def leave(*words):
    with LINES.open("a") as file:
        file.write(" ".join(words) + "\\n")

@pytest.fixture
def line(request, clawperator):
    leave(request.node.name, clawperator.serial)

@pytest.fixture(scope="session")
def once(clawperator_client):
    leave("once", clawperator_client.serial)
"""


def lines(folder: Path) -> list[list[str]]:
    """Read what the tests left: name, device."""
    return [line.split() for line in (folder / "lines").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def mixed() -> Iterator[Simulator]:
    """Start two phones and an emulator."""
    with Simulator(devices=2, emulators=1, seed=7, time_scale=0.05) as simulator:
        yield simulator


@pytest.fixture
def mixed_options(mixed: Simulator) -> list[str]:
    """Give the options to use all of these devices."""
    return ["--claw-device", "auto", "--claw-adb", f"{mixed.adb_host}:{mixed.adb_port}"]


def collected(result: pytest.RunResult) -> list[str]:
    """Give the names of the tests that ``--collect-only -q`` lists."""
    return re.findall(r"^test_it\.py::(\S+)$", result.stdout.str(), re.MULTILINE)


def test_a_test_is_collected_once_for_each_class(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Which their ids begin with, and ``-k`` selects."""
    pytester.makepyfile(
        test_it="""
        import unittest

        import pytest

        def test_plain(): pass
        def test_login(clawperator): pass
        @pytest.mark.parametrize("who", ["alice", "bob"])
        def test_cart(clawperator, who): pass
        @pytest.mark.claw_app("com.android.settings")
        def test_marked(): pass
        class TestGroup:
            def test_serial(self, clawperator_device): pass
        @pytest.mark.usefixtures("clawperator")
        class TestOld(unittest.TestCase):
            def test_old(self): pass
        """
    )

    result = run_plain("--collect-only", "-q", *CLASSES, *NOWHERE)
    selected = run_plain("--collect-only", "-q", "-k", "real and login", *CLASSES, *NOWHERE)

    assert collected(selected) == ["test_login[real]"]
    for_each = ["test_login[{}]", "test_cart[{}-alice]", "test_cart[{}-bob]", "test_marked[{}]"]
    for_each += ["TestGroup::test_serial[{}]"]
    multiplied = [name.format(label) for label in ("emulator", "real") for name in for_each]
    assert collected(result) == ["test_plain", *multiplied, "TestOld::test_old"]


@pytest.mark.parametrize(
    ("fixture", "names"),
    [
        (
            """
            @pytest.fixture(scope="session")
            def clawperator_lease(): return Lease(serial="A", key="A")
            """,
            ["test_login"],
        ),
        (
            """
            @pytest.fixture(scope="session")
            def clawperator_lease(clawperator_lease): return clawperator_lease
            """,
            ["test_login[emulator]", "test_login[real]"],
        ),
        (
            """
            @pytest.fixture(scope="session", params=["A", "B"])
            def clawperator_lease(request): return Lease(serial=request.param, key=request.param)
            """,
            ["test_login[A]", "test_login[B]"],
        ),
        (
            """
            @pytest.fixture(scope="session")
            def clawperator_client(): return None
            """,
            ["test_login"],
        ),
    ],
    ids=["replaced", "extended", "parametrised", "no-lease"],
)
@pytest.mark.parametrize(
    "test",
    ["def test_login(clawperator): pass", "@pytest.mark.claw_app('a.b')\ndef test_login(): pass"],
    ids=["fixture", "marker"],
)
def test_chosen_by_hand(
    pytester: pytest.Pytester, run_plain: Run, fixture: str, names: list[str], test: str
) -> None:
    """A device that a conftest chooses is that of all classes; it can build on ours."""
    lease = "from pytest_clawperator.devices.pool import Lease"
    pytester.makepyfile(conftest=f"import pytest\n{lease}\n" + re.sub(r"(?m)^ {12}", "", fixture))
    pytester.makepyfile(test_it=f"import pytest\n{test}")
    if "params" in fixture and "claw_app" in test:
        names = ["test_login"]  # pytest does not see what a marker will bring

    result = run_plain("--collect-only", "-q", *CLASSES, *NOWHERE)

    assert collected(result) == names


def test_one_process_goes_through_the_classes(
    pytester: pytest.Pytester, run_plain: Run, mixed: Simulator, mixed_options: list[str]
) -> None:
    """What is built on a device is built again for each."""
    pytester.makeconftest(LEAVES_LINES)
    pytester.makepyfile(
        test_it="""
        def test_a(once, line): pass
        def test_b(once, line, clawperator): assert clawperator.device.info.emulator
        """
    )

    result = run_plain(*CLASSES, *mixed_options)

    result.assert_outcomes(passed=3, failed=1)
    left = lines(pytester.path)
    assert [name for name, _ in left] == [
        *("once", "test_a[emulator]", "test_b[emulator]"),
        *("once", "test_a[real]", "test_b[real]"),
    ]
    first, second = {serial for _, serial in left[:3]}, {serial for _, serial in left[3:]}
    assert first == {mixed.serials[2]}
    assert len(second) == 1
    assert second < set(mixed.serials[:2])
    result.stdout.fnmatch_lines(
        [
            "*= matrix =*",
            "2 tests, 1 with different outcomes on 2 device classes:",
            "*emulator*real",
            "*passed*failed  test_it.py::test_b",
            "emulator  2 passed in *s",
            "real      1 passed, 1 failed in *s",
        ]
    )


def test_each_runs_every_test_on_every_device(
    pytester: pytest.Pytester, run_plain: Run, mixed: Simulator, mixed_options: list[str]
) -> None:
    """``each`` runs every test on every device, as does the ini twin."""
    pytester.makeconftest(LEAVES_LINES)
    pytester.makeini("[pytest]\nclaw_matrix = each")
    pytester.makepyfile(test_it="def test_it(line): pass")

    result = run_plain(*mixed_options)

    result.assert_outcomes(passed=3)
    left = {(name, serial) for name, serial in lines(pytester.path)}
    assert left == {(f"test_it[{serial.replace(':', '-')}]", serial) for serial in mixed.serials}


def test_a_class_without_devices_and_tests_without_a_class(
    pytester: pytest.Pytester, run_plain: Run, mixed_options: list[str]
) -> None:
    """The former are skipped with the reason; what pytest cannot multiply runs once, and is named.

    A strict run fails them.
    """
    pytester.makepyfile(
        test_it="""
        import unittest

        import pytest

        def test_it(clawperator): pass

        @pytest.mark.usefixtures("clawperator")
        class TestOld(unittest.TestCase):
            def test_old(self): pass

        def test_late(request): assert request.getfixturevalue("clawperator").serial
        """
    )

    result = run_plain("--claw-matrix", "api=33,36", *mixed_options)
    strict = run_plain("--claw-matrix", "api=33", "--claw-strict", "-k", "test_it", *mixed_options)

    result.assert_outcomes(passed=3, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "clawperator: no device of this run fits 1 test (--claw-matrix: no device is api33): *",
            "api33  1 skipped in *s (no test could begin)",
            "without a class, on whichever device was there (*",
            "  test_it.py::TestOld::test_old",
            "  test_it.py::test_late",
            "SKIPPED * --claw-matrix: no device is api33: *: api=33 is required, the device has *",
        ]
    )
    strict.stdout.fnmatch_lines(["*no device is api33: *(--claw-strict; *"])


def test_workers_run_each_test_once_for_each_class(
    pytester: pytest.Pytester, run_workers: Run, mixed: Simulator, mixed_options: list[str]
) -> None:
    """Workers run each test once for each class, on a device of the class, and share a class."""
    pytester.makeconftest(LEAVES_LINES)
    pytester.makepyfile(
        test_it="""
        import pytest

        NAP = {"id": "nap", "type": "sleep", "params": {"durationMs": 2000}}

        @pytest.mark.parametrize("number", range(4))
        def test_it(line, clawperator, number): clawperator.execute([NAP])
        """
    )

    result = run_workers("-n", "3", "--junit-xml", "junit.xml", *CLASSES, *mixed_options)

    result.assert_outcomes(passed=8)
    left = lines(pytester.path)
    assert Counter(name for name, _ in left) == Counter(
        f"test_it[{label}-{number}]" for label in ("emulator", "real") for number in range(4)
    )
    on = {label: {serial for name, serial in left if label in name} for label in ("emul", "real")}
    assert on == {"emul": {mixed.serials[2]}, "real": set(mixed.serials[:2])}
    result.stdout.fnmatch_lines(["4 tests, alike on all 2 device classes"])
    junit = (pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert junit.count('<property name="clawperator_class" value="real"') == 4


def test_validating_looks_at_each_payload_once(pytester: pytest.Pytester, run_plain: Run) -> None:
    """``--claw-validate`` uses no device, and looks at each payload once."""
    pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.claw_payload([{"id": "a", "type": "sleep", "params": {"durationMs": 1}}])
        def test_it(clawperator): pass
        """
    )

    result = run_plain("--claw-validate", "--claw-matrix", "each", *NOWHERE)

    result.assert_outcomes(passed=1, deselected=1)
