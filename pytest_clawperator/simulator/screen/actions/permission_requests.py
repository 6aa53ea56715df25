"""Asking the user for a runtime permission."""

from __future__ import annotations

from collections.abc import Callable

from pytest_clawperator.simulator.screen.state.phone_state import PhoneState
from pytest_clawperator.simulator.screen.state.system_pages import permission_page
from pytest_clawperator.simulator.screen.state.task import Task


def request_permission(
    state: PhoneState, task: Task, permission: str, *, answered: Callable[[bool], None]
) -> None:
    """Ask for a permission, unless the answer is known already; ``answered`` gets the answer."""
    package, permissions = task.app.package, state.permissions
    if permission in permissions.granted(package):
        answered(True)
        return
    if not permissions.may_ask(package, permission):
        answered(False)
        return

    def choose(choice: str) -> None:
        task.prompt = None
        if choice == "allow":
            permissions.grant(package, permission)
        else:
            permissions.refuse(package, permission)
        state.foreground.page_closed()
        answered(choice == "allow")

    task.prompt = permission_page(task.app, permission, now=state.timeline.now, choose=choose)
    state.foreground.page_opened(task, task.prompt)
