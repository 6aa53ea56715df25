"""The settings of a run: the values of its options, parsed and checked.

A conftest can change some of them for the tests below it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from zipfile import BadZipFile, ZipFile

import pytest

from pytest_clawperator.client.device_commands import package_name
from pytest_clawperator.client.perform import MATCHERS, Matchers
from pytest_clawperator.client.timing import seconds_of, timeout_of
from pytest_clawperator.contracts import foreign_names
from pytest_clawperator.devices import requirements
from pytest_clawperator.devices.lease import check_redis_url
from pytest_clawperator.devices.spec import DeviceSpec, parse_device_spec
from pytest_clawperator.emulators.avd import EmulatorProfile, parse_profile
from pytest_clawperator.emulators.boot import BootKind
from pytest_clawperator.errors import ConfigurationError, is_file
from pytest_clawperator.plugin.options import OPTIONS, Option, on_command_line, written_value
from pytest_clawperator.plugin.stash import ITEM_SETTINGS, SETTINGS
from pytest_clawperator.plugin.worker_input import is_worker
from pytest_clawperator.redaction import check_rule
from pytest_clawperator.simulator.phone_kinds import parse_phones
from pytest_clawperator.skills.registry import REGISTRY_IN_REPOSITORY
from pytest_clawperator.text import visible
from pytest_clawperator.transport.server import locate_server

WHEN = ("off", "on", "only-on-failure")
WHEN_LOG = (*WHEN, "full")
TRACE_WHEN = ("off", "on", "retain-on-failure")
When = Literal["off", "on", "only-on-failure"]
WhenLog = Literal["off", "on", "only-on-failure", "full"]
TraceWhen = Literal["off", "on", "retain-on-failure"]


def _choices(of: Sequence[str]) -> str:
    """Return the choices as a message lists them: ``off, on or full``."""
    return f"{', '.join(of[:-1])} or {of[-1]}"


def _is_when(value: Any) -> bool:
    return value in WHEN


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool)


# What a conftest can change, how that is judged, and what is allowed.
_CHANGEABLE: dict[str, tuple[Callable[[Any], bool], str]] = {
    "matchers": (lambda value: value in MATCHERS, _choices(MATCHERS)),
    "output": (lambda value: isinstance(value, Path), "a pathlib.Path of a folder"),
    "screenshot": (_is_when, _choices(WHEN)),
    "snapshot": (_is_when, _choices(WHEN)),
    "logcat": (lambda value: value in WHEN_LOG, _choices(WHEN_LOG)),
    "video": (_is_when, _choices(WHEN)),
    "trace": (lambda value: value in TRACE_WHEN, _choices(TRACE_WHEN)),
    "pause": (_is_switch, "True or False"),
    "strict": (_is_switch, "True or False"),
    "operator_package": (
        lambda value: value is None or isinstance(value, str),
        "a text such as 'com.clawperator.operator'",
    ),
    "operator_apk": (
        lambda value: value is None or isinstance(value, Path),
        "a pathlib.Path of a file",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The options of a run, read once; each field is an option of the same name.

    A conftest may change some for the tests below it::

        @pytest.fixture(scope="session")
        def clawperator_settings(clawperator_settings):
            return dataclasses.replace(clawperator_settings, timeout=10.0)

    ``timeout``, ``matchers``, ``output`` (a relative one starts from pytest's rootdir),
    ``screenshot``, ``snapshot``, ``logcat``, ``video``, ``trace``, ``pause`` and ``strict``
    count for each test that uses the fixture, as all with ``clawperator`` do.
    ``operator_package`` and ``operator_apk`` count when the client is connected, which is once
    in a run. It is too late for the others: ``device``, ``adb``, ``display``, ``redact``,
    ``sim_app``, ``sim_profile``, ``sim_time_scale``, ``skills``, ``update_goldens``,
    ``doctor`` and ``validate`` are used before any fixture runs. For another device, override
    ``clawperator_lease``.
    """

    device: tuple[DeviceSpec, ...] = ()
    adb: tuple[str, ...] = ()
    require: requirements.Requirements | None = None
    matrix: requirements.Matrix | None = None
    emulator: EmulatorProfile | None = None
    emulator_boot: BootKind = "cold"
    emulator_boots: int | None = None
    emulator_keep: bool = False
    spare_devices: int = 0
    lease: str | None = None
    lease_timeout: float = 0.0
    operator_package: str | None = None
    operator_apk: Path | None = None
    display: int | None = None
    timeout: float = 5.0
    matchers: Matchers = "strict"
    output: Path = Path("claw-results")
    screenshot: When = "only-on-failure"
    snapshot: When = "only-on-failure"
    logcat: WhenLog = "only-on-failure"
    video: When = "off"
    trace: TraceWhen = "retain-on-failure"
    redact: tuple[str, ...] = ()
    pause: bool = False
    sim_app: tuple[Path, ...] = ()
    sim_profile: str | None = None
    sim_time_scale: float | None = None
    skills: Path | None = None
    update_goldens: bool = False
    strict: bool = False
    doctor: bool = False
    validate: bool = False

    def __post_init__(self) -> None:
        for field, (fits, allowed) in _CHANGEABLE.items():
            value = getattr(self, field)
            if not fits(value):
                raise ConfigurationError(
                    f"the setting {field}: found {value!r}, allowed is {allowed}",
                    hint="Correct the fixture clawperator_settings that changes it.",
                )
        timeout_of(self.timeout, name="the setting timeout")


