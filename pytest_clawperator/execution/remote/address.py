"""The address of another host: ``http://`` or ``https://``, a host, a port, and nothing else."""

from __future__ import annotations

import re
from ipaddress import IPv6Address

from pytest_clawperator.contracts.wording import describe, quote
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.remedies import Remedy, RemedyKind

_LABEL = "[A-Za-z0-9_-]{1,63}"
_URL = re.compile(
    rf"https?://(?P<host>{_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{{1,5}}))?/?",
    re.IGNORECASE | re.ASCII,
)


def checked_host(url: object) -> str:
    """Return the host's name in the URL; raise for a URL that is more or less than a host."""
    found = _URL.fullmatch(url) if isinstance(url, str) else None
    if found is not None and 0 < int(found["port"] or 80) < 65536 and _is_host(found["host"]):
        return found["host"]
    # What stands before an @ may be a password, and messages travel far.
    shown = quote(url.rpartition("@")[2]) if isinstance(url, str) else describe(url)
    raise ConfigurationError(
        f"an address is http:// or https://, a host and its port, and nothing else, found {shown}"
        + (" after a user name" if isinstance(url, str) and "@" in url else ""),
        hint=Remedy(RemedyKind.CORRECT_URL),
    )


def _is_host(host: str) -> bool:
    """Whether a host in brackets is an address."""
    try:
        return not host.startswith("[") or bool(IPv6Address(host[1:-1]).packed)
    except ValueError:
        return False
