"""The settings of a run: the values of its options, of which a conftest can change some."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pytest_clawperator.client.plan.proving import MATCHERS, Matchers
from pytest_clawperator.contracts.limits import MAX_LOOKING
from pytest_clawperator.devices.requirements import Matrix, Requirements
from pytest_clawperator.devices.spec import DeviceSpec
from pytest_clawperator.emulators.avd import EmulatorProfile
from pytest_clawperator.emulators.boot import BootKind
from pytest_clawperator.errors import ConfigurationError

ALLOWED_MATCHERS = " or ".join(MATCHERS)
WHEN = ("off", "on", "only-on-failure")
WHEN_LOG = (*WHEN, "full")
ALLOWED_WHEN = f"{', '.join(WHEN[:-1])} or {WHEN[-1]}"
ALLOWED_WHEN_LOG = f"{', '.join(WHEN)} or full"
ALLOWED_SECONDS = "a number of seconds from 0 on, as in 2.5"
ALLOWED_TIMEOUT = f"a number of seconds from 0 to {MAX_LOOKING}, as in 2.5"

TRACE_WHEN = ("off", "on", "retain-on-failure")
ALLOWED_TRACE_WHEN = f"{', '.join(TRACE_WHEN[:-1])} or {TRACE_WHEN[-1]}"

When = Literal["off", "on", "only-on-failure"]
WhenLog = Literal["off", "on", "only-on-failure", "full"]
TraceWhen = Literal["off", "on", "retain-on-failure"]


def is_timeout(value: Any) -> bool:
    """Whether a value is a number of seconds that a node may be looked for."""
    return type(value) in (int, float) and 0 <= value <= MAX_LOOKING


def allowed_timeout(value: Any) -> str:
    """Return what is allowed instead of a value that is no timeout."""
    is_long = type(value) in (int, float) and MAX_LOOKING < value < math.inf
    return f"{ALLOWED_TIMEOUT}: seconds, not milliseconds?" if is_long else ALLOWED_TIMEOUT


def _is_when(value: Any) -> bool:
    return value in WHEN


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool)


# What a conftest can change, how that is judged, and what is allowed.
_CHANGEABLE: dict[str, tuple[Callable[[Any], bool], str]] = {
    "timeout": (is_timeout, ALLOWED_TIMEOUT),
    "matchers": (lambda value: value in MATCHERS, ALLOWED_MATCHERS),
    "output": (lambda value: isinstance(value, Path), "a pathlib.Path of a folder"),
    "screenshot": (_is_when, ALLOWED_WHEN),
    "snapshot": (_is_when, ALLOWED_WHEN),
    "logcat": (lambda value: value in WHEN_LOG, ALLOWED_WHEN_LOG),
    "video": (_is_when, ALLOWED_WHEN),
    "trace": (lambda value: value in TRACE_WHEN, ALLOWED_TRACE_WHEN),
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
    require: Requirements | None = None
    matrix: Matrix | None = None
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
                    f"the setting {field}: found {value!r}, allowed is "
                    + (allowed_timeout(value) if field == "timeout" else allowed),
                    hint="Correct the fixture clawperator_settings that changes it.",
                )
