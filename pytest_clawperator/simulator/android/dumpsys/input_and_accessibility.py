"""``dumpsys input``, ``dumpsys input_method`` and ``dumpsys accessibility``."""

from __future__ import annotations

from pytest_clawperator.simulator.android.state import accessibility
from pytest_clawperator.simulator.android.system import AndroidSystem


def dump_input(system: AndroidSystem, words: list[str]) -> str:
    """Print the touch screen, and how it is turned."""
    width, height = system.ui.display.size
    rotation = system.ui.display.rotation
    return (
        "INPUT MANAGER (dumpsys input)\n\n"
        "Input Manager State:\n"
        f"  Interactive: {str(system.display.awake).lower()}\n"
        "Event Hub State:\n  Devices:\n    1: touchscreen\n"
        "Input Reader State:\n  Device 1: touchscreen\n"
        f"    Viewport INTERNAL: displayId=0, orientation={rotation},"
        f" logicalFrame=[0, 0, {width}, {height}]\n"
        f"    SurfaceWidth: {width}px\n    SurfaceHeight: {height}px\n"
        f"    SurfaceOrientation: {rotation}\n"
    )


def dump_input_method(system: AndroidSystem, words: list[str]) -> str:
    """Print the keyboard in use and whether it is shown."""
    shown = str(system.ui.view.keyboard_shown).lower()
    current = system.settings.get("secure", "default_input_method") or "null"
    return (
        "Current Input Method Manager state:\n"
        "  Client state for user 0:\n"
        f"  mCurMethodId={current}\n"
        "  mCurSeq=1 mCurPerceptible=true\n"
        f"  mShowRequested={shown} mShowExplicitlyRequested=false mShowForced=false"
        f" mInputShown={shown}\n"
        f"  mInputShown={shown}\n"
        f"  mIsInputViewShown={shown}\n"
        f"  mCurId={current} mHaveConnection=true\n"
    )


def dump_accessibility(system: AndroidSystem, words: list[str]) -> str:
    """Print the accessibility services that are enabled and bound."""
    on = accessibility.is_on(system.settings)
    enabled = accessibility.enabled_services(system.settings)
    bound = [
        name
        for name in enabled
        if on
        and system.operators.pid_of(name.partition("/")[0]) is not None
        and system.faults.active("service_off") is None
        and system.faults.active("ui_automation") is None
    ]
    holder = "Ui Automation[eventTypes=TYPES_ALL_MASK, notificationTimeout=0]\n"
    services = ", ".join(f"Service[label=Clawperator Operator, {name}]" for name in bound)
    names = ", ".join(f"{{{name}}}" for name in enabled)
    return (
        "ACCESSIBILITY MANAGER (dumpsys accessibility)\n\n"
        f"currentUserId=0\n"
        f"User state[\n     attributes:{{id=0, touchExplorationEnabled=false}}\n"
        f"     Bound services:{{{services}}}\n"
        f"     Enabled services:{{{names}}}\n"
        "     Binding services:{}\n"
        "     Crashed services:{}]\n"
        f"{holder if system.faults.active('ui_automation') else ''}"
    )
