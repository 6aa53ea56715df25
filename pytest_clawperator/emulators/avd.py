"""Virtual devices: the profile that is wanted, what their files say, and their system image."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from pytest_clawperator.contracts.wording import closest, quote
from pytest_clawperator.emulators.sdk import (
    NOT_ACCEPTED,
    SdkTools,
    Tool,
    ToolResult,
    installing_hint,
)
from pytest_clawperator.errors import ConfigurationError, EmulatorError, ErrorCode

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
                f"{quote(part)} is not name=value", hint=f"Allowed: {_ALLOWED}."
            )
        if name not in _NAMES:
            near = closest(name, _NAMES)
            raise ConfigurationError(
                f"unknown emulator property {quote(name)}",
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


_API = re.compile(r"android-(\d+)")


class _Difference(NamedTuple):
    """A value that is not that of a profile; ``reason`` is the published program's word for it."""

    reason: str
    name: str
    found: object
    wanted: object


@dataclass(frozen=True)
class Avd:
    """A virtual device as its files describe it; what they omit is None."""

    name: str
    exists: bool = False
    running: bool = False
    api_level: int | None = None
    abi: str | None = None
    play_store: bool = False
    device_profile: str | None = None
    system_image: str | None = None

    def unsupported_reasons(self, profile: EmulatorProfile) -> tuple[str, ...]:
        """Return why it does not fit a profile; nothing if it does."""
        return tuple(one.reason for one in self._differences(profile))

    def differences(self, profile: EmulatorProfile) -> str:
        """Return what it has otherwise than a profile, for people."""
        return ", ".join(
            f"{one.name} is {one.found or 'not known'} and not {one.wanted}"
            for one in self._differences(profile)
        )

    def _differences(self, profile: EmulatorProfile) -> list[_Difference]:
        if profile.as_it_is:
            return []
        compared = (
            ("unsupported_api_level", "api", self.api_level, profile.api),
            ("unsupported_abi", "abi", self.abi, profile.abi),
            ("unsupported_device_profile", "device", self.device_profile, profile.device),
        )
        others = [_Difference(*one) for one in compared if one[2] != one[3]]
        return others if self._has_image(profile) else [self._other_image(profile), *others]

    def _has_image(self, profile: EmulatorProfile) -> bool:
        image = self.system_image or ""
        if profile.image == PLAY_STORE:
            return self.play_store and PLAY_STORE in image
        return f";{profile.image};" in image

    def _other_image(self, profile: EmulatorProfile) -> _Difference:
        wants_store = profile.image == PLAY_STORE
        reason = "missing_play_store" if wants_store else "unsupported_system_image"
        kind = "".join((self.system_image or "").split(";")[-2:-1])
        return _Difference(reason, "image", kind, profile.image)

    def to_dict(self, profile: EmulatorProfile) -> dict[str, Any]:
        """Return it in the form of the published program."""
        reasons = self.unsupported_reasons(profile)
        return {
            "name": self.name,
            "exists": self.exists,
            "running": self.running,
            "apiLevel": self.api_level,
            "abi": self.abi,
            "playStore": self.play_store,
            "deviceProfile": self.device_profile,
            "systemImage": self.system_image,
            "supported": not reasons,
            "unsupportedReasons": list(reasons),
        }


def read_avd(name: str, *, home: Path, running: bool = False) -> Avd:
    """Read the files of a virtual device; without any, it does not exist."""
    root = _read_ini(home / f"{name}.ini")
    config = _read_ini(home / f"{name}.avd" / "config.ini")
    if not config and root.get("path"):
        config = _read_ini(Path(root["path"]) / "config.ini")  # it was made elsewhere
    folder = config.get("image.sysdir.1", "").replace("\\", "/")  # Windows writes the latter
    image = folder.rstrip("/").replace("/", ";") or None
    return Avd(
        name=name,
        exists=bool(root or config),
        running=running,
        api_level=_api_level(config.get("target") or root.get("target", ""), folder),
        abi=config.get("abi.type") or None,
        play_store=_has_play_store(config, folder),
        device_profile=config.get("hw.device.name") or None,
        system_image=image,
    )


def _api_level(*reported: str) -> int | None:
    found = next((match for text in reported if (match := _API.search(text))), None)
    return int(found[1]) if found else None


