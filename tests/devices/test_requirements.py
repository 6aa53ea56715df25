"""What tests require of devices, and what devices lack."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.requirements import (
    DeviceClass,
    Requirements,
    form_of,
    parse_matrix,
    parse_requirements,
    requirements_of,
)
from pytest_clawperator.errors import ConfigurationError

PHONE = DeviceInfo(
    serial="PH1",
    key="PH1",
    model="Pixel 9",
    manufacturer="Google",
    api_level=36,
    abi="arm64-v8a",
    density=420,
    size=(1080, 2400),
)
TABLET = DeviceInfo(
    serial="TB1", key="TB1", model="Pixel Tablet", api_level=35, density=320, size=(1600, 2560)
)


def bare(serial: str, key: str = "") -> DeviceInfo:
    """Return a device that reports nothing about itself."""
    return DeviceInfo(serial=serial, key=key or serial)


@pytest.mark.parametrize(
    "required",
    [
        {},
        *({"api": level} for level in (36, "36", ">=36", "> 35, <= 36", "!=35", "<37")),
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
    assert requirements_of(required).unmet(PHONE) == []


@pytest.mark.parametrize(
    ("device", "required", "lacks"),
    [
        (PHONE, {"api": 35}, ["api=35 is required, the device has 36"]),
        (PHONE, {"api": ">=33,<36"}, ["api='>=33,<36' is required, the device has 36"]),
        (PHONE, {"abi": "x86"}, ["abi='x86' is required, the device has 'arm64-v8a'"]),
        (PHONE, {"form": "tablet"}, ["form='tablet' is required, the device has 'phone'"]),
        (PHONE, {"emulator": True}, ["emulator=True is required, the device has False"]),
        (PHONE, {"model": "Pixel"}, ["model='Pixel' is required, the device has 'Pixel 9'"]),
        (
            bare("PH2"),
            {"api": 36, "abi": "x86", "form": "phone"},
            [
                "api=36 is required, the device does not report it",
                "abi='x86' is required, the device does not report it",
                "form='phone' is required, the device does not report it",
            ],
        ),
    ],
)
def test_each_missing_property_is_named_with_what_the_device_has(
    device: DeviceInfo, required: dict[str, Any], lacks: list[str]
) -> None:
    """There is a sentence for each requirement; an unknown property meets none."""
    assert requirements_of(required).unmet(device) == lacks


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


LEVELS = "a level or comparisons, as in 34, '>=33' or '>=33,<36'"

NO_LEVELS = "new", "", ">=33,", ">=36,<30", ">35,<36", "35,!=35", 0, "33,35", "=>33", 33.5, True


@pytest.mark.parametrize(
    ("required", "allowed"),
    [
        *(({"api": value}, LEVELS) for value in NO_LEVELS),
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


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("api=33", "api33"),
        ("api=33,35;form=phone,tablet", "api33-phone api33-tablet api35-phone api35-tablet"),
        ("form=phone;api=33,35", "phone-api33 phone-api35"),
        (" api = 33 , 35 ; form = phone ", "api33-phone api35-phone"),
        ("api=33\nform=phone", "api33-phone"),
        ("emulator=true,false", "emulator real"),
        ("emulator=True", "emulator"),
        ("api=>=33,<33", "api-ge33 api-lt33"),
        ("api=>35,<=35,!=34,==33", "api-gt35 api-le35 api-ne34 api33"),
        ("abi=arm64-v8a,x86_64", "arm64-v8a x86_64"),
        ("model=Pixel 9,Pixel *", "Pixel-9 Pixel"),
        ("model=*", "model"),
        ("manufacturer=Größe [1]", "Gr-e-1"),
        ("model=Pixel 9,Pixel-9", "Pixel-9 Pixel-9-2"),
        ("api=33,35;per=2", "api33 api35"),
    ],
)
def test_classes_are_the_product_of_the_values(text: str, labels: str) -> None:
    """Classes stand in the order of their values; their labels are safe everywhere."""
    assert [one.label for one in parse_matrix(text).classes([])] == labels.split()


def test_a_matrix_states_how_many_devices_of_each_class() -> None:
    """``per`` is one unless it is given."""
    texts = "api=33,35", "api=33,35;per=2", "per=64;form=phone"

    assert [parse_matrix(text).per for text in texts] == [1, 2, 64]


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("api=36;form=phone", [PHONE]),
        ("api=36;form=tablet", []),
        ("api=>=35", [PHONE, TABLET]),
        ("model=pixel *", [PHONE, TABLET]),
        ("emulator=false;form=tablet", [TABLET]),
    ],
)
def test_a_device_belongs_to_a_class_that_it_meets(text: str, members: list[DeviceInfo]) -> None:
    """A device belongs to a class if it meets all that the class requires."""
    (device_class,) = parse_matrix(text).classes([])

    assert [info for info in (PHONE, TABLET) if device_class.holds(info)] == members


def test_each_makes_a_class_of_every_device() -> None:
    """With ``each``, every device is a class of its own that is called by its serial."""
    wireless = bare("192.168.1.5:5555", "PH3")
    devices = [TABLET, wireless, PHONE]

    classes = parse_matrix("each").classes(devices)

    assert [one.label for one in classes] == ["192.168.1.5-5555", "PH1", "TB1"]
    members = [[info for info in devices if one.holds(info)] for one in classes]
    assert members == [[wireless], [PHONE], [TABLET]]


def test_two_devices_with_one_serial_are_two_classes() -> None:
    """Two emulators of one name on two hosts are two classes, in whichever order they come."""
    here = bare("emulator-5554", "127.0.0.1/emulator-5554")
    there = bare("emulator-5554", "rack/emulator-5554")

    first, second = (parse_matrix("each").classes(both) for both in ([here, there], [there, here]))

    assert [one.label for one in first] == ["emulator-5554", "emulator-5554-2"]
    assert first == second


@pytest.mark.parametrize("text", ["api=>=33,35;form=tablet;emulator=false", "each"])
def test_a_class_survives_the_way_to_another_process(text: str) -> None:
    """A class is the same after being turned into plain values and back."""
    classes = parse_matrix(text).classes([PHONE, TABLET])

    plain = json.loads(json.dumps([one.to_dict() for one in classes]))

    assert tuple(DeviceClass.from_dict(one) for one in plain) == classes


MANY = f"api={','.join(map(str, range(20, 37)))};form=phone,tablet;emulator=true,false"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", '"": it has no name=value', "Allowed: each (every device"),
        ("phones", '"phones": it has no name=value', "Allowed: each (every device"),
        ("api=33;", '"": it has no name=value', "Allowed: each (every device"),
        ("emulators=true", 'there is no "emulators"', "Did you mean emulator=? Allowed names: api"),
        ("api>=33", '"api>=33": there is no "api>"', "Did you mean api=? Allowed names:"),
        ("colour=red", '"colour=red": there is no "colour"', "Allowed names: api, abi, form,"),
        ("api=", '"api=": a value is empty', "Write it, or leave the name out."),
        ("api=33,,35", '"api=": a value is empty', "Write it, or leave the name out."),
        ("api=33,==33", '"api=33,==33": "33" is given twice', "Name each value once."),
        ("model=A,a", '"model=A,a": "a" is given twice', "Name each value once."),
        ("api=33;api=35", "api is given twice", "Name each once."),
        ("api=new", "api='new' is not a requirement", "Allowed: a level or comparisons"),
        ("form=watch", "form='watch' is not a requirement", "Allowed: 'phone' or 'tablet'"),
        ("emulator=maybe", "emulator='maybe' is no", "Allowed: true (emulators) or false"),
        ("api=33;per=0", "how many devices of each class", "Allowed: a number from 1 to 64"),
        ("api=33;per=65", "how many devices of each class", "Allowed: a number from 1 to 64"),
        ("api=33;per=x", "how many devices of each class", "Allowed: a number from 1 to 64"),
        ("api=33;per=", "how many devices of each class", "Allowed: a number from 1 to 64"),
        (MANY, "it makes 68 classes", "At most 64 are sensible: name fewer."),
    ],
)
def test_a_matrix_without_classes_is_refused(text: str, message: str, hint: str) -> None:
    """The error states what was found and what is allowed."""
    with pytest.raises(ConfigurationError, match=re.escape(message)) as caught:
        parse_matrix(text)

    assert hint in str(caught.value.hint)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("api=>=33;form=tablet", Requirements(api=">=33", form="tablet")),
        ("api = >= 33, < 36", Requirements(api=">=33,<36")),
        ("emulator=false\nmodel=Pixel *", Requirements(emulator=False, model="Pixel *")),
        ("each", '"each": it has no name=value'),
        ("form=phone,tablet", "form='phone,tablet' is not a requirement"),
        ("colour=red", 'there is no "colour"'),
    ],
)
def test_requirements_are_written_like_a_matrix(text: str, expected: Requirements | str) -> None:
    """Names and values are the same, one value each; what is refused has a hint."""
    if isinstance(expected, Requirements):
        assert parse_requirements(text) == expected
        return
    with pytest.raises(ConfigurationError, match=re.escape(expected)) as caught:
        parse_requirements(text)
    assert str(caught.value.hint).startswith("Allowed")


API36_TABLET = DeviceClass("api36-tablet", Requirements(api=36, form="tablet"))


@pytest.mark.parametrize(
    ("device_class", "devices", "problem"),
    [
        (API36_TABLET, [], "api36-tablet: there is no device at all"),
        (
            API36_TABLET,
            [TABLET],
            "api36-tablet: TB1 (Pixel Tablet, API 35): api=36 is required, the device has 35",
        ),
        (
            API36_TABLET,
            [bare("A"), PHONE, bare("B")],
            "api36-tablet: PH1 (Google Pixel 9, API 36): form='tablet' is required, the device"
            " has 'phone'; nor are 2 others",
        ),
        (
            DeviceClass("PH1", Requirements(), "PH1"),
            [TABLET],
            "PH1: TB1 (Pixel Tablet, API 35): it is another device",
        ),
    ],
)
def test_a_class_without_devices_names_the_nearest_and_what_it_lacks(
    device_class: DeviceClass, devices: list[DeviceInfo], problem: str
) -> None:
    """The text names the nearest device and what it lacks."""
    assert device_class.missing(devices) == f"no device is {problem}"
