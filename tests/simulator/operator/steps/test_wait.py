"""The steps that wait."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.operator.command import Profile
from tests.simulator.operator.fakes import (
    APP,
    OK,
    PROFILES,
    Bench,
    button,
    screen,
)


@pytest.mark.parametrize("profile", PROFILES)
class TestWaiting:
    """What the specification and the published app agree upon."""

    def test_sleep_lasts_as_long_as_asked(self, profile: Profile) -> None:
        """A pause is as long as asked for, on the Operator's clock."""
        bench = Bench(profile=profile)

        assert bench.step("sleep", durationMs=5000)["data"] == {"duration_ms": "5000"}
        assert any("requested_ms=5000, elapsed_ms=5000" in line for line in bench.lines())

    def test_wait_for_node(self, profile: Profile) -> None:
        """A node that is there is described."""
        step = Bench(screen(button(resource_id="x:id/ok")), profile=profile).step(
            "find_node", matcher=OK, timeoutMs=700
        )

        assert step["actionType"] == "wait_for_node"
        assert step["data"] == {"resource_id": "x:id/ok", "label": "OK", "timeout_ms": "700"}

    def test_wait_for_node_looks_five_times(self, profile: Profile) -> None:
        """A node that comes up at the last look is found."""
        bench = Bench(lambda ui: screen(*([button()] if ui.looks == 5 else [])), profile=profile)

        assert bench.step("wait_for_node", matcher=OK)["data"] == {"resource_id": "", "label": "OK"}

    def test_wait_for_navigation_to_a_package(self, profile: Profile) -> None:
        """Another app that comes to the front ends the wait."""
        bench = Bench(
            lambda ui: screen(package="com.other" if ui.looks > 4 else APP), profile=profile
        )

        data = bench.step("wait_for_navigation", expectedPackage="com.other", timeoutMs=5000)[
            "data"
        ]

        assert data == {"resolved_package": "com.other", "elapsed_ms": "600"}

    def test_wait_for_navigation_to_a_node(self, profile: Profile) -> None:
        """A node that comes up ends the wait too."""
        bench = Bench(screen(button()), profile=profile)

        data = bench.step(
            "wait_for_navigation", expectedPackage="com.other", expectedNode=OK, timeoutMs=5000
        )["data"]

        assert data == {"resolved_package": APP, "elapsed_ms": "0"}

    def test_navigation_in_vain(self, profile: Profile) -> None:
        """The wait ends after its time and names the app that was in front."""
        bench = Bench(profile=profile)

        step = bench.step("wait_for_navigation", expectedPackage="com.other", timeoutMs=1000)

        assert step["success"] is False
        assert step["data"] == {"error": "NAVIGATION_TIMEOUT", "last_package": APP}
        assert bench.ui.looks == 1 + 6
