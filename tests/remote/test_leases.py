"""Leases that a service keeps: taken, renewed, lent to workers, and released."""

from __future__ import annotations

import pytest

from pytest_clawperator.devices.pool import Lease
from pytest_clawperator.errors import ConfigurationError, LeaseError
from pytest_clawperator.remote import leases
from pytest_clawperator.remote.leases import open_all_leases, open_service, server_of
from pytest_clawperator.remote.tunnel import ServiceAdb
from pytest_clawperator.service.leasing import ServiceLease
from pytest_clawperator.simulator import Simulator
from tests.doubles.adb_server import eventually
from tests.doubles.host import running_host
from tests.doubles.service import RunningService, running_service


@pytest.fixture
def key(service: RunningService, phones: Simulator) -> str:
    """Return the key of a phone of the service."""
    return ServiceAdb.at(service.url, token=None).device_key(phones.serials[0])


def test_a_device_of_a_service_has_one_holder(service: RunningService, key: str) -> None:
    """Others get its name, on whichever machine they are."""
    one, two = open_all_leases(run_id="one"), open_all_leases(run_id="two")

    hold = one.try_take(key)
    assert hold is not None
    with hold:
        assert two.try_take(key) is None
        assert "run one" in str(two.holder(key))
        hold.check()
    assert two.holder(key) is None
    with pytest.raises(LeaseError):
        hold.check()
    one.close()
    two.close()


def test_a_worker_borrows_the_lease_by_its_ticket(service: RunningService, key: str) -> None:
    """And reaches the device with it."""
    store = open_all_leases(run_id="one")
    hold = store.try_take(key)
    assert hold is not None
    with hold:
        permit = store.borrow(hold.ticket)
        permit.clear("c-1", 5.0)
        serial = key.rpartition("/")[2]
        lease = Lease(serial=serial, key=key, adb=service.url, ticket=hold.ticket)
        with server_of(lease).open(serial, "exec:echo here") as connection:
            assert connection.recv(100) == b"here\n"
    with pytest.raises(LeaseError, match="no longer leased"):
        permit.clear("c-2", 5.0)
    store.close()


def test_a_lease_is_renewed_while_it_is_held(
    service: RunningService, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lasts longer than its time to live."""
    monkeypatch.setattr(leases, "TIME_TO_LIVE", 1.0)
    renewed: list[str] = []
    renew = service.service.rack.leasing.renew

    def watched(token: str) -> ServiceLease:
        renewed.append(token)
        return renew(token)

    monkeypatch.setattr(service.service.rack.leasing, "renew", watched)
    store = open_all_leases(run_id="one")
    hold = store.try_take(key)
    assert hold is not None

    with hold:
        assert eventually(lambda: len(renewed) >= 4)  # more than a second of thirds
        assert service.service.rack.leasing.of(key.rpartition("/")[2]) is not None
    store.close()


def test_a_service_that_is_gone_ends_the_lease(phones: Simulator, service: RunningService) -> None:
    """Nothing is sent any more, and the error says why."""
    key = ServiceAdb.at(service.url, token=None).device_key(phones.serials[1])
    store = open_all_leases(run_id="one")
    hold = store.try_take(key)
    assert hold is not None
    service.stop()

    def is_lost() -> bool:
        try:
            hold.clear("c", 1.0)
        except LeaseError as error:
            return "Nothing was sent" in str(error)
        return False

    assert eventually(is_lost)
    hold.release()
    store.close()


def test_other_devices_are_leased_as_before() -> None:
    """Their keys are not of a service."""
    store = open_all_leases(run_id="one")

    with store.try_take("PH-9") as hold:  # type: ignore[union-attr] # it is free
        assert store.borrow(hold.ticket).key == "PH-9"
        assert "run one" in str(store.holder("PH-9"))
    store.close()


def test_people_take_a_device_back_on_its_own_machine(service: RunningService, key: str) -> None:
    """There the lease can be broken; the client notices it and sends nothing more."""
    store, serial = open_all_leases(run_id="one"), key.rpartition("/")[2]
    hold = store.try_take(key)
    assert hold is not None
    there = open_all_leases(run_id="people")
    own_key = service.service.rack.station_of(serial).info.key
    holder = there.holder(own_key)
    assert holder is not None
    with pytest.raises(ConfigurationError, match="kept by the service"):
        store.evict(key, holder)

    assert there.evict(own_key, holder)

    with pytest.raises(LeaseError):
        hold.check()
    assert eventually(lambda: service.service.rack.leasing.of(serial) is None)
    hold.release()
    store.close()


def test_a_service_describes_its_devices(service: RunningService, phones: Simulator) -> None:
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


def test_the_published_server_has_no_leases() -> None:
    """It only runs executions."""
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
