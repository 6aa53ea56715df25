"""``wm``, ``screencap`` and ``uiautomator``."""

from __future__ import annotations

import asyncio
import struct
import xml.etree.ElementTree as ElementTree

import pytest

from pytest_clawperator.simulator.android.screen import uiautomator_xml
from pytest_clawperator.simulator.screen.nodes import Bounds, UiNode
from pytest_clawperator.simulator.shell.session import run_script
from tests.simulator.android.phone import Collected, Phone, Pieces

SETTINGS = "com.android.settings"
PNG = b"\x89PNG\r\n\x1a\n"


def picture(phone: Phone, command: str = "screencap -p") -> bytes:
    """Take a picture through the shell."""

    async def take() -> bytes:
        out, err = Collected(), Collected()
        await run_script(phone.device.make_shell(), command, Pieces([b""]), out, err)
        assert err.data == b""
        return out.data

    return asyncio.run(take())


def size_of(png: bytes) -> tuple[int, int]:
    """Read a picture's size."""
    width, height = struct.unpack(">II", png[16:24])
    return width, height


class TestWm:
    """Size and density."""

    def test_panel(self) -> None:
        """The panel's own size and density are told."""
        phone = Phone(size=(720, 1600), density=320)

        assert phone.out("wm size") == "Physical size: 720x1600\n"
        assert phone.out("wm density") == "Physical density: 320\n"

    def test_override(self) -> None:
        """An override is told beside it, changes the screen, and can be taken back."""
        phone = Phone()

        phone.out("wm size 720x1280; wm density 240")
        assert phone.out("wm size") == "Physical size: 1080x2400\nOverride size: 720x1280\n"
        assert phone.out("wm density") == "Physical density: 420\nOverride density: 240\n"
        assert phone.device.ui.size == (720, 1280)

        phone.out("wm size reset; wm density reset")
        assert phone.out("wm size; wm density") == (
            "Physical size: 1080x2400\nPhysical density: 420\n"
        )
        assert phone.device.ui.size == (1080, 2400)

    def test_bounds(self) -> None:
        """An override stays between 200 pixels and twice the panel."""
        phone = Phone()

        phone.out("wm size 1x999999")

        assert phone.device.ui.size == (200, 4800)

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ("size big", "Error: bad size big\n"),
            (
                "size axb",
                'Error: bad number java.lang.NumberFormatException: For input string: "a"\n',
            ),
            ("density 5", "Error: density must be >= 72\n"),
            ("user-rotation up", "Error: argument needs to be either -d, free or lock.\n"),
        ],
    )
    def test_mistakes(self, arguments: str, complaint: str) -> None:
        """A mistake is told, with status 255."""
        assert Phone().run(f"wm {arguments}") == (255, "", complaint)

    def test_rotation(self) -> None:
        """The screen can be turned."""
        phone = Phone()

        phone.out("wm user-rotation lock 3")

        assert phone.out("wm user-rotation") == "lock 3\n"
        assert phone.device.ui.rotation == 3


class TestScreencap:
    """Pictures."""

    def test_to_the_host(self) -> None:
        """The picture is a PNG of the screen's size."""
        phone = Phone(size=(360, 800), density=160)

        png = picture(phone)

        assert png.startswith(PNG)
        assert size_of(png) == (360, 800)
        assert phone.device.stats.screenshots == 1

    def test_to_a_file(self) -> None:
        """The picture can be written to a file, which its name makes a PNG too."""
        phone = Phone(size=(360, 800), density=160)

        phone.out("screencap -p /sdcard/a.png; screencap /sdcard/b.png")

        files = phone.device.files
        assert files.read("/sdcard/a.png") == files.read("/sdcard/b.png")
        assert files.read("/sdcard/a.png").startswith(PNG)

    def test_unchanged(self) -> None:
        """An unchanged screen gives the same picture, another screen another one."""
        phone = Phone(size=(360, 800), density=160)
        first, second = picture(phone), picture(phone)

        phone.out(f"am start -n {SETTINGS}/.Settings")

        assert first == second
        assert picture(phone) != first

    def test_asleep(self) -> None:
        """A screen that is off is black."""
        phone = Phone(size=(360, 800), density=160)

        awake = picture(phone)
        phone.out("input keyevent SLEEP")

        asleep = picture(phone)
        assert size_of(asleep) == (360, 800)
        assert len(asleep) < len(awake)

    @pytest.mark.parametrize("target", ["", " /sdcard/a.png"])
    def test_storage_full(self, target: str) -> None:
        """A full phone takes no picture."""
        phone = Phone()
        phone.device.faults.set("storage_full")

        ended = phone.run(f"screencap -p{target}")

        assert (ended.status, ended.out) == (1, "")
        assert "No space left on device" in ended.err

    def test_no_such_folder(self) -> None:
        """A file that cannot be written is named."""
        ended = Phone(size=(360, 800)).run("screencap -p /nowhere/a.png")

        assert ended == (
            1,
            "",
            "Error opening file: /nowhere/a.png (No such file or directory)\n",
        )

    def test_raw(self) -> None:
        """Raw pixels are not offered, and it says what is."""
        ended = Phone().run("screencap")

        assert ended.status == 1
        assert "give -p for a PNG" in ended.err


class TestUiautomator:
    """The hierarchy, as uiautomator dumps it."""

    def test_default_file(self) -> None:
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

    def test_no_tree(self) -> None:
        """Without a tree there is nothing to dump."""
        phone = Phone()
        phone.device.faults.set("no_ui_tree", times=1)

        assert phone.run("uiautomator dump").err == (
            "ERROR: null root node returned by UiTestAutomationBridge.\n"
        )
        assert phone.run("uiautomator dump").err == ""

    def test_escapes(self) -> None:
        """Quotes, brackets and newlines in texts do not break the XML, the unseen is left out."""
        root = UiNode("V", "p", Bounds(0, 0, 9, 9), text="<a> & \"b\"\n'c'")
        root.add(UiNode("V", "p", Bounds(0, 0, 0, 0), visible_to_user=False))

        parsed = ElementTree.fromstring(uiautomator_xml(root, 0))

        assert [node.get("text") for node in parsed.iter("node")] == ["<a> & \"b\"\n'c'"]

    def test_usage(self) -> None:
        """Anything but a dump is answered with what there is."""
        ended = Phone().run("uiautomator fly")

        assert ended.status == 1
        assert "Usage: uiautomator" in ended.out
