"""The secrets of this process, which are hidden in whatever leaves it."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence

from pytest_clawperator.redaction.finder import Finder, Secrets


class Redaction:
    """Secrets, and what hides them; nothing is searched while there are none."""

    def __init__(self) -> None:
        self._finder = Finder(Secrets())
        self._adding = threading.Lock()

    @property
    def secrets(self) -> Secrets:
        """What is hidden; it can be put back later."""
        return self._finder.secrets

    @secrets.setter
    def secrets(self, secrets: Secrets) -> None:
        self._finder = Finder(secrets)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to hide."""
        return not any(self.secrets)

    def add(self, text: str, *, on_screen: bool = True) -> None:
        """Hide a text from now on; ``on_screen`` says that a screen may show it."""
        with self._adding:
            known = self.secrets
            on_screen = known.on_screen or on_screen
            if text.strip() and (text not in known.texts or on_screen != known.on_screen):
                self.secrets = known._replace(texts=known.texts | {text}, on_screen=on_screen)

    def add_pattern(self, pattern: re.Pattern[str]) -> None:
        """Hide from now on what a regular expression matches."""
        with self._adding:
            known = self.secrets
            if pattern not in known.patterns:
                patterns = (*known.patterns, pattern)
                self.secrets = known._replace(patterns=patterns, on_screen=True)

    def add_matches(self, text: str) -> None:
        """Hide in all its forms what a pattern matches in a text."""
        for pattern in self.secrets.patterns:
            for found in pattern.finditer(text):
                self.add(found[0])

    def is_in(self, text: str) -> bool:
        """Whether a text is or holds a secret."""
        return text in self.secrets.texts or self.hide(text) != text

    def hide(self, text: str) -> str:
        """Return a text with a mark in the place of each secret."""
        return text if self.is_empty else self._finder.hide(text)

    def hide_bytes(self, content: bytes) -> bytes:
        """Return the content of a text file with a mark in the place of each secret."""
        if self.is_empty:
            return content
        text = content.decode("utf-8", "surrogateescape")
        return self.hide(text).encode("utf-8", "surrogateescape")

    def hide_across(self, parts: Sequence[str]) -> list[str]:
        """Return the parts of a text that was cut, with a mark also where a secret was cut.

        What lies at the cuts may be lost: a part may end or begin in the middle of a secret.
        """
        if self.is_empty:
            return list(parts)
        finder = self._finder
        hidden = finder.hide_across(parts)
        last = len(hidden) - 1
        for place, part in enumerate(hidden):
            ended = finder.hide_beginning(part) if place < last else part
            hidden[place] = finder.hide_end(ended) if place else ended
        return hidden


#: The secrets of this process: whatever client types one, no report of another may tell it.
SECRETS = Redaction()


def hide(text: str) -> str:
    """Return a text with a mark in the place of each secret of this process."""
    return SECRETS.hide(text)
