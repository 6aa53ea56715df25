"""The options: one table, from which come the command line and the ini twins.

A new option is a row here, and a field and a parser in ``settings.py``, all under the same name:
the flag is ``--claw-…``, the ini twin ``claw_…``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from typing import Any


class Option:
    """One option; without a ``metavar`` it is a switch.

    A switch that may be on by itself has a second flag, which switches it off.
    """

    __slots__ = ("dest", "field", "flag", "help", "is_repeatable", "metavar", "off_flag")

    def __init__(
        self,
        field: str,
        help: str,
        metavar: str | None = None,
        *,
        is_repeatable: bool = False,
        has_off_flag: bool = False,
    ) -> None:
        self.field = field
        self.help = help
        self.metavar = metavar
        self.is_repeatable = is_repeatable
        #: How it is written on the command line.
        self.flag = "--claw-" + field.replace("_", "-")
        self.off_flag = self.flag.replace("--claw-", "--claw-no-") if has_off_flag else None
        #: What it is called in ini files and on ``config.option``.
        self.dest = f"claw_{field}"

    @property
    def ini_type(self) -> Any:
        """What pytest calls the type of the ini twin."""
        return "bool" if self.metavar is None else "args" if self.is_repeatable else "string"

    @property
    def in_toml(self) -> str:
        """How the ini twin is written in TOML, whose values have types."""
        if self.metavar is None:
            return "true or false"
        return f'["{self.metavar}"]' if self.is_repeatable else f'"{self.metavar}"'


OPTIONS = (
    Option(
        "device",
        "Device to use: auto (any connected one), a serial, emulator (started for the run, one for"
        " each worker), emulator:4, emulator:NAME (a virtual device that exists, as it is), sim"
        " (simulated phones, one for each worker), sim:4, 'sim:phone,tablet;api=30,35' (four of"
        " these kinds), or http://host:3000/serial. Repeatable."
        " Default: the only one connected.",
        "SPEC",
        is_repeatable=True,
    ),
    Option(
        "adb",
        "adb server to look for devices on. Repeatable. Default: adb's own variables, else"
        " 127.0.0.1:5037.",
        "HOST:PORT",
        is_repeatable=True,
    ),
    Option(
        "require",
        "What every device must be like, as in 'api=>=33;form=tablet'; others are left alone.",
        "REQUIREMENTS",
    ),
    Option(
        "matrix",
        "Run every test once on each class of devices, as in 'api=33,35;form=phone,tablet', or"
        " on each device: each. With per=2 two devices of each class share its tests.",
        "CLASSES",
    ),
    Option(
        "emulator",
        "What emulators are like, as in 'api=34,abi=x86_64,device=pixel_tablet,image=google_apis,"
        "ram=3072,gpu=swiftshader_indirect'; with name=NAME, the virtual device of that name is"
        " created or must be like this. Default: API 35 with Google Play on a pixel_7.",
        "PROFILE",
    ),
    Option(
        "emulator_boot",
        "How emulators start: cold (always the same) or snapshot (quick, as they were left)."
        " Default: cold.",
        "KIND",
    ),
    Option(
        "emulator_boots",
        "How many emulators boot at the same time. Default: half as many as there are cores.",
        "COUNT",
    ),
    Option("emulator_keep", "Leave the emulators running that were started for the run."),
    Option(
        "spare_devices",
        "How many devices no worker gets, for tests that take several through"
        " clawperator_devices. Default: 0.",
        "COUNT",
    ),
    Option(
        "lease",
        "Where it is kept who has which device: redis://host:6379/0 for devices that several"
        " machines share. Default: lock files on this machine.",
        "URL",
    ),
    Option(
        "lease_timeout",
        "How many seconds to wait for devices that others have. Default: 0.",
        "SECONDS",
    ),
    Option("operator_package", "Package of the Operator app on the device.", "PACKAGE"),
    Option(
        "operator_apk",
        "Install the Operator app from this file.",
        "FILE",
    ),
    Option(
        "display",
        "Of a device with several displays, the number of the one that pictures, sizes and touches"
        " of adb belong to. Default: the one that is on and has the focus.",
        "NUMBER",
    ),
    Option(
        "timeout",
        "How many seconds actions and expectations look for a node by default. Default: 5.",
        "SECONDS",
    ),
    Option(
        "matchers",
        "What happens when several nodes match an action on one: strict (an error, and every"
        " action is verified by a snapshot) or first (the first is used). Default: strict.",
        "KIND",
    ),
    Option(
        "output",
        "Folder for evidence; each run creates its own subfolder. Default: claw-results.",
        "FOLDER",
    ),
    Option(
        "screenshot",
        "When to keep a picture of the screen: off, on or only-on-failure. Default:"
        " only-on-failure.",
        "WHEN",
    ),
    Option(
        "snapshot",
        "When to keep what is on the screen as XML: off, on or only-on-failure. Default:"
        " only-on-failure.",
        "WHEN",
    ),
    Option(
        "logcat",
        "When to keep the device's log since the test began: off, on or only-on-failure; full is"
        " only-on-failure with the hierarchies that the Operator logs. Default: only-on-failure.",
        "WHEN",
    ),
    Option(
        "video",
        "When to keep a video of the test: off, on or only-on-failure. Default: off.",
        "WHEN",
    ),
    Option(
        "trace",
        "When to keep the trace of a test, with a page that shows it step by step: off, on (with"
        " a picture after each step) or retain-on-failure. Default: retain-on-failure.",
        "WHEN",
    ),
    Option(
        "redact",
        "What is hidden in reports and evidence: a regular expression, or env:NAME for the values"
        " of environment variables, as in env:*_TOKEN. Repeatable.",
        "PATTERN",
        is_repeatable=True,
    ),
    Option(
        "pause",
        "Stop at a test that fails, with the device as it is and a prompt with the client. Needs a"
        " terminal, so it is refused with -n.",
    ),
    Option(
        "sim_app",
        "App for the simulated phones, as YAML, beside the shipped ones. Repeatable.",
        "FILE",
        is_repeatable=True,
    ),
    Option(
        "sim_profile",
        "Which Operator the simulated phones have: documented (as specified) or 0.5.3 (as"
        " published).",
        "PROFILE",
    ),
    Option(
        "sim_time_scale",
        "Factor for the pauses of the Operator on simulated phones: 0.1 makes them ten times"
        " shorter. Apps keep their own time.",
        "FACTOR",
    ),
    Option(
        "skills",
        "Run the recipes of a skills repository as tests: PATH is the repository or its registry."
        " Other tests run only where the command line names them.",
        "PATH",
    ),
    Option("update_goldens", "Write the golden screens that are missing or do not match."),
    Option(
        "strict",
        "Fail tests that no device of the run fits, instead of skipping them. On where the"
        " variable CI is set; --claw-no-strict switches it off.",
        has_off_flag=True,
    ),
    Option(
        "doctor",
        "Run no test: examine this computer and the chosen devices, all of them without"
        " --claw-device, and report what is wrong and how to fix it.",
    ),
    Option(
        "validate",
        "Run no test and use no device: validate the payloads of claw_payload markers and of"
        " payload files.",
    ),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add every option of the table, with its ini twin."""
    group = parser.getgroup("clawperator", "Android devices (pytest-clawperator)")
    for option in OPTIONS:
        kind: dict[str, Any] = {"action": "store_true", "default": None}
        if option.metavar is not None:
            action = "append" if option.is_repeatable else "store"
            kind = {"action": action, "metavar": option.metavar}
        group.addoption(option.flag, dest=option.dest, help=option.help, **kind)
        if option.off_flag is not None:
            group.addoption(
                option.off_flag,
                dest=option.dest,
                help=f"Switch {option.flag} off.",
                action="store_false",
                default=None,
            )
        text = f"{option.help} Same as {option.flag}."
        parser.addini(option.dest, text, type=option.ini_type, default=None)


def on_command_line(config: pytest.Config, field: str) -> Any:
    """Return what the command line has for an option; None if it is not given."""
    return getattr(config.option, f"claw_{field}", None)


def written_value(config: pytest.Config, option: Option) -> Any:
    """Return what was written for an option, on the command line or else in the ini file."""
    written = on_command_line(config, option.field)
    if written is not None:
        return written
    try:
        return config.getini(option.dest)
    except (TypeError, ValueError, pytest.UsageError) as exc:
        allowed = f"; in TOML it is written {option.in_toml}"
        if option.metavar is None:
            allowed = ", allowed is true or false"
        raise pytest.UsageError(f"the ini option {option.dest}: {exc}{allowed}") from exc


def is_switched_on(config: pytest.Config, field: str) -> bool:
    """Whether a switch is on; a wrong value is reported later."""
    written = on_command_line(config, field)
    try:
        return bool(config.getini(f"claw_{field}") if written is None else written)
    except (TypeError, ValueError, pytest.UsageError):
        return False


def is_any_given(config: pytest.Config) -> bool:
    """Whether any option was given, on the command line or in the ini file."""
    return any(written_value(config, option) is not None for option in OPTIONS)
