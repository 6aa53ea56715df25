"""Leases: ``/v1/leases``."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from pytest_clawperator.service.answers import Refused, succeeded
from pytest_clawperator.service.bodies import number_field, read_object, read_optional, text_field
from pytest_clawperator.service.endpoint import TEXT, Endpoint, Schema, a_list, an_object
from pytest_clawperator.service.leasing import LEAST_TTL, MOST_TTL, TTL, ServiceLease
from pytest_clawperator.service.rack import Rack

_NUMBER: Schema = {"type": "number"}
_TTL: Schema = {"type": "number", "minimum": LEAST_TTL * 1000, "maximum": MOST_TTL * 1000}
_LEASE = {"serial": TEXT, "owner": TEXT, "since": _NUMBER, "expiresInMs": _NUMBER}
_GRANTED = {"lease": TEXT, **_LEASE}


class LeaseApi:
    """Takes, renews and releases devices for clients."""

    def __init__(self, rack: Rack) -> None:
        self._rack = rack

    def endpoints(self) -> list[Endpoint]:
        """Return the endpoints."""
        one = "/v1/leases/{lease}"
        return [
            Endpoint(
                method="GET",
                path="/v1/leases",
                handle=self.list,
                summary="List who has which device through this service.",
                answer={"leases": a_list(an_object((), **_LEASE))},
            ),
            Endpoint(
                method="POST",
                path="/v1/leases",
                handle=self.take,
                summary="Lease a device; renew the lease before its time is over.",
                body=an_object(("serial", "owner"), serial=TEXT, owner=TEXT, ttlMs=_TTL),
                is_body_required=True,
                answer=_GRANTED,
                statuses=(400, 404, 413, 423, 500, 504),
            ),
            Endpoint(
                method="POST",
                path=f"{one}/renew",
                handle=self.renew,
                summary="Renew a lease; say how long the device may be busy from now.",
                body=an_object(busyMs={"type": "number", "minimum": 0}),
                answer=_GRANTED,
                statuses=(400, 413, 423),
            ),
            Endpoint(
                method="DELETE",
                path=one,
                handle=self.release,
                summary="Release a device; ?busy=1 if its last execution may still run.",
                query={"busy": {"type": "string", "enum": ["0", "1"]}},
                answer={"released": {"type": "boolean"}},
                statuses=(400, 423),
            ),
        ]

    async def list(self, request: Request) -> Response:
        """List the leases, without their tokens."""
        return succeeded(leases=[lease.public() for lease in self._rack.leasing.all()])

    async def take(self, request: Request) -> Response:
        """Lease a device."""
        given = await read_object(request)
        serial = text_field(given, "serial", "INVALID_DEVICE_ID")
        owner = text_field(given, "owner", "INVALID_OWNER")
        if serial is None or owner is None:
            raise Refused(400, "MISSING_FIELD", "'serial' and 'owner' must be given")
        ttl = number_field(
            given, "ttlMs", least=LEAST_TTL * 1000, most=MOST_TTL * 1000, default=TTL * 1000
        )
        station = await self._rack.station(serial)
        info = await self._rack.in_thread(lambda: station.info)
        lease = await self._rack.leasing.take(serial, info.key, owner=owner, ttl=ttl / 1000)
        return _granted(lease)

    async def renew(self, request: Request) -> Response:
        """Renew a lease."""
        given = await read_optional(request) or {}
        busy = number_field(given, "busyMs", least=0, most=1e9, default=0)
        token = request.path_params["lease"]
        if "busyMs" in given:
            return _granted(self._rack.leasing.note_flight(token, busy / 1000))
        return _granted(self._rack.leasing.renew(token))

    async def release(self, request: Request) -> Response:
        """Release a device."""
        is_busy = request.query_params.get("busy") == "1"
        self._rack.leasing.release(request.path_params["lease"], busy=is_busy)
        return succeeded(released=True)


def _granted(lease: ServiceLease) -> Response:
    return succeeded(lease.public(), lease=lease.token)
