"""Steps that look."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.simulator.operator.command import Profile
from pytest_clawperator.simulator.screen.accessibility import Window
from tests.simulator.operator.fakes import APP, MISSING, OK, PROFILES, Bench, button, node, screen


@pytest.mark.parametrize("profile", PROFILES)
class TestWaiting:
    """What the specification and the published app agree upon."""

    def test_sleep_lasts_as_long_as_asked(self, profile: Profile) -> None:
        """A pause is as long as asked for, on the Operator's clock."""
        bench = Bench(profile=profile)

        assert bench.step("sleep", durationMs=5000)["data"] == {"duration_ms": "5000"}
        assert any("requested_ms=5000, elapsed_ms=5000" in line for line in bench.lines())

    def test_wait_for_node(self, profile: Profile) -> None:
        """A node that is there is described."""
        step = Bench(screen(button(resource_id="x:id/ok")), profile=profile).step(
            "find_node", matcher=OK, timeoutMs=700
        )

        assert step["actionType"] == "wait_for_node"
        assert step["data"] == {"resource_id": "x:id/ok", "label": "OK", "timeout_ms": "700"}

    def test_wait_for_node_looks_five_times(self, profile: Profile) -> None:
        """A node that comes up at the last look is found."""
        bench = Bench(lambda ui: screen(*([button()] if ui.looks == 5 else [])), profile=profile)

        assert bench.step("wait_for_node", matcher=OK)["data"] == {"resource_id": "", "label": "OK"}

    def test_wait_for_navigation_to_a_package(self, profile: Profile) -> None:
        """Another app that comes to the front ends the wait."""
        bench = Bench(
            lambda ui: screen(package="com.other" if ui.looks > 4 else APP), profile=profile
        )

        data = bench.step("wait_for_navigation", expectedPackage="com.other", timeoutMs=5000)[
            "data"
        ]

        assert data == {"resolved_package": "com.other", "elapsed_ms": "600"}

    def test_wait_for_navigation_to_a_node(self, profile: Profile) -> None:
        """A node that comes up ends the wait too."""
        bench = Bench(screen(button()), profile=profile)

        data = bench.step(
            "wait_for_navigation", expectedPackage="com.other", expectedNode=OK, timeoutMs=5000
        )["data"]

        assert data == {"resolved_package": APP, "elapsed_ms": "0"}

    def test_navigation_in_vain(self, profile: Profile) -> None:
        """The wait ends after its time and names the app that was in front."""
        bench = Bench(profile=profile)

        step = bench.step("wait_for_navigation", expectedPackage="com.other", timeoutMs=1000)

        assert step["success"] is False
        assert step["data"] == {"error": "NAVIGATION_TIMEOUT", "last_package": APP}
        assert bench.ui.looks == 1 + 6


@pytest.mark.parametrize("profile", PROFILES)
class TestSnapshots:
    """What the specification and the published app agree upon."""

    def test_a_snapshot_logs_the_hierarchy_and_describes_the_windows(
        self, profile: Profile
    ) -> None:
        """The hierarchy is in the log, and the windows are described."""
        bench = Bench(screen(node("Grüße & <mehr>")), profile=profile)
        bench.ui.extra_windows = [
            Window("system", "com.android.systemui", screen(package="com.android.systemui"))
        ]

        assert bench.step("snapshot_ui")["data"] == {
            "actual_format": "hierarchy_xml",
            "foreground_package": APP,
            "has_overlay": "false",
            "window_count": "2",
        }
        (dump,) = [line for line in bench.entries() if "UI Hierarchy" in line.message]
        assert dump.priority == "D"
        assert dump.tag == "TaskScopeDefault"
        assert dump.message.startswith("[TaskScope] UI Hierarchy:\n<?xml version='1.0' ")
        assert dump.message.endswith("</hierarchy>\n")
        assert 'text="Grüße &amp; &lt;mehr&gt;"' in dump.message

    def test_a_keyboard_is_an_overlay(self, profile: Profile) -> None:
        """Any window that is not an app's counts as an overlay."""
        bench = Bench(profile=profile)
        bench.ui.extra_windows = [Window("input_method", "com.keyboard", screen())]

        data = bench.step("snapshot_ui")["data"]

        assert (data["has_overlay"], data["overlay_package"]) == ("true", "com.keyboard")


class TestDumpFaults:
    """What may go wrong with a dump."""

    def test_a_missing_dump(self) -> None:
        """The step succeeds, but there is nothing to read."""
        bench = Bench()
        bench.faults.set("missing_dump")

        assert bench.step("snapshot_ui")["success"] is True
        assert not any("UI Hierarchy" in line for line in bench.lines())

    def test_a_truncated_dump(self) -> None:
        """The dump has a beginning and no end."""
        bench = Bench()
        bench.faults.set("truncated_dump")

        assert bench.step("snapshot_ui")["success"] is True
        text = "\n".join(bench.lines())
        assert "<hierarchy" in text
        assert "</hierarchy>" not in text

    def test_foreign_lines_can_interrupt_a_dump(self) -> None:
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

    def test_a_long_dump_is_one_entry_a_line(self) -> None:
        """From 4000 units on every line is a separate entry."""
        bench = Bench(screen(*(node(f"Row {number}") for number in range(20))))

        bench.step("snapshot_ui")

        messages = [line.message for line in bench.entries()]
        start = messages.index("[TaskScope] UI Hierarchy:")
        assert messages[start + 2] == '<hierarchy rotation="0">'
        assert messages[start + 3].startswith('  <node index="0"')


