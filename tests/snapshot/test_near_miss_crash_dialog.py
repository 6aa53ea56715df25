"""What Android says of an app that stopped."""

from __future__ import annotations

from pytest_clawperator.snapshot.near_miss import CRASH_HINT, crash_dialog, crash_hint, told_first
from pytest_clawperator.snapshot.tree import Snapshot
from tests.doubles.runner import SHOP, node, screen

CLOSE = node(text="Schließen", kind="Button").replace(
    'resource-id=""', 'resource-id="android:id/aerr_close"'
)
TITLE = node(text="Bank wurde beendet", kind="TextView").replace(
    'resource-id=""', 'resource-id="android:id/alertTitle"'
)


def test_the_dialog_is_known_by_its_buttons_in_every_language() -> None:
    """Its title is told, whatever the language."""
    snapshot = Snapshot.from_xml(screen(TITLE, CLOSE))

    assert crash_dialog(snapshot) == "Bank wurde beendet"
    assert told_first(snapshot) == '"Bank wurde beendet" is on the screen; '
    assert crash_hint(snapshot) == CRASH_HINT
    assert crash_hint(Snapshot.from_xml(SHOP)) is None


def test_without_a_title_its_first_text_is_told() -> None:
    """Some vendors have a dialog of their own around the usual buttons."""
    snapshot = Snapshot.from_xml(screen(node(text="Bank hängt"), CLOSE))

    assert crash_dialog(snapshot) == "Bank hängt"


def test_other_screens_have_none() -> None:
    """An app that quotes such an id in a text has no dialog."""
    quoting = Snapshot.from_xml(screen(node(text="android:id/aerr_close")))

    assert crash_dialog(quoting) is None
    assert told_first(Snapshot.from_xml(SHOP)) == ""
    assert told_first(None) == ""
