"""No file of a run, and no line on the terminal, shows a secret."""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from pytest_clawperator.redaction import SECRETS, forms_of
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.snapshot.tree import Snapshot
from tests.plugin.conftest import Run, kept

# As they are in the suite below, by the way in which each becomes a secret.
TYPED = 'Tr0ub4dor & "3\'s" <ü€😀> \\ 50%'
LOCATED = "locator-typed-1"
BATCHED = "".join(random.Random(5).choices(string.ascii_letters, k=480))
PASSWORD = "field/typed=2"
WHOLE_ID = "whole id typed 3"
PAYLOAD = "payload-typed-4"
MATCHING = "sk-AbCdEf0123456789"
VARIABLE = 'bank "pass" <word>'
SECRET_TEXTS = (TYPED, LOCATED, BATCHED, PASSWORD, WHOLE_ID, PAYLOAD, MATCHING, VARIABLE)

SUITE = """
import logging
import os
import warnings

import allure
import pytest

from pytest_clawperator.contracts.actions import EnterText

SHOP = "com.example.shop"


@pytest.fixture
def claw(clawperator):
    clawperator.close_app(SHOP)
    clawperator.open_app(SHOP)
    clawperator.wait_for_node(text="Welcome back")
    return clawperator


def test_typed(claw):
    step = claw.enter_text({TYPED!r}, id="email", secret=True)
    shown = claw.read_text(id="email")
    assert shown == "nothing", (claw.node(text=shown), step.data, claw.snapshot().nodes)


def test_located(claw):
    claw.node(id="email").enter_text("locator-typed-1", secret=True)
    claw.click(text="locator-typed-1!", timeout=0)


def test_batched(claw):
    text = {BATCHED!r}
    with claw.batch() as batch:
        for _ in range(9):
            batch.enter_text(text, id=SHOP + ":id/email", secret=True)
    envelopes = claw.execute([EnterText({{"resourceId": SHOP + ":id/email"}}, text)])
    assert text == text[:300] + "?" + text[301:], batch


def test_password_field(claw, clawperator_artifacts):
    claw.enter_text("field/typed=2", id="password")
    typed = {{"text": "field/typed=2", "bytes": b"field/typed=2"}}
    clawperator_artifacts.attach("typed.json", repr(typed).encode())
    claw.click(text="Forgot password?")
    claw.wait_for_node(text="Nowhere field/typed=2", timeout=0)


def test_whole_id(claw):
    claw.enter_text("whole id typed 3", id=SHOP + ":id/password")
    assert ["whole id typed 3"] * 9 == []


def test_payload(claw):
    params = {{"matcher": {{"resourceId": SHOP + ":id/password"}}, "text": "payload-typed-4"}}
    envelope = claw.execute([{{"id": "type", "type": "enter_text", "params": params}}])
    raise ValueError(params, envelope.to_wire())


def test_matching(claw, record_property, record_testsuite_property):
    token = "sk-AbCdEf0123456789"
    record_property("token", token)
    record_testsuite_property("token", token)
    claw.enter_text(token, id="email")
    print("token", token)
    logging.getLogger("app").warning("token %s", token)
    warnings.warn("token " + token)
    warnings.warn("sk-AbCdEf0123456789")
    pytest.skip("token " + token)


@pytest.mark.parametrize("word", [os.environ["BANK_PASSWORD"]])
def test_variable(claw, word):
    with allure.step(f"sign in with {{word}}"):
        allure.attach(word, "word")
        assert {{"word": word}} == {{"word": 1}}
"""
OPTIONS = (
    *("-vv", "-l", "-rA", "-Wdefault", "-ojunit_family=xunit1", "--junitxml=junit.xml"),
    *("-pallure_pytest", "--alluredir=allure", "--log-file=logged.txt", "-olog_cli=true"),
    *("--claw-logcat=on", "--claw-screenshot=on", "--claw-snapshot=on"),
    r"--claw-redact=\bsk-[A-Za-z0-9]{8,}",
    "--claw-redact=env:BANK_*",
)


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a suite that types, prints and raises secrets."""
    pytest.importorskip("allure_pytest")
    monkeypatch.setenv("BANK_PASSWORD", VARIABLE)
    pytester.makepyfile(test_it=SUITE.format(TYPED=TYPED, BATCHED=BATCHED))


def written(folder: Path) -> Iterator[Path]:
    """Yield all files of a run, and not those of the suite."""
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            yield path


def leaks(folder: Path, terminal: str) -> dict[str, list[str]]:
    """Return where which secret is shown, in any of its forms, or a part of a long one."""
    texts = {
        str(path): path.read_bytes().decode(errors="surrogateescape") for path in written(folder)
    }
    texts["terminal"] = terminal
    found: dict[str, list[str]] = {}
    for secret in SECRET_TEXTS:
        parts = {secret[at : at + 20] for at in range(0, len(secret) - 19, 5)}
        forms = "|".join(map(re.escape, forms_of(secret) | parts))
        found[secret] = [name for name, text in texts.items() if re.search(forms, text)]
    return {secret: names for secret, names in found.items() if names}


def test_a_run_shows_no_secret(pytester: pytest.Pytester, run: Run, suite: None) -> None:
    """Evidence, JUnit, Allure, logs and the terminal have marks where secrets were.

    Password fields and whatever shows a secret are black in screenshots.
    """
    result = run("-pcacheprovider", *OPTIONS)

    result.assert_outcomes(failed=7, skipped=1)
    assert leaks(pytester.path, result.stdout.str() + result.stderr.str()) == {}
    marked = {path.name for path in written(pytester.path) if b"[***]" in path.read_bytes()}
    assert {"log.txt", "envelopes.json", "snapshot.xml", "junit.xml", "logged.txt"} <= marked
    assert {"typed.json"} <= marked
    assert len([name for name in marked if name.endswith("-result.json")]) == 8
    for test in ("test_typed", "test_matching"):
        folder = kept(pytester)[test]
        snapshot = Snapshot.from_xml((folder / "snapshot.xml").read_bytes())
        with Image.open(folder / "screenshot.png") as picture:
            colours = {
                node.short_id: picture.convert("RGB").crop(node.bounds).getextrema()
                for node in snapshot.nodes
                if node.short_id in ("email", "password", "sign_in")
            }
        black = ((0, 0), (0, 0), (0, 0))
        assert colours["email"] == colours["password"] == black
        assert colours["sign_in"] != black


def test_workers_show_no_secret(
    pytester: pytest.Pytester, run_workers: Run, suite: None, simulator: Simulator, adb: str
) -> None:
    """What a worker found out by itself is hidden before the controller gets it."""
    device = ("-n1", "--claw-adb", adb, "--claw-device", simulator.serials[0])

    result = run_workers(*device, *OPTIONS, "-k", "typed or password_field or matching or variable")

    result.assert_outcomes(failed=3, skipped=1)
    assert leaks(pytester.path, result.stdout.str() + result.stderr.str()) == {}


def test_a_video_with_a_secret_is_not_kept(pytester: pytest.Pytester, run: Run) -> None:
    """A video cannot be blackened; what the test itself sends and reads is unchanged."""
    result = run(
        *("--claw-screenshot=off", "--claw-logcat=off", "--claw-video=on"),
        suite="""
        def test_secret(clawperator):
            clawperator.open_app("com.example.shop")
            step = clawperator.enter_text("hunter2!", id="email", secret=True)
            assert step.data["text"] == "hunter2!"
            assert clawperator.read_text(id="email") == "hunter2!"
            assert clawperator.snapshot().find(id="email").text == "hunter2!"
            assert 0
        """,
    )

    result.stdout.fnmatch_lines(
        ["E * assert 0", "no video: a secret was typed while it was recorded, *"]
    )
    assert not list(pytester.path.glob("claw-results/*/*/video*"))


def test_evidence_stays_valid_with_ordinary_words_as_secrets(
    pytester: pytest.Pytester, run: Run
) -> None:
    """Secrets that are also names or numbers of a format do not spoil JSON, XML and paths."""
    result = run(
        "--claw-redact=20[0-9]{6}",
        suite="""
        def test_pin(clawperator):
            clawperator.open_app("com.example.shop")
            clawperator.enter_text("0000", id="password")
            clawperator.enter_text("rent", id="email")
            clawperator.enter_text("password", id="password")
            assert False
        """,
    )

    folder = kept(pytester)["test_pin"]
    sent = json.loads((folder / "envelopes.json").read_text())[0]
    assert sent["execution"]["timeoutMs"] == 30000
    snapshot = ElementTree.parse(folder / "snapshot.xml").getroot()
    assert snapshot.find(".//node[@password='true']") is not None
    # It is as long as a password, which is no reason to hide it.
    assert snapshot.find(".//node[@text='rent']") is not None
    assert f"{folder.parent.relative_to(pytester.path)}" in result.outlines
    assert f"  {folder.name}" in result.outlines


def test_the_run_forgets_its_secrets(run_plain: Run) -> None:
    """A run in the same process hides what it was asked to hide, and nothing afterwards."""
    result = run_plain("-rA", "--claw-redact=hunter[0-9]", suite="def test_it(): print('hunter2')")

    result.stdout.fnmatch_lines(["[[]***[]]"])
    assert SECRETS.hide("hunter2") == "hunter2"


def test_what_fails_in_collection_shows_no_secret(run_plain: Run) -> None:
    """A module that cannot be imported shows no secret of its own."""
    result = run_plain("-l", "--claw-redact=hunter[0-9]", suite="raise ValueError('hunter2')")

    result.assert_outcomes(errors=1)
    assert "hunter2" not in result.stdout.str()
