"""``dumpsys deviceidle``."""

from __future__ import annotations

import re

from tests.doubles.simulator.android_phone import Phone

SETTINGS = "com.android.settings"
LIST = "dumpsys deviceidle whitelist"


def test_an_app_is_let_work_while_the_phone_dozes() -> None:
    """It is added, listed with its user id, asked for, and removed."""
    phone = Phone()

    assert phone.out(f"{LIST} +{SETTINGS}") == f"Added: {SETTINGS}\n"
    assert re.fullmatch(rf"user,{re.escape(SETTINGS)},\d+\n", phone.out(LIST))
    assert SETTINGS in phone.out("dumpsys deviceidle")
    assert phone.out(f"{LIST} ={SETTINGS}") == "true\n"
    assert phone.out(f"{LIST} -{SETTINGS}") == f"Removed: {SETTINGS}\n"
    assert phone.out(LIST) == ""


def test_what_is_no_app_is_told() -> None:
    """Neither a package that is not there nor a name without a sign is taken."""
    phone = Phone()

    assert phone.out(f"{LIST} +com.example.none") == "Unknown package: com.example.none\n"
    assert phone.out(f"{LIST} {SETTINGS}").startswith("Package must be prefixed")
    assert phone.out(LIST) == ""
