"""The packages that are installed on a phone."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterable
from dataclasses import dataclass

FIRST_APP_ID = 10200


@dataclass
class Package:
    """One installed package."""

    name: str
    version_name: str
    version_code: int
    app_id: int
    system: bool
    code_path: str
    label: str = ""
    min_sdk: int = 24
    target_sdk: int = 35
    activities: tuple[str, ...] = ()
    launchable: bool = True
    receivers: tuple[tuple[str, str], ...] = ()
    requested: tuple[str, ...] = ()
    installer: str | None = None
    installed_at: float = 0.0
    updated_at: float = 0.0
    stopped: bool = False
    signature: str = "0a0b0c0d"

    @property
    def apk(self) -> str:
        """Where its file lies."""
        if self.name == "android":
            return "/system/framework/framework-res.apk"
        if self.code_path.startswith("/data/"):
            return f"{self.code_path}/base.apk"
        return f"{self.code_path}/{self.code_path.rpartition('/')[2]}.apk"

    @property
    def user(self) -> str:
        """The name of the user that its processes run as."""
        return user_name(self.app_id)

    @property
    def launcher(self) -> str | None:
        """The activity that its icon starts."""
        return self.activities[0] if self.launchable and self.activities else None


class PackageStore:
    """What is installed, by package name."""

    def __init__(self, packages: Iterable[Package] = ()) -> None:
        self._packages = {package.name: package for package in packages}

    def get(self, name: str) -> Package | None:
        """Find an installed package."""
        return self._packages.get(name)

    def add(self, package: Package) -> None:
        """Install a package in place of what had its name."""
        self._packages[package.name] = package

    def remove(self, name: str) -> None:
        """Uninstall a package, if there is one of that name."""
        self._packages.pop(name, None)

    def all(self) -> list[Package]:
        """List what is installed, by name."""
        return [self._packages[name] for name in sorted(self._packages)]

    def free_app_id(self) -> int:
        """Return an app id for the next package that is installed."""
        return max([FIRST_APP_ID - 1, *(p.app_id for p in self._packages.values())]) + 1


def user_name(app_id: int) -> str:
    """Return a user's name as ``ps`` prints it."""
    fixed = {0: "root", 1000: "system", 1001: "radio", 2000: "shell"}
    return fixed.get(app_id) or f"u0_a{app_id - 10000}"


def component(package: str, cls: str) -> str:
    """Return a component's short name, as Android prints it."""
    short = cls[len(package) :] if cls.startswith(f"{package}.") else cls
    return f"{package}/{short}"


def full_class(package: str, cls: str) -> str:
    """Return a class's full name; one that begins with a dot lies in the package."""
    return package + cls if cls.startswith(".") else cls


def random_code_path(name: str, *, rng: random.Random) -> str:
    """Return a random folder to install a package in, named as on a phone."""
    outer, inner = (
        base64.urlsafe_b64encode(rng.getrandbits(128).to_bytes(16, "big")).decode()
        for _ in range(2)
    )
    return f"/data/app/~~{outer}/{name}-{inner}"
