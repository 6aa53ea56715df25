"""The two Operators: as the specification describes it, and version 0.5.3 as published."""

from __future__ import annotations

from typing import Literal

Profile = Literal["documented", "0.5.3"]

PROFILES: tuple[Profile, ...] = ("documented", "0.5.3")
"""Every profile, the default one first."""