@pytest.mark.parametrize("profile", PROFILES)
class TestReading:
    """What the specification and the published app agree upon."""

    def test_read_text_prefers_the_text_over_the_description(self, profile: Profile) -> None:
        """The label is read: text, or where there is none the description."""
        bench = Bench(screen(node("", content_desc="Search")), profile=profile)

        assert bench.step("read_text", matcher={"textEquals": "Search"})["data"] == {
            "text": "Search",
            "validator": "none",
        }

    def test_read_text_in_a_container(self, profile: Profile) -> None:
        """Only what is inside the container counts, and the container is printed."""
        bench = Bench(screen(node("A"), node("", node("B"), resource_id="box")), profile=profile)

        data = bench.step("read_text", matcher={"role": "text"}, container={"resourceId": "box"})[
            "data"
        ]

        assert data["text"] == "B"
        assert data["container"].startswith("NodeMatcher(resourceId=box, role=null, ")

    def test_read_all_texts(self, profile: Profile) -> None:
        """Every label that fits is in the array, with quotes and backslashes escaped."""
        bench = Bench(screen(node('say "hi"'), node("back\\slash"), node("")), profile=profile)

        assert bench.step("read_text", matcher={"role": "text"}, all=True)["data"] == {
            "text": '["say \\"hi\\"","back\\\\slash"]',
            "all": "true",
            "count": "2",
            "validator": "none",
        }

    def test_nothing_to_read_is_an_empty_array(self, profile: Profile) -> None:
        """Reading all of nothing succeeds at once."""
        bench = Bench(profile=profile)

        assert bench.step("read_text", matcher=MISSING, all=True)["data"]["text"] == "[]"
        assert bench.ui.looks == 1

    @pytest.mark.parametrize(
        ("params", "code"),
        [
            ({"matcher": MISSING, "container": {"resourceId": "box"}}, "NODE_NOT_FOUND"),
            ({"matcher": OK, "container": {"resourceId": "none"}}, "CONTAINER_NOT_FOUND"),
            (
                {"matcher": OK, "container": {"resourceId": "none"}, "all": True},
                "CONTAINER_NOT_FOUND",
            ),
        ],
    )
    def test_reading_in_vain(self, profile: Profile, params: dict[str, Any], code: str) -> None:
        """With a container, what is missing is a failed step."""
        bench = Bench(screen(node("", node("OK"), resource_id="box")), profile=profile)

        step = bench.step("read_text", **params)

        assert (step["success"], step["data"]) == (False, {"error": code})
        assert bench.ui.looks == 5

    def test_a_text_of_the_wrong_form_fails_with_that_text(self, profile: Profile) -> None:
        """A text of the wrong form fails with the text that was read."""
        bench = Bench(screen(node("Settings")), profile=profile)
        read = {"matcher": {"role": "text"}, "validator": "version"}
        good = Bench(screen(node("14.1.2")), profile=profile)

        assert bench.step("read_text", **read)["data"] == {
            "error": "VALIDATOR_MISMATCH",
            "raw_text": "Settings",
        }
        assert good.step("read_text", **read)["data"] == {"text": "14.1.2", "validator": "version"}

    def test_read_key_value_pair(self, profile: Profile) -> None:
        """A summary after the label wins over what stands first."""
        row = node(
            "",
            node("Android version", resource_id="android:id/title"),
            node("", node("icon")),
            node("16", resource_id="android:id/summary"),
        )
        bench = Bench(screen(row), profile=profile)

        assert bench.step("read_key_value_pair", labelMatcher={"textEquals": "Android version"})[
            "data"
        ] == {"label": "Android version", "value": "16"}

    def test_a_label_without_a_value(self, profile: Profile) -> None:
        """A row ends the search for a value, and a missing label is another error."""
        row = node("", node("OK"), cls="android.widget.LinearLayout", orientation="horizontal")
        bench = Bench(screen(row, node("another row")), profile=profile)
        empty = Bench(profile=profile)

        assert bench.step("read_key_value_pair", labelMatcher=OK)["data"] == {
            "error": "VALUE_NODE_NOT_FOUND"
        }
        assert empty.step("read_key_value_pair", labelMatcher=OK)["data"] == {
            "error": "NODE_NOT_FOUND"
        }

    def test_a_value_is_looked_for_upwards(self, profile: Profile) -> None:
        """Without a row around it, the label's value may be its parent's sibling."""
        bench = Bench(screen(node("", node("", node("OK"))), node("value")), profile=profile)

        assert bench.step("read_key_value_pair", labelMatcher=OK)["data"]["value"] == "value"
