"""Devices of another machine that runs ``clawperator-py serve``, and their leases, kept there."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import quote

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.lease import Hold, LeaseStore, Notify, Permit, open_leases
from pytest_clawperator.devices.pool import Lease
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    ErrorCode,
    LeaseError,
    TransportError,
)
from pytest_clawperator.execution.flight import Flight
from pytest_clawperator.remote.http import TOKEN_VARIABLE, HttpHost, open_host, read_answer
from pytest_clawperator.remote.tunnel import ServiceAdb, service_key
from pytest_clawperator.transport.server import locate_server
from pytest_clawperator.transport.wire import ANSWER_DEADLINE, SERVICE_PREFIX, AdbServer, request

_NAME = "pytest-clawperator"

_PATIENCE = 30.0

_CONNECT_WITHIN = 10.0


@dataclass(frozen=True, kw_only=True)
class ServedDevice:
    """A device of a service; without ``info`` it is not usable, and ``problem`` may say why."""

    serial: str
    state: str
    info: DeviceInfo | None = None
    holder: Holder | None = None
    problem: str | None = None


def token_of_environment() -> str | None:
    """Return the token that services ask for."""
    return os.environ.get(TOKEN_VARIABLE) or None


def locate_service(url: str, *, lease: str | None = None) -> ServiceAdb:
    """Return the adb server behind a service."""
    return ServiceAdb.at(url, token=token_of_environment(), lease=lease)


def open_service(url: str) -> ServiceApi | None:
    """Return the service at a URL; None if there is another kind of host, without leases."""
    service = ServiceApi(url)
    try:
        if service.is_ours():
            return service
    except BaseException:
        service.close()
        raise
    service.close()
    return None


class ServiceApi:
    """The requests to a service."""

    def __init__(self, url: str) -> None:
        self._host: HttpHost = open_host(url, connect_timeout=_CONNECT_WITHIN, keep_alive=True)

    @property
    def url(self) -> str:
        """The address of the service."""
        return self._host.url

    def is_ours(self) -> bool:
        """Whether it is a service of this package."""
        try:
            return self._ask("GET", "/v1").get("service") == _NAME
        except TransportError as error:
            # The published server answers with a page.
            if error.code != ErrorCode.REMOTE_ANSWER_UNREADABLE:
                raise
            return False

    def devices(self) -> list[ServedDevice]:
        """Return the devices, with what they are."""
        server = locate_service(self.url)
        return [_served(given, server) for given in self._ask("GET", "/v1/devices")["devices"]]

    def take(self, serial: str, *, owner: str, ttl: float) -> str:
        """Lease a device, return the lease; raise LeaseError naming the holder if it is taken."""
        body = {"serial": serial, "owner": owner, "ttlMs": round(ttl * 1000)}
        return str(self._ask("POST", "/v1/leases", body)["lease"])

    def renew(self, lease: str) -> None:
        """Renew a lease."""
        self._ask("POST", f"/v1/leases/{quote(lease, safe='')}/renew", {}, is_repeatable=True)

    def release(self, lease: str, *, busy: bool) -> None:
        """Release a device."""
        self._ask("DELETE", f"/v1/leases/{quote(lease, safe='')}?busy={int(busy)}")

    def close(self) -> None:
        """Close the connection."""
        self._host.close()

    def _ask(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        is_repeatable: bool = False,
    ) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        try:
            answer = self._host.ask(method, path, timeout=_PATIENCE, body=data)
        except ClawperatorError as error:
            # The service may have closed an idle connection just when it was used again.
            if not is_repeatable or error.code != ErrorCode.REMOTE_HOST_UNREACHABLE:
                raise
            answer = self._host.ask(method, path, timeout=_PATIENCE, body=data)
        return read_answer(answer, serial=None)


def _served(given: dict[str, Any], server: ServiceAdb) -> ServedDevice:
    serial, reported = str(given["serial"]), given.get("info")
    problem, held = given.get("problem"), given.get("heldBy")
    info = None
    if isinstance(reported, dict):
        known = {field.name for field in fields(DeviceInfo)}
        values = {name: value for name, value in reported.items() if name in known}
        size = values.get("size")
        values["size"] = tuple(size) if size else None
        info = DeviceInfo(**{**values, "serial": serial, "key": server.device_key(serial)})
    return ServedDevice(
        serial=serial,
        state=str(given["state"]),
        info=info,
        holder=None if held is None else Holder.from_json(json.dumps(held)),
        problem=None if problem is None else str(problem.get("message")),
    )


#: How long a lease lasts that is not renewed, in seconds.
TIME_TO_LIVE = 15.0


def open_all_leases(
    where: str | None = None, *, run_id: str, notify: Notify = lambda text: None
) -> LeaseStore:
    """Open the leases of all devices: services keep those of theirs, ``open_leases`` the rest."""
    return _AllLeases(
        open_leases(where, run_id=run_id, notify=notify), ServiceLeases(run_id=run_id)
    )


def server_of(lease: Lease) -> AdbServer:
    """Return the adb server of a leased device; it may be the one behind a service."""
    if lease.adb is None or not lease.adb.startswith(("http://", "https://")):
        return locate_server(lease.adb)
    return locate_service(
        lease.adb, lease=None if lease.ticket is None else json.loads(lease.ticket).get("lease")
    )


class _AllLeases:
    """The leases of all devices, each kept in the store that its key belongs to."""

    def __init__(self, own: LeaseStore, of_services: LeaseStore) -> None:
        self._own = own
        self._of_services = of_services

    def try_take(self, key: str) -> Hold | None:
        """Lease the device; None if it is taken."""
        return self._store(key).try_take(key)

    def holder(self, key: str) -> Holder | None:
        """Return who holds the device, if anyone does."""
        return self._store(key).holder(key)

    def evict(self, key: str, holder: Holder) -> bool:
        """Take the device from this holder; return False if this holder does not have it."""
        return self._store(key).evict(key, holder)

    def borrow(self, ticket: str) -> Permit:
        """Return the right to use a device that another process of the run has leased."""
        return self._store(json.loads(ticket)["key"]).borrow(ticket)

    def close(self) -> None:
        """Close the connections of both stores; leases are released before."""
        self._own.close()
        self._of_services.close()

    def _store(self, key: str) -> LeaseStore:
        return self._of_services if key.startswith(SERVICE_PREFIX) else self._own


class ServiceLeases:
    """The leases of the devices of services; a key has the url of its service."""

    def __init__(self, *, run_id: str) -> None:
        self._run_id = run_id
        self._services: dict[str, ServiceApi] = {}
        self._permits: list[ServicePermit] = []

    def try_take(self, key: str) -> ServiceHold | None:
        """Lease the device; return None if it is taken."""
        url, serial = _place(key)
        holder = Holder.here(self._run_id)
        try:
            lease = self._service(url).take(serial, owner=_name(holder), ttl=TIME_TO_LIVE)
        except LeaseError as error:
            if error.code != ErrorCode.DEVICE_LEASED:
                raise
            return None
        return ServiceHold(ServiceApi(url), key, holder, lease)

    def holder(self, key: str) -> Holder | None:
        """Return who holds the device, if anyone does."""
        url, serial = _place(key)
        found = (one for one in self._service(url).devices() if one.serial == serial)
        return next((one.holder for one in found), None)

    def evict(self, key: str, holder: Holder) -> bool:
        """Refuse: whose devices they are, people decide on the machine of the service."""
        url, serial = _place(key)
        raise ConfigurationError(
            f"the lease is kept by the service at {url}",
            serial=serial,
            hint="Run `clawperator-py leases --break` on the machine of the service.",
        )

    def borrow(self, ticket: str) -> ServicePermit:
        """Return the right to use a device that another process of the run has leased."""
        shown = json.loads(ticket)
        service = self._service(_place(shown["key"])[0])
        permit = ServicePermit(service, shown["key"], shown["lease"])
        self._permits.append(permit)
        return permit

    def close(self) -> None:
        """Close the connections; leases are released before."""
        for permit in self._permits:
            permit.hang_up()
        for service in self._services.values():
            service.close()

    def _service(self, url: str) -> ServiceApi:
        if url not in self._services:
            self._services[url] = ServiceApi(url)
        return self._services[url]


class ServicePermit:
    """The right to use a device of a service, confirmed there before each command."""

    def __init__(self, service: ServiceApi, key: str, lease: str) -> None:
        self.key = key
        self._service = service
        self._lease = lease
        self._server = locate_service(service.url, lease=lease)
        self._line: socket.socket | None = None
        self._turn = threading.Lock()

    def check(self) -> None:
        """Raise if the lease is no longer valid."""
        with self._lost_told():
            self._service.renew(self._lease)

    def clear(self, command_id: str, seconds: float) -> None:
        """Raise unless this command may be sent now; the service notes how long it may take.

        That is asked on a line that stays open, as it is asked before each command.
        """
        question = f"clawperator:busy:{round(seconds * 1000)}"
        with self._turn, self._lost_told():
            try:
                self._ask(question)
            except ClawperatorError:
                # The line may have broken since; whether the lease is lost, a new one tells.
                self.hang_up()
                self._ask(question)

    def _ask(self, question: str) -> None:
        if self._line is None:
            self._line = self._server.start(question)
        else:
            request(self._line, question, deadline=time.monotonic() + ANSWER_DEADLINE)

    def hang_up(self) -> None:
        """Close the line; it is opened again when it is needed."""
        line, self._line = self._line, None
        if line is not None:
            line.close()

    @contextmanager
    def _lost_told(self) -> Iterator[None]:
        """Raise what went wrong as the loss of the lease."""
        try:
            yield
        except ClawperatorError as error:
            raise LeaseError(
                f"the device is no longer leased by this run: {error.message}",
                serial=_place(self.key)[1],
                hint="Nothing was sent. Check that this machine reaches the service all the time;"
                " then start the run again.",
                details={"key": self.key},
            ) from error


class ServiceHold(ServicePermit):
    """A device of a service that this process has leased; it is renewed until it is released."""

    def __init__(self, service: ServiceApi, key: str, holder: Holder, lease: str) -> None:
        super().__init__(service, key, lease)
        self.holder = holder
        self.ticket = json.dumps({"key": key, "lease": lease})
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="lease", daemon=True)
        self._thread.start()

    @property
    def lease(self) -> str:
        """The text that proves the lease to the service."""
        return self._lease

    def release(self) -> None:
        """Release the device; a second call changes nothing."""
        if self._ended.is_set() or os.getpid() != self.holder.pid:
            return  # a fork has the object and not the lease
        self._ended.set()
        self._thread.join()
        with suppress(ClawperatorError):  # it ends by itself where the service is away
            self._service.release(self._lease, busy=Flight(self.key).peek() is not None)
        self._service.close()
        self.hang_up()

    def __enter__(self) -> ServiceHold:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.release()

    def _renew(self) -> None:
        while not self._ended.wait(TIME_TO_LIVE / 3):
            with suppress(ClawperatorError):  # the next use of the device reports it
                self._service.renew(self._lease)


def lease_served(url: str, serial: str) -> ServiceHold:
    """Lease a device of a service; raise LeaseError naming the holder if it is taken."""
    service, holder = ServiceApi(url), Holder.here("")
    try:
        lease = service.take(serial, owner=_name(holder), ttl=TIME_TO_LIVE)
    except BaseException:
        service.close()
        raise
    return ServiceHold(service, service_key(service.url, serial), holder, lease)


def _place(key: str) -> tuple[str, str]:
    """Return the URL and the serial of a key."""
    url, _, serial = key.removeprefix(SERVICE_PREFIX).rpartition("/")
    return url, serial


def _name(holder: Holder) -> str:
    run = f", run {holder.run_id}" if holder.run_id else ""
    return f"{holder.owner} (process {holder.pid} on {holder.host}{run})"
