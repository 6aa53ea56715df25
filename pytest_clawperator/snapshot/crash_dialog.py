"""The dialog in which Android says that an app has stopped, or does not respond."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_clawperator.snapshot.near_miss import quoted

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.tree import Snapshot

# The ids of its buttons, which are the same in every language.
_BUTTONS = "android:id/aerr_"
_TITLE = "android:id/alertTitle"


def crash_dialog(snapshot: Snapshot) -> str | None:
    """Return what the dialog says, or None if there is none."""
    if _BUTTONS not in snapshot.xml or not any(
        node.resource_id.startswith(_BUTTONS) for node in snapshot.nodes
    ):
        return None
    title = snapshot.find(id=_TITLE)
    labels = (node.label for node in snapshot.nodes if node.label)
    return title.label if title else next(labels, "")


#: What to do about it, which counts before everything else.
CRASH_HINT = "The app is not there any more: log.txt, or `adb logcat -b crash`, has the reason."


def crash_hint(snapshot: Snapshot | None) -> str | None:
    """Return what to do if the dialog is on the screen, or None."""
    return CRASH_HINT if told_first(snapshot) else None


def told_first(snapshot: Snapshot | None) -> str:
    """Return the beginning of a failure's message: what the dialog says, if there is one."""
    said = None if snapshot is None else crash_dialog(snapshot)
    return "" if said is None else f"{quoted(said)} is on the screen; "
