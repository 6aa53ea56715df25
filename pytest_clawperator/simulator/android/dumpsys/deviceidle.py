"""``dumpsys deviceidle``: which apps may work while the phone dozes."""

from __future__ import annotations

from pytest_clawperator.simulator.android.system import AndroidSystem


def dump_deviceidle(system: AndroidSystem, words: list[str]) -> str:
    """Print the apps that are exempt from dozing, or change them: ``whitelist +PACKAGE``."""
    if words[:1] != ["whitelist"]:
        names = "".join(f"    {name}\n" for name in sorted(system.doze_exempt))
        return f"  Whitelist user apps:\n{names}  mLightEnabled=true  mDeepEnabled=true\n"
    if len(words) == 1:
        return "".join(
            f"user,{name},{_user(system, name)}\n" for name in sorted(system.doze_exempt)
        )
    return "".join(_change(system, word) for word in words[1:])


def _change(system: AndroidSystem, word: str) -> str:
    sign, name = word[:1], word[1:]
    if sign not in ("+", "-", "=") or not name:
        return f"Package must be prefixed with +, -, or =: {word}\n"
    if sign == "=":
        return f"{str(name in system.doze_exempt).lower()}\n"
    if system.packages.get(name) is None:
        return f"Unknown package: {name}\n"
    if sign == "+":
        system.doze_exempt.add(name)
        return f"Added: {name}\n"
    system.doze_exempt.discard(name)
    return f"Removed: {name}\n"


def _user(system: AndroidSystem, name: str) -> int:
    package = system.packages.get(name)
    return 0 if package is None else package.app_id
