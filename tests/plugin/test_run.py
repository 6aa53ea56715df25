"""What a run has once: its id, the lines it writes, and its end by a signal."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import pytest_clawperator.plugin
from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.plugin import run
from pytest_clawperator.plugin.run import run_id
from pytest_clawperator.plugin.worker_input import SHARED_RUN_ID
from pytest_clawperator.simulator import Simulator
from tests.plugin.conftest import Run


def config(**more: Any) -> Any:
    """Return what is asked of pytest's config here."""
    return SimpleNamespace(stash=pytest.Stash(), **more)


def test_every_run_has_an_id_that_its_workers_share() -> None:
    """Also runs that start in the same second have folders of their own."""
    one = config()

    assert run_id(one) == run_id(one)
    assert len({run_id(config()) for _ in range(20)}) > 15
    assert run_id(config(workerinput={SHARED_RUN_ID: "of-all"})) == "of-all"


BOTH = (signal.SIGTERM, signal.SIGHUP)


def foreign_handler(number: int, frame: object) -> None:
    """Stand for a handler that a program around pytest installed."""


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Start with the signals' own effects, and restore what was there."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in BOTH}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def configured() -> Any:
    """Handle the signals for a run."""
    cleanups: list[Callable[[], None]] = []
    handling = config(cleanups=cleanups, add_cleanup=cleanups.append)
    run.handle_signals(handling)
    return handling


@pytest.mark.parametrize("number", BOTH)
def test_a_signal_ends_the_run_and_a_second_one_the_process(number: signal.Signals) -> None:
    """The first is an interrupt that pytest knows; then the signal has its own effect again."""
    configured()

    with pytest.raises(pytest.exit.Exception, match=f"ended by {number.name}"):
        signal.raise_signal(number)

    assert signal.getsignal(number) is signal.SIG_DFL


def test_the_signals_are_restored_at_the_end() -> None:
    """After the run the process is as before, but for a handler that was installed meanwhile."""
    config = configured()
    handled = [signal.getsignal(number) is not signal.SIG_DFL for number in BOTH]
    signal.signal(signal.SIGHUP, foreign_handler)

    for cleanup in config.cleanups:
        cleanup()

    assert handled == [True, True]
    assert [signal.getsignal(number) for number in BOTH] == [signal.SIG_DFL, foreign_handler]


@pytest.mark.parametrize("there", [signal.SIG_IGN, foreign_handler], ids=["nohup", "handler"])
def test_other_handlers_stay(there: Callable[[int, object], None]) -> None:
    """A signal that is ignored, or handled already, is left alone."""
    for number in BOTH:
        signal.signal(number, there)

    config = configured()

    assert [signal.getsignal(number) for number in BOTH] == [there, there]
    assert config.cleanups == []


def test_a_run_in_another_thread_handles_no_signals() -> None:
    """Python allows handlers in the main thread only."""
    thread = threading.Thread(target=configured)

    thread.start()
    thread.join()

    assert [signal.getsignal(number) for number in BOTH] == [signal.SIG_DFL] * 2


def test_a_test_that_catches_everything_does_not_keep_the_run(
    pytester: pytest.Pytester, run: Run
) -> None:
    """It goes on to its end, and then the run ends with the signal's name."""
    pytester.makepyfile(
        """
        import signal

        def test_goes_on(clawperator):
            try:
                signal.raise_signal(signal.SIGTERM)
            except Exception:
                pass

        def test_next(clawperator): pass
        """
    )

    result = run()

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*Exit: ended by SIGTERM*"])


EVIL = "\x1b]0;owned\x07\x9b2J\u202e"

SHOWN = r"\x1b]0;owned\x07\x9b2J\u202e"

PLUGIN = Path(pytest_clawperator.plugin.__file__).parent


def test_a_notice_is_written_once_and_shown(
    pytester: pytest.Pytester, run: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    """A notice with control characters is shown while tests run, and in the summary."""
    pytester.makeconftest(
        f"""
        import pytest
        from pytest_clawperator.plugin.run import events_of

        @pytest.fixture
        def trouble(request):
            events_of(request.config).notice({EVIL!r}, {EVIL!r})
        """
    )
    pytester.makepyfile("def test_it(trouble): pass")

    run()

    said = capfd.readouterr().out
    assert said.count(f"[{SHOWN}] {SHOWN}") == 2
    assert not re.search(r"[\x1b\x9b\u202e]", said)


def test_the_name_of_a_holder_is_shown(
    pytester: pytest.Pytester,
    run: Run,
    simulator: Simulator,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It cannot write to the terminal."""
    pytester.makepyfile("def test_it(clawperator): pass")
    monkeypatch.setenv("LOGNAME", EVIL)
    hold = open_leases(run_id=EVIL).try_take(f"127.0.0.1/{simulator.serials[0]}")
    assert hold is not None

    with hold:
        result = run()

    result.assert_outcomes(errors=1)
    said = capfd.readouterr().out
    assert f"held by {SHOWN} (process" in said
    assert not re.search(r"[\x1b\x9b\u202e]", said)


def test_lines_are_written_in_one_place() -> None:
    """No other module writes text of its own to the terminal, where it would be obeyed."""
    pattern = re.compile(r"\w*reporter\.(?:write_)?line\((?!\"\"\))")

    written = {path.name: pattern.findall(path.read_text("utf-8")) for path in PLUGIN.rglob("*.py")}

    assert {name: found for name, found in written.items() if found} == {
        "run.py": ["reporter.line("]
    }
