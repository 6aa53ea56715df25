"""How the devices of a run are named."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.devices.spec import DeviceSpec, parse_device_spec
from pytest_clawperator.errors import ConfigurationError

#: A phone on Wi-Fi that came back before its old name was forgotten.
WIFI_TWIN = "adb-PH1-aBcDeF (2)._adb-tls-connect._tcp"

UNDERSTOOD: list[tuple[str, dict[str, Any]]] = [
    ("auto", {"kind": "auto"}),
    ("sim", {"kind": "sim"}),
    ("sim:4", {"kind": "sim", "count": 4}),
    ("sim:phone,tablet", {"kind": "sim", "phones": "phone,tablet"}),
    ("sim:api=30,35;2", {"kind": "sim", "phones": "api=30,35;2"}),
    ("emulator", {"kind": "emulator"}),
    ("emulator:4", {"kind": "emulator", "count": 4}),
    ("emulator:mine-2", {"kind": "emulator", "avd": "mine-2"}),
    ("emulator-5554", {"kind": "serial", "serial": "emulator-5554"}),
    ("10.0.0.7:5555", {"kind": "serial", "serial": "10.0.0.7:5555"}),
    ("simone", {"kind": "serial", "serial": "simone"}),
    ("default:5555", {"kind": "serial", "serial": "default:5555"}),  # a host of that name
    (WIFI_TWIN, {"kind": "serial", "serial": WIFI_TWIN}),
    ("http://lab-3:3000/PH1", {"kind": "url", "serial": "PH1", "url": "http://lab-3:3000"}),
    ("https://l:3/10.0.0.7:55", {"kind": "url", "serial": "10.0.0.7:55", "url": "https://l:3"}),
    ("http://[::1]:3000/PH1", {"kind": "url", "serial": "PH1", "url": "http://[::1]:3000"}),
    (f"http://lab/{WIFI_TWIN}", {"kind": "url", "serial": WIFI_TWIN, "url": "http://lab"}),
    ("http://lab", {"kind": "url", "url": "http://lab"}),
    ("http://lab/", {"kind": "url", "url": "http://lab"}),
]


@pytest.mark.parametrize(("text", "meant"), UNDERSTOOD)
def test_each_way_to_name_devices_is_understood(text: str, meant: dict[str, Any]) -> None:
    """Each kind is recognised, with its serial, count or url."""
    spec = parse_device_spec(text)

    assert spec == DeviceSpec(text, **meant)
    assert str(spec) == text


REFUSED = [
    *("", "a b", "PH1 (2", "PH1 (2) b", ":1", "auto:1", "lab:3000/PH1"),
    *("sim:", "sim:0", "sim:-1", "sim:/x", "sim:,", "sim:10000"),
    *("emulator:", "emulator:0", "emulator:10000", "emulator:-x", "emulator:a b"),
    *("http://", "http:///PH1", "http://lab:abc/PH1", "http://lab:0/PH1", "http://lab:65536/PH1"),
    *("http://user@lab/PH1", "http://lab/PH1?x=1", "http://lab/a/b", "ftp://lab/PH1"),
]

MEANT = {
    "SIM": "sim",
    "Auto": "auto",
    "SIM:4": "sim:4",
    "Emulator": "emulator",
    "Https://Lab/PH1": "https://Lab/PH1",
    "simulator": "sim",
    "Simulator:4": "sim:4",
    "emu": "emulator",
    "any": "auto",
}


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        *((text, "") for text in REFUSED),
        *((text, f"Did you mean {MEANT[text]}? ") for text in MEANT),
    ],
)
def test_what_names_no_device_is_refused(text: str, guess: str) -> None:
    """The error lists what is allowed; a keyword in capitals, or another tool's, is corrected."""
    with pytest.raises(ConfigurationError, match="is not a device") as caught:
        parse_device_spec(text)

    expected = f"{guess}Allowed: auto (any connected device), a serial"
    assert str(caught.value.hint).startswith(expected)
