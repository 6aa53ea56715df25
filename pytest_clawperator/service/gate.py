"""Decide which requests are allowed: token, Host header, and origin of a browser's request."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_clawperator.service.endpoints import Refused

#: Paths that need no token: a page without data, which it requests with the token.
OPEN_PATHS = frozenset({"/", "/rack.css", "/rack.js", "/rack.svg"})
_LOOPBACK_NAMES = frozenset({"localhost", "ip6-localhost", "localhost.localdomain"})


@dataclass(frozen=True)
class Gate:
    """Decide whether a request is answered.

    Without a ``token`` none is required. ``hosts`` are allowed names of this machine in addition
    to its own names and addresses.
    """

    token: str | None = field(default=None, repr=False)
    hosts: frozenset[str] = frozenset()

    def check(self, method: str, path: str, headers: Mapping[str, str]) -> None:
        """Raise ``Refused`` unless the request is allowed; header names are in lower case."""
        self._check_host(headers.get("host", ""))
        _check_origin(method, path, headers)
        if self.token is not None and path not in OPEN_PATHS:
            self._check_token(headers.get("authorization", ""))

    def _check_host(self, header: str) -> None:
        """Refuse names that are not this machine's: a foreign one may resolve to it (rebinding).

        An IP address cannot be rebound.
        """
        name = host_of(header)
        if is_address(name) or name in _LOOPBACK_NAMES or name in own_names() | self.hosts:
            return
        raise Refused(
            421,
            "HOST_NOT_ALLOWED",
            f"this machine is not called {name[:100]!r}",
            "Use its address or its host name, or start the service with --allow-host NAME.",
        )

    def _check_token(self, header: str) -> None:
        assert self.token is not None
        kind, _, given = header.partition(" ")
        # Compared in constant time, which reveals nothing about the token.
        is_right = hmac.compare_digest(given.strip().encode(), self.token.encode())
        if kind.lower() != "bearer" or not is_right:
            raise Refused(
                401,
                "TOKEN_REQUIRED" if not header else "TOKEN_WRONG",
                "this service answers only clients that know its token",
                "Send `Authorization: Bearer TOKEN`; clients read CLAWPERATOR_TOKEN.",
            )


def _check_origin(method: str, path: str, headers: Mapping[str, str]) -> None:
    """Refuse requests that a page of another site makes a browser send."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
    is_link = headers.get("sec-fetch-mode") in ("navigate", None)
    is_visit = method == "GET" and path in OPEN_PATHS and is_link
    is_foreign = site not in ("none", "same-origin") and not is_visit
    if origin is not None:
        is_foreign = is_foreign or origin.partition("://")[2] != headers.get("host")
    if is_foreign:
        raise Refused(403, "ORIGIN_NOT_ALLOWED", "pages of other sites may not use this service")


def host_of(header: str) -> str:
    """Return the host of a Host header, in lower case and without port and brackets."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.rpartition(":")[0].lower() if ":" in header else header.lower()


def is_address(name: str) -> bool:
    """Whether a host is an IP address rather than a name."""
    try:
        ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether an address to listen on can be reached from this machine only."""
    if host.lower() in _LOOPBACK_NAMES:
        return True
    return is_address(host) and ipaddress.ip_address(host.partition("%")[0]).is_loopback


def own_names() -> frozenset[str]:
    """Return the names of this machine: in full, its first part, and with ``.local``."""
    name = socket.gethostname().lower()
    short = name.partition(".")[0]
    return frozenset({name, short, f"{short}.local"})


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(24)
