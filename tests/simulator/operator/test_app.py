"""The Operator app."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_clawperator.simulator.apps.load import shipped_apps
from pytest_clawperator.simulator.operator.command import Profile
from pytest_clawperator.simulator.screen.accessibility import AccessibilityEvent
from tests.simulator.operator.fakes import NOON, PACKAGE, PROFILES, Bench, action, all_done, command

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


IDS = "commandId=c1 taskId=t1"


@pytest.mark.parametrize("payload", [None, "", " \n"])
def test_a_broadcast_without_payload(payload: str | None) -> None:
    """What brings no payload is remarked upon and forgotten."""
    bench = Bench()

    bench.send(payload)

    assert bench.lines() == ["E [Operator-Receiver] Missing required agent payload extra: payload"]
    assert bench.entries()[0].tag == "OperatorCommandReceiver"


@pytest.mark.parametrize(
    ("payload", "java"),
    [
        ("{", "kotlinx.serialization.json.internal.JsonDecodingException: Unexpected JSON token"),
        ("{}", "java.lang.IllegalStateException: commandId is required\n"),
        (
            command(HOME, taskId=" "),
            "java.lang.IllegalArgumentException: taskId must not be blank\n",
        ),
    ],
)
def test_a_refused_payload(payload: str, java: str) -> None:
    """A payload that does not parse is answered by silence and a stack trace."""
    bench = Bench()

    bench.send(payload)

    (line,) = bench.lines()
    assert line.startswith(f"E [Operator-Receiver] Failed to parse agent command payload\n{java}")
    assert bench.stats.executions == 0


def test_a_payload_refused_on_demand() -> None:
    """The fault refuses a payload that is in order."""
    bench = Bench()
    bench.faults.set("payload_refused", times=1)

    bench.send(command(HOME), command(HOME))

    assert "Failed to parse agent command payload\njava.lang." in bench.lines()[0]
    assert len(bench.envelopes()) == 1


@pytest.mark.parametrize(
    "switch_off",
    [
        lambda bench: bench.faults.set("service_off"),
        lambda bench: bench.settings.put("secure", "accessibility_enabled", "0"),
        lambda bench: bench.settings.put("secure", "enabled_accessibility_services", "a/b:c/d"),
        lambda bench: bench.settings.delete("secure", "enabled_accessibility_services"),
    ],
)
def test_without_the_service(switch_off: Any) -> None:
    """A service that is not connected is answered at once, before any loop turns."""
    bench = Bench()
    switch_off(bench)

    bench.app.receive(command(HOME))

    assert bench.lines() == [
        f"E [Operator-Receiver] Accessibility service is not available {IDS}",
        'I [Clawperator-Result] {"commandId":"c1","taskId":"t1","status":"failed",'
        '"stepResults":[],"error":"Accessibility service is not available",'
        '"errorCode":"SERVICE_UNAVAILABLE"}',
    ]


def test_without_the_service_and_without_sense() -> None:
    """A broken payload then has no envelope at all."""
    bench = Bench()
    bench.faults.set("service_off")

    bench.send("{}")

    (line,) = bench.lines()
    assert line.startswith(
        "E [Operator-Receiver] Accessibility service is not available and failed to parse agent "
        "command payload\njava.lang."
    )


class TestCrash:
    """How the Operator dies."""

    def test_a_crash_on_demand(self) -> None:
        """Instead of the envelope there is what a dying process says."""
        bench = Bench()
        bench.faults.set("operator_crash", times=1)
        pid = bench.app.pid

        bench.send(command(HOME))

        assert bench.results() == []
        fatal, signal = bench.entries()[-2:]
        assert (fatal.priority, fatal.tag, fatal.buffer, fatal.pid) == (
            *("E", "AndroidRuntime", "crash"),
            pid,
        )
        head = f"FATAL EXCEPTION: main\nProcess: {PACKAGE}, PID: {pid}\njava.lang."
        assert fatal.message.startswith(head)
        assert "\n\tat " in fatal.message
        assert (signal.tag, signal.message) == ("Process", f"Sending signal. PID: {pid} SIG: 9")
        assert not bench.app.alive
        assert not bench.is_service_enabled()

    def test_after_a_crash_the_service_is_gone(self) -> None:
        """The next command has a new process, and no service until it is switched on again."""
        bench = Bench()
        pid = bench.app.pid
        bench.app.crash("out of luck")

        bench.send(command(HOME, commandId="second"))
        bench.enable_service()
        bench.send(command(HOME, commandId="third"))

        first, second = bench.envelopes()
        assert first["errorCode"] == "SERVICE_UNAVAILABLE"
        assert second["status"] == "success"
        assert bench.app.pid != pid

    def test_other_services_survive_a_crash(self) -> None:
        """Only the Operator's own service is taken away."""
        bench = Bench()
        name = bench.settings.get("secure", "enabled_accessibility_services")
        bench.settings.put("secure", "enabled_accessibility_services", f"com.x/.Y:{name}")

        bench.app.crash("out of luck")

        assert bench.settings.get("secure", "enabled_accessibility_services") == "com.x/.Y"
        assert bench.settings.get("secure", "accessibility_enabled") == "1"

    def test_a_crash_takes_every_command_with_it(self) -> None:
        """What runs and what waits both end without an answer."""
        bench = Bench()

        async def crash_in_between() -> None:
            bench.app.receive(command(action("sleep", durationMs=100), HOME, commandId="runs"))
            bench.app.receive(command(HOME, commandId="waits"))
            await asyncio.sleep(0)
            bench.app.crash("out of luck")
            bench.enable_service()
            bench.app.receive(command(HOME, commandId="next"))
            await all_done()

        asyncio.run(crash_in_between())

        assert [envelope["commandId"] for envelope in bench.envelopes()] == ["next"]
        assert bench.ui.done == ["home"]
        bench.stats.execution_started()
        assert bench.stats.overlaps == 1

    def test_stopping_is_silent(self) -> None:
        """A process that is stopped says nothing and does nothing more."""
        bench = Bench()

        async def stop_in_between() -> None:
            bench.app.receive(command(action("sleep", durationMs=100), HOME))
            await asyncio.sleep(0)
            await bench.app.stop()

        asyncio.run(stop_in_between())

        assert bench.results() == []
        assert bench.ui.done == []
        assert not any("AndroidRuntime" in line.tag for line in bench.entries())
        assert bench.is_service_enabled()

    def test_a_screen_that_fails_is_a_crash(self) -> None:
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


