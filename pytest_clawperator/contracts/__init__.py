"""WHAT IS SAID: the payload, the envelope and their words. No I/O, no clock."""

# pydantic's core needs it, and panics when it is interrupted while it imports it.
import datetime  # noqa: F401
