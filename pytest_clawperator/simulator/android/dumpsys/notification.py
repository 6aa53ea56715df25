"""``dumpsys notification``: the toasts that are up."""

from __future__ import annotations

from pytest_clawperator.simulator.android.dumpsys.records import object_id
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.screen.phone_state import Toast

# Since then the system itself shows toasts of text, and so knows the text.
_TEXT_SINCE_API = 30


def dump_notification(system: AndroidSystem, words: list[str]) -> str:
    """Print the queue of toasts; there are no notifications."""
    toast = system.ui.view.toast
    queue = [] if toast is None else ["  Toast Queue:", f"    {_record(system, toast)}", "  "]
    lines = ["Current Notification Manager state:", *queue, "  Notification List:", "  "]
    return "\n".join(lines) + "\n"


def _record(system: AndroidSystem, toast: Toast) -> str:
    identity = object_id(f"toast {toast.text}")
    if system.build.api < _TEXT_SINCE_API:
        proxy = f"android.app.ITransientNotification$Stub$Proxy@{identity}"
        return f"ToastRecord{{{identity} pkg={toast.package} callback={proxy} duration=1"
    package = system.packages.get(toast.package)
    user = "1000" if package is None else package.user.replace("_", "")
    owner = f"{system.processes.pid_of(toast.package) or 0}:{toast.package}/{user}"
    token = f"android.os.BinderProxy@{identity}"
    return (
        f"TextToastRecord{{{identity} {owner} isSystemToast=false token={token}"
        f" text={toast.text} duration=1}}"
    )
