"""The step snapshot_ui."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.operator.command import Profile
from pytest_clawperator.simulator.screen.accessibility import Window
from tests.simulator.operator.fakes import (
    APP,
    PROFILES,
    Bench,
    node,
    screen,
)


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
        """Any window that is no app's counts as an overlay."""
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
        """From 4000 units on every line is an entry of its own."""
        bench = Bench(screen(*(node(f"Row {number}") for number in range(20))))

        bench.step("snapshot_ui")

        messages = [line.message for line in bench.entries()]
        start = messages.index("[TaskScope] UI Hierarchy:")
        assert messages[start + 2] == '<hierarchy rotation="0">'
        assert messages[start + 3].startswith('  <node index="0"')
