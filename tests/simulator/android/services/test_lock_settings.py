"""``locksettings``."""

from __future__ import annotations

from tests.doubles.simulator.android_phone import Phone


def test_a_credential_is_set_verified_and_cleared() -> None:
    """Each answer has the words that clients look for."""
    phone = Phone()

    assert phone.out("locksettings get-disabled") == "true\n"
    assert phone.out("locksettings set-pin 1234") == "Pin set to '1234'\n"
    assert phone.out("locksettings get-disabled") == "false\n"
    assert "verified successfully" in phone.out("locksettings verify --old 1234")
    assert phone.out("locksettings clear --old 1234") == "Lock credential cleared\n"


def test_a_wrong_credential_changes_nothing() -> None:
    """Neither a wrong nor a missing one is accepted, nor one where there is none."""
    phone = Phone()
    unset = phone.run("locksettings verify --old 1")
    phone.out("locksettings set-password secret")

    wrong = phone.run("locksettings clear --old secre")
    missing = phone.run("locksettings set-pin 1234")

    assert unset == (255, "Old password provided but user has no password\n", "")
    assert wrong == (255, "Old password 'secre' didn't match\n", "")
    assert missing == (255, "Old password not provided but the user has password\n", "")
    assert phone.run("locksettings verify --old secret").status == 0
