"""Which worker runs which test: one whose device fits, the longest first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.simulator import Simulator
from tests.plugin.conftest import Run

# Each test leaves a line: its name, and the level of its device.
LEAVES_LINES = """
from pathlib import Path

import pytest

LINES = Path(__file__).with_name("lines")

@pytest.fixture
def line(request, clawperator):
    with LINES.open("a") as file:
        file.write(f"{request.node.name} {clawperator.device.info.api_level}\\n")
"""


@pytest.fixture(scope="module")
def older() -> Iterator[Simulator]:
    """Start a phone with an older Android, on an adb server of its own."""
    with Simulator(devices=1, api=33, seed=8, time_scale=0.05) as simulator:
        yield simulator


@pytest.fixture
def both(older: Simulator, simulator: Simulator, adb: str) -> list[str]:
    """Give the options for an old and a new phone, each on its adb server."""
    devices = ["--claw-device", older.serials[0], "--claw-device", simulator.serials[1]]
    return [*devices, "--claw-adb", adb, "--claw-adb", f"{older.adb_host}:{older.adb_port}"]


def lines(folder: Path) -> list[list[str]]:
    """Read what the tests left: name, level."""
    return [line.split() for line in (folder / "lines").read_text(encoding="utf-8").splitlines()]


def test_where_it_fits(
    pytester: pytest.Pytester, run_workers: Run, both: list[str], older: Simulator, adb: str
) -> None:
    """Tests go only where their markers fit; those that fit nowhere are told first and skipped."""
    pytester.makeconftest(LEAVES_LINES)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.claw_device(api="<30")
        class TestAncient:
            @pytest.mark.parametrize("number", range(4))
            def test_ancient(self, line, number): pass

        @pytest.mark.claw_device(api=33)
        @pytest.mark.parametrize("number", range(3))
        def test_old(line, number): pass

        @pytest.mark.claw_device(api=">=34")
        @pytest.mark.parametrize("number", range(3))
        def test_new(line, number): pass

        @pytest.mark.parametrize("number", range(2))
        def test_any(line, number): pass

        def test_plain(): pass
        """
    )

    result = run_workers("-n", "2", *both, "-v")

    result.assert_outcomes(passed=9, skipped=4)
    ran_on: dict[str, set[str]] = {}
    for name, level in lines(pytester.path):
        ran_on.setdefault(name.partition("[")[0], set()).add(level)
    assert ran_on.pop("test_any") <= {"33", "36"}
    assert ran_on == {"test_old": {"33"}, "test_new": {"36"}}
    result.stdout.fnmatch_lines(
        [
            f"clawperator: {older.serials[0]} (* API 33), *, adb 127.0.0.1:{older.adb_port}",
            f"clawperator: 127.0.0.1:* (* API 36), *, adb {adb}",
            "clawperator: no device of this run fits*: *::TestAncient::test_ancient[[]0[]],"
            " *::test_ancient[[]1[]], *::test_ancient[[]2[]] and 1 more",
            "*PASSED*",
            "*= devices =*",
            "SKIPPED *claw_device: api='<30' is required, the device has 3*: 127.0.0.1:* API 3*",
        ]
    )


def test_a_strict_run_fails_tests_that_no_device_fits(
    pytester: pytest.Pytester, run_workers: Run, older: Simulator
) -> None:
    """With ``--claw-strict`` they fail, and are told first all the same."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.claw_device(form="tablet")
        def test_big(clawperator): pass

        def test_it(clawperator): pass
        """
    )
    address = f"{older.adb_host}:{older.adb_port}"

    result = run_workers("-n", "1", "--claw-device", "auto", "--claw-adb", address, "--claw-strict")

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "clawperator: ERROR: no device of this run fits*: *::test_big",
            "*claw_device: form='tablet' is required, the device has 'phone': * (--claw-strict; *",
        ]
    )


