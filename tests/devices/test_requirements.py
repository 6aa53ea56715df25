"""What tests require of devices, and what devices lack."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.requirements import Requirements, form_of, requirements_of
from pytest_clawperator.errors import ConfigurationError

PIXEL = DeviceInfo(
    serial="PH1",
    key="PH1",
    model="Pixel 9",
    manufacturer="Google",
    api_level=36,
    abi="arm64-v8a",
    density=420,
    size=(1080, 2400),
)
UNKNOWN = DeviceInfo(serial="PH2", key="PH2")


@pytest.mark.parametrize(
    "required",
    [
        {},
        {"api": 36},
        {"api": "36"},
        {"api": ">=36"},
        {"api": "> 35, <= 36"},
        {"api": "!=35"},
        {"api": "<37"},
        {"abi": "arm64-v8a"},
        {"form": "phone"},
        {"emulator": False},
        {"model": "Pixel 9"},
        {"model": "pixel *"},
        {"manufacturer": "google"},
        {"api": ">=33", "form": "phone", "model": "*9"},
    ],
)
def test_a_device_that_meets_all_lacks_nothing(required: dict[str, Any]) -> None:
    """Each requirement alone, and all together, can be met."""
    assert requirements_of(required).unmet(PIXEL) == []


@pytest.mark.parametrize(
    ("required", "lacks"),
    [
        ({"api": 35}, "api=35 is required, the device has 36"),
        ({"api": ">=33,<36"}, "api='>=33,<36' is required, the device has 36"),
        ({"abi": "x86"}, "abi='x86' is required, the device has 'arm64-v8a'"),
        ({"form": "tablet"}, "form='tablet' is required, the device has 'phone'"),
        ({"emulator": True}, "emulator=True is required, the device has False"),
        ({"model": "Pixel"}, "model='Pixel' is required, the device has 'Pixel 9'"),
    ],
)
def test_what_a_device_lacks_is_said_with_what_it_has(required: dict[str, Any], lacks: str) -> None:
    """The sentence has both what is required and what the device has."""
    assert requirements_of(required).unmet(PIXEL) == [lacks]


def test_everything_that_is_lacking_is_said() -> None:
    """There is a sentence for each requirement."""
    assert len(Requirements(api=1, form="tablet", model="x").unmet(PIXEL)) == 3


@pytest.mark.parametrize("required", [{"api": 36}, {"abi": "x86"}, {"form": "phone"}])
def test_what_a_device_does_not_tell_is_not_met(required: dict[str, Any]) -> None:
    """An unknown property meets no requirement."""
    (lacks,) = requirements_of(required).unmet(UNKNOWN)

    assert lacks.endswith("is required, the device does not tell")


@pytest.mark.parametrize(
    ("size", "density", "form"),
    [
        ((1080, 2400), 420, "phone"),
        ((1600, 2560), 320, "tablet"),
        ((2560, 1600), 320, "tablet"),
        ((600, 1024), 160, "tablet"),
        ((599, 1024), 160, "phone"),
        (None, 160, None),
        ((600, 1024), None, None),
    ],
)
def test_a_tablet_is_wide_on_its_shorter_side(
    size: tuple[int, int] | None, density: int | None, form: str | None
) -> None:
    """A tablet is at least 600 units wide on its shorter side, however it is held."""
    assert form_of(DeviceInfo(serial="A", key="A", size=size, density=density)) == form


@pytest.mark.parametrize(
    ("required", "allowed"),
    [
        ({"api": "new"}, "a level or comparisons, as in 34, '>=33' or '>=33,<36'"),
        ({"api": ""}, "a level or comparisons"),
        ({"api": ">=33,"}, "a level or comparisons"),
        ({"api": ">=36,<30"}, "a level or comparisons"),
        ({"api": ">35,<36"}, "a level or comparisons"),
        ({"api": "35,!=35"}, "a level or comparisons"),
        ({"api": 0}, "a level or comparisons"),
        ({"api": "33,35"}, "a level or comparisons"),
        ({"api": "=>33"}, "a level or comparisons"),
        ({"api": 33.5}, "a level or comparisons"),
        ({"api": True}, "a level or comparisons"),
        ({"form": "Tablet"}, "'phone' or 'tablet'"),
        ({"emulator": 1}, "True or False"),
        ({"abi": 64}, "a text such as 'arm64-v8a'"),
        ({"model": " "}, "a text, in which * stands for anything"),
        ({"apy": 33}, "api=a level or comparisons"),
    ],
)
def test_what_no_device_can_meet_is_refused(required: dict[str, Any], allowed: str) -> None:
    """The error says what is allowed."""
    with pytest.raises(ConfigurationError) as caught:
        requirements_of(required)

    assert f"Allowed: {allowed}" in str(caught.value.hint)
