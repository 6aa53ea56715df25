"""The device's properties, as getprop prints them."""

from __future__ import annotations

from pytest_clawperator.transport.interface import ShellResult
from pytest_clawperator.transport.properties import parse_properties, properties
from tests.doubles.transport import ScriptedTransport


def test_properties_are_read_in_one_go() -> None:
    """One command gives them all."""
    transport = ScriptedTransport({"getprop": "[ro.a]: [1]\n[ro.b]: []\n"})

    found = properties(transport)

    assert found == {"ro.a": "1", "ro.b": ""}
    assert transport.calls == ["getprop"]


def test_values_may_have_line_breaks_and_brackets() -> None:
    """A value goes on until the next key."""
    text = "[a]: [one\ntwo]\r\n[b]: [x] y]\n[c]: [[1]: not a key]\n[d]: [end\n\n]\n"

    found = parse_properties(text)

    assert found == {"a": "one\ntwo", "b": "x] y", "c": "[1]: not a key", "d": "end\n\n"}


def test_a_device_without_getprop_tells_nothing() -> None:
    """What is missing is unknown, not an error."""
    transport = ScriptedTransport({"getprop": ShellResult("", "getprop: not found\n", 127)})

    assert properties(transport) == {}