def test_another_distribution_leaves_the_check_to_the_worker(
    pytester: pytest.Pytester, run_workers: Run, both: list[str]
) -> None:
    """With ``--dist loadfile`` tests stay with their file, and the worker checks its device."""
    text = """
        import os
        from pathlib import Path

        import pytest

        def leave():
            with Path("workers").open("a") as file:
                file.write(f"{Path(__file__).stem} {os.environ['PYTEST_XDIST_WORKER']}\\n")

        @pytest.mark.claw_device(api=33)
        def test_old(clawperator): leave()

        @pytest.mark.claw_device(api=">=34")
        def test_new(clawperator): leave()

        def test_plain(): leave()
    """
    pytester.makepyfile(test_first=text, test_second=text)

    result = run_workers("-n", "2", "--dist", "loadfile", *both)

    result.assert_outcomes(passed=4, skipped=2)
    left = (pytester.path / "workers").read_text(encoding="utf-8").splitlines()
    assert len(set(left)) == 2
    result.stdout.fnmatch_lines_random(
        [
            "SKIPPED *claw_device: api=33 is required, the device has 36: *",
            "SKIPPED *claw_device: api='>=34' is required, the device has 33: *",
        ]
    )
    result.stdout.no_fnmatch_line("*no device of this run fits*")
    result.stdout.fnmatch_lines(
        [
            "clawperator: --dist loadfile assigns tests without regard to their claw_device"
            " markers: a worker skips those that its device does not fit; *"
        ]
    )
    assert result.stdout.str().count("without regard to") == 1


def test_another_distribution_says_nothing_where_all_devices_fit(
    pytester: pytest.Pytester, run_workers: Run, both: list[str]
) -> None:
    """With another ``--dist`` markers are mentioned only where some device does not fit."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.claw_device(api=">=30")
        def test_it(clawperator): pass
        """
    )

    result = run_workers("-n", "2", "--dist", "worksteal", *both)

    result.assert_outcomes(passed=1)
    assert "without regard to" not in result.stdout.str()


def test_a_matrix_elsewhere(pytester: pytest.Pytester, run_workers: Run, both: list[str]) -> None:
    """A matrix with another ``--dist`` is refused: nearly all tests would be skipped."""
    pytester.makepyfile("def test_it(clawperator): pass")
    options = ["--claw-matrix", "api=33,36", "--dist", "loadscope"]

    result = run_workers("-n", "2", *options, *both)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --claw-matrix needs --dist load, and this run has --dist loadscope, *"]
    )


def test_nobody_has_a_device(pytester: pytest.Pytester, run_workers: Run, older: Simulator) -> None:
    """Where a colleague has all devices, tests say so at once, and no device is blamed."""
    pytester.makepyfile(
        """
        def test_plain(): pass
        def test_one(clawperator): pass
        def test_two(clawperator): pass
        """
    )
    hold = open_leases(run_id="nightly").try_take(f"127.0.0.1/{older.serials[0]}")
    assert hold is not None

    with hold:
        result = run_workers("-n", "2", "--claw-adb", f"{older.adb_host}:{older.adb_port}")

    assert result.parseoutcomes() == {"passed": 1, "errors": 1, "same": 1}
    result.stdout.fnmatch_lines(["E *DEVICE_LEASED: * is held by * run nightly) *"])
    result.stdout.no_fnmatch_line("*flaky devices*")
    result.stdout.no_fnmatch_line("*no device of this run fits*")


def test_the_longest_first(pytester: pytest.Pytester, run_workers: Run, older: Simulator) -> None:
    """What took longest in an earlier run begins first in the next one."""
    pytester.makeconftest(LEAVES_LINES)
    pytester.makepyfile(
        """
        import time

        def test_connects(line): pass
        def test_short(line): pass
        def test_brief(line): pass
        def test_long(line): time.sleep(0.5)  # longer than the others
        """
    )
    options = ["-n", "1", "--claw-device", "auto", "-p", "cacheprovider"]
    options += ["--claw-adb", f"{older.adb_host}:{older.adb_port}"]

    for _ in range(2):
        run_workers(*options).assert_outcomes(passed=4)

    names = [name for name, _ in lines(pytester.path)]
    first, second = names[:4], names[4:]
    assert first == ["test_connects", "test_short", "test_brief", "test_long"]
    # How long connecting takes is anybody's guess.
    assert next(name for name in second if name != "test_connects") == "test_long"
