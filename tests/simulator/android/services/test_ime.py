"""``ime``."""

from __future__ import annotations

from tests.doubles.simulator.android_phone import Phone

LATIN = "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME"


class TestIme:
    """Keyboards."""

    def test_enabled_keyboards_are_listed(self) -> None:
        """The enabled keyboards are listed, with -a all of them."""
        phone = Phone()

        assert phone.out("ime list -s") == f"{LATIN}\n"
        assert len(phone.out("ime list -s -a").splitlines()) == 2

    def test_a_keyboard_is_enabled_and_selected(self) -> None:
        """A keyboard is enabled and selected."""
        phone = Phone()
        other = phone.out("ime list -s -a").splitlines()[1]

        assert phone.out(f"ime enable {other}") == (
            f"Input method {other}: now enabled for user #0\n"
        )
        assert phone.out(f"ime enable {other}").count("already enabled") == 1
        assert phone.out(f"ime set {other}") == f"Input method {other} selected for user #0\n"
        assert phone.out("settings get secure default_input_method") == f"{other}\n"

    def test_an_unknown_keyboard_cannot_be_selected(self) -> None:
        """A keyboard that is not there cannot be selected."""
        assert Phone().run("ime set com.x/.Y") == (
            255,
            "",
            "Unknown input method com.x/.Y cannot be selected for user #0\n",
        )
