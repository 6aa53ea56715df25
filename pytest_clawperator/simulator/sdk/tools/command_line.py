"""The command line of ``emulator``."""

from __future__ import annotations

from dataclasses import dataclass, replace

FIRST_PORT, LAST_PORT = 5554, 5682

_WITH_VALUE = frozenset(
    {
        "-accel", "-avd", "-camera-back", "-camera-front", "-cores", "-dns-server", "-engine",
        "-feature", "-gpu", "-grpc", "-http-proxy", "-logcat", "-memory", "-netdelay",
        "-netspeed", "-partition-size", "-port", "-ports", "-prop", "-screen", "-sdcard", "-skin",
        "-snapshot", "-timezone",
    }
)  # fmt: skip
_BARE = frozenset(
    {
        "-delay-adb", "-force-snapshot-load", "-metrics-collection", "-no-accel", "-no-audio",
        "-no-boot-anim", "-no-cache", "-no-jni", "-no-metrics", "-no-passive-gps", "-no-sim",
        "-no-skin", "-no-snapshot", "-no-snapshot-load", "-no-snapshot-save", "-no-window",
        "-noaudio", "-nojni", "-qt-hide-window", "-read-only", "-show-kernel", "-verbose",
        "-wipe-data", "-writable-system",
    }
)  # fmt: skip


class BadCommandLine(Exception):
    """A command line that the emulator does not take; the text is its complaint."""


@dataclass(frozen=True, kw_only=True)
class StartRequest:
    """What a command line asks for; ``snapshot`` is the one to load, or None for a cold boot."""

    avd_name: str
    port: int | None = None
    adb_port: int | None = None
    snapshot: str | None = "default_boot"
    saves_snapshot: bool = True
    read_only: bool = False
    wipes_data: bool = False


def parse_start(arguments: list[str]) -> StartRequest:
    """Parse the arguments that start an emulator."""
    values, flags = _words(arguments)
    if "-avd" not in values:
        raise BadCommandLine(
            "ERROR   | No AVD specified. Use '@foo' or '-avd foo' to launch a virtual device"
            " named 'foo'"
        )
    request = StartRequest(
        avd_name=values["-avd"],
        snapshot=values.get("-snapshot", "default_boot"),
        saves_snapshot=not flags & {"-no-snapshot", "-no-snapshot-save", "-read-only"},
        read_only="-read-only" in flags,
        wipes_data="-wipe-data" in flags,
    )
    if flags & {"-no-snapshot", "-no-snapshot-load", "-wipe-data"}:
        request = replace(request, snapshot=None)
    if "-memory" in values:
        _number("-memory", values["-memory"])
    return _with_ports(request, values)


def _words(arguments: list[str]) -> tuple[dict[str, str], set[str]]:
    values: dict[str, str] = {}
    flags: set[str] = set()
    left = list(arguments)
    while left:
        word = left.pop(0)
        if word.startswith("@"):
            values["-avd"] = word[1:]
        elif word in _WITH_VALUE:
            if not left:
                raise BadCommandLine(f"option {word} must be followed by a value")
            values[word] = left.pop(0)
        elif word in _BARE:
            flags.add(word)
        else:
            raise BadCommandLine(
                f"unknown option: {word}\nplease use -help for a list of valid options"
            )
    return values, flags


def _with_ports(request: StartRequest, values: dict[str, str]) -> StartRequest:
    if "-ports" in values:
        console, _, adb = values["-ports"].partition(",")
        ports = _number("-ports", console), _number("-ports", adb)
        return replace(request, port=ports[0], adb_port=ports[1])
    if "-port" not in values:
        return request
    port = _number("-port", values["-port"])
    if not FIRST_PORT <= port <= LAST_PORT or port % 2:
        raise BadCommandLine(
            f"ERROR   | option -port must be followed by an even integer number between"
            f" {FIRST_PORT} and {LAST_PORT}"
        )
    return replace(request, port=port, adb_port=port + 1)


def _number(name: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 6:
        raise BadCommandLine(f"option {name} must be followed by a number, not '{text}'")
    return int(text)
