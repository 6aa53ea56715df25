"""Expected texts and patterns: whether a text matches, and how it differs if not."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from pytest_clawperator.contracts.wording import describe
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.redaction import hide
from pytest_clawperator.snapshot import near_miss

Text = str | re.Pattern[str]
_LONGEST_SHOWN = 60
_SHOWN_TEXTS = 8
# Texts that have nothing in common: a pattern that is found in all of them says nothing.
_UNLIKE = ("", "a", "7", " ", "\n", "-", "\N{SNOWMAN}")
# The usual ways to write a pattern that is never found; others are not recognized.
_NEVER = re.compile(r"[\^$]*(?:\(\?!\)|\[\^(?:\\s\\S|\\S\\s|\\w\\W|\\W\\w|\\d\\D|\\D\\d)\])[\^$]*")
_EXAMPLE = 'Write "Sign in", re.compile("Sign (in|up)"), or a list of those.'


def check_texts(expected: Any, *, is_part: bool = False) -> Text | tuple[Text, ...]:
    """Return a text, a pattern, or several of them; refuse anything else.

    ``is_part`` means that it is searched for in a text.
    """
    if isinstance(expected, (str, re.Pattern)):
        return check_text(expected, is_part=is_part)
    if not isinstance(expected, Sequence) or isinstance(expected, bytes):
        raise _not_text(expected)
    if not expected:
        raise ConfigurationError(
            "an empty list expects no text of any node",
            hint="Write to_have_count(0) if there should be no such node.",
        )
    return tuple(check_text(each, is_part=is_part) for each in expected)


def check_text(expected: Any, *, is_part: bool = False) -> Text:
    """Return one text or pattern; refuse anything else, and what every text has, or none."""
    if isinstance(expected, str):
        if is_part and not expected:
            raise ConfigurationError(
                "every text contains the empty text",
                hint='Write the text that should be there, or to_have_text("") for none.',
            )
        return expected
    if not isinstance(expected, re.Pattern) or not isinstance(expected.pattern, str):
        if isinstance(expected, (list, tuple)):
            raise ConfigurationError(
                f"one text or pattern is expected here, found {describe(expected)}",
                hint='Write "Sign in" or re.compile("Sign (in|up)").',
            )
        raise _not_text(expected)
    if _NEVER.fullmatch(expected.pattern):
        raise ConfigurationError(
            f"the pattern {shown(expected)} is found in no text",
            hint='Write what is looked for, as in re.compile("Sign (in|up)").',
        )
    if all(map(expected.search, _UNLIKE)):
        raise ConfigurationError(
            f"the pattern {shown(expected)} is found in every text",
            hint="It is searched for anywhere: write ^ and $ for the whole text, and + in place "
            'of * for at least one character, as in re.compile(r"^\\d+$").',
        )
    return expected


def _not_text(found: object) -> ConfigurationError:
    return ConfigurationError(
        f"a text, a pattern or a list of them is expected here, found {describe(found)}",
        hint=_EXAMPLE,
    )


def matches(expected: Text, found: str) -> bool:
    """Whether the text is equal, or the pattern is found in it."""
    return expected == found if isinstance(expected, str) else bool(expected.search(found))


def is_contained(expected: Text, found: str) -> bool:
    """Whether the text or the pattern is found in another text."""
    return expected in found if isinstance(expected, str) else bool(expected.search(found))


def all_match(expected: Sequence[Text], found: Sequence[str]) -> bool:
    """Whether the lists are equally long and match one by one."""
    return len(expected) == len(found) and all(map(matches, expected, found))


def all_contained(expected: Sequence[Text], found: Sequence[str]) -> bool:
    """Whether each is contained in one of the texts, in this order; others may stand between."""
    left = iter(found)
    return all(any(is_contained(each, text) for text in left) for each in expected)


def shown(text: Text) -> str:
    """Format an expected text or pattern for a message."""
    return near_miss.quoted(text) if isinstance(text, str) else f"/{near_miss.plain(text.pattern)}/"


def shown_all(every: Sequence[Text]) -> str:
    """Format a list of texts or patterns for a message, shortened if it is long."""
    rest = len(every) - _SHOWN_TEXTS
    words = [shown(text) for text in every[:_SHOWN_TEXTS]]
    return f"[{', '.join(words)}{f', and {rest} more' if rest > 0 else ''}]"


def difference(expected: Text, found: str) -> str | None:
    """Describe how two texts differ, if that is hard to see."""
    if not isinstance(expected, str) or expected == found:
        return None
    if " ".join(expected.split()) == " ".join(found.split()):
        return f"They differ only in white space: {found!r:.200} is there."
    if expected.casefold() == found.casefold():
        return "They differ only in upper and lower case."
    if _normalized(expected) == _normalized(found):
        return (
            f"They look alike but consist of different characters: {hide(found)!a:.200} is there."
        )
    if named := near_miss.lookalikes(expected, found):
        return f"They look alike but consist of different characters: {named}."
    if max(len(expected), len(found)) > _LONGEST_SHOWN:
        return _first_difference(expected, found)
    return None


def list_difference(expected: Sequence[Text], found: Sequence[str]) -> str | None:
    """Describe where a list of texts first differs from the expected one."""
    pairs = enumerate(zip(expected, found, strict=False))
    at = next((n for n, (a, b) in pairs if not matches(a, b)), min(len(expected), len(found)))
    if at == len(expected) == len(found):
        return None
    wanted = shown(expected[at]) if at < len(expected) else "no more"
    there = near_miss.quoted(found[at]) if at < len(found) else "no more"
    counts = f"{len(expected)} wanted, {len(found)} found" if len(expected) != len(found) else ""
    differ = f"They differ from index {at} on: wanted {wanted}, found {there}."
    closer = difference(expected[at], found[at]) if wanted == there else None
    return " ".join([differ, *([f"({counts})"] if counts else []), *([closer] if closer else [])])


def _normalized(text: str) -> str:
    """Remove invisible characters, and bring letters into their usual form."""
    composed = unicodedata.normalize("NFKC", text)
    return "".join(c for c in composed if unicodedata.category(c) != "Cf")


def _first_difference(expected: str, found: str) -> str:
    at = near_miss.first_difference(expected, found)
    here, there = (near_miss.quoted(near_miss.surroundings(text, at)) for text in (expected, found))
    return f"They differ from character {at + 1} on: wanted {here}, found {there}."