def _has_play_store(config: dict[str, str], folder: str) -> bool:
    enabled = config.get("PlayStore.enabled", "").lower() in ("true", "yes")
    return enabled or config.get("tag.id") == PLAY_STORE or PLAY_STORE in folder


def _read_ini(path: Path) -> dict[str, str]:
    """Read ``key=value`` lines; a file that cannot be read has none."""
    try:
        text = path.read_text("utf-8", "replace")
    except (OSError, ValueError):
        return {}
    pairs = (line.partition("=") for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {key.strip(): value.strip() for key, equals, value in pairs if equals and key.strip()}


_LIST_TIMEOUT = 30.0

_LICENCES_TIMEOUT = 120.0

_INSTALL_TIMEOUT = 300.0

_YES = "y\n" * 100

# Before that it counts to 100 % for other things, such as reading the list of packages.
_PERCENT = re.compile(r"(\d{1,3})%\s*((?:download|unzip|install|prepar).*)", re.IGNORECASE)

# A line for each quarter is enough for a log that people read afterwards.
_TOLD_EVERY = 25


Notify = Callable[[str], None]


@dataclass(frozen=True)
class ImageLock:
    """What keeps other runs from an image.

    ``waited`` is set if another run had it before. ``descriptor`` is handed to the installer,
    which goes on if this process is killed, and so does the lock.
    """

    waited: bool = False
    descriptor: int | None = None


#: Keeps other runs from the same image; calls the function once if it has to wait for one that
#: has it.
Lock = Callable[[str, Callable[[], None]], AbstractContextManager[ImageLock]]


def ensure_image(tools: SdkTools, image: str, *, lock: Lock, notify: Notify) -> None:
    """Install a system image unless it is there; ``lock`` keeps other runs waiting meanwhile."""
    if _is_installed(tools, image):
        return
    with lock(image, lambda: notify(f"waiting for {image}, which is being installed")) as held:
        if held.waited and _is_installed(tools, image):
            return  # another run installed it meanwhile
        notify(f"installing {image}")
        _accept_licences(tools)
        _install(tools, image, held, notify)


def _is_installed(tools: SdkTools, image: str) -> bool:
    listed = tools.run(Tool.SDKMANAGER, "--list_installed", timeout=_LIST_TIMEOUT)
    if not listed.ok:
        raise _failed(listed, "failed to query installed Android system images", image=image)
    # Not any text that contains it: that of x86_64 contains that of x86.
    return bool(re.search(rf"(?<![\w;.-]){re.escape(image)}(?![\w;.-])", listed.stdout))


def _accept_licences(tools: SdkTools) -> None:
    answered = tools.run(Tool.SDKMANAGER, "--licenses", timeout=_LICENCES_TIMEOUT, stdin=_YES)
    if not answered.ok:
        raise _failed(answered, "failed to accept Android SDK licenses")


def _install(tools: SdkTools, image: str, held: ImageLock, notify: Notify) -> None:
    installed = tools.run(
        Tool.SDKMANAGER,
        image,
        timeout=_INSTALL_TIMEOUT,
        on_line=_Progress(image, notify).read,
        lock=held.descriptor,
    )
    # Some versions leave a package out, and succeed.
    is_left_out = re.search(NOT_ACCEPTED, installed.complaints, re.IGNORECASE)
    if not installed.ok or is_left_out:
        raise _failed(installed, "failed to install Android system image", image=image)


class _Progress:
    """Shows how far a download is, not more often than people want to read it."""

    def __init__(self, image: str, notify: Notify) -> None:
        self._image = image
        self._notify = notify
        self._next = 0

    def read(self, line: str) -> None:
        """Read a line of the tool, such as ``[===   ] 42% Downloading x86_64-35.zip``."""
        found = _PERCENT.search(line)
        if found is None or int(found[1]) < self._next:
            return
        self._notify(f"{self._image}: {found[1]} % {found[2].lower()}".rstrip())
        self._next = int(found[1]) // _TOLD_EVERY * _TOLD_EVERY + _TOLD_EVERY


def _failed(result: ToolResult, otherwise: str, *, image: str | None = None) -> EmulatorError:
    return EmulatorError(
        result.said(otherwise),
        code=ErrorCode.ANDROID_SYSTEM_IMAGE_INSTALL_FAILED,
        hint=installing_hint(result.complaints, image),
        details={"systemImage": image} if image else {},
    )
