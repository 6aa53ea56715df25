"""The Operator's accessibility service: whether it is connected, and what it hears."""

from __future__ import annotations

from pytest_clawperator.simulator.android import settings_store
from pytest_clawperator.simulator.android.packages import OPERATOR_SERVICE
from pytest_clawperator.simulator.android.settings_store import SettingsStore
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.operator.answer.operator_log import SERVICE, OperatorLog, Source
from pytest_clawperator.simulator.operator.recorder import Recorder
from pytest_clawperator.simulator.screen.accessibility.events import AccessibilityEvent


class AccessibilityService:
    """The service of one installed Operator."""

    def __init__(
        self,
        package: str,
        *,
        settings: SettingsStore,
        faults: Faults,
        log: OperatorLog,
        recorder: Recorder,
    ) -> None:
        self._package = package
        self._component = f"{package}/{OPERATOR_SERVICE}"
        self._settings = settings
        self._faults = faults
        self._log = log
        self._recorder = recorder

    @property
    def is_enabled(self) -> bool:
        """Whether the device's settings have the service switched on."""
        return settings_store.is_accessibility_service_on(self._settings, self._component)

    @property
    def is_connected(self) -> bool:
        """Whether the service is bound and works."""
        return self._faults.active("service_off") is None and self._may_run

    def is_available_for_command(self) -> bool:
        """Whether a command can be taken; this uses up one occasion of the fault."""
        return not self._faults.take("service_off") and self._may_run

    @property
    def _may_run(self) -> bool:
        return self.is_enabled and self._faults.active("ui_automation") is None

    def on_event(self, event: AccessibilityEvent) -> None:
        """Record and log an event on the screen, unless the service is not connected."""
        if self.is_connected:
            self._recorder.on_event(event)
            self._log.debug(Source.SERVICE, f"{SERVICE} onAccessibilityEvent({event})")

    def on_back_key(self) -> None:
        """Record the back key, unless the service is not connected."""
        if self.is_connected:
            self._recorder.on_back_key()

    def disable(self) -> None:
        """Switch the service off in the settings, as Android does after a crash."""
        settings_store.disable_accessibility_services(self._settings, self._package)
