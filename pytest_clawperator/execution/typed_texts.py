"""Which of the typed texts are secrets, because they went into a password field.

The result does not say what kind of field was typed into. The Operator's log does, which has
the event of each change; and so does a snapshot, whether it came before, in the same execution
or later.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_clawperator.contracts.ecmascript import utf16_length
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.errors import SnapshotError
from pytest_clawperator.execution.result import RunResult, RunStep
from pytest_clawperator.redaction import SECRETS

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.tree import Snapshot

#: What a snapshot with a password field holds.
PROTECTED = 'password="true"'
_FIELD = re.compile(rf"<node\b[^>]*\b{PROTECTED}[^>]*>")
_ID = re.compile(r'\bresource-id="([^"]+)"')
# What a password field shows: a bullet for each character, and for a moment the last one.
_BULLETS = re.compile(r'\btext="([•●*]+.?)"')
# The same in the event that a password field has changed, as Android prints it.
_CHANGE = re.compile(
    r"\bTYPE_VIEW_TEXT_CHANGED;.*? Text: \[([•●*]+.?)\];.*? Password: true;".encode()
)
# The name of a field that is a password field even while the app shows what is in it.
_NAME = re.compile(r"passw(?:or)?d|passcode|passphrase", re.IGNORECASE)
# A single character, such as locators type to empty a field, is no secret.
_SHORTEST = 2
_KEPT = 50


class TypedTexts:
    """Follows what is typed on one device, and what its screens show."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._lengths: set[int] = set()
        self._step: RunStep | None = None
        self._screen: Snapshot | None = None
        self._unsure: deque[tuple[NodeMatcher, str]] = deque(maxlen=_KEPT)

    def sent(self, execution: Execution) -> None:
        """Take note of what is about to be typed."""
        for matcher, text in _typed_by(execution):
            SECRETS.add_matches(text)
            if self._is_password_field(matcher):
                _hide_typed(text)
            else:  # the log or the next screen may tell more
                self._unsure.append((matcher, text))

    def received(self, execution: Execution, result: RunResult) -> None:
        """Look for password fields in the log, and on the screens that came back."""
        hide_passwords(texts_typed_by(execution), result.log.lines)
        looks = [step.look for step in result.steps if step.look is not None]
        for step in (*looks, *result.steps):
            if step.action_type == "snapshot_ui" and PROTECTED in step.data.get("text", ""):
                self._look_at(step)

    def _look_at(self, step: RunStep) -> None:
        text = step.data["text"]
        if self._step is not None and text == self._step.data["text"]:
            return  # seen again while something is waited for
        self._step, self._screen = step, None
        fields = _FIELD.findall(text)
        self._ids.update(name for field in fields for name in _ID.findall(field))
        self._lengths = {len(shown) for field in fields for shown in _BULLETS.findall(field)}
        unsure, self._unsure = self._unsure, deque(maxlen=_KEPT)
        for matcher, typed in unsure:
            is_protected = self._is_password_field(matcher)
            # Where a field was found by what it showed, it does not show that any longer.
            if is_protected or (is_protected is None and len(typed) in self._lengths):
                _hide_typed(typed)
            elif is_protected is None:
                self._unsure.append((matcher, typed))

    def _is_password_field(self, matcher: NodeMatcher) -> bool | None:
        """Return whether a field is one, as far as its name or a screen tells; None if neither."""
        given = [value for value in vars(matcher).values() if value]
        if matcher.resource_id in self._ids or any(map(_NAME.search, given)):
            return True
        if self._step is None:
            return None
        if self._screen is None:
            from pytest_clawperator.snapshot.tree import Snapshot  # as late as in a result

            with suppress(SnapshotError):
                self._screen = Snapshot.from_step(
                    self._step.data["text"], self._step.data, partial=True
                )
        nodes = [] if self._screen is None else self._screen.find_all(matcher)
        if not nodes:
            return None
        return any(one.password for one in (nodes[0], *nodes[0].ancestors))


def texts_typed_by(execution: Execution) -> list[str]:
    """Return what an execution types."""
    return [text for _, text in _typed_by(execution)]


def hide_passwords(typed: Iterable[str], lines: Iterable[bytes]) -> None:
    """Hide those of the typed texts that are as long as what a log says of password fields."""
    wanted = [text for text in typed if not SECRETS.is_in(text)]
    changes = (_CHANGE.search(line) for line in (lines if wanted else ()))
    lengths = {len(found[1].decode("utf-8", "replace")) for found in changes if found}
    for text in wanted:
        if lengths & {len(text), utf16_length(text)}:
            _hide_typed(text)


def _hide_typed(text: str) -> None:
    """Hide what was typed into a password field, which shows bullets in its place."""
    if len(text) >= _SHORTEST:
        SECRETS.add(text, on_screen=False)


def _typed_by(execution: Execution) -> list[tuple[NodeMatcher, str]]:
    given = [one.params for one in execution.actions if one.type == "enter_text" and one.params]
    return [(one.matcher, one.text) for one in given if one.matcher is not None and one.text]