def id_of(name: str, package: str = SHOP) -> dict[str, str]:
    """Make a matcher for a resource id."""
    return {"resourceId": f"{package}:id/{name}"}


def data(envelope: dict[str, Any]) -> dict[str, str]:
    """Return the last step's data; every step has to have worked."""
    assert [step for step in envelope["stepResults"] if not step["success"]] == []
    last: dict[str, str] = envelope["stepResults"][-1]["data"]
    return last


SIGN_IN = (
    open_app(SHOP),
    action("enter_text", matcher=id_of("email"), text="zoe@example.com"),
    action("enter_text", matcher=id_of("password"), text="secret"),
)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_android_version(profile: Profile) -> None:
    """The first thing that everybody does: About phone, Android version."""
    envelope = phone(profile).execute(
        open_app(SETTINGS),
        action("scroll_and_click", matcher={"textEquals": "About phone"}),
        action("wait_for_node", matcher={"textEquals": "Android version"}),
        action("read_key_value_pair", labelMatcher={"textEquals": "Android version"}),
    )

    assert data(envelope) == {"label": "Android version", "value": "16"}


def test_a_snapshot_of_settings() -> None:
    """The snapshot has the rows of the screen, and no overlay."""
    bench = phone()

    envelope = bench.execute(open_app(SETTINGS), action("snapshot_ui"))

    assert data(envelope) == {
        "actual_format": "hierarchy_xml",
        "foreground_package": SETTINGS,
        "has_overlay": "false",
        "window_count": "2",
    }
    text = "\n".join(line.message for line in bench.entries())
    assert 'text="Connections" resource-id="android:id/title"' in text


@pytest.mark.parametrize("profile", PROFILES)
def test_a_long_list(profile: Profile) -> None:
    """A row near the end of two hundred is found, clicked, and shown."""
    envelope = phone(profile).execute(
        open_app(CONFORMANCE),
        click("Open List"),
        action(
            "scroll_until",
            matcher={"textEquals": "row_150"},
            clickAfter=True,
            maxScrolls=100,
            maxDurationMs=120000,
        ),
        action("read_text", matcher=id_of("txt_selected_row", CONFORMANCE)),
        timeoutMs=120000,
    )

    assert data(envelope)["text"] == "Selected: row_150"


