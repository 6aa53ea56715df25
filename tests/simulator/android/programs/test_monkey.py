"""``monkey``: starting an app and tapping at random."""

from __future__ import annotations

from tests.doubles.simulator.android_phone import (
    Phone,
)

SETTINGS = "com.android.settings"


class TestMonkey:
    """Starting by the icon, and poking."""

    def test_one_event_starts_the_app(self) -> None:
        """One event starts the app."""
        phone = Phone()

        ended = phone.run(f"monkey -p {SETTINGS} -c android.intent.category.LAUNCHER 1")

        assert ended.status == 0
        assert "Events injected: 1\n" in ended.out
        assert phone.device.ui.view.foreground_package() == SETTINGS

    def test_nothing_to_launch(self) -> None:
        """A package without an icon cannot be run."""
        ended = Phone().run("monkey -p com.nope -c android.intent.category.LAUNCHER 1")

        assert ended.status == 252
        assert "** No activities found to run, monkey aborted.\n" in ended.out

    def test_same_seed_same_pokes(self) -> None:
        """The same seed gives the same screen."""
        phones = [Phone(), Phone()]

        for phone in phones:
            phone.run(f"monkey -p {SETTINGS} -s 7 40")

        first, second = (phone.out("sim screen") for phone in phones)
        assert first == second

    def test_the_number_of_events_is_required(self) -> None:
        """The number of events must be given."""
        assert Phone().run("monkey -p com.android.settings -v").status == 255
