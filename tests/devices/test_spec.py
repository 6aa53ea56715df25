"""Wishes for devices, as people write them."""

from __future__ import annotations

import pytest

from pytest_clawperator.devices.spec import DeviceSpec, parse_device_spec
from pytest_clawperator.errors import ConfigurationError

#: A phone on Wi-Fi that came back before its old name was forgotten.
WIFI_TWIN = "adb-PH1-aBcDeF (2)._adb-tls-connect._tcp"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("auto", DeviceSpec("auto", "auto")),
        ("sim", DeviceSpec("sim", "sim")),
        ("sim:4", DeviceSpec("sim:4", "sim", count=4)),
        ("sim:phone,tablet", DeviceSpec("sim:phone,tablet", "sim", phones="phone,tablet")),
        ("sim:api=30,35;2", DeviceSpec("sim:api=30,35;2", "sim", phones="api=30,35;2")),
        ("emulator", DeviceSpec("emulator", "emulator")),
        ("emulator:4", DeviceSpec("emulator:4", "emulator", count=4)),
        ("emulator:mine-2", DeviceSpec("emulator:mine-2", "emulator", avd="mine-2")),
        ("emulator-5554", DeviceSpec("emulator-5554", "serial", serial="emulator-5554")),
        ("10.0.0.7:5555", DeviceSpec("10.0.0.7:5555", "serial", serial="10.0.0.7:5555")),
        ("simone", DeviceSpec("simone", "serial", serial="simone")),
        (
            "http://lab-3:3000/PH1",
            DeviceSpec("http://lab-3:3000/PH1", "url", serial="PH1", url="http://lab-3:3000"),
        ),
        (
            "https://lab:3000/10.0.0.7:5555",
            DeviceSpec(
                "https://lab:3000/10.0.0.7:5555",
                "url",
                serial="10.0.0.7:5555",
                url="https://lab:3000",
            ),
        ),
        (
            "http://[::1]:3000/PH1",
            DeviceSpec("http://[::1]:3000/PH1", "url", serial="PH1", url="http://[::1]:3000"),
        ),
        (WIFI_TWIN, DeviceSpec(WIFI_TWIN, "serial", serial=WIFI_TWIN)),
        (
            f"http://lab/{WIFI_TWIN}",
            DeviceSpec(f"http://lab/{WIFI_TWIN}", "url", serial=WIFI_TWIN, url="http://lab"),
        ),
        ("http://lab", DeviceSpec("http://lab", "url", url="http://lab")),
        ("http://lab/", DeviceSpec("http://lab/", "url", url="http://lab")),
    ],
)
def test_each_way_to_name_devices_is_understood(text: str, meant: DeviceSpec) -> None:
    """Each kind is told from the others, with its serial, count or url."""
    assert parse_device_spec(text) == meant
    assert str(parse_device_spec(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sim:",
        "sim:0",
        "sim:-1",
        "sim:/x",
        "sim:,",
        "sim:10000",
        "auto:1",
        "emulator:",
        "emulator:0",
        "emulator:10000",
        "emulator:-x",
        "emulator:a b",
        "http://",
        "http:///PH1",
        "http://lab:abc/PH1",
        "http://lab:0/PH1",
        "http://lab:65536/PH1",
        "http://user@lab/PH1",
        "http://lab/PH1?x=1",
        "http://lab/a/b",
        "ftp://lab/PH1",
        "lab:3000/PH1",
        "a b",
        "PH1 (2",
        "PH1 (2) b",
        ":1",
    ],
)
def test_what_names_no_device_is_refused(text: str) -> None:
    """The error says what is allowed."""
    with pytest.raises(ConfigurationError, match="is not a device") as caught:
        parse_device_spec(text)

    assert "auto (any connected device), a serial" in str(caught.value.hint)
    assert "Did you mean" not in str(caught.value.hint)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("SIM", "sim"),
        ("Auto", "auto"),
        ("SIM:4", "sim:4"),
        ("Emulator", "emulator"),
        ("Https://Lab/PH1", "https://Lab/PH1"),
    ],
)
def test_a_keyword_in_capitals_is_refused_with_what_was_meant(text: str, meant: str) -> None:
    """A keyword in capitals is refused with what was meant, and a serial keeps its case."""
    with pytest.raises(ConfigurationError, match="is not a device") as caught:
        parse_device_spec(text)

    assert str(caught.value.hint).startswith(f"Did you mean {meant}? Allowed: ")


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("simulator", "sim"),
        ("Simulator:4", "sim:4"),
        ("emu", "emulator"),
        ("any", "auto"),
    ],
)
def test_words_of_other_tools_are_translated(text: str, ours: str) -> None:
    """What would be a strange serial, and is a usual word for our keywords, gets the keyword."""
    with pytest.raises(ConfigurationError) as caught:
        parse_device_spec(text)

    assert (caught.value.hint or "").startswith(f"Did you mean {ours}? ")


def test_a_host_may_have_such_a_name() -> None:
    """With a port, a word that could be a host's name is a serial."""
    assert parse_device_spec("default:5555").kind == "serial"
