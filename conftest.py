"""What all tests share: pytester, the size of property tests, and code in the documents."""

from __future__ import annotations

import os

from hypothesis import settings
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

pytest_plugins = ["pytester"]

# Speed is no test's business, so property tests have no deadline.
settings.register_profile("short", deadline=None)
settings.register_profile("soak", deadline=None, max_examples=5_000)
settings.load_profile("soak" if os.environ.get("CLAWPERATOR_SOAK") else "short")

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()], patterns=["*.md"]
).pytest()
