"""Steps that look."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.simulator.operator.command import Profile
from pytest_clawperator.simulator.screen.accessibility import UiNode, Window
from tests.simulator.operator.fakes import APP, MISSING, OK, PROFILES, Bench, button, node, screen

BOX = {"resourceId": "box"}
TEXT = {"role": "text"}
VERSION = {"textEquals": "Android version"}
SUMMARISED = node(
    "",
    node("Android version", resource_id="android:id/title"),
    node("", node("icon")),
    node("16", resource_id="android:id/summary"),
)
LINE = node("", node("OK"), cls="android.widget.LinearLayout", orientation="horizontal")


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("nodes", "type", "params", "data"),
    [
        (
            *([button(resource_id="x:id/ok")], "wait_for_node", {"matcher": OK, "timeoutMs": 700}),
            {"resource_id": "x:id/ok", "label": "OK", "timeout_ms": "700"},
        ),
        (
            *([button()], "wait_for_navigation"),
            {"expectedPackage": "com.other", "expectedNode": OK, "timeoutMs": 5000},
            {"resolved_package": APP, "elapsed_ms": "0"},
        ),
        (
            *(
                [node("", content_desc="Search")],
                "read_text",
                {"matcher": {"textEquals": "Search"}},
            ),
            {"text": "Search", "validator": "none"},
        ),
        (
            [node("A"), node("", node("B"), resource_id="box")],
            *("read_text", {"matcher": TEXT, "container": BOX}),
            {
                "text": "B",
                "validator": "none",
                "container": "NodeMatcher(resourceId=box, role=null, textEquals=null, "
                "textContains=null, contentDescEquals=null, contentDescContains=null)",
            },
        ),
        (
            [node('say "hi"'), node("back\\slash"), node("")],
            *("read_text", {"matcher": TEXT, "all": True}),
            {
                "text": '["say \\"hi\\"","back\\\\slash"]',
                "all": "true",
                "count": "2",
                "validator": "none",
            },
        ),
        (
            *([], "read_text", {"matcher": MISSING, "all": True}),
            {"text": "[]", "all": "true", "count": "0", "validator": "none"},
        ),
        (
            *([node("14.1.2")], "read_text", {"matcher": TEXT, "validator": "version"}),
            {"text": "14.1.2", "validator": "version"},
        ),
        (
            *([node("Settings")], "read_text", {"matcher": TEXT, "validator": "version"}),
            {"error": "VALIDATOR_MISMATCH", "raw_text": "Settings"},
        ),
        # A summary after the label wins over what stands first.
        (
            *([SUMMARISED], "read_key_value_pair", {"labelMatcher": VERSION}),
            {"label": "Android version", "value": "16"},
        ),
        # A row ends the search for a value; without a row it goes on upwards.
        (
            *([LINE, node("another row")], "read_key_value_pair", {"labelMatcher": OK}),
            {"error": "VALUE_NODE_NOT_FOUND"},
        ),
        (
            [node("", node("", node("OK"))), node("value")],
            *("read_key_value_pair", {"labelMatcher": OK}),
            {"label": "OK", "value": "value"},
        ),
        ([], "read_key_value_pair", {"labelMatcher": OK}, {"error": "NODE_NOT_FOUND"}),
    ],
)
def test_a_step_returns_what_it_found(
    profile: Profile,
    nodes: list[UiNode],
    type: str,
    params: dict[str, Any],
    data: dict[str, str],
) -> None:
    """Specification and published app agree on these."""
    step = Bench(screen(*nodes), profile=profile).step(type, **params)

    assert (step["actionType"], step["data"]) == (type, data)
    assert step["success"] == ("error" not in data)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"matcher": MISSING, "container": BOX}, "NODE_NOT_FOUND"),
        ({"matcher": OK, "container": {"resourceId": "none"}}, "CONTAINER_NOT_FOUND"),
        ({"matcher": OK, "container": {"resourceId": "none"}, "all": True}, "CONTAINER_NOT_FOUND"),
    ],
)
def test_with_a_container_a_missing_node_is_a_failed_step(
    profile: Profile, params: dict[str, Any], code: str
) -> None:
    """It is looked for five times."""
    bench = Bench(screen(node("", node("OK"), resource_id="box")), profile=profile)

    step = bench.step("read_text", **params)

    assert (step["success"], step["data"]) == (False, {"error": code})
    assert bench.ui.looks == 5


@pytest.mark.parametrize("profile", PROFILES)
def test_a_wait_ends_when_the_node_or_the_app_is_there(profile: Profile) -> None:
    """A node may come up at the fifth look; an app in vain is reported with the one in front."""
    late = Bench(lambda ui: screen(*([button()] if ui.looks == 5 else [])), profile=profile)
    other = Bench(lambda ui: screen(package="com.other" if ui.looks > 4 else APP), profile=profile)
    vain = Bench(profile=profile)

    wait = {"expectedPackage": "com.other", "timeoutMs": 1000}

    assert late.step("wait_for_node", matcher=OK)["data"] == {"resource_id": "", "label": "OK"}
    data = other.step("wait_for_navigation", **wait)["data"]
    assert data == {"resolved_package": "com.other", "elapsed_ms": "600"}
    step = vain.step("wait_for_navigation", **wait)
    assert (step["success"], vain.ui.looks) == (False, 1 + 6)
    assert step["data"] == {"error": "NAVIGATION_TIMEOUT", "last_package": APP}


# -- Snapshots -----------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
def test_a_snapshot_logs_the_hierarchy_and_describes_the_windows(profile: Profile) -> None:
    """Any window that is not an app's counts as an overlay, but for the status bar."""
    bench = Bench(screen(node("Grüße & <mehr>")), profile=profile)
    bar = Window("system", "com.android.systemui", screen(package="com.android.systemui"))
    bench.ui.extra_windows = [bar]

    assert bench.step("snapshot_ui")["data"] == {
        "actual_format": "hierarchy_xml",
        "foreground_package": APP,
        "has_overlay": "false",
        "window_count": "2",
    }
    (dump,) = [line for line in bench.entries() if "UI Hierarchy" in line.message]
    assert (dump.priority, dump.tag) == ("D", "TaskScopeDefault")
    assert dump.message.startswith("[TaskScope] UI Hierarchy:\n<?xml version='1.0' ")
    assert dump.message.endswith("</hierarchy>\n")
    assert 'text="Grüße &amp; &lt;mehr&gt;"' in dump.message

    covered = Bench(profile=profile)
    covered.ui.extra_windows = [Window("input_method", "com.keyboard", screen()), bar]
    data = covered.step("snapshot_ui")["data"]
    assert (data["has_overlay"], data["overlay_package"]) == ("true", "com.keyboard")


