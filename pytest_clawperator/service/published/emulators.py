"""Emulators of this machine: ``/android/emulators`` and ``/android/provision/emulator``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pytest_clawperator.emulators import EmulatorProfile, Emulators
from pytest_clawperator.emulators.avd import PLAY_STORE
from pytest_clawperator.errors import ClawperatorError, ErrorCode
from pytest_clawperator.redaction.redaction import hide
from pytest_clawperator.service.answers import json_answer, status_of, succeeded
from pytest_clawperator.service.bodies import read_optional
from pytest_clawperator.service.endpoint import TEXT, Endpoint, Schema, a_list, an_object
from pytest_clawperator.service.rack import Rack

#: Makes the emulators of a profile; of the usual one without.
Factory = Callable[[EmulatorProfile | None], Emulators]

_STATUSES = (400, 404, 409, 500)
_FLAG: Schema = {"type": "boolean"}
_AVD: Mapping[str, Schema] = {"name": TEXT, "exists": _FLAG, "running": _FLAG, "supported": _FLAG}
_CREATE = an_object(
    name=TEXT, apiLevel={"type": "integer"}, abi=TEXT, deviceProfile=TEXT, playStore=_FLAG
)


class EmulatorApi:
    """Lists, makes, starts, stops and deletes emulators."""

    def __init__(self, rack: Rack, factory: Factory) -> None:
        self._rack = rack
        self._factory = factory

    def endpoints(self) -> list[Endpoint]:
        """Return the endpoints; ``running`` comes before the names."""
        one = "/android/emulators/{name}"
        rows: list[tuple[str, str, Any, str, Mapping[str, Schema], Schema | None]] = [
            ("GET", "/android/emulators", self.list_all, "List the virtual devices.",
             {"avds": a_list(an_object((), **_AVD))}, None),
            ("GET", "/android/emulators/running", self.running, "List the emulators that run.",
             {"devices": a_list(an_object(serial=TEXT))}, None),
            ("GET", one, self.inspect, "Describe a virtual device.", _AVD, None),
            ("POST", "/android/emulators/create", self.create, "Make a virtual device.",
             _AVD, _CREATE),
            ("POST", f"{one}/start", self.start, "Start an emulator, and wait until it has booted.",
             {"avdName": TEXT, "serial": TEXT}, None),
            ("POST", f"{one}/stop", self.stop, "Stop an emulator.", {"avdName": TEXT}, None),
            ("DELETE", one, self.delete, "Delete a virtual device.", {"avdName": TEXT}, None),
            ("POST", "/android/provision/emulator", self.provision,
             "Return a ready emulator: a running, a stopped or a new one.",
             {"avdName": TEXT, "serial": TEXT}, None),
        ]  # fmt: skip
        return [
            Endpoint(
                method=method,
                path=path,
                handle=handle,
                summary=summary,
                answer=answer,
                body=body,
                statuses=_STATUSES,
            )
            for method, path, handle, summary, answer, body in rows
        ]

    async def list_all(self, request: Request) -> Response:
        """List the virtual devices."""
        return await self._answer(
            lambda all_: {"avds": [avd.to_dict(all_.profile) for avd in all_.list()]}
        )

    async def running(self, request: Request) -> Response:
        """List the emulators that run."""

        def ask(all_: Emulators) -> dict[str, Any]:
            found = [(one, all_.inspect(one.avd_name)) for one in all_.status()]
            return {"devices": [one.to_dict(avd, all_.profile) for one, avd in found]}

        return await self._answer(ask)

    async def inspect(self, request: Request) -> Response:
        """Describe a virtual device."""
        name = request.path_params["name"]
        return await self._answer(lambda all_: all_.inspect(name).to_dict(all_.profile))

    async def create(self, request: Request) -> Response:
        """Make a virtual device; fields of a wrong kind count as not given."""
        given = await read_optional(request) or {}

        def ask(all_: Emulators) -> dict[str, Any]:
            made = self._factory(_wanted(given, all_.profile))
            name = given.get("name")
            avd = made.create(name if isinstance(name, str) and name else None)
            return avd.to_dict(all_.profile)

        return await self._answer(ask)

    async def start(self, request: Request) -> Response:
        """Start an emulator."""
        await read_optional(request)  # what is no JSON is refused everywhere
        name = request.path_params["name"]

        def ask(all_: Emulators) -> dict[str, Any]:
            started = all_.start(name)
            told = {"type": "emulator", "avdName": started.avd_name, "serial": started.serial}
            return {**told, "booted": True}

        return await self._answer(ask)

    async def stop(self, request: Request) -> Response:
        """Stop an emulator."""
        await read_optional(request)  # what is no JSON is refused everywhere
        name = request.path_params["name"]

        def ask(all_: Emulators) -> dict[str, Any]:
            all_.stop(name)
            return {"avdName": name, "stopped": True}

        return await self._answer(ask)

    async def delete(self, request: Request) -> Response:
        """Delete a virtual device."""
        await read_optional(request)  # what is no JSON is refused everywhere
        name = request.path_params["name"]

        def ask(all_: Emulators) -> dict[str, Any]:
            all_.delete(name)
            return {"avdName": name, "deleted": True}

        return await self._answer(ask)

    async def provision(self, request: Request) -> Response:
        """Return a ready emulator."""
        await read_optional(request)  # what is no JSON is refused everywhere
        return await self._answer(lambda all_: all_.provision().to_dict())

    async def _answer(self, ask: Callable[[Emulators], dict[str, Any]]) -> Response:
        """Ask in a thread, and answer; of an error the code, the message and the hint are told."""
        try:
            told = await self._rack.in_thread(lambda: ask(self._factory(None)))
        except ClawperatorError as error:
            is_coded = error.code != ErrorCode.UNKNOWN
            code = str(error.code) if is_coded else "INTERNAL_ERROR"
            about = {"code": code, "message": hide(error.message), "hint": hide(error.hint or "")}
            return json_answer({"ok": False, "error": about}, status=status_of(error))
        return succeeded(told)


def _wanted(given: dict[str, Any], base: EmulatorProfile) -> EmulatorProfile:
    """Return the profile that a body asks for."""
    wanted: dict[str, Any] = {}
    level = given.get("apiLevel")
    if isinstance(level, int) and not isinstance(level, bool):
        wanted["api"] = level
    for name, field in (("abi", "abi"), ("deviceProfile", "device")):
        if isinstance(given.get(name), str) and given[name]:
            wanted[field] = given[name]
    if given.get("playStore") is False:
        wanted["image"] = "google_apis"
    elif given.get("playStore") is True:
        wanted["image"] = PLAY_STORE
    return replace(base, **wanted)
