"""A plugin for runs of whole suites: phones without the apps of the simulator."""

from __future__ import annotations

from pytest_clawperator import Clawperator


def pytest_clawperator_device_ready(client: Clawperator) -> None:
    """Remove the apps that only simulated phones have."""
    for package in ("com.example.shop", "com.clawperator.conformance"):
        client.device.uninstall(package)
