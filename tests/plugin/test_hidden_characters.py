"""Control characters of phones reach neither the terminal nor a report, whatever shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.simulator import Simulator
from tests.plugin.conftest import Run

# Clears the screen, sets the title, colours by C1, turns the direction, ends lines, is half.
EVIL = r"\x1b[2J\x1b]0;owned\x07 \x9b31m \u202etxt.\u2066exe\u2028 \x7f\x85 \x1b[31mred\rover"
APP = f"""\
package: com.example.evil
name: Evil
start: home
screens:
  home:
    title: Evil
    items:
      - {{text: "{EVIL}", id: greeting}}
"""
SUITE = f"""
import warnings
from dataclasses import dataclass

import pytest
from pytest_clawperator import ClawperatorWarning, expect

EVIL = "{EVIL}"
pytestmark = pytest.mark.claw_app("com.example.evil")

@pytest.fixture
def greeting(clawperator):
    found = clawperator.read_text(id="com.example.evil:id/greeting")
    assert "\\x1b" in found and "\\u202e" in found
    return found

@dataclass
class Line:
    text: str

def test_no_node(clawperator, greeting):
    clawperator.click(text=EVIL + "?", timeout=0)

def test_expectation(clawperator, greeting):
    expect(clawperator.node(id="com.example.evil:id/greeting")).to_have_text("Hi", timeout=0)

def test_soft(clawperator, greeting):
    expect.soft(clawperator.node(id="com.example.evil:id/greeting")).to_have_text("Hi", timeout=0)
    expect.soft(clawperator.node(id="com.example.evil:id/greeting")).to_be_checked(timeout=0)

def test_texts_differ(clawperator, greeting):
    assert greeting == "Hi\\nthere"

def test_text_in_text(clawperator, greeting):
    assert "owned" not in greeting

def test_fields_differ(clawperator, greeting):
    assert Line(greeting) == Line("Hi\\nthere")

def test_own_message(clawperator, greeting):
    assert 0, greeting

def test_other_error(clawperator, greeting):
    try:
        raise ValueError(greeting)
    except ValueError as exc:
        raise RuntimeError(greeting) from exc

def test_fails(clawperator, greeting):
    pytest.fail(greeting)

def test_skips(clawperator, greeting):
    pytest.skip(greeting)

def test_crash(clawperator, clawperator_artifacts, greeting):
    report = "FATAL EXCEPTION: main\\nProcess: com.example.evil, PID: 1\\njava.lang.Evil: " + EVIL
    clawperator.device.shell(f"log -p e -t AndroidRuntime '{{report}}'")
    clawperator.home()
    clawperator_artifacts.attach(EVIL + ".txt", b"plain")
    warnings.warn(ClawperatorWarning(EVIL))
    assert 0
"""
HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def files(folder: Path) -> dict[str, str]:
    """Return the texts that a run wrote, by their paths."""
    return {
        str(path.relative_to(folder)): path.read_bytes().decode("utf-8")
        for place in ("claw-results", "allure", "report.xml")
        for path in sorted([folder / place, *folder.joinpath(place).rglob("*")])
        if path.suffix in {".txt", ".xml", ".json"}
    }


@pytest.fixture(scope="module")
def evil_phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulator]:
    """Start a phone with the app that shows what should not be obeyed."""
    app = tmp_path_factory.mktemp("app") / "evil.yaml"
    app.write_text(APP, encoding="utf-8")
    with Simulator(devices=1, seed=6, time_scale=0.05, apps=[app]) as simulator:
        yield simulator


def test_nothing_hidden_is_written(
    pytester: pytest.Pytester,
    run_plain: Run,
    evil_phone: Simulator,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Terminal, JUnit, Allure and artefacts show control characters; only colours are pytest's."""
    pytest.importorskip("allure_pytest")
    adb = f"{evil_phone.adb_host}:{evil_phone.adb_port}"
    device = (f"--claw-device={evil_phone.serials[0]}", f"--claw-adb={adb}")
    reports = ("-p", "allure_pytest", "--alluredir=allure", "--junitxml=report.xml", "-rA", "-vv")

    result = run_plain(*device, *reports, "-Wdefault", "--color=yes", suite=SUITE)

    result.assert_outcomes(failed=10, skipped=1, warnings=1)
    terminal = capfd.readouterr().out
    assert ("\x1b[31m" in terminal, "\x1b[31mred" in terminal) == (True, False)
    written = {"terminal": COLOUR.sub("", terminal), **files(pytester.path)}
    assert len(written) > 20
    found = {name: set(HIDDEN.findall(text)) for name, text in written.items()}
    assert {name: hidden for name, hidden in found.items() if hidden} == {}
    assert r"\x1b]0;owned\x07" in written["terminal"]
