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

    assert lacks.endswith("is required, the device does not report it")


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


PHONE = DeviceInfo(
    serial="PH1", key="PH1", model="Pixel 9", api_level=36, density=420, size=(1080, 2400)
)

TABLET = DeviceInfo(
    serial="TB1", key="TB1", model="Pixel Tablet", api_level=35, density=320, size=(1600, 2560)
)


def labels(text: str) -> list[str]:
    """Return the labels of a matrix, whatever devices there are."""
    return [one.label for one in parse_matrix(text).classes([])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("api=33", ["api33"]),
        (
            "api=33,35;form=phone,tablet",
            ["api33-phone", "api33-tablet", "api35-phone", "api35-tablet"],
        ),
        ("form=phone;api=33,35", ["phone-api33", "phone-api35"]),
        (" api = 33 , 35 ; form = phone ", ["api33-phone", "api35-phone"]),
        ("api=33\nform=phone", ["api33-phone"]),
        ("emulator=true,false", ["emulator", "real"]),
        ("emulator=True", ["emulator"]),
        ("api=>=33,<33", ["api-ge33", "api-lt33"]),
        ("api=>35,<=35,!=34,==33", ["api-gt35", "api-le35", "api-ne34", "api33"]),
        ("abi=arm64-v8a,x86_64", ["arm64-v8a", "x86_64"]),
        ("model=Pixel 9,Pixel *", ["Pixel-9", "Pixel"]),
        ("model=*", ["model"]),
        ("manufacturer=Größe [1]", ["Gr-e-1"]),
        ("model=Pixel 9,Pixel-9", ["Pixel-9", "Pixel-9-2"]),
    ],
)
def test_classes_are_the_product_of_the_values(text: str, expected: list[str]) -> None:
    """Classes are the product of the values, in the order in which they were written."""
    found = labels(text)

    assert found == expected
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", label) for label in found)


@pytest.mark.parametrize(
    ("text", "per"), [("api=33,35", 1), ("api=33,35;per=2", 2), ("per=64;form=phone", 64)]
)
def test_a_matrix_says_how_many_of_each_class(text: str, per: int) -> None:
    """``per`` is not a requirement: it makes no classes, and is in no label."""
    matrix = parse_matrix(text)

    assert matrix.per == per
    assert not any("per" in one.label for one in matrix.classes([]))


@pytest.mark.parametrize("text", ["api=33;per=0", "api=33;per=65", "api=33;per=x", "api=33;per="])
def test_an_impossible_number_of_each_class_is_refused(text: str) -> None:
    """The error says what is allowed."""
    with pytest.raises(ConfigurationError, match="it says how many devices of each class") as told:
        parse_matrix(text)

    assert "a number from 1 to 64" in str(told.value)


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

    found = [info for info in (PHONE, TABLET) if device_class.holds(info)]

    assert found == members


def test_each_makes_a_class_of_every_device() -> None:
    """With ``each``, every device is a class of its own that is called by its serial."""
    wireless = DeviceInfo(serial="192.168.1.5:5555", key="PH3")
    devices = [TABLET, wireless, PHONE]

    classes = parse_matrix("each").classes(devices)

    assert [one.label for one in classes] == ["192.168.1.5-5555", "PH1", "TB1"]
    members = [[info for info in devices if one.holds(info)] for one in classes]
    assert members == [[wireless], [PHONE], [TABLET]]


def test_two_devices_with_one_serial_are_two_classes() -> None:
    """Two emulators of one name on two hosts are two classes, whoever was found first."""
    here = DeviceInfo(serial="emulator-5554", key="127.0.0.1/emulator-5554")
    there = DeviceInfo(serial="emulator-5554", key="rack/emulator-5554")

    first, second = (parse_matrix("each").classes(both) for both in ([here, there], [there, here]))

    assert [one.label for one in first] == ["emulator-5554", "emulator-5554-2"]
    assert first == second


@pytest.mark.parametrize("text", ["api=>=33,35;form=tablet;emulator=false", "each"])
def test_a_class_survives_the_way_to_another_process(text: str) -> None:
    """A class is the same after being turned into plain values and back."""
    classes = parse_matrix(text).classes([PHONE, TABLET])

    plain = json.loads(json.dumps([one.to_dict() for one in classes]))

    assert tuple(DeviceClass.from_dict(one) for one in plain) == classes


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", '"": it has no name=value', "Allowed: each (every device"),
        ("phones", '"phones": it has no name=value', "Allowed: each (every device"),
        ("api=33;", '"": it has no name=value', "Allowed: each (every device"),
        (
            "emulators=true",
            'there is no "emulators"',
            "Did you mean emulator=? Allowed names: api,",
        ),
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
    ],
)
def test_a_matrix_without_classes_is_refused(text: str, message: str, hint: str) -> None:
    """The error says what was found and what is allowed."""
    with pytest.raises(ConfigurationError) as caught:
        parse_matrix(text)

    assert message in caught.value.message
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("api=>=33;form=tablet", Requirements(api=">=33", form="tablet")),
        ("api = >= 33, < 36", Requirements(api=">=33,<36")),
        ("emulator=false\nmodel=Pixel *", Requirements(emulator=False, model="Pixel *")),
    ],
)
def test_requirements_are_written_like_a_matrix(text: str, expected: Requirements) -> None:
    """Names and values are the same, one value each."""
    assert parse_requirements(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("each", '"each": it has no name=value'),
        ("form=phone,tablet", "form='phone,tablet' is not a requirement"),
        ("colour=red", 'there is no "colour"'),
    ],
)
def test_requirements_that_cannot_be_met_are_refused(text: str, message: str) -> None:
    """The error says what was found and what is allowed."""
    with pytest.raises(ConfigurationError, match=re.escape(message)) as caught:
        parse_requirements(text)

    assert str(caught.value.hint).startswith("Allowed")


def test_a_matrix_with_too_many_classes_is_refused() -> None:
    """A matrix that would run every test hundreds of times is refused."""
    levels = ",".join(str(level) for level in range(20, 37))

    with pytest.raises(ConfigurationError, match="it makes 68 classes") as caught:
        parse_matrix(f"api={levels};form=phone,tablet;emulator=true,false")

    assert caught.value.hint == "At most 64 are sensible: name fewer."


@pytest.mark.parametrize(
    ("devices", "told"),
    [
        ([], "no device is api36-tablet: there is no device at all"),
        (
            [TABLET],
            "no device is api36-tablet: TB1 (Pixel Tablet, API 35): api=36 is required, the device"
            " has 35",
        ),
        (
            [DeviceInfo(serial="A", key="A"), PHONE, DeviceInfo(serial="B", key="B")],
            "no device is api36-tablet: PH1 (Pixel 9, API 36): form='tablet' is required, the"
            " device has 'phone'; nor are 2 others",
        ),
    ],
)
def test_a_class_without_devices_says_what_is_lacking(devices: list[DeviceInfo], told: str) -> None:
    """The text names the nearest device and what it lacks."""
    device_class = DeviceClass("api36-tablet", Requirements(api=36, form="tablet"))

    assert device_class.missing(devices) == told


def test_the_class_of_one_device_is_no_other_device() -> None:
    """The text says that it is another device."""
    told = DeviceClass("PH1", Requirements(), "PH1").missing([TABLET])

    assert told == "no device is PH1: TB1 (Pixel Tablet, API 35): it is another device"