PROFILES = ("documented", "0.5.3")
BOOTS = ("cold", "snapshot")
_FALSE = ("", "0", "false", "no", "off")


def settings_of(config: pytest.Config) -> Settings:
    """Return the settings of this run, made from the options once."""
    if SETTINGS not in config.stash:
        given = {option.field: _value(config, option) for option in OPTIONS}
        if given["strict"] is None:
            given["strict"] = is_ci(os.environ)
        config.stash[SETTINGS] = Settings(
            **{field: value for field, value in given.items() if value is not None}
        )
    return config.stash[SETTINGS]


def refuse_options_without_effect(config: pytest.Config) -> None:
    """Raise a usage error for an option on the command line that has no effect.

    The ini file is not checked: it is also for other runs.
    """
    settings = settings_of(config)
    kinds = {spec.kind for spec in settings.device}
    idle = {}
    if "sim" not in kinds:
        no_phones = "this run has no simulated phones; add --claw-device sim, or leave it out"
        idle = dict.fromkeys(("sim_app", "sim_profile", "sim_time_scale"), no_phones)
    if "emulator" not in kinds:
        none = "this run starts no emulators; add --claw-device emulator, or leave it out"
        idle |= dict.fromkeys(
            ("emulator", "emulator_boot", "emulator_boots", "emulator_keep"), none
        )
    if kinds and kinds <= {"sim", "url"}:
        named = " and ".join(f"--claw-device {spec}" for spec in settings.device)
        idle["adb"] = f"{named} asks no adb server; name a device of it, or leave this out"
    if kinds == {"url"}:
        idle["operator_apk"] = "behind a url it is up to that host; install it there"
    for field, reason in idle.items():
        if on_command_line(config, field) is not None:
            raise pytest.UsageError(f"{source_of(config, field)} has no effect: {reason}")


def is_validating(config: pytest.Config) -> bool:
    """Whether this run only validates payloads (``--claw-validate``)."""
    settings = config.stash.get(SETTINGS, None)
    return settings is not None and settings.validate


def is_ci(environment: Mapping[str, str]) -> bool:
    """Whether the variable CI marks an unattended run."""
    return environment.get("CI", "").strip().lower() not in _FALSE


def source_of(config: pytest.Config, field: str) -> str:
    """Return where an option was given: its flag, or else its ini twin."""
    option = next(option for option in OPTIONS if option.field == field)
    on_line = on_command_line(config, field) is not None
    return option.flag if on_line else f"the ini option {option.dest}"


def _value(config: pytest.Config, option: Option) -> Any:
    given = written_value(config, option)
    if given is None or option.metavar is None:
        return given
    on_line = on_command_line(config, option.field) is not None
    if not given and not on_line:
        return None  # `-o claw_device=` overrides the ini file
    ini_folder = config.inipath.parent if config.inipath else config.rootpath
    folder = config.invocation_params.dir if on_line else ini_folder
    source = source_of(config, option.field)
    values = tuple(
        _parsed(option, text, folder, source, check=not is_worker(config))
        for text in (given if option.is_repeatable else [given])
    )
    return values if option.is_repeatable else values[0]


def _parsed(option: Option, text: str, folder: Path, source: str, *, check: bool) -> Any:
    if not text.strip():
        raise pytest.UsageError(
            f"{source}: found {text!r}, allowed is {option.metavar}: {option.help}"
        )
    try:
        value = PARSERS[option.field](text, folder)
        if check and option.field in CHECKS:
            CHECKS[option.field](value)
    except ValueError as exc:
        raise pytest.UsageError(visible(f"{source}: {exc}")) from exc
    except ConfigurationError as exc:
        problem = f"{source}: {exc.message}. {exc.hint or ''}".strip()
        raise pytest.UsageError(visible(problem)) from exc
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _seconds(text: str, folder: Path, *, check: Callable[..., float]) -> float:
    seconds = _number(text)
    return check(text if math.isnan(seconds) else seconds, name="the value")


def _factor(text: str, folder: Path) -> float:
    factor = _number(text)
    if not 0 <= factor <= 1000:
        raise ValueError(f"found {text!r}, allowed is a factor from 0 to 1000, as in 0.1")
    return factor


def _choice(text: str, folder: Path, *, of: Sequence[str]) -> str:
    if text not in of:
        raise ValueError(f"found {text!r}, allowed is {_choices(of)}")
    return text


def _count(text: str, folder: Path, *, least: int = 0) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 4 or int(text) < least:
        raise ValueError(f"found {text!r}, allowed is a number from {least} on, as in 2")
    return int(text)


def _file(text: str, folder: Path) -> Path:
    path = _folder(text, folder)
    if not is_file(path):
        raise ValueError(f"there is no file {path}")
    return path


