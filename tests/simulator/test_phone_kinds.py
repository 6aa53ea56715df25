"""The text that describes the simulated phones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.phone_kinds import MAX_PHONES, PhoneKind, parse_phones


@pytest.mark.parametrize(
    ("text", "phones"),
    [
        ("3", [PhoneKind()] * 3),
        ("phone,tablet", [PhoneKind(form="phone"), PhoneKind(form="tablet")]),
        ("api=30,api=35", [PhoneKind(api=30), PhoneKind(api=35)]),
        ("api=30,35", [PhoneKind(api=30), PhoneKind(api=35)]),
        (
            "api=30,34;form=phone,tablet",
            [PhoneKind(api=api, form=form) for api in (30, 34) for form in ("phone", "tablet")],
        ),
        ("tablet+dark+api=35, phone", [
            PhoneKind(form="tablet", dark=True, api=35), PhoneKind(form="phone"),
        ]),
        ("2;tablet", [PhoneKind(form="tablet")] * 2),
        ("light,dark", [PhoneKind(dark=False), PhoneKind(dark=True)]),
        ("size=720x1280+density=320", [PhoneKind(size=(720, 1280), density=320)]),
        ("locale=de-DE,zh-Hans-CN,ar", [
            PhoneKind(locale="de-DE"), PhoneKind(locale="zh-Hans-CN"), PhoneKind(locale="ar"),
        ]),
    ],
)  # fmt: skip
def test_a_text_names_phones(text: str, phones: list[PhoneKind]) -> None:
    """Commas separate phones, `+` joins the traits of one, `;` begins traits of all."""
    assert parse_phones(text) == phones


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "`` is nothing that a simulated phone can be"),
        ("0", "0 phones; allowed are 1 to 64"),
        ("65", "65 phones"),
        ("9;9", "more than 64 phones"),
        ("tablett", "did you mean `tablet`?"),
        ("phone,", "`` is nothing"),
        ("api=5", "`api` cannot be '5'; allowed: 21 to 99"),
        ("api=x", "`api` cannot be 'x'"),
        ("api=30,tal", "`api` cannot be 'tal'"),
        ("size=1080", "such as 1080x2400"),
        ("size=10x10", "each 200 to 4000"),
        ("density=1", "72 to 1000"),
        ("locale=German", "such as de-DE"),
        ("form=watch", "phone or tablet"),
        ("phone+tablet", "has the form twice"),
        ("phone;tablet", "two parts say what the form is"),
        ("phone+size=1600x2560+density=320", "is not a phone: it is 800 dp wide"),
        ("tablet+size=1080x2400+density=420", "is not a tablet: it is 411 dp wide"),
    ],
)
def test_what_names_no_phones_is_refused(text: str, part: str) -> None:
    """The error names what was found, and what is allowed."""
    with pytest.raises(ConfigurationError, match="names no simulated phones") as refused:
        parse_phones(text)

    assert part in refused.value.message
    assert "Allowed: a number of phones, or what each is like" in (refused.value.hint or "")


def test_each_form_has_a_usual_screen() -> None:
    """What is not said of a screen is as on the usual phone or tablet."""
    screens = [phone.screen for phone in parse_phones("phone,tablet,size=720x1600,density=560")]

    assert screens == [
        ((1080, 2400), 420),
        ((1600, 2560), 320),
        ((720, 1600), 280),
        ((1080, 2400), 560),
    ]
    assert [phone.is_tablet for phone in parse_phones("phone,tablet")] == [False, True]


@settings(deadline=None, database=None)
@given(st.text(alphabet="phonetablc=0123456789x,;+- ", max_size=40))
def test_any_text_is_taken_or_refused(text: str) -> None:
    """Whatever is written, it names some phones or is refused with a ConfigurationError."""
    try:
        phones = parse_phones(text)
    except ConfigurationError:
        return

    assert 1 <= len(phones) <= MAX_PHONES
