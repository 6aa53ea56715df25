"""Check what the fixtures that a conftest replaced return."""

from __future__ import annotations

from inspect import getattr_static
from reprlib import repr as short_repr

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.devices.pool import Lease
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.plugin.input.settings import Settings
from pytest_clawperator.transport.interface import Transport

_TYPES = {
    "clawperator_settings": Settings,
    "clawperator_lease": Lease,
    "clawperator_client": Clawperator,
}


def check_values(**values: object) -> None:
    """Raise if a fixture of this name returned something else than it should."""
    __tracebackhide__ = True
    for name, value in values.items():
        wanted = _TYPES.get(name)
        if wanted is None:
            _require(_is_transport(value), name, value, Transport)
        else:
            _require(isinstance(value, wanted), name, value, wanted)


def _is_transport(value: object) -> bool:
    wanted = [name for name in vars(Transport) if not name.startswith("_")]
    return all(getattr_static(value, name, None) is not None for name in wanted)


def _require(fits: bool, name: str, value: object, wanted: type) -> None:
    __tracebackhide__ = True
    if not fits:
        kind = wanted.__name__
        raise ConfigurationError(
            f"the fixture {name} gave {short_repr(value)}, wanted a {kind}",
            hint=f"Have the fixture that replaces it return or yield a pytest_clawperator.{kind};"
            " `pytest --fixtures -v` says where that is.",
        )
