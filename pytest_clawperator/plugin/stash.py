"""Every key under which the plugin keeps something on pytest's own objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_clawperator.assertions.expectation import Unstated
    from pytest_clawperator.assertions.soft import SoftFailures
    from pytest_clawperator.client.client import Clawperator
    from pytest_clawperator.devices.health import Health
    from pytest_clawperator.devices.pool import DevicePool, Lease, Spares
    from pytest_clawperator.devices.requirements import DeviceClass
    from pytest_clawperator.devices.spec import DeviceSpec
    from pytest_clawperator.emulators.checkpoints import Checkpoints
    from pytest_clawperator.emulators.fleet import EmulatorFleet
    from pytest_clawperator.errors import ClawperatorError
    from pytest_clawperator.execution.pipeline import Pipeline
    from pytest_clawperator.plugin.clients import ClientActivity, ClientListeners
    from pytest_clawperator.plugin.device_needs import DeviceNeeds
    from pytest_clawperator.plugin.goldens import GoldenUse
    from pytest_clawperator.plugin.kinds import Subtests
    from pytest_clawperator.plugin.ladder import EarlyConnection
    from pytest_clawperator.plugin.leasing import ReservedLeases
    from pytest_clawperator.plugin.phones import SimulatedPhones
    from pytest_clawperator.plugin.recorder import Recorder
    from pytest_clawperator.plugin.report_sinks import ReportSinks
    from pytest_clawperator.plugin.reports import RunReports
    from pytest_clawperator.plugin.run import EventHub
    from pytest_clawperator.plugin.settings import Settings
    from pytest_clawperator.plugin.terminal import Tally
    from pytest_clawperator.plugin.tracing import AttemptTrace
    from pytest_clawperator.redaction import Secrets

# On the config: what was asked for, and what the process knows of the run.
IS_GATE_OPEN: pytest.StashKey[bool] = pytest.StashKey()
SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()
NEEDS_DEVICES: pytest.StashKey[bool] = pytest.StashKey()
#: Where ``--claw-validate`` looks for tests, and below which folder for files.
VALIDATED_PLACES: pytest.StashKey[tuple[list[str], Path]] = pytest.StashKey()
UNCOLLECTED_FILES: pytest.StashKey[list[Path]] = pytest.StashKey()
CURRENT_TEST: pytest.StashKey[pytest.Item] = pytest.StashKey()
RUN_ID: pytest.StashKey[str] = pytest.StashKey()
ENDING_SIGNAL: pytest.StashKey[int] = pytest.StashKey()
EVENTS: pytest.StashKey[EventHub] = pytest.StashKey()
LEASES: pytest.StashKey[ReservedLeases] = pytest.StashKey()
DESCRIBED_DEVICES: pytest.StashKey[set[str]] = pytest.StashKey()
REPORT_SINKS: pytest.StashKey[ReportSinks] = pytest.StashKey()
RUN_REPORTS: pytest.StashKey[RunReports] = pytest.StashKey()
TALLY: pytest.StashKey[Tally] = pytest.StashKey()
REPORTED_DEVICES: pytest.StashKey[set[str]] = pytest.StashKey()
GOLDEN_USE: pytest.StashKey[GoldenUse] = pytest.StashKey()
EARLIER_SECRETS: pytest.StashKey[Secrets] = pytest.StashKey()

# On the input of a worker of `-n`.
#: The channel over which a worker and its controller talk; there if the run has devices.
CHANNEL = "clawperator_channel"
#: Whether the worker replaces another one.
STARTS_LATE = "clawperator_starts_late"

# On the config: devices.
WORKER_COUNT: pytest.StashKey[int] = pytest.StashKey()
DEVICE_POOL: pytest.StashKey[DevicePool] = pytest.StashKey()
LEASES_BY_CLASS: pytest.StashKey[dict[str | None, Lease | ClawperatorError]] = pytest.StashKey()
FAILED_EMULATORS: pytest.StashKey[dict[DeviceSpec, ClawperatorError]] = pytest.StashKey()
MISSING_EMULATORS: pytest.StashKey[int] = pytest.StashKey()
WHY_NO_DEVICES: pytest.StashKey[ClawperatorError] = pytest.StashKey()
SPARE_DEVICES: pytest.StashKey[Spares] = pytest.StashKey()
DEVICE_NEEDS: pytest.StashKey[dict[str, DeviceNeeds]] = pytest.StashKey()
DEVICE_CHANGES: pytest.StashKey[list[str]] = pytest.StashKey()
DEVICE_CLASSES: pytest.StashKey[tuple[DeviceClass, ...]] = pytest.StashKey()
CLASS_TO_SELECT: pytest.StashKey[DeviceClass | None] = pytest.StashKey()
EARLY_CONNECTION: pytest.StashKey[EarlyConnection] = pytest.StashKey()
SIMULATED_PHONES: pytest.StashKey[SimulatedPhones] = pytest.StashKey()
EMULATOR_FLEETS: pytest.StashKey[list[EmulatorFleet]] = pytest.StashKey()
ENDED_PHONES: pytest.StashKey[dict[str | None, str]] = pytest.StashKey()
DEVICE_HEALTH: pytest.StashKey[dict[Pipeline, Health]] = pytest.StashKey()

UNFIT_TESTS: pytest.StashKey[list[str]] = pytest.StashKey()

DOCTORS_VERDICT: pytest.StashKey[bool] = pytest.StashKey()

# On the config: clients.
OPEN_CLIENTS: pytest.StashKey[list[ClientActivity]] = pytest.StashKey()
#: The timeout and the matchers of this process's client, as it was connected.
CLIENT_DEFAULTS: pytest.StashKey[tuple[float, str]] = pytest.StashKey()
CHECKPOINTS: pytest.StashKey[dict[Clawperator, Checkpoints]] = pytest.StashKey()
CLIENT_LISTENERS: pytest.StashKey[ClientListeners] = pytest.StashKey()
ENDING_FIXTURES: pytest.StashKey[dict[int, float]] = pytest.StashKey()
ENDED_ATTEMPTS: pytest.StashKey[set[str]] = pytest.StashKey()
TO_CLOSE: pytest.StashKey[list[Callable[[], None]]] = pytest.StashKey()

# On an item.
IS_BEING_SET_UP: pytest.StashKey[bool] = pytest.StashKey()
USED_CLIENTS: pytest.StashKey[list[ClientActivity]] = pytest.StashKey()
RECORDER: pytest.StashKey[Recorder] = pytest.StashKey()
TRACE: pytest.StashKey[AttemptTrace] = pytest.StashKey()
ITEM_SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()
MARKER_PROBLEMS: pytest.StashKey[str] = pytest.StashKey()
SOFT_FAILURES: pytest.StashKey[SoftFailures] = pytest.StashKey()
#: Expectations of the setup that are still without a check.
UNSTATED: pytest.StashKey[Unstated] = pytest.StashKey()
#: While the test itself runs.
SUBTESTS: pytest.StashKey[Subtests] = pytest.StashKey()
