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


def test_runs_of_the_same_second_have_different_ids() -> None:
    """Runs that start in the same second have folders of their own."""
    assert len({run_id(config()) for _ in range(20)}) > 15


def test_the_id_of_a_run_stays_the_same() -> None:
    """Whoever asks again gets the same id."""
    run = config()

    assert run_id(run) == run_id(run)


def test_a_worker_has_the_id_of_its_controller() -> None:
    """All workers of a run write to one folder."""
    assert run_id(config(workerinput={SHARED_RUN_ID: "of-all"})) == "of-all"


BOTH = (signal.SIGTERM, signal.SIGHUP)


def somebody_elses(number: int, frame: object) -> None:
    """Stand for a handler that a program around pytest installed."""


class Config:
    """What is asked of pytest's config here."""

    def __init__(self) -> None:
        self.stash = pytest.Stash()
        self.add_cleanup: Callable[[Callable[[], None]], None] = self._cleanups().append

    def _cleanups(self) -> list[Callable[[], None]]:
        self.cleanups: list[Callable[[], None]] = []
        return self.cleanups


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Start with the signals' own effects, and restore what was there."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in BOTH}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def configured() -> Config:
    """Handle the signals for a run."""
    config = Config()
    run.handle_signals(config)  # type: ignore[arg-type]
    return config


@pytest.mark.parametrize("number", BOTH)
def test_a_signal_ends_the_run_and_a_second_one_the_process(number: signal.Signals) -> None:
    """The first is an interrupt that pytest knows; then the signal has its own effect again."""
    configured()

    with pytest.raises(pytest.exit.Exception, match=f"ended by {number.name}"):
        signal.raise_signal(number)

    assert signal.getsignal(number) is signal.SIG_DFL


def test_the_signals_are_restored_at_the_end() -> None:
    """After the run the process is as before, also where somebody has a handler of their own."""
    config = configured()
    handled = [signal.getsignal(number) is not signal.SIG_DFL for number in BOTH]
    signal.signal(signal.SIGHUP, somebody_elses)

    for cleanup in config.cleanups:
        cleanup()

    assert handled == [True, True]
    assert [signal.getsignal(number) for number in BOTH] == [signal.SIG_DFL, somebody_elses]


@pytest.mark.parametrize("there", [signal.SIG_IGN, somebody_elses], ids=["nohup", "handler"])
def test_what_others_decided_stays(there: Callable[[int, object], None]) -> None:
    """A signal that is ignored, or that somebody handles, is left alone."""
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


CATCHES_ALL = """
import signal

def test_goes_on(clawperator):
    try:
        signal.raise_signal(signal.SIGTERM)
    except Exception:
        pass

def test_next(clawperator):
    pass
"""


def test_a_test_that_catches_everything_does_not_keep_the_run(pytester: pytest.Pytester) -> None:
    """It goes on to its end, and then the run ends with the signal's name."""
    pytester.makepyfile(CATCHES_ALL)

    result = pytester.runpytest_subprocess("--claw-device=sim")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*Exit: ended by SIGTERM*"])


SHOWS_HANDLERS = """
import signal

def test_shows():
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    print("default:", *[handler is signal.SIG_DFL for handler in handlers])
"""


def test_a_run_that_does_not_use_the_library_handles_no_signals(pytester: pytest.Pytester) -> None:
    """A project that has the plugin installed and does not use it keeps its signals."""
    pytester.makepyfile(SHOWS_HANDLERS)

    result = pytester.runpytest_subprocess("-s")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*default: True True"])


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
    """Somebody else who holds the device cannot write to the terminal by their name."""
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
