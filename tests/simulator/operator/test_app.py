"""The Operator app: broadcasts, crashes, and journeys through real screens."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_clawperator.simulator.apps.load import shipped_apps
from pytest_clawperator.simulator.operator.command import Profile
from pytest_clawperator.simulator.screen.accessibility import AccessibilityEvent
from tests.simulator.operator.fakes import NOON, PACKAGE, PROFILES, Bench, action, all_done, command

HOME = action("press_key", key="home")
IDS = "commandId=c1 taskId=t1"
SERVICES = "enabled_accessibility_services"
MISSING_PAYLOAD = "Missing required agent payload extra: payload"
REFUSED = "Failed to parse agent command payload\n"
NO_SERVICE = "Accessibility service is not available"


@pytest.mark.parametrize(
    ("payload", "fault", "line"),
    [
        (None, "", MISSING_PAYLOAD),
        (" \n", "", MISSING_PAYLOAD),
        (
            *("{", ""),
            f"{REFUSED}kotlinx.serialization.json.internal.JsonDecodingException: Unexpected JSON",
        ),
        ("{}", "", f"{REFUSED}java.lang.IllegalStateException: commandId is required\n"),
        (
            *(command(HOME, taskId=" "), ""),
            f"{REFUSED}java.lang.IllegalArgumentException: taskId must not be blank\n",
        ),
        (command(HOME), "payload_refused", f"{REFUSED}java.lang."),
        (
            "{}",
            "service_off",
            f"{NO_SERVICE} and failed to parse agent command payload\njava.lang.",
        ),
    ],
)
def test_a_refused_broadcast_is_one_line_in_the_log(
    payload: str | None, fault: str, line: str
) -> None:
    """A missing or broken payload is answered by silence and a stack trace."""
    bench = Bench()
    if fault:
        bench.faults.set(fault)

    bench.send(payload)

    (entry,) = bench.entries()
    assert (entry.priority, entry.tag.partition("$")[0]) == ("E", "OperatorCommandReceiver")
    assert entry.message.startswith(f"[Operator-Receiver] {line}")
    assert bench.stats.executions == 0


@pytest.mark.parametrize(
    "switch_off",
    [
        lambda bench: bench.faults.set("service_off"),
        lambda bench: bench.settings.put("secure", "accessibility_enabled", "0"),
        lambda bench: bench.settings.put("secure", SERVICES, "a/b:c/d"),
        lambda bench: bench.settings.delete("secure", SERVICES),
    ],
)
def test_without_the_service_a_command_fails_immediately(switch_off: Any) -> None:
    """The answer is there before any loop turns, and the service hears of no event."""
    bench = Bench()
    switch_off(bench)

    bench.app.receive(command(HOME))
    bench.app.on_accessibility_event(CLICKED)

    assert bench.lines() == [
        f"E [Operator-Receiver] {NO_SERVICE} {IDS}",
        'I [Clawperator-Result] {"commandId":"c1","taskId":"t1","status":"failed",'
        f'"stepResults":[],"error":"{NO_SERVICE}","errorCode":"SERVICE_UNAVAILABLE"}}',
    ]


CLICKED = AccessibilityEvent(
    "TYPE_VIEW_CLICKED", time=NOON, package="com.x", class_name="android.widget.Button"
)


def test_the_service_may_be_one_of_several_that_are_on() -> None:
    """Commands are carried out beside other accessibility services."""
    bench = Bench()
    own = bench.settings.get("secure", SERVICES)
    bench.settings.put("secure", SERVICES, f"com.x/.Y:{own}")

    bench.send(command(HOME), command(HOME))

    assert len(bench.envelopes()) == 2


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


# -- Crashes -------------------------------------------------------------------------------------


def test_a_crash_on_demand_is_logged_instead_of_the_envelope() -> None:
    """The process dies as Android has it, and only its own service is switched off."""
    bench = Bench()
    bench.faults.set("operator_crash", times=1)
    own, pid = bench.settings.get("secure", SERVICES), bench.app.pid
    bench.settings.put("secure", SERVICES, f"com.x/.Y:{own}")

    bench.send(command(HOME))

    assert bench.results() == []
    fatal, signal = bench.entries()[-2:]
    assert (fatal.priority, fatal.tag, fatal.buffer) == ("E", "AndroidRuntime", "crash")
    head = f"FATAL EXCEPTION: main\nProcess: {PACKAGE}, PID: {pid}\njava.lang."
    assert fatal.message.startswith(head)
    assert "\n\tat " in fatal.message
    assert (signal.tag, signal.message) == ("Process", f"Sending signal. PID: {pid} SIG: 9")
    assert not bench.app.alive
    assert bench.settings.get("secure", SERVICES) == "com.x/.Y"
    assert bench.settings.get("secure", "accessibility_enabled") == "1"


def test_a_crash_takes_every_command_with_it() -> None:
    """What runs and what waits both end without an answer; the next has a new process."""
    bench = Bench()
    pid = bench.app.pid

    async def crash_in_between() -> None:
        bench.app.receive(command(action("sleep", durationMs=100), HOME, commandId="runs"))
        bench.app.receive(command(HOME, commandId="waits"))
        await asyncio.sleep(0)
        bench.app.crash("out of luck")
        bench.app.receive(command(HOME, commandId="without service"))
        bench.enable_service()
        bench.app.receive(command(HOME, commandId="next"))
        await all_done()

    asyncio.run(crash_in_between())

    found = [(envelope["commandId"], envelope["status"]) for envelope in bench.envelopes()]
    assert found == [("without service", "failed"), ("next", "success")]
    assert bench.app.pid != pid
    assert bench.ui.done == ["home"]
    bench.stats.execution_started()
    assert bench.stats.overlaps == 1


def test_stopping_is_silent() -> None:
    """A process that is stopped logs nothing and does nothing more."""
    bench = Bench()

    async def stop_in_between() -> None:
        bench.app.receive(command(action("sleep", durationMs=100), HOME))
        await asyncio.sleep(0)
        await bench.app.stop()

    asyncio.run(stop_in_between())

    assert (bench.results(), bench.ui.done) == ([], [])
    assert not any("AndroidRuntime" in line.tag for line in bench.entries())
    assert bench.is_service_enabled()


def test_a_screen_that_fails_is_a_crash() -> None:
    """A bug behind the screen is reported, and no host waits for an answer."""
    problems: list[Any] = []

    def broken(ui: Any) -> None:
        raise KeyError("no such screen")

    bench = Bench(broken)

    async def watched() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: problems.append(context["exception"]))
        bench.app.receive(command(action("snapshot_ui")))
        await all_done()

    asyncio.run(watched())

    assert isinstance(problems[0], KeyError)
    assert any("FATAL EXCEPTION" in line for line in bench.lines())


# -- Journeys through the shipped apps -----------------------------------------------------------

SETTINGS = "com.android.settings"
SHOP = "com.example.shop"
CONFORMANCE = "com.clawperator.conformance"


def phone(profile: Profile = "documented") -> Bench:
    """Make a phone with the three apps."""
    return Bench(apps=shipped_apps(), profile=profile)


def open_app(package: str) -> dict[str, Any]:
    """Make the action that opens an app."""
    return action("open_app", applicationId=package)


def click(text: str) -> dict[str, Any]:
    """Make the action that clicks a text."""
    return action("click", matcher={"textEquals": text})


def wait_for(text: str) -> dict[str, Any]:
    """Make the action that waits for a text."""
    return action("wait_for_node", matcher={"textEquals": text})


def id_of(name: str, package: str = SHOP) -> dict[str, str]:
    """Make a matcher for a resource id."""
    return {"resourceId": f"{package}:id/{name}"}


LONG = {"maxScrolls": 100, "maxDurationMs": 120000}
FILLED_IN = (
    open_app(SHOP),
    action("enter_text", matcher=id_of("email"), text="zoe@example.com"),
    action("enter_text", matcher=id_of("password"), text="secret"),
)
SIGNED_IN = (*FILLED_IN, action("click", matcher=id_of("sign_in")), wait_for("Item 1"))
NEAR = "Find shops near me"


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (
            [
                open_app(SETTINGS),
                action("scroll_and_click", matcher={"textEquals": "About phone"}),
                wait_for("Android version"),
                action("read_key_value_pair", labelMatcher={"textEquals": "Android version"}),
            ],
            {"label": "Android version", "value": "16"},
        ),
        (
            [open_app(SETTINGS), action("snapshot_ui")],
            {"foreground_package": SETTINGS, "has_overlay": "false", "window_count": "2"},
        ),
        (
            [
                *(open_app(CONFORMANCE), click("Open List")),
                action("scroll_until", matcher={"textEquals": "row_150"}, clickAfter=True, **LONG),
                action("read_text", matcher=id_of("txt_selected_row", CONFORMANCE)),
            ],
            {"text": "Selected: row_150"},
        ),
        (
            [open_app(SETTINGS), action("scroll_until", **LONG)],
            {"termination_reason": "EDGE_REACHED"},
        ),
        (
            [open_app(SETTINGS), action("scroll"), action("scroll", direction="up")],
            {"scroll_outcome": "moved"},
        ),
        (
            [open_app(SETTINGS), action("scroll", direction="up")],
            {"scroll_outcome": "edge_reached"},
        ),
        (
            [
                *(open_app(SETTINGS), click("Connections"), click("Wi-Fi networks")),
                wait_for("Coffee Shop"),  # which appears after 1.2 seconds
            ],
            {"label": "Coffee Shop"},
        ),
        (
            [open_app(SHOP), action("click", matcher=id_of("email")), action("snapshot_ui")],
            {
                "foreground_package": SHOP,
                "overlay_package": "com.google.android.inputmethod.latin",
            },
        ),
        (
            [*SIGNED_IN, click("Account"), click(NEAR), action("snapshot_ui")],
            {
                "foreground_package": "com.android.permissioncontroller",
                "has_overlay": "true",
            },
        ),
        (
            [
                *(*SIGNED_IN, click("Account"), click(NEAR)),
                action("click", matcher={"textContains": "While using"}),
                action("read_key_value_pair", labelMatcher={"textEquals": NEAR}),
            ],
            {"value": "3 shops within 2 km"},
        ),
        (
            [
                action("open_uri", uri="shop://item/7"),
                action("read_text", matcher=id_of("item_name")),
            ],
            {"text": "Item 7"},
        ),
        # Two apps handle this link, so Android asks.
        (
            [action("open_uri", uri="demo://open"), action("snapshot_ui")],
            {"foreground_package": "android"},
        ),
        (
            [
                *(open_app(SETTINGS), click("Connections"), action("press_key", key="back")),
                *(wait_for("Connected devices"), HOME, action("snapshot_ui")),
            ],
            {"foreground_package": "com.google.android.apps.nexuslauncher"},
        ),
        # The Operator goes on after an app died under it.
        (
            [
                *(*SIGNED_IN, click("Account")),
                *(action("scroll_until", matcher=id_of("crash"), clickAfter=True), HOME),
            ],
            {"key": "home"},
        ),
    ],
)
def test_a_journey_through_an_app(
    profile: Profile, steps: list[dict[str, Any]], expected: dict[str, str]
) -> None:
    """Every step works on the real screens, under both profiles."""
    envelope = phone(profile).execute(*steps, timeoutMs=120000)

    assert [step for step in envelope["stepResults"] if not step["success"]] == []
    data = envelope["stepResults"][-1]["data"]
    assert data | expected == data


def test_where_the_profiles_differ_on_a_real_screen() -> None:
    """Submitting is enter to the specification only, and a disabled row or dead link a code."""
    submit = action("enter_text", matcher=id_of("password"), text="secret", submit=True)
    arrival = action("wait_for_navigation", expectedNode={"textEquals": "Shop"}, timeoutMs=3000)
    dead = action("open_uri", uri="none://home")
    text = "Task execution failed: URI_NOT_HANDLED: No application found to handle uri=none://home"

    submitted = [phone(profile).execute(*FILLED_IN[:2], submit, arrival) for profile in PROFILES]
    links = [phone(profile).execute(dead) for profile in PROFILES]
    disabled = phone().execute(open_app(SETTINGS), click("Connections"), click("SIM manager"))

    assert [each["stepResults"][-1]["success"] for each in submitted] == [True, False]
    assert links[0]["stepResults"][0]["data"] == {"error": "URI_NOT_HANDLED"}
    assert links[1]["error"] == text
    assert disabled["error"] == "Step a1 (click) failed: NODE_NOT_CLICKABLE"


def test_the_published_app_notices_a_navigation_only_if_it_takes_a_moment() -> None:
    """An app that is in front at the first look has not been navigated to."""
    quick, slow = phone("0.5.3"), phone("0.5.3")
    slow.phone.launching.delay = 0.4
    wait = action("wait_for_navigation", expectedPackage=SETTINGS, timeoutMs=2000)

    results = [bench.execute(open_app(SETTINGS), wait) for bench in (quick, slow)]

    assert results[0]["stepResults"][1]["data"]["error"] == "NAVIGATION_TIMEOUT"
    found = results[1]["stepResults"][1]["data"]
    assert found == {"resolved_package": SETTINGS, "elapsed_ms": "400"}


def test_what_happens_on_a_real_screen_is_recorded_and_logged() -> None:
    """Clicks, texts, scrolls and windows are recorded, also those that come after a delay."""
    bench = phone()
    steps = (
        *(action("start_recording", sessionId="s1"), open_app(SETTINGS), action("scroll")),
        *(action("scroll", direction="up"), click("Connections"), *SIGNED_IN),
    )

    data = bench.execute(*steps, action("stop_recording"))["stepResults"][-1]["data"]

    lines = bench.files.read(data["filePath"]).decode().splitlines()
    for kind in ("window_change", "scroll", "click", "text_change"):
        assert any(f'"type":"{kind}"' in line for line in lines), kind
    assert int(data["eventCount"]) == len(lines) - 1
    assert "<hierarchy" in [line for line in lines if '"type":"window_change"' in line][-1]
    assert any('"text":"zoe@example.com","type":"text_change"' in line for line in lines)
    events = [line for line in bench.entries() if "onAccessibilityEvent(" in line.message]
    assert {line.tag for line in events} == {"OperatorAccessibilityService"}
    assert any("(EventType: TYPE_VIEW_CLICKED; " in line.message for line in events)


def test_the_same_seed_gives_the_same_log() -> None:
    """Two phones that do the same log the same."""
    first, second = phone(), phone()

    for bench in (first, second):
        bench.send(command(open_app(SETTINGS), action("snapshot_ui"), click("missing")))

    assert first.lines() == second.lines()
