"""What an emulator is like: Android version, image, processor, device, memory, graphics."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass, fields, replace
from typing import Any

from pytest_clawperator.contracts.wording import closest, quote
from pytest_clawperator.errors import ConfigurationError

PLAY_STORE = "google_apis_playstore"
DEFAULT_NAME = "clawperator-pixel"
#: The processor of the documented profile.
DOCUMENTED_ABI = "arm64-v8a"

_HOST_ABIS = {
    "x86_64": "x86_64",
    "amd64": "x86_64",
    "aarch64": "arm64-v8a",
    "arm64": "arm64-v8a",
}
_ABIS = ("arm64-v8a", "x86_64", "x86", "armeabi-v7a")
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
# The SDK has devices such as "Nexus 5" and "7in WSVGA (Tablet)".
_DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ ()-]{0,99}")
_DEVICES = {"phone": "pixel_7", "tablet": "pixel_tablet", "foldable": "pixel_fold"}
_LEAST_RAM, _MOST_RAM = 512, 65_536
#: The API levels that an emulator can have.
API_LEVELS = range(21, 100)


def host_abi() -> str:
    """Return the processor that this machine can run at full speed."""
    return _HOST_ABIS.get(platform.machine().lower(), DOCUMENTED_ABI)


@dataclass(frozen=True, kw_only=True)
class EmulatorProfile:
    """What an emulator is like; the defaults are the documented profile.

    ``name`` is that of the virtual device; without one it is made of the other values.
    ``ram`` is in megabytes. ``gpu`` is a mode of the emulator's own ``-gpu`` option.
    ``as_it_is`` means the virtual device ``name``, whatever it is like; it is never created.
    """

    api: int = 35
    image: str = PLAY_STORE
    abi: str = DOCUMENTED_ABI
    device: str = "pixel_7"
    ram: int | None = None
    gpu: str | None = None
    name: str | None = None
    as_it_is: bool = False

    def __post_init__(self) -> None:
        _check_number("api", self.api, API_LEVELS[0], API_LEVELS[-1])
        if self.ram is not None:
            _check_number("ram", self.ram, _LEAST_RAM, _MOST_RAM)
        if self.abi not in _ABIS:
            raise _nonsense("abi", self.abi, f"one of {', '.join(_ABIS)}")
        if not _DEVICE.fullmatch(self.device):
            raise _nonsense("device", self.device, f"{_LETTERS}, and spaces and brackets")
        for name in ("image", "gpu", "name"):
            value = getattr(self, name)
            if value is not None:
                check_word(name, value)

    @property
    def system_image(self) -> str:
        """The SDK's id of the system image."""
        return f"system-images;android-{self.api};{self.image};{self.abi}"

    @property
    def avd_name(self) -> str:
        """The name of the virtual device; two profiles that differ have two names."""
        if self.name is not None:
            return self.name
        documented = EmulatorProfile(abi=self.abi)
        if self == documented and self.abi in (DOCUMENTED_ABI, host_abi()):
            return DEFAULT_NAME
        image = "" if self.image == PLAY_STORE else f"-{self.image}"
        ram, gpu = (f"-{value}" if value else "" for value in (self.ram, self.gpu))
        device = re.sub(r"[ ()]+", "-", self.device).strip("-")
        return f"clawperator-api{self.api}{image}-{self.abi}-{device}{ram}{gpu}"

    def numbered(self, number: int) -> EmulatorProfile:
        """Return the profile of the n-th emulator that is like this; the first keeps its name."""
        return self if number == 1 else replace(self, name=f"{self.avd_name}-{number}")


def default_profile() -> EmulatorProfile:
    """Return the documented profile, with the processor that this machine can run."""
    return EmulatorProfile(abi=host_abi())


def parse_profile(text: str, *, base: EmulatorProfile | None = None) -> EmulatorProfile:
    """Parse ``api=34,abi=x86_64,device=pixel_tablet``; what is not named is as in ``base``."""
    given: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise ConfigurationError(
                f"{quote(part)} does not say what an emulator is like", hint=f"Allowed: {_ALLOWED}."
            )
        if name not in _NAMES:
            near = closest(name, _NAMES)
            raise ConfigurationError(
                f"{quote(name)} is nothing that can be said of an emulator",
                hint=f"Allowed: {_ALLOWED}{f'; did you mean {near}=?' if near else ''}.",
            )
        if name in given:
            raise ConfigurationError(
                f"{quote(text)} names {name} twice", hint="Name each value once."
            )
        given[name] = _number(name, value) if name in ("api", "ram") else value
    if given.get("device") in _DEVICES:
        given["device"] = _DEVICES[given["device"]]
    return replace(base or default_profile(), **given)


def device_of_form(form: str) -> str:
    """Return the SDK's device of a form factor such as ``tablet``."""
    if form not in _DEVICES:
        raise _nonsense("form", form, f"one of {', '.join(_DEVICES)}")
    return _DEVICES[form]


def check_word(name: str, value: str) -> str:
    """Return the value; raise unless it is one that the SDK's tools take for a name."""
    if not is_word(value):
        raise _nonsense(name, value, _LETTERS)
    return value


def is_word(value: str) -> bool:
    """Whether the SDK's tools take this for a name."""
    return _WORD.fullmatch(value) is not None


_LETTERS = "up to 100 letters, digits, '.', '_' and '-'"
_NAMES = tuple(field.name for field in fields(EmulatorProfile) if field.name != "as_it_is")
_ALLOWED = (
    f"name=value with the names {', '.join(_NAMES)}, separated by commas, as in"
    " 'api=34,abi=x86_64,device=pixel_tablet'"
)


def _number(name: str, written: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", written):
        raise _nonsense(name, written, "a whole number")
    return int(written)


def _check_number(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise _nonsense(name, value, f"a whole number from {least} to {most}")


def _nonsense(name: str, value: object, allowed: str) -> ConfigurationError:
    return ConfigurationError(
        f"{quote(str(value))} is not allowed as {name} of an emulator", hint=f"Allowed: {allowed}."
    )
