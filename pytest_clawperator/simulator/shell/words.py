"""Puts words together out of quoted and unquoted pieces."""

from __future__ import annotations

from pytest_clawperator.simulator.shell.syntax import Part, Text, Word


def has_pair(text: str, pair: str) -> bool:
    """Tell whether the first of two characters stands somewhere in front of the second."""
    return -1 < text.find(pair[0]) < text.rfind(pair[1])


class WordBuilder:
    """Collects the parts of a word; neighbouring text of the same quoting is one part."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._texts: list[str] = []
        self._quoted = False

    def text(self, text: str, *, quoted: bool) -> None:
        """Append characters; empty quoted text still makes the word exist."""
        if self._texts and self._quoted != quoted:
            self._flush()
        self._quoted = quoted
        self._texts.append(text)

    def part(self, part: Part) -> None:
        """Append an expansion."""
        if isinstance(part, Text):
            self.text(part.text, quoted=part.quoted)
            return
        self._flush()
        self._parts.append(part)

    def _flush(self) -> None:
        if self._texts:
            self._parts.append(Text("".join(self._texts), self._quoted))
            self._texts = []

    def word(self) -> Word:
        """Give the word."""
        self._flush()
        parts = tuple(self._parts)
        texts = [part for part in parts if isinstance(part, Text)]
        if len(texts) < len(parts):
            return Word(parts)
        plain = "".join("" if text.quoted else text.text for text in texts)
        expands = "*" in plain or "?" in plain or has_pair(plain, "[]") or has_pair(plain, "{}")
        return Word(parts, None if expands else "".join(text.text for text in texts))
