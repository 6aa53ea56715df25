"""The device's properties, asked once and all together."""

from __future__ import annotations

import re

from pytest_clawperator.transport.interface import Transport

# A value may have line breaks, so it ends only before the next key, or at the very end.
_PROPERTY = re.compile(r"^\[([^\]\n]+)\]: \[(.*?)\]\r?(?=\n\[[^\]\n]+\]: \[|\s*\Z)", re.M | re.S)


def properties(transport: Transport) -> dict[str, str]:
    """Return every system property of the device; none where it does not answer."""
    return parse_properties(transport.shell("getprop").stdout)


def parse_properties(text: str) -> dict[str, str]:
    """Parse the output of ``getprop``."""
    return {name: value.replace("\r\n", "\n") for name, value in _PROPERTY.findall(text)}
