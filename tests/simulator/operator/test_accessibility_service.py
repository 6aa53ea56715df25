"""The accessibility service: enabled, connected, and its log."""

from __future__ import annotations

import asyncio

from pytest_clawperator.simulator.screen.accessibility import AccessibilityEvent
from tests.simulator.operator.fakes import (
    NOON,
    Bench,
    action,
    all_done,
    command,
)

HOME = action("press_key", key="home")


def test_the_service_among_others() -> None:
    """The service may be one of several that are switched on."""
    bench = Bench()
    name = bench.settings.get("secure", "enabled_accessibility_services")
    bench.settings.put("secure", "enabled_accessibility_services", f"com.x/.Y:{name}")

    assert bench.is_service_enabled()


def test_the_service_goes_away_in_the_middle() -> None:
    """A key cannot be pressed then, and the whole command fails."""
    documented, published = Bench(), Bench(profile="0.5.3")

    for bench in (documented, published):

        async def switch_off_in_between(bench: Bench = bench) -> None:
            bench.app.receive(command(action("sleep", durationMs=100), HOME))
            await asyncio.sleep(0)
            bench.faults.set("service_off")
            await all_done()

        asyncio.run(switch_off_in_between())

    (envelope,) = documented.envelopes()
    assert (envelope["errorCode"], envelope["stepResults"]) == ("SERVICE_UNAVAILABLE", [])
    assert published.envelopes()[0]["error"] == (
        "Task execution failed: OperatorAccessibilityService is not running - "
        "cannot execute press_key"
    )


def test_accessibility_events_are_logged() -> None:
    """The service logs every event it hears of, while it is connected."""
    bench = Bench()
    event = AccessibilityEvent(
        "TYPE_VIEW_CLICKED", time=NOON, package="com.x", class_name="android.widget.Button"
    )

    bench.app.on_accessibility_event(event)
    bench.faults.set("service_off")
    bench.app.on_accessibility_event(event)

    (line,) = bench.lines()
    assert line.startswith(
        "D [Operator-AccessibilityService] onAccessibilityEvent(EventType: TYPE_VIEW_CLICKED; "
    )
