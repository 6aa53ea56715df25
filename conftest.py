"""What all tests share: pytester, and the size of property tests."""

from __future__ import annotations

import os

from hypothesis import settings

pytest_plugins = ["pytester"]

# Speed is no test's business, so property tests have no deadline.
settings.register_profile("short", deadline=None)
settings.register_profile("soak", deadline=None, max_examples=5_000)
settings.load_profile("soak" if os.environ.get("CLAWPERATOR_SOAK") else "short")
