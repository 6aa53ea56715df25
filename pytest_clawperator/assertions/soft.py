"""``expect.soft``: after a failure the test continues, and fails at its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from pytest_clawperator.assertions.failure import calling_frame, described, traceback_to
from pytest_clawperator.errors import ConfigurationError, ExpectationError, SnapshotError
from pytest_clawperator.remedies import Wording, for_scripts

__tracebackhide__ = True  # a failure is shown at the test's own line


class SoftFailures:
    """The failures of one phase of one test, in their order."""

    def __init__(self, wording: Wording) -> None:
        self.wording = wording
        self.errors: list[ExpectationError | SnapshotError] = []

    def text(self) -> str:
        """Return the text of all failures, each with its line in the test."""
        screen = None
        parts = []
        for number, error in enumerate(self.errors, 1):
            text, shown = str(error), error.details.get("screen")
            if shown and shown == screen:
                text = text.replace(shown, "  on the screen: as above")
            screen = shown or screen
            parts.append(f"{number}. {error.details['where']}\n{text}")
        return "\n".join(parts)

    @cached_property
    def error(self) -> ExpectationError | SnapshotError:
        """One error for all failures, with the traceback of the first."""
        first = self.errors[0]
        if len(self.errors) == 1:
            return first
        # That a screen could not be read is not the app's failure, whatever else failed.
        unread = next((one for one in self.errors if isinstance(one, SnapshotError)), None)
        combined = (ExpectationError if unread is None else SnapshotError)(
            f"{len(self.errors)} checks failed\n{self.text()}",
            code=None if unread is None else unread.code,
            serial=(unread or first).serial,
            details={"errors": [str(error) for error in self.errors]},
        )
        return combined.with_traceback(first.__traceback__)


# The innermost is the current one; a run inside a test has its own.
_scopes: list[SoftFailures] = []


@contextmanager
def collecting(wording: Wording = for_scripts) -> Iterator[SoftFailures]:
    """Collect the failures of ``expect.soft`` within the block; ``wording`` is for their hints."""
    failures = SoftFailures(wording)
    _scopes.append(failures)
    try:
        yield failures
    finally:
        _scopes.remove(failures)


def collect(error: ExpectationError | SnapshotError) -> None:
    """Keep a failure for the end of the test."""
    if not _scopes:
        raise ConfigurationError(
            "expect.soft() is used outside of a test that could fail at its end",
            hint="Use it in tests that run with this package as a plugin; elsewhere use expect().",
        ) from error
    frame = calling_frame()
    error.wording = _scopes[-1].wording
    error.details["where"] = described(frame)
    _scopes[-1].errors.append(error.with_traceback(traceback_to(frame)))
