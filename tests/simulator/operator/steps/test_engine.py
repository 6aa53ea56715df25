"""Steps in general: any of them can be made to fail."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.operator.command import Profile
from tests.simulator.operator.fakes import (
    APP,
    OK,
    PROFILES,
    Bench,
    action,
    button,
    screen,
)


@pytest.mark.parametrize("profile", PROFILES)
class TestEveryProfile:
    """What the specification and the published app agree upon."""

    @pytest.mark.parametrize("name", ["click", "press_key", "snapshot_ui", "close_app"])
    def test_any_step_can_be_made_to_fail(self, profile: Profile, name: str) -> None:
        """The step_error fault fails steps of its type with its code, and no others."""
        bench = Bench(screen(button()), profile=profile)
        bench.faults.set("step_error", times=1, type=name, code="SECURITY_BLOCK_DETECTED")
        params = {"matcher": OK, "key": "back", "applicationId": APP}

        steps = bench.execute(action("doctor_ping"), action(name, **params))["stepResults"]

        assert [step["success"] for step in steps] == [True, False]
        assert steps[1]["data"]["error"] == "SECURITY_BLOCK_DETECTED"
        assert bench.faults.names() == []
