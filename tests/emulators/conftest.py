"""The simulated SDK for the tests of this folder."""

from __future__ import annotations

from tests.doubles.simulator.sdk_fixtures import bench, sdk_of_session

__all__ = ["bench", "sdk_of_session"]
