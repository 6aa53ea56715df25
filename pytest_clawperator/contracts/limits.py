"""The numbers of the contract, as the host enforces them before anything is sent."""

from __future__ import annotations

from typing import Final

EXPECTED_FORMAT: Final = "android-ui-automator"
SOURCE: Final = "pytest-clawperator"

# Lengths are UTF-16 units.
MAX_ID_LENGTH: Final = 128
MAX_SOURCE_LENGTH: Final = 64
MAX_TYPE_LENGTH: Final = 64
MAX_MATCHER_LENGTH: Final = 512
MAX_TEXT_LENGTH: Final = 512
MAX_PACKAGE_LENGTH: Final = 512
MAX_URI_LENGTH: Final = 2048

MAX_ACTIONS: Final = 50
MAX_PAYLOAD_BYTES: Final = 64_000
# Ours: retry objects are free-form, and a phone's parser should not get one nested this deeply.
MAX_NESTING: Final = 100
# Ours: after this many entries, more problems of a list that is too long are not listed.
MAX_INSPECTED: Final = 1_000

MIN_TIMEOUT_MS: Final = 1_000
MAX_TIMEOUT_MS: Final = 120_000
DEFAULT_TIMEOUT_MS: Final = 30_000
# What a run needs beyond the waiting that its actions declare.
TIMEOUT_MARGIN_MS: Final = 5_000

# The longest search for a node, in seconds: a greater number was meant as milliseconds.
MAX_LOOKING: Final = 600

MAX_SLEEP_MS: Final = 120_000
MAX_NAVIGATION_TIMEOUT_MS: Final = 30_000
MAX_SETTLE_DELAY_MS: Final = 10_000
MAX_SCROLL_DURATION_MS: Final = 120_000
MAX_SCROLLS: Final = 200
MAX_NO_POSITION_CHANGE: Final = 20

DIRECTIONS: Final = ("down", "up", "left", "right")
KEYS: Final = ("back", "home", "recents")
MODES: Final = ("artifact_compiled", "direct")
