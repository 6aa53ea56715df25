r"""Text of phones, files and other users, made safe to show: nothing in it is invisible or obeyed.

A terminal obeys control characters, and characters that turn the direction of writing make a
text look like another one. They are shown as Python writes them: ``\x1b``, ``\u202e``.
"""

from __future__ import annotations

import re
from pathlib import Path

# Control characters but for line breaks and tabs; what turns the direction of writing; what
# has no width; separators of lines; halves of surrogate pairs.
_HIDDEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\ud800-\udfff"
)
# Joiners are part of emoji and of some scripts; after a character of ASCII they only hide.
_JOINERS = "\u200c\u200d"
_TO_SHOW = re.compile(rf"[{_HIDDEN}]|(?<![^\x00-\x7f])[{_JOINERS}]")
_VALUE = re.compile('"[^"]*"')


def visible(text: str) -> str:
    """Return the text with control characters shown; line breaks and tabs stay."""
    return _TO_SHOW.sub(_shown, text)


def shown_path(path: Path, start: Path | None = None) -> str:
    """Return a path for messages: relative, if it is below the current or another folder."""
    try:
        return path.relative_to(start or Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def visible_line(text: str) -> str:
    """Return the text as one line, with all that cannot be seen shown, unusual spaces too."""
    return "".join(
        one if one.isprintable() or one in _JOINERS else _escaped(one) for one in visible(text)
    )


def visible_in_xml(text: str) -> str:
    """Return XML with control characters in its values as references, with the same meaning."""
    return _VALUE.sub(lambda value: _TO_SHOW.sub(_referenced, value[0]), text)


def visible_in_json(text: str) -> str:
    """Return JSON with control characters in its texts as escapes, with the same meaning."""
    return _TO_SHOW.sub(_escaped_in_json, text)


def _shown(found: re.Match[str]) -> str:
    return _escaped(found[0])


def _referenced(found: re.Match[str]) -> str:
    return f"&#x{ord(found[0]):x};"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _escaped_in_json(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
