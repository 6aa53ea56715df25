"""Messages that show for a while: snackbars and toasts."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.state.page import Page
from pytest_clawperator.simulator.screen.state.phone_state import PhoneState, Toast

SNACKBAR_SECONDS = 2.75
TOAST_SECONDS = 3.5


def show_snackbar(state: PhoneState, page: Page, text: str) -> None:
    """Show a text at the foot of a page."""
    page.snackbar = text
    state.changes.note()

    def vanish() -> None:
        if page.snackbar is text:
            page.snackbar = None
        state.changes.note()

    state.timeline.after(SNACKBAR_SECONDS, vanish, owner=page)


def show_toast(state: PhoneState, package: str, text: str) -> None:
    """Show a text over everything; it is no part of any app's window."""
    toast = state.toast = Toast(package, text)
    state.changes.note()
    state.changes.emit("TYPE_NOTIFICATION_STATE_CHANGED", package=package, texts=[text])

    def vanish() -> None:
        if state.toast is toast:
            state.toast = None
        state.changes.note()

    state.timeline.after(TOAST_SECONDS, vanish, owner=state)
