"""``uiautomator dump``."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from pytest_clawperator.simulator.android.programs.uiautomator import uiautomator_xml
from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode
from tests.doubles.simulator.android_phone import Phone

SETTINGS = "com.android.settings"


class TestUiautomator:
    """The hierarchy, as uiautomator dumps it."""

    def test_the_dump_goes_to_its_default_file(self) -> None:
        """The dump goes to its usual file and is well-formed."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        out = phone.out("uiautomator dump")

        assert out == "UI hierchary dumped to: /sdcard/window_dump.xml\n"
        root = ElementTree.fromstring(phone.device.files.read("/sdcard/window_dump.xml"))
        assert root.tag == "hierarchy"
        assert {node.get("package") for node in root.iter("node")} == {SETTINGS}

    def test_to_the_terminal(self) -> None:
        """The dump can be printed."""
        out = Phone().out("uiautomator dump /dev/tty")

        assert out.startswith("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy")
        assert out.endswith("</hierarchy>UI hierchary dumped to: /dev/tty\n")

    def test_without_a_tree_nothing_is_dumped(self) -> None:
        """Without a tree there is nothing to dump."""
        phone = Phone()
        phone.device.faults.set("no_ui_tree", times=1)

        assert phone.run("uiautomator dump").err == (
            "ERROR: null root node returned by UiTestAutomationBridge.\n"
        )
        assert phone.run("uiautomator dump").err == ""

    def test_special_characters_do_not_break_the_xml(self) -> None:
        """Quotes, brackets and newlines in texts do not break the XML, the unseen is left out."""
        root = UiNode("V", "p", Bounds(0, 0, 9, 9), text="<a> & \"b\"\n'c'")
        root.add(UiNode("V", "p", Bounds(0, 0, 0, 0), visible_to_user=False))

        parsed = ElementTree.fromstring(uiautomator_xml([root], 0))

        assert [node.get("text") for node in parsed.iter("node")] == ["<a> & \"b\"\n'c'"]

    def test_anything_but_a_dump_prints_the_usage(self) -> None:
        """Anything but a dump is answered with what there is."""
        ended = Phone().run("uiautomator fly")

        assert ended.status == 1
        assert "Usage: uiautomator" in ended.out
