"""Which urls name a Redis that can keep leases; redis-py itself is not needed to tell."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qsl, urlsplit

from pytest_clawperator.errors import ConfigurationError

_SCHEMES = ("redis://", "rediss://", "unix://")
# What may follow a `?`. Others would change how long answers are waited for, or show a password.
_OPTIONS = ("db",)
_TLS_OPTIONS = (
    "ssl_ca_certs",
    "ssl_ca_path",
    "ssl_cert_reqs",
    "ssl_certfile",
    "ssl_check_hostname",
    "ssl_keyfile",
)


def check_redis_url(url: str) -> str:
    """Return the url; raise ``ConfigurationError`` with what is wrong, without its password."""
    if (problem := _problem(url)) is None:
        return url
    # What stands before an @, or where a host should, may be a password.
    shown = re.sub(r"://:[^/]*", "://…", url.rpartition("@")[2].partition("?")[0])
    raise ConfigurationError(
        f"{shown!r} is no place to keep leases: {problem}",
        hint="Allowed: redis://host:6379/0 (or rediss://, unix://), or nothing for lock files on"
        " this machine.",
    )


def _problem(url: str) -> str | None:
    """Return why leases cannot be kept there."""
    if not url.startswith(_SCHEMES):
        return f"it begins with none of {', '.join(_SCHEMES)}"
    try:
        parts = urlsplit(url)
        if "@" in f"{parts.path}{parts.query}{parts.fragment}":
            return "its password must be encoded: write %2F for a /, %23 for a #, %3F for a ?"
        _ = parts.port  # raises where it is none
    except ValueError:
        return "its host or port cannot be read"
    if parts.scheme != "unix":
        return _problem_of_query(parts) if parts.hostname else "it names no host"
    if parts.hostname or not parts.path.strip("/"):
        return "a socket is named by its whole path, as in unix:///run/redis.sock"
    return _problem_of_query(parts)


def _problem_of_query(url: SplitResult) -> str | None:
    """Return what is wrong with the database and the options."""
    given = parse_qsl(url.query, keep_blank_values=True)
    known = (*_OPTIONS, *(_TLS_OPTIONS if url.scheme == "rediss" else ()))
    for name, _ in given:
        if name not in known:
            return f"{name} is unknown; known: {', '.join(known)}"
    databases = [value for name, value in given if name == "db"]
    if url.scheme != "unix" and url.path.strip("/"):
        databases.append(url.path.strip("/"))
    if not all(re.fullmatch(r"[0-9]+", one) for one in databases):
        return "its database is no number"
    return None
