"""The options: one table, from which come the command line, the ini twins and the settings.

A part that honours an option adds its row here and its field to ``Settings``. The row's name
is that of the field; the flag is ``--claw-…``, the ini twin ``claw_…``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_clawperator.plugin import bring_in
from pytest_clawperator.plugin.stash import SETTINGS

if TYPE_CHECKING:
    from pytest_clawperator.devices.matrix import Matrix
    from pytest_clawperator.devices.requirements import Requirements
    from pytest_clawperator.devices.spec import DeviceSpec
    from pytest_clawperator.plugin.settings import Settings

#: What the controller writes into the input of a worker that takes the place of another.
STARTS_LATE = "clawperator_starts_late"

#: What a controller writes into the input of a worker that it wants to talk to.
COURIER = "clawperator_courier"

PROFILES = ("documented", "0.5.3")
WHEN = ("off", "on", "only-on-failure")
ALLOWED_WHEN = f"{', '.join(WHEN[:-1])} or {WHEN[-1]}"
ALLOWED_SECONDS = "a number of seconds from 0 on, as in 2.5"


def _text(text: str, folder: Path) -> str:
    return text


def _seconds(text: str, folder: Path) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise ValueError(f"found {text!r}, allowed is {ALLOWED_SECONDS}")
    return seconds


def _device(text: str, folder: Path) -> DeviceSpec:
    from pytest_clawperator.devices.spec import parse_device_spec

    return parse_device_spec(text)


def _require(text: str, folder: Path) -> Requirements:
    from pytest_clawperator.devices.matrix import parse_requirements

    return parse_requirements(text)


def _matrix(text: str, folder: Path) -> Matrix:
    from pytest_clawperator.devices.matrix import parse_matrix

    return parse_matrix(text)


def _count(text: str, folder: Path) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 4:
        raise ValueError(f"found {text!r}, allowed is a number from 0 on, as in 2")
    return int(text)


def _lease(text: str, folder: Path) -> str:
    from pytest_clawperator.devices.lease import check_place

    return check_place(text)


def _server(text: str, folder: Path) -> str:
    from pytest_clawperator.transport.server import locate_server

    return str(locate_server(text))


def _package(text: str, folder: Path) -> str:
    from pytest_clawperator.client.device.commands import package_name

    return package_name(text)


def _file(text: str, folder: Path) -> Path:
    path = folder / Path(text).expanduser()
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    return path


def _check_app(path: Path) -> None:
    from pytest_clawperator.simulator.screen.app_files.load import load_app

    load_app(path)


def _check_apk(path: Path) -> None:
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(path) as archive:
            is_app = "AndroidManifest.xml" in archive.namelist()
    except (OSError, BadZipFile):
        is_app = False
    if not is_app:
        raise ValueError(f"{path} is no APK, which is a zip file with an AndroidManifest.xml")


def _profile(text: str, folder: Path) -> str:
    if text not in PROFILES:
        raise ValueError(f"found {text!r}, allowed is {' or '.join(PROFILES)}")
    return text


def _when(text: str, folder: Path) -> str:
    if text not in WHEN:
        raise ValueError(f"found {text!r}, allowed is {ALLOWED_WHEN}")
    return text


def _folder(text: str, folder: Path) -> Path:
    return folder / Path(text).expanduser()


def _check_folder(path: Path) -> None:
    """See that a folder can be written, or made, without leaving anything behind."""
    from tempfile import TemporaryDirectory

    try:
        there = next(place for place in (path, *path.parents) if place.exists())
        if not there.is_dir():
            raise ValueError(f"{there} is a file, and evidence needs a folder")
        # Permissions alone do not tell: think of full, read-only and unreal file systems.
        with TemporaryDirectory(prefix=".claw-", dir=there):
            pass
    except OSError as exc:
        raise ValueError(
            f"no evidence can be kept in {path}: {exc.strerror or exc}; allowed is a folder that"
            " can be made and written"
        ) from exc


class Option(NamedTuple):
    """One option. ``parse`` gets the text, and the folder that paths start from.

    Without a ``metavar`` it is a switch; with ``many`` it can be given several times.
    ``parse`` raises a ``ValueError`` that says what was found and what is allowed. So does
    ``check``, which looks at the value more closely, once and not in every worker.
    """

    field: str
    help: str
    metavar: str | None = None
    parse: Callable[[str, Path], Any] = _text
    many: bool = False
    check: Callable[[Any], None] | None = None

    @property
    def flag(self) -> str:
        """How it is written on the command line."""
        return "--claw-" + self.field.replace("_", "-")

    @property
    def dest(self) -> str:
        """What it is called in ini files and on ``config.option``."""
        return f"claw_{self.field}"

    @property
    def ini_type(self) -> Any:
        """What pytest calls the type of the ini twin."""
        return "bool" if self.metavar is None else "args" if self.many else "string"

    @property
    def in_toml(self) -> str:
        """Say what the ini twin takes where values have types."""
        if self.metavar is None:
            return "true or false"
        return f'["{self.metavar}"]' if self.many else f'"{self.metavar}"'


OPTIONS = (
    Option(
        "device",
        "Device to use: auto (any connected one), a serial, sim (simulated phones, one for each"
        " worker), sim:4, or http://host:3000/serial. Repeatable. Default: the only one"
        " connected.",
        "SPEC",
        _device,
        many=True,
    ),
    Option(
        "adb",
        "adb server to look for devices on. Repeatable. Default: adb's own variables, else"
        " 127.0.0.1:5037.",
        "HOST:PORT",
        _server,
        many=True,
    ),
    Option(
        "require",
        "What every device must be like, as in 'api=>=33;form=tablet'; others are left alone.",
        "REQUIREMENTS",
        _require,
    ),
    Option(
        "matrix",
        "Run every test once on each class of devices, as in 'api=33,35;form=phone,tablet', or"
        " on each device: each.",
        "CLASSES",
        _matrix,
    ),
    Option(
        "spare_devices",
        "How many devices no worker gets, for tests that take several through"
        " clawperator_devices. Default: 0.",
        "COUNT",
        _count,
    ),
    Option(
        "lease",
        "Where it is kept who has which device: redis://host:6379/0 for devices that several"
        " machines share. Default: lock files on this machine.",
        "URL",
        _lease,
    ),
    Option(
        "lease_timeout",
        "How many seconds to wait for devices that others have. Default: 0.",
        "SECONDS",
        _seconds,
    ),
    Option("operator_package", "Package of the Operator app on the device.", "PACKAGE", _package),
    Option(
        "operator_apk",
        "Install the Operator app from this file.",
        "FILE",
        _file,
        check=_check_apk,
    ),
    Option(
        "timeout",
        "How many seconds actions and expectations look for a node, unless told otherwise."
        " Default: 5.",
        "SECONDS",
        _seconds,
    ),
    Option(
        "output",
        "Folder for evidence; each run makes one of its own in it. Default: claw-results.",
        "FOLDER",
        _folder,
        check=_check_folder,
    ),
    Option(
        "screenshot",
        "When to keep a picture of the screen: off, on or only-on-failure. Default:"
        " only-on-failure.",
        "WHEN",
        _when,
    ),
    Option(
        "snapshot",
        "When to keep what is on the screen as XML: off, on or only-on-failure. Default:"
        " only-on-failure.",
        "WHEN",
        _when,
    ),
    Option(
        "logcat",
        "When to keep the device's log since the test began: off, on or only-on-failure."
        " Default: only-on-failure.",
        "WHEN",
        _when,
    ),
    Option(
        "video",
        "When to keep a video of the test: off, on or only-on-failure. Default: off.",
        "WHEN",
        _when,
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
        _file,
        many=True,
        check=_check_app,
    ),
    Option(
        "sim_profile",
        "Which Operator the simulated phones have: documented (as specified) or 0.5.3 (as"
        " published).",
        "PROFILE",
        _profile,
    ),
    Option("update_goldens", "Write the golden screens that are missing or do not fit."),
    Option("strict", "Fail a test that the device does not fit, instead of skipping it."),
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
            kind = {"action": "append" if option.many else "store", "metavar": option.metavar}
        group.addoption(option.flag, dest=option.dest, help=option.help, **kind)
        text = f"{option.help} Same as {option.flag}."
        parser.addini(option.dest, text, type=option.ini_type, default=None)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Keep a worker that starts late from emptying the folder that others write to for Allure."""
    if STARTS_LATE in getattr(config, "workerinput", ()):
        config.option.clean_alluredir = False  # before pytest_configure, where Allure does it


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Make ``-n auto`` as many workers as there are devices that can be had now."""
    from pytest_clawperator.plugin.usage import needs_devices

    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ or not needs_devices(config):
        return None
    bring_in(config)
    from pytest_clawperator.plugin.leasing.worker_device import count_workers

    return count_workers(config)


def pytest_configure(config: pytest.Config) -> None:
    """Refuse nonsense before anything else happens; see whether anything is asked for."""
    if is_asked(config):
        _refuse_idle(config, settings_of(config))
        bring_in(config)
    elif config.getoption("dist", "no") != "no":
        bring_in(config)  # whoever hands tests out does not see what they ask for


def is_asked(config: pytest.Config) -> bool:
    """Tell whether anything was asked of the plugin, by an option or by a controller."""
    return COURIER in getattr(config, "workerinput", ()) or any(
        _given(config, option) is not None for option in OPTIONS
    )


def settings_of(config: pytest.Config) -> Settings:
    """Give the settings of this run, made from the options once."""
    if SETTINGS not in config.stash:
        from pytest_clawperator.plugin.settings import Settings

        given = {option.field: _value(config, option) for option in OPTIONS}
        config.stash[SETTINGS] = Settings(
            **{field: value for field, value in given.items() if value is not None}
        )
    return config.stash[SETTINGS]


def _refuse_idle(config: pytest.Config, settings: Settings) -> None:
    """Refuse what the command line asks for in vain; an ini file serves other runs, too."""
    kinds = {spec.kind for spec in settings.device}
    idle = {}
    if "sim" not in kinds:
        no_phones = "this run has no simulated phones; add --claw-device sim, or leave it out"
        idle = {"sim_app": no_phones, "sim_profile": no_phones}
    if kinds and kinds <= {"sim", "url"}:
        named = " and ".join(f"--claw-device {spec}" for spec in settings.device)
        idle["adb"] = f"{named} asks no adb server; name a device of it, or leave this out"
    if kinds == {"url"}:
        idle["operator_apk"] = "behind a url it is up to that host; install it there"
    for field, reason in idle.items():
        if getattr(config.option, f"claw_{field}", None) is not None:
            raise pytest.UsageError(f"{source_of(config, field)} has no effect: {reason}")


def _given(config: pytest.Config, option: Option) -> Any:
    """Give what was written for an option, on the command line or else in the ini file."""
    written = getattr(config.option, option.dest, None)
    if written is not None:
        return written
    try:
        return config.getini(option.dest)
    except (TypeError, ValueError, pytest.UsageError) as exc:
        allowed = f"; in TOML it is written {option.in_toml}"
        if option.metavar is None:
            allowed = ", allowed is true or false"
        raise pytest.UsageError(f"the ini option {option.dest}: {exc}{allowed}") from exc


def _value(config: pytest.Config, option: Option) -> Any:
    given = _given(config, option)
    if given is None or option.metavar is None:
        return given
    on_line = getattr(config.option, option.dest, None) is not None
    if not given and not on_line:
        return None  # `-o claw_device=` takes back what the ini file says
    ini_folder = config.inipath.parent if config.inipath else config.rootpath
    folder = config.invocation_params.dir if on_line else ini_folder
    source = source_of(config, option.field)
    is_first = not hasattr(config, "workerinput")
    values = tuple(
        _parsed(option, text, folder, source, check=is_first)
        for text in (given if option.many else [given])
    )
    return values if option.many else values[0]


def source_of(config: pytest.Config, field: str) -> str:
    """Say where an option was given: its flag, or else its ini twin."""
    option = next(option for option in OPTIONS if option.field == field)
    on_line = getattr(config.option, option.dest, None) is not None
    return option.flag if on_line else f"the ini option {option.dest}"


def _parsed(option: Option, text: str, folder: Path, source: str, *, check: bool) -> Any:
    from pytest_clawperator.errors import ConfigurationError

    if not text.strip():
        raise pytest.UsageError(
            f"{source}: found {text!r}, allowed is {option.metavar}: {option.help}"
        )
    try:
        value = option.parse(text, folder)
        if check and option.check is not None:
            option.check(value)
    except ValueError as exc:
        raise pytest.UsageError(f"{source}: {exc}") from exc
    except ConfigurationError as exc:
        raise pytest.UsageError(f"{source}: {exc.message}. {exc.hint or ''}".strip()) from exc
    return value
