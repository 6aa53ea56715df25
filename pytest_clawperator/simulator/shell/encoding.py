"""Conversion between the bytes of streams and the text of scripts."""

from __future__ import annotations


def encode(text: str) -> bytes:
    """Return the bytes of a text; bytes that were no UTF-8 come back as they came."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a surrogate pair, for example from JSON
        return text.encode("utf-8", "replace")


def decode(data: bytes) -> str:
    """Return the text of some bytes; what is no UTF-8 survives the way back."""
    return data.decode("utf-8", "surrogateescape")
