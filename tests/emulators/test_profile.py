"""What emulators are like: parsed, checked and named."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pytest_clawperator.emulators.avd import (
    DEFAULT_NAME,
    EmulatorProfile,
    default_profile,
    host_abi,
    parse_profile,
)
from pytest_clawperator.errors import ConfigurationError

# As `avdmanager list device` shows them.
REAL_DEVICES = (
    "Nexus 5",
    "Galaxy Nexus",
    "7in WSVGA (Tablet)",
    "3.2in HVGA slider (ADP1)",
    "automotive_1024p_landscape",
    "pixel_9_pro_fold",
)


def test_what_is_not_named_is_as_by_default() -> None:
    """The documented profile, with the processor of this machine."""
    profile = parse_profile("api=34, ram = 3072")

    assert profile == EmulatorProfile(api=34, ram=3072, abi=host_abi())
    assert parse_profile("") == default_profile()
    assert default_profile().avd_name == DEFAULT_NAME


@pytest.mark.parametrize("device", REAL_DEVICES)
def test_every_device_of_the_sdk_can_be_asked_for(device: str) -> None:
    """Its name may have spaces and brackets, that of the virtual device has none."""
    profile = parse_profile(f"device={device},api=30")

    assert profile.device == device
    assert re.fullmatch(r"[A-Za-z0-9._-]+", profile.avd_name)
    assert not profile.avd_name.endswith("-")


@pytest.mark.parametrize("device", ["", "-d", "../x", "a;b", 'a"b', "a\nb", "x" * 101, "$(id)"])
def test_what_is_no_device_is_refused(device: str) -> None:
    """It would reach a command line or a path."""
    with pytest.raises(ConfigurationError, match="as device of an emulator"):
        EmulatorProfile(device=device)


def test_profiles_that_differ_have_names_that_differ() -> None:
    """A virtual device of one is not taken for one of the other."""
    base = EmulatorProfile(api=34)
    changes: list[dict[str, object]] = [
        {},
        {"api": 33},
        {"image": "google_apis"},
        {"abi": "x86"},
        {"device": "Nexus 5"},
        {"ram": 1024},
        {"gpu": "host"},
    ]

    names = {replace(base, **change).avd_name for change in changes}  # type: ignore[arg-type]  # values of several types

    assert len(names) == len(changes)
    assert base.numbered(2).avd_name == f"{base.avd_name}-2"
    assert base.numbered(1) == base
