"""Simulated phones as the options describe them, such as ``phone,tablet;api=30,35``, and quirks.

Commas separate phones, ``+`` joins the traits of one, and each part after a semicolon applies to
all of them: ``tablet+dark,phone;api=30,35`` are four phones. A part that is only a number makes
that many of each. A fault is something that goes wrong; a quirk is a peculiarity of a phone that
works, and each names where people reported it.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pytest_clawperator.errors import ConfigurationError


class Quirk(NamedTuple):
    """What is different on such a phone, and where it was reported."""

    meaning: str
    source: str


QUIRKS: Mapping[str, Quirk] = {
    "two-displays": Quirk(
        "a foldable: screencap warns before the picture, and takes the display that is dark",
        "https://github.com/mobile-next/mobile-mcp/issues/158",
    ),
    "wifi-serial": Quirk(
        "adb lists it by a name that ends in adb-NUMBER (2)._adb-tls-connect._tcp, with a space",
        "https://github.com/flutter/flutter/issues/187092",
    ),
    "samsung-power": Quirk(
        "the power manager prints getWakefulnessLocked(), and nothing else about the screen",
        "https://github.com/flutter/flutter/issues/98146",
    ),
    "several-roots": Quirk(
        "dumps have all windows side by side: status bar, keyboard, app and gesture bar",
        "https://github.com/appium/appium-uiautomator2-server/pull/303",
    ),
    "multi-user": Quirk(
        "user 10 is in front, and apps are installed for that one and not for user 0",
        "https://source.android.com/docs/devices/admin/multi-user-testing",
    ),
    "linker-warning": Quirk(
        "the linker warns on standard error before each program, as old versions do",
        "https://github.com/termux/termux-app/issues/1004",
    ),
    "old-toybox": Quirk(
        "Android 6: no exit codes, stdout and stderr merged, no cmd, another format of ps",
        "https://github.com/openstf/stf/pull/806",
    ),
    "guarded-adb": Quirk(
        "adb may not touch, type, grant or write settings until developer options allow it",
        "https://github.com/DeviceFarmer/STFService.apk/issues/144",
    ),
    "install-prompt": Quirk(
        "the phone asks before an app is installed by adb, and refuses without an answer",
        "https://github.com/Genymobile/gnirehtet/issues/294",
    ),
    "log-suppressed": Quirk(
        "the maker keeps lines below E out of the log, those of the Operator, too",
        "https://github.com/rovo89/XposedInstaller/issues/415",
    ),
    "log-small-buffer": Quirk(
        "each buffer of the log holds 64 KiB, the least that logd allows",
        "https://android.googlesource.com/platform/system/core/+/4b915ae/logd/README.property",
    ),
    "slow-dump": Quirk(
        "dumpsys takes seconds, as on a loaded phone",
        "https://github.com/callstack/agent-device/issues/1270",
    ),
    "slow-am": Quirk(
        "am, pm and the other programs that start a Java machine take a second",
        "https://github.com/appium/appium/issues/17257",
    ),
    "secure-screen": Quirk(
        "apps forbid pictures of their windows, as banks do: screenshots are black",
        "https://github.com/AlexGladkov/claude-in-mobile/issues/51",
    ),
    "rtl": Quirk(
        "the language is written from right to left: layouts are mirrored",
        "https://github.com/keymanapp/keyman/pull/12227",
    ),
    "cutout": Quirk(
        "a camera in the screen: windows of apps begin below it, or beside it when turned",
        "https://github.com/appium/appium/issues/13685",
    ),
}


MAX_PHONES = 64
LEAST_API, MOST_API = 21, 99

ALLOWED = (
    "a number of phones, or what each is like: phone, tablet, api=30, size=1080x2400,"
    " density=420, locale=de-DE, dark, light, or a quirk such as two-displays."
    " `,` separates phones, `+` joins the traits of one, `;` is followed by traits of"
    " all: phone,tablet+dark;api=30,35"
)


Form = Literal["phone", "tablet"]


# From this width on, in units of 1/160 inch, Android lays screens out for tablets.
_TABLET_WIDTH = 600
_USUAL: Mapping[Form, tuple[tuple[int, int], int]] = {
    "phone": ((1080, 2400), 420),
    "tablet": ((1600, 2560), 320),
}

_LOCALE = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")
_SIZE = re.compile(r"([0-9]{1,5})x([0-9]{1,5})")


@dataclass(frozen=True, kw_only=True)
class PhoneKind:
    """The traits of one phone; None is a trait that was left open."""

    form: Form | None = None
    api: int | None = None
    size: tuple[int, int] | None = None
    density: int | None = None
    locale: str | None = None
    dark: bool | None = None
    quirks: frozenset[str] = frozenset()

    @property
    def screen(self) -> tuple[tuple[int, int], int]:
        """The size of the screen, and its density."""
        size, density = _USUAL[self.form or "phone"]
        if self.size is None:
            return size, self.density or density
        # As much fits on it as on the usual screen of that form.
        return self.size, self.density or max(72, round(density * min(self.size) / min(size)))

    @property
    def is_tablet(self) -> bool:
        """Whether Android would call it a tablet."""
        size, density = self.screen
        return min(size) * 160 / density >= _TABLET_WIDTH


def parse_phones(text: str) -> list[PhoneKind]:
    """Return the kind of each phone; raise a ConfigurationError that lists what is allowed."""
    parts = [_alternatives(part, text) for part in text.split(";")]
    count = 1
    for part in parts:
        count *= len(part)
        if count > MAX_PHONES:
            raise _refused(text, f"more than {MAX_PHONES} phones")
    phones = [_joined(chosen, text) for chosen in itertools.product(*parts)]
    for phone in phones:
        _check_form(phone, text)
    return phones


Traits = Mapping[str, Any]


def _alternatives(part: str, text: str) -> list[Traits]:
    """Return the traits that a part gives each phone; a number alone means that many phones."""
    if re.fullmatch(r"[0-9]+", part.strip()):
        if not 1 <= int(part) <= MAX_PHONES:
            raise _refused(text, f"{part.strip()} phones; allowed are 1 to {MAX_PHONES}")
        return [{}] * int(part)
    found: list[Traits] = []
    named = ""
    for one in part.split(","):
        given: dict[str, Any] = {}
        for word in one.split("+"):
            name, value = _trait(word.strip(), named, text)
            named = name if "=" in word else named
            if name in given:
                raise _refused(text, f"`{one.strip()}` has the {name} twice")
            given[name] = value
        found.append(given)
    return found


def _trait(word: str, earlier: str, text: str) -> tuple[str, Any]:
    """Return a trait by its word; in ``api=30,35`` the second value has the name of the first."""
    if word in _WORDS:
        return _WORDS[word]
    name, equals, value = word.partition("=")
    if not equals and earlier in _VALUES:
        name, value = earlier, word
    if name not in _VALUES:
        known = [*_WORDS, *(f"{known}=" for known in _VALUES)]
        close = difflib.get_close_matches(word, known, n=1)
        guess = f"; did you mean `{close[0]}`?" if close else ""
        raise _refused(text, f"`{word}` is nothing that a simulated phone can be{guess}")
    read, allowed = _VALUES[name]
    found = read(value)
    if found is None:
        raise _refused(text, f"`{name}` cannot be {value!r}; allowed: {allowed}")
    return name, found


def _joined(chosen: tuple[Traits, ...], text: str) -> PhoneKind:
    given: dict[str, Any] = {}
    for one in chosen:
        for name, value in one.items():
            if name in given:
                raise _refused(text, f"two parts say what the {name} is")
            given[name] = value
    quirks = frozenset(name for name in given if name in QUIRKS)
    traits = {name: value for name, value in given.items() if name not in QUIRKS}
    return PhoneKind(**traits, quirks=quirks)


def _check_form(phone: PhoneKind, text: str) -> None:
    if phone.form is not None and phone.is_tablet != (phone.form == "tablet"):
        (width, height), density = phone.screen
        narrow = round(min(width, height) * 160 / density)
        raise _refused(
            text,
            f"{width}x{height} at {density} dpi is not a {phone.form}: it is {narrow} dp wide,"
            f" and tablets begin at {_TABLET_WIDTH}",
        )


def _refused(text: str, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"{text!r} names no simulated phones: {why}", hint=f"Allowed: {ALLOWED}."
    )


def _number(least: int, most: int) -> Callable[[str], int | None]:
    def read(text: str) -> int | None:
        is_number = re.fullmatch(r"[0-9]{1,5}", text) is not None
        return int(text) if is_number and least <= int(text) <= most else None

    return read


def _form(text: str) -> str | None:
    return text if text in _USUAL else None


def _size(text: str) -> tuple[int, int] | None:
    found = _SIZE.fullmatch(text)
    if found is None or not all(200 <= int(side) <= 4000 for side in found.groups()):
        return None
    return int(found[1]), int(found[2])


def _locale(text: str) -> str | None:
    return text if _LOCALE.fullmatch(text) else None


_WORDS: Mapping[str, tuple[str, Any]] = {
    "phone": ("form", "phone"),
    "tablet": ("form", "tablet"),
    "dark": ("dark", True),
    "light": ("dark", False),
    **{name: (name, True) for name in QUIRKS},
}

_VALUES: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "form": (_form, "phone or tablet"),
    "api": (_number(LEAST_API, MOST_API), f"{LEAST_API} to {MOST_API}"),
    "size": (_size, "width and height in pixels, each 200 to 4000, such as 1080x2400"),
    "density": (_number(72, 1000), "72 to 1000"),
    "locale": (_locale, "a language, and perhaps a script and a country, such as de-DE"),
}
