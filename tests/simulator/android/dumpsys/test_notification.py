"""``dumpsys notification``."""

from __future__ import annotations

import re
from typing import Any

from pytest_clawperator.simulator.screen.actions.messages import TOAST_SECONDS
from pytest_clawperator.simulator.screen.app_files.load import parse_app
from tests.doubles.simulator.android_phone import Phone

TOASTER = parse_app(
    """
    package: com.example.toaster
    name: Toaster
    start: home
    screens:
      home: {title: Toaster, items: [{button: Save, on_tap: {toast: Saved}}]}
    """
)
RECORD = re.compile(
    r"^    TextToastRecord\{\w+ \d+:com\.example\.toaster/u0a\d+ .* text=Saved duration=1\}$",
    re.MULTILINE,
)


def toaster(**options: Any) -> Phone:
    """Return a phone whose app has just shown a toast."""
    phone = Phone(apps=[TOASTER], **options)
    phone.system.ui.launching.start_app("com.example.toaster")
    nodes = [node for window in phone.system.ui.view.windows() for node in window.root.walk()]
    button = next(node.bounds for node in nodes if node.text == "Save")
    phone.out(f"input tap {button.left + 5} {button.top + 5}")
    return phone


def test_a_toast_is_listed_while_it_is_up() -> None:
    """The record has the app and the text, until the toast goes."""
    phone = toaster()

    assert RECORD.search(phone.out("dumpsys notification"))

    phone.clock.now += TOAST_SECONDS + 0.1
    assert "Toast" not in phone.out("dumpsys notification")


def test_older_androids_do_not_know_the_text() -> None:
    """Before API level 30 the app draws its toasts, and the system has only a record."""
    dump = toaster(api=29).out("dumpsys notification")

    assert " ToastRecord{" in dump
    assert "Saved" not in dump
