"""What the plugin writes to the terminal shows control characters of phones and other users."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pytest_clawperator.plugin
from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.simulator import Simulator
from tests.plugin.conftest import Run

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