def test_a_dump_can_be_missing_or_cut() -> None:
    """The step succeeds, but there is nothing to read, or no end."""
    missing, cut = Bench(), Bench()
    missing.faults.set("missing_dump")
    cut.faults.set("truncated_dump")

    assert [bench.step("snapshot_ui")["success"] for bench in (missing, cut)] == [True, True]
    assert not any("UI Hierarchy" in line for line in missing.lines())
    text = "\n".join(cut.lines())
    assert ("<hierarchy" in text, "</hierarchy>" in text) == (True, False)


def test_foreign_lines_can_interrupt_a_dump() -> None:
    """Other processes speak in the middle of a dump; without them it is whole."""
    tree = screen(node("one"), node("two"), node("three"))
    bench, plain = Bench(tree), Bench(tree)
    bench.faults.set("foreign_lines", count="4")

    bench.step("snapshot_ui")
    plain.step("snapshot_ui")

    entries = bench.entries()
    foreign = [line for line in entries if line.pid != bench.app.pid]
    start = next(i for i, line in enumerate(entries) if "UI Hierarchy" in line.message)
    end = next(i for i, line in enumerate(entries) if line.message == "</hierarchy>")
    assert len(foreign) == 4
    assert all(line in entries[start:end] for line in foreign)
    own = [line.message for line in entries[start : end + 1] if line not in foreign]
    (whole,) = [line.message for line in plain.entries() if "UI Hierarchy" in line.message]
    assert "\n".join(own) + "\n" == whole


def test_a_long_dump_is_one_entry_a_line() -> None:
    """From 4000 units on every line is a separate entry."""
    bench = Bench(screen(*(node(f"Row {number}") for number in range(20))))

    bench.step("snapshot_ui")

    messages = [line.message for line in bench.entries()]
    start = messages.index("[TaskScope] UI Hierarchy:")
    assert messages[start + 2] == '<hierarchy rotation="0">'
    assert messages[start + 3].startswith('  <node index="0"')