def test_the_end_of_a_list() -> None:
    """Scrolling without a target ends where the list does."""
    envelope = phone().execute(
        open_app(SETTINGS),
        action("scroll_until", maxScrolls=50, maxDurationMs=60000),
        action("wait_for_node", matcher={"textEquals": "About phone"}),
        timeoutMs=120000,
    )

    assert envelope["stepResults"][1]["data"]["termination_reason"] == "EDGE_REACHED"


def test_scrolling_up_and_down() -> None:
    """A list moves down, and back up to its beginning, where it stays."""
    envelope = phone().execute(
        open_app(SETTINGS),
        action("scroll"),
        action("scroll", direction="up"),
        action("scroll", direction="up"),
    )

    outcomes = [step["data"]["scroll_outcome"] for step in envelope["stepResults"][1:]]
    assert outcomes == ["moved", "moved", "edge_reached"]


def test_a_sign_in_form_is_filled_and_sent() -> None:
    """Fields are filled, the button is clicked, and the catalogue comes after its delays."""
    envelope = phone().execute(
        *SIGN_IN,
        action("click", matcher=id_of("sign_in")),
        action("wait_for_node", matcher={"textEquals": "Item 1"}),
    )

    assert data(envelope)["label"] == "Item 1"


def test_submit_is_enter_to_the_specification_only() -> None:
    """Submitting the password signs in; the published app merely clicks the field."""
    documented, published = phone(), phone("0.5.3")
    submit = action("enter_text", matcher=id_of("password"), text="secret", submit=True)
    wait = action("wait_for_navigation", expectedNode={"textEquals": "Shop"}, timeoutMs=3000)

    results = [bench.execute(*SIGN_IN[:2], submit, wait) for bench in (documented, published)]

    assert [result["stepResults"][-1]["success"] for result in results] == [True, False]


def test_a_delayed_node_is_waited_for() -> None:
    """A network appears after 1.2 seconds, which three looks are enough for."""
    bench = phone()
    steps = (open_app(SETTINGS), click("Connections"), click("Wi-Fi networks"))

    envelope = bench.execute(*steps, action("wait_for_node", matcher={"textEquals": "Coffee Shop"}))

    assert data(envelope)["label"] == "Coffee Shop"
    assert sum("stage-retry" in line for line in bench.lines()) == 2


def test_the_keyboard_is_an_overlay() -> None:
    """With a field clicked, the keyboard is a window above the app."""
    envelope = phone().execute(
        open_app(SHOP), action("click", matcher=id_of("email")), action("snapshot_ui")
    )

    found = data(envelope)
    assert found["foreground_package"] == SHOP
    assert found["has_overlay"] == "true"
    assert found["overlay_package"] != SHOP


def test_a_permission_prompt() -> None:
    """Another app's window asks, and its button answers."""
    bench = phone()
    to_account = (
        *SIGN_IN,
        action("click", matcher=id_of("sign_in")),
        action("wait_for_node", matcher={"textEquals": "Item 1"}),
        click("Account"),
        click("Find shops near me"),
    )

    envelope = bench.execute(
        *to_account,
        action("snapshot_ui"),
        action("click", matcher={"textContains": "While using"}),
        action("read_key_value_pair", labelMatcher={"textEquals": "Find shops near me"}),
    )

    snapshot = envelope["stepResults"][len(to_account)]["data"]
    assert snapshot["foreground_package"] != SHOP
    assert snapshot["has_overlay"] == "true"
    assert data(envelope)["value"] == "3 shops within 2 km"


@pytest.mark.parametrize("profile", PROFILES)
def test_a_link_opens_its_screen_or_a_chooser(profile: Profile) -> None:
    """A link opens its screen, and one that two apps handle opens a chooser."""
    bench = phone(profile)

    envelope = bench.execute(
        action("open_uri", uri="shop://item/7"),
        action("read_text", matcher=id_of("item_name")),
        action("open_uri", uri="demo://open"),
        action("snapshot_ui"),
    )

    assert envelope["stepResults"][1]["data"]["text"] == "Item 7"
    assert data(envelope)["foreground_package"] == "android"


def test_a_link_that_nobody_handles() -> None:
    """It is a code to the specification and a text to the published app."""
    documented, published = phone(), phone("0.5.3")
    link = action("open_uri", uri="nobody://home")

    found = [bench.execute(link) for bench in (documented, published)]

    assert found[0]["stepResults"][0]["data"] == {"error": "URI_NOT_HANDLED"}
    assert found[1]["error"] == (
        "Task execution failed: URI_NOT_HANDLED: No application found to handle uri=nobody://home"
    )


