"""``cmd locale``."""

from __future__ import annotations

from tests.doubles.simulator.android_phone import Phone

SETTINGS = "com.android.settings"


class TestLocale:
    """Languages of single apps."""

    def test_set_and_get(self) -> None:
        """An app's languages can be set and read."""
        phone = Phone()

        phone.out(f"cmd locale set-app-locales {SETTINGS} --locales de-DE,en-GB")

        assert phone.out(f"cmd locale get-app-locales {SETTINGS}") == (
            f"Locales for {SETTINGS} for user 0 are [de-DE,en-GB]\n"
        )

    def test_an_unknown_package_is_named(self) -> None:
        """A package that is not there is named."""
        ended = Phone().run("cmd locale get-app-locales com.nope")

        assert ended == (255, "", "Unknown package com.nope for userId 0\n")
