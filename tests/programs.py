"""The programs and fonts that the tests use beyond Python: found, installed, or asked for.

``make test`` runs this module, which installs what is missing where that needs no password.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Which = Callable[[str], str | None]
Run = Callable[[list[str]], int]

_APT = ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq")
_SUDO = ("sudo", "-n")


@dataclass(frozen=True)
class Program:
    """A program or font, the packages that bring it, and other names under which it will do."""

    name: str
    apt: str
    brew: str
    others: tuple[str, ...] = ()

    @property
    def advice(self) -> str:
        """The command to type where it cannot be installed without asking."""
        return f"sudo apt-get install {self.apt}, or brew install {self.brew}"


REDIS = Program("redis-server", apt="redis-server", brew="redis")
CHINESE_FONT = Program(
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
    apt="fonts-droid-fallback",
    brew="font-noto-sans-cjk",
    others=("/System/Library/Fonts/PingFang.ttc", "/System/Library/Fonts/Hiragino Sans GB.ttc"),
)
INDIAN_FONT = Program(
    "/usr/share/fonts/truetype/lohit-devanagari/Lohit-Devanagari.ttf",
    apt="fonts-lohit-deva",
    brew="font-noto-sans-devanagari",
    others=("/System/Library/Fonts/Kohinoor.ttc",),
)
ARABIC_FONT = Program(
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    apt="fonts-dejavu-core",
    brew="font-dejavu",
    others=("/System/Library/Fonts/GeezaPro.ttc",),
)
CHROMIUM = Program(
    "chromium", apt="chromium", brew="chromium", others=("chromium-browser", "google-chrome")
)
FONTS = (CHINESE_FONT, INDIAN_FONT, ARABIC_FONT)
PROGRAMS = (REDIS, CHROMIUM, *FONTS)


def locate(name: str) -> str | None:
    """Return the path of a program, or of a file with that path; None if it is not there."""
    return name if Path(name).is_absolute() and Path(name).is_file() else shutil.which(name)


def find(program: Program, which: Which = locate) -> str | None:
    """Return the path of a program or font, or None if it is not installed."""
    return next(filter(None, map(which, (program.name, *program.others))), None)


def missing(program: Program, which: Which = locate) -> str | None:
    """Return why tests that use the program cannot run, or None if it is installed."""
    if find(program, which):
        return None
    return f"{Path(program.name).name} is not installed: {program.advice}"


def install_commands(
    programs: list[Program], *, which: Which, run: Run, is_root: bool
) -> list[list[str]]:
    """Return the commands that install the programs; empty where that would need a password."""
    if which("apt-get"):
        if is_root:
            rights: tuple[str, ...] = ()
        elif which("sudo") and run([*_SUDO, "true"]) == 0:
            rights = _SUDO
        else:
            return []
        apt = [*rights, *_APT]
        install = [*apt, "install", "-y", "--no-install-recommends"]
        return [[*apt, "update"], *([*install, program.apt] for program in programs)]
    if which("brew"):
        return [["brew", "install", "--quiet", program.brew] for program in programs]
    return []


def install_missing(*, which: Which, run: Run, is_root: bool) -> list[str]:
    """Install what is missing, and return what still is, each with the command to type."""
    wanted = [program for program in PROGRAMS if missing(program, which)]
    if wanted:
        for command in install_commands(wanted, which=which, run=run, is_root=is_root):
            print("installing:", " ".join(command))
            run(command)  # what is still missing is reported below
    return [reason for program in wanted if (reason := missing(program, which))]


def is_failure(skip_reason: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a skip counts as a failure: in CI it would hide a missing install step.

    A test that is skipped for another cause than a missing part starts its reason with
    ``by design``.
    """
    return environ.get("CI") == "true" and not skip_reason.startswith("by design")


def _run(command: list[str]) -> int:
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode


def main() -> None:
    """Install what is missing, and print what could not be installed."""
    for reason in install_missing(which=locate, run=_run, is_root=os.geteuid() == 0):
        print(f"{reason} (its tests are skipped, and fail where CI=true)", file=sys.stderr)


if __name__ == "__main__":
    main()
