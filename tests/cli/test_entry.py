"""The program as a process: how it ends."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.simulator import Simulator
from tests.cli.conftest import Cli, start


@pytest.fixture(autouse=True)
def own_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep executions that are left in flight from other tests, which would wait for their end."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path))


def lease_of(cli: Cli, simulator: Simulator) -> Any:
    """Return the lease of the phone as it is printed."""
    [lease] = cli("leases", "--device", simulator.serials[0]).json["leases"]
    return lease


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_during_an_execution_ends_the_program_cleanly(
    number: signal.Signals, code: int, cli: Cli, simulator: Simulator
) -> None:
    """Nothing is printed, the exit code names the signal, and the device is free."""
    deadline = time.monotonic() + 20
    with start(simulator, "sleep", "100000") as process:
        while lease_of(cli, simulator)["commandId"] is None:
            assert time.monotonic() < deadline
        process.send_signal(number)
        printed, complaints = process.communicate(timeout=20)

    assert (process.returncode, printed, complaints) == (code, b"", b"")
    assert lease_of(cli, simulator)["holder"] is None


def test_a_notice_is_printed_once_in_any_encoding(
    cli: Cli, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On stderr, and only the answer on stdout; a missing character is shown by its number."""
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")

    with start(simulator, "sleep", "1", "--verbose", "--output", "pretty") as process:
        printed, notices = process.communicate(timeout=20)

    assert process.returncode == 0
    assert printed.startswith(rb"\u2713 sleep on ")
    assert printed.count(b"\n") == 1
    assert notices.count(b"took") == 1


def test_a_fault_of_the_program_is_an_error_with_a_code(
    offline: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs can read it; --verbose shows where it happened."""

    def broken(*_: object) -> object:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("click.shell_completion.get_completion_class", broken)

    assert offline("completion", "bash").error == (1, "UNKNOWN")
    with pytest.raises(ZeroDivisionError):
        offline("completion", "bash", "--verbose")


def test_a_snapshot_imports_only_what_it_needs(simulator: Simulator, cli: Cli) -> None:
    """A short command starts quickly: no pages, no parsed XML, no client, no other host."""
    code = (
        "import sys; from pytest_clawperator.cli.app import run; run(['snapshot', '--json']);"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    with start(simulator, program=["-c", code]) as process:
        printed, modules = process.communicate(timeout=20)

    assert b'"status":"success"' in printed
    loaded = set(modules.decode().split())
    heavy = {"rich", "lxml", "httpx", "redis", "PIL", "yaml", "pytest", "asyncio"}
    assert heavy & loaded == set()
    assert "pytest_clawperator.client.client" not in loaded
