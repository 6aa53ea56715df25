"""What a service is asked: what it is, its devices, and leases."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import quote

from pytest_clawperator.contracts.device import DeviceInfo
from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.errors import ClawperatorError, ErrorCode, TransportError
from pytest_clawperator.execution.remote.answers import read_answer
from pytest_clawperator.execution.remote.http_host import TOKEN_VARIABLE, HttpHost, open_host
from pytest_clawperator.transport.service_adb import ServiceAdb

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
        """Lease a device, and return the lease; raise with its holder if somebody has it."""
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
    serial, told = str(given["serial"]), given.get("info")
    problem, held = given.get("problem"), given.get("heldBy")
    info = None
    if isinstance(told, dict):
        known = {field.name for field in fields(DeviceInfo)}
        values = {name: value for name, value in told.items() if name in known}
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
