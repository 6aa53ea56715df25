"""WHAT IS SAID: payloads and envelopes as data, with their rules. No I/O, no clock.

An execution (``payload``) holds ``actions`` with ``params`` and ``matchers``; ``schema`` and
``limits`` say what is allowed in them. What comes back is in ``envelope`` and ``log``; ``events``
are what observers get. ``ecmascript`` treats text and numbers as the reference host does.
"""

# pydantic's core needs it, and panics when it is interrupted while it imports it.
import datetime  # noqa: F401