def _folder(text: str, folder: Path) -> Path:
    path = folder / Path(text).expanduser()
    if b"\0" in os.fsencode(path):
        raise ValueError(f"found {text!r}, which holds a character that no file name can have")
    return path


def _trace_when(text: str, folder: Path) -> str:
    # The word of the other options means the same.
    when = "retain-on-failure" if text == "only-on-failure" else text
    if when not in TRACE_WHEN:
        raise ValueError(f"found {text!r}, allowed is {_choices(TRACE_WHEN)}")
    return when


def _when(text: str, folder: Path) -> str:
    if text not in WHEN:
        ours = foreign_names.WHEN.get(text.lower())
        here = f": here it is called {ours}" if ours else ""
        raise ValueError(f"found {text!r}, allowed is {_choices(WHEN)}{here}")
    return text


def _check_app(path: Path) -> None:
    # The models of apps take as long to import as all of the plugin.
    from pytest_clawperator.simulator.apps.load import load_app

    load_app(path)


def _check_apk(path: Path) -> None:
    try:
        with ZipFile(path) as archive:
            is_app = "AndroidManifest.xml" in archive.namelist()
    except (OSError, BadZipFile):
        is_app = False
    if not is_app:
        raise ValueError(f"{path} is not an APK, which is a zip file with an AndroidManifest.xml")


def _check_folder(path: Path) -> None:
    """Raise unless the folder is writable or can be created; leave nothing behind."""
    try:
        there = next(place for place in (path, *path.parents) if place.exists())
        if not there.is_dir():
            raise ValueError(f"{there} is a file, and evidence needs a folder")
        # Permissions alone are not enough: the file system may be full or read-only.
        with TemporaryDirectory(prefix=".claw-", dir=there):
            pass
    except OSError as exc:
        raise ValueError(
            f"no evidence can be kept in {path}: {exc.strerror or exc}; allowed is a folder that"
            " can be made and written"
        ) from exc


def _registry(text: str, folder: Path) -> Path:
    """Return the registry that is meant: the file itself, or that of a repository."""
    place = (folder / text).resolve()
    for path in (place, place / REGISTRY_IN_REPOSITORY, place / REGISTRY_IN_REPOSITORY.name):
        if is_file(path):
            return path
    raise ValueError(
        f"found {text!r}, where no {REGISTRY_IN_REPOSITORY} is; allowed is a skills repository or"
        " its registry"
    )


def _device(text: str) -> DeviceSpec:
    spec = parse_device_spec(text)
    if spec.phones is not None:
        parse_phones(spec.phones)  # reported now, not when they are started
    return spec


#: How the text of an option becomes its value; the second argument is the folder that paths
#: start from. A parser raises ``ValueError`` or ``ConfigurationError`` with what was found and
#: what is allowed.
PARSERS: Mapping[str, Callable[[str, Path], Any]] = {
    "device": lambda text, folder: _device(text),
    "adb": lambda text, folder: str(locate_server(text)),
    "require": lambda text, folder: requirements.parse_requirements(text),
    "matrix": lambda text, folder: requirements.parse_matrix(text),
    "emulator": lambda text, folder: parse_profile(text),
    "emulator_boot": partial(_choice, of=BOOTS),
    "emulator_boots": partial(_count, least=1),
    "spare_devices": _count,
    "lease": lambda text, folder: check_redis_url(text),
    "lease_timeout": partial(_seconds, check=seconds_of),
    "operator_package": lambda text, folder: package_name(text),
    "operator_apk": _file,
    "display": _count,
    "timeout": partial(_seconds, check=timeout_of),
    "matchers": partial(_choice, of=MATCHERS),
    "output": _folder,
    "screenshot": _when,
    "snapshot": _when,
    "logcat": partial(_choice, of=WHEN_LOG),
    "video": _when,
    "trace": _trace_when,
    "redact": lambda text, folder: check_rule(text),
    "sim_app": _file,
    "sim_profile": partial(_choice, of=PROFILES),
    "sim_time_scale": _factor,
    "skills": _registry,
}
#: Expensive checks of parsed values, made once and not in every worker.
CHECKS: Mapping[str, Callable[[Any], None]] = {
    "operator_apk": _check_apk,
    "output": _check_folder,
    "sim_app": _check_app,
}
SETTINGS_FIXTURE = "clawperator_settings"


def settings_of_item(item: pytest.Item) -> Settings:
    """Return what ``clawperator_settings`` gave the test, or else the settings of the run.

    They are remembered, because they are needed even when the fixture has ended.
    """
    # Only here pytest shows which of several fixtures of a name a test uses.
    known = getattr(item, "_fixtureinfo", None)
    fixtures = known.name2fixturedefs.get(SETTINGS_FIXTURE) if known is not None else None
    cached = fixtures[-1].cached_result if fixtures else None
    if cached is not None and isinstance(cached[0], Settings):
        item.stash[ITEM_SETTINGS] = cached[0]
    return item.stash.get(ITEM_SETTINGS, None) or settings_of(item.config)
