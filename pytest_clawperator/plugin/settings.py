"""What a run was asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pytest_clawperator.devices.matrix import Matrix
from pytest_clawperator.devices.requirements import Requirements
from pytest_clawperator.devices.spec import DeviceSpec

When = Literal["off", "on", "only-on-failure"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The options of a run, read once; each field is an option of the same name.

    A conftest may change some for the tests below it::

        @pytest.fixture(scope="session")
        def clawperator_settings(clawperator_settings):
            return dataclasses.replace(clawperator_settings, timeout=10.0)

    ``timeout``, ``output`` (a relative one starts from pytest's rootdir), ``screenshot``,
    ``snapshot``, ``logcat``, ``video``, ``pause`` and ``strict`` count for each test that uses
    the fixture, as all with ``clawperator`` do. ``operator_package`` and ``operator_apk``
    count when the client is connected, which is once in a run. It is too late for the
    others: ``device``, ``adb``, ``sim_app``, ``sim_profile``, ``update_goldens`` and
    ``validate`` are used before any fixture runs. For another device, override
    ``clawperator_lease``.
    """

    device: tuple[DeviceSpec, ...] = ()
    adb: tuple[str, ...] = ()
    require: Requirements | None = None
    matrix: Matrix | None = None
    spare_devices: int = 0
    lease: str | None = None
    lease_timeout: float = 0.0
    operator_package: str | None = None
    operator_apk: Path | None = None
    timeout: float = 5.0
    output: Path = Path("claw-results")
    screenshot: When = "only-on-failure"
    snapshot: When = "only-on-failure"
    logcat: When = "only-on-failure"
    video: When = "off"
    pause: bool = False
    sim_app: tuple[Path, ...] = ()
    sim_profile: str | None = None
    update_goldens: bool = False
    strict: bool = False
    validate: bool = False
