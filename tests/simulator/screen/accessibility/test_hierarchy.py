"""The UI tree as XML."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from pytest_clawperator.simulator.screen.accessibility import Bounds, hierarchy_xml
from tests.doubles.simulator.screen_phone import Phone
from tests.simulator.screen.nodes import FRAME, TEXT, VIEW, node


def test_a_tree_is_printed_with_all_attributes_in_order() -> None:
    """Prolog, seventeen attributes in their order, two spaces a level, a newline at the end."""
    root = node(
        FRAME,
        node(TEXT, text="Hi", resource_id="android:id/title", clickable=True),
        node(VIEW, content_desc="x", bounds=Bounds(1, 2, 3, 4)),
    )

    flags = (
        'checkable="false" checked="false" clickable="{}" enabled="true" focusable="false"'
        ' focused="false" scrollable="false" long-clickable="false" password="false"'
        ' selected="false"'
    )
    assert hierarchy_xml([root], 1) == (
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n"
        '<hierarchy rotation="1">\n'
        f'  <node index="0" text="" resource-id="" class="{FRAME}" package="com.example"'
        f' content-desc="" {flags.format("false")} bounds="[0,0][1080,2400]">\n'
        f'    <node index="0" text="Hi" resource-id="android:id/title" class="{TEXT}"'
        f' package="com.example" content-desc="" {flags.format("true")}'
        ' bounds="[0,0][1080,2400]" />\n'
        f'    <node index="1" text="" resource-id="" class="{VIEW}" package="com.example"'
        f' content-desc="x" {flags.format("false")} bounds="[1,2][3,4]" />\n'
        "  </node>\n"
        "</hierarchy>\n"
    )


def test_only_five_characters_are_escaped() -> None:
    """Markup characters are escaped; a newline or an emoji stays as it is."""
    text = hierarchy_xml([node(text="<a & 'b' \"c\">\n😀\t")], 0)

    assert 'text="&lt;a &amp; &apos;b&apos; &quot;c&quot;&gt;\n😀\t"' in text


def test_every_shipped_screen_prints_as_xml() -> None:
    """What is printed can be parsed, and has the attributes that a phone prints and no others."""
    phone = Phone(start="com.android.settings")

    tree = ET.fromstring(hierarchy_xml([phone.root], 0).encode())
    nodes = list(tree.iter("node"))
    assert len(nodes) == sum(1 for _ in phone.root.walk())
    assert {len(entry.attrib) for entry in nodes} == {17}
    assert all(re.fullmatch(r"(\[\d+,\d+\]){2}", entry.attrib["bounds"]) for entry in nodes)
