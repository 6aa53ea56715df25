"""The steps for apps and addresses."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.operator.command import Profile
from tests.simulator.operator.fakes import (
    APP,
    PROFILES,
    Bench,
    action,
)


@pytest.mark.parametrize("profile", PROFILES)
class TestApps:
    """What the specification and the published app agree upon."""

    def test_open_app_starts_the_app(self, profile: Profile) -> None:
        """An app is started and named."""
        bench = Bench(profile=profile)

        assert bench.step("open_app", applicationId=APP) == {
            "id": "a1",
            "actionType": "open_app",
            "success": True,
            "data": {"application_id": APP},
        }
        assert bench.ui.done == [f"start {APP}"]

    def test_open_uri_opens_the_address(self, profile: Profile) -> None:
        """An address is opened and repeated."""
        bench = Bench(profile=profile)

        assert bench.step("open_uri", uri="market://x")["data"] == {"uri": "market://x"}
        assert bench.ui.done == ["open_uri market://x"]

    def test_close_app_is_left_to_the_host(self, profile: Profile) -> None:
        """A close_app step fails in the known way, and the run goes on and succeeds."""
        envelope = Bench(profile=profile).execute(
            action("close_app", applicationId=APP), action("doctor_ping")
        )

        assert envelope["status"] == "success"
        assert envelope["stepResults"][0]["success"] is False
        data = envelope["stepResults"][0]["data"]
        assert list(data) == ["application_id", "error", "message"]
        assert data["error"] == "UNSUPPORTED_RUNTIME_CLOSE"
        assert envelope["stepResults"][1]["success"] is True