def test_a_disabled_row() -> None:
    """To the specification a disabled row is not clickable."""
    envelope = phone().execute(open_app(SETTINGS), click("Connections"), click("SIM manager"))

    assert envelope["error"] == "Step a1 (click) failed: NODE_NOT_CLICKABLE"


def test_back_leaves_the_screen_and_home_the_app() -> None:
    """Back leaves the screen, home leaves the app."""
    envelope = phone().execute(
        open_app(SETTINGS),
        click("Connections"),
        action("press_key", key="back"),
        action("wait_for_node", matcher={"textEquals": "Connected devices"}),
        action("press_key", key="home"),
        action("snapshot_ui"),
    )

    assert data(envelope)["foreground_package"] != SETTINGS


def test_an_app_is_navigated_to() -> None:
    """The published app sees another package come to the front only if it takes a moment."""
    quick, slow = phone("0.5.3"), phone("0.5.3")
    slow.phone.launching.delay = 0.4
    wait = action("wait_for_navigation", expectedPackage=SETTINGS, timeoutMs=2000)

    results = [bench.execute(open_app(SETTINGS), wait) for bench in (quick, slow)]

    assert results[0]["stepResults"][1]["data"]["error"] == "NAVIGATION_TIMEOUT"
    assert results[1]["stepResults"][1]["data"] == {
        "resolved_package": SETTINGS,
        "elapsed_ms": "400",
    }


def test_an_app_that_crashes_is_not_the_operator() -> None:
    """The Operator goes on after an app died under it."""
    bench = phone()
    crashed: list[str] = []
    bench.phone.changes.on_crash = lambda package, message: crashed.append(package)

    bench.send(
        command(
            *SIGN_IN,
            action("click", matcher=id_of("sign_in")),
            action("wait_for_node", matcher={"textEquals": "Item 1"}),
            click("Account"),
            action("scroll_until", matcher=id_of("crash"), clickAfter=True),
            action("press_key", key="home"),
        )
    )

    assert crashed == [SHOP]
    assert bench.envelopes()[0]["status"] == "success"


def test_what_is_recorded_on_a_real_screen() -> None:
    """Clicks, texts, scrolls and windows come from what the Operator does."""
    bench = phone()

    envelope = bench.execute(
        action("start_recording", sessionId="s1"),
        open_app(SETTINGS),
        action("scroll"),
        action("scroll", direction="up"),
        click("Connections"),
        action("stop_recording"),
    )

    path = data(envelope)["filePath"]
    lines = bench.files.read(path).decode().splitlines()
    for kind in ("window_change", "scroll", "click"):
        assert any(f'"type":"{kind}"' in line for line in lines), kind
    assert int(data(envelope)["eventCount"]) == len(lines) - 1


def test_what_happens_by_itself_is_recorded_too() -> None:
    """A screen that opens after a delay is in the recording, with its hierarchy."""
    bench = phone()

    envelope = bench.execute(
        action("start_recording", sessionId="s1"),
        *SIGN_IN,
        action("click", matcher=id_of("sign_in")),
        action("wait_for_node", matcher={"textEquals": "Item 1"}),
        action("stop_recording"),
    )

    lines = bench.files.read(data(envelope)["filePath"]).decode().splitlines()
    changes = [line for line in lines if '"type":"window_change"' in line]
    assert "<hierarchy" in changes[-1]
    assert any('"text":"zoe@example.com","type":"text_change"' in line for line in lines)


def test_every_event_is_in_the_log() -> None:
    """What happens on the screen is logged by the service."""
    bench = phone()

    bench.execute(open_app(SETTINGS), click("Connections"))

    events = [line for line in bench.entries() if "onAccessibilityEvent(" in line.message]
    assert {line.tag for line in events} == {"OperatorAccessibilityService"}
    assert any("TYPE_VIEW_CLICKED" in line.message for line in events)


def test_the_same_seed_gives_the_same_log() -> None:
    """Two phones that do the same say the same."""
    first, second = phone(), phone()
    missing = action("click", matcher={"textEquals": "missing"})

    for bench in (first, second):
        bench.send(command(open_app(SETTINGS), action("snapshot_ui"), missing))

    assert first.lines() == second.lines()
