"""What is known of a virtual device from its files, and whether it fits a profile."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pytest_clawperator.emulators.profile import PLAY_STORE, EmulatorProfile

_API = re.compile(r"android-(\d+)")


class _Difference(NamedTuple):
    """A value that is not that of a profile; ``reason`` is the published program's word for it."""

    reason: str
    name: str
    found: object
    wanted: object


@dataclass(frozen=True)
class Avd:
    """A virtual device as its files describe it; what they do not tell is None."""

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


def _api_level(*told: str) -> int | None:
    found = next((match for text in told if (match := _API.search(text))), None)
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
