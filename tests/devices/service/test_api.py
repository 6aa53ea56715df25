"""What a service is asked, and how another kind of host is told from it."""

from __future__ import annotations

import pytest

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.remote.leases import open_service
from pytest_clawperator.simulator import Simulator
from tests.doubles.host import running_host
from tests.doubles.service import RunningService, running_service


def test_a_service_tells_what_its_devices_are(service: RunningService, phones: Simulator) -> None:
    """With keys that no other service's devices have."""
    api = open_service(service.url)
    assert api is not None
    devices = {device.serial: device for device in api.devices() if device.state == "device"}
    api.close()

    assert set(devices) == set(phones.serials)
    for serial, device in devices.items():
        assert device.info is not None
        assert device.info.key == f"service+{service.url}/{serial}"
        assert device.info.size == (1080, 2400)
        assert device.info.operator_version


def test_the_published_server_is_no_service() -> None:
    """It has no leases; executions are all that it does."""
    with running_host() as host:
        assert open_service(host.url) is None


def test_the_token_comes_from_the_environment(
    phones: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it the error says which variable it is."""
    with running_service(phones, token="correct-horse") as service:
        with pytest.raises(ConfigurationError, match="CLAWPERATOR_TOKEN"):
            open_service(service.url)
        monkeypatch.setenv("CLAWPERATOR_TOKEN", "correct-horse")
        api = open_service(service.url)
        assert api is not None
        assert api.devices()
        api.close()
