"""Which texts are secrets, as people write it: a regular expression, or names of variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

from pytest_clawperator.redaction.finder import SHORTEST
from pytest_clawperator.redaction.redaction import Redaction

# Words and signs that any report may have. Each is short: some patterns take long for long texts.
_ORDINARY = (
    "test", "passed", "failed", "clawperator", "android", "true", "false", "none",
    "null", "enabled", "disabled", "default", "debug", "release", "local", "localhost",
    "development", "staging", "production", "./test.py:12", "- true",
)  # fmt: skip
_ADVICE = (
    "allowed is a regular expression of the secret alone: write what it begins with, as in"
    " '\\bsk-[A-Za-z0-9]+', or how long it is, as in '[0-9a-f]{32}'"
)
_ENVIRONMENT = "env:"
_NAME = re.compile(r"[A-Za-z0-9_*?]+")


def check_rule(text: str) -> str:
    """Return a rule; raise ``ValueError`` with what was found and what is allowed."""
    if text.startswith(_ENVIRONMENT):
        if not _NAME.fullmatch(text.removeprefix(_ENVIRONMENT)):
            raise ValueError(
                f"found {text!r}, allowed is env: and the name of an environment variable, in"
                " which * and ? stand for others, as in env:*_TOKEN"
            )
        return text
    try:
        pattern = re.compile(text)
    except (re.error, RecursionError, OverflowError) as exc:
        raise ValueError(f"{text!r} is no regular expression: {exc}") from exc
    if pattern.search(""):
        raise ValueError(f"{text!r} matches an empty text, which is everywhere; {_ADVICE}")
    for ordinary in _ORDINARY:
        if found := pattern.search(ordinary):
            raise ValueError(
                f"{text!r} matches {found[0]!r} in {ordinary!r}, which is ordinary text, and"
                f" would hide it all over the reports; {_ADVICE}"
            )
    return text


def apply_rule(rule: str, secrets: Redaction, environment: Mapping[str, str]) -> list[str]:
    """Hide what a rule describes; return the variables whose values are ordinary text instead."""
    if not rule.startswith(_ENVIRONMENT):
        secrets.add_pattern(re.compile(rule))
        return []
    wanted = rule.removeprefix(_ENVIRONMENT)
    values = {name: value for name, value in environment.items() if fnmatchcase(name, wanted)}
    left_out = [name for name, value in values.items() if _is_ordinary(value)]
    for name in values.keys() - left_out:
        secrets.add(values[name])
    return left_out


def _is_ordinary(value: str) -> bool:
    """Whether a value is an ordinary word, or so short that it is part of other texts.

    An empty one is neither: it hides nothing, and nobody need be told.
    """
    word = value.strip().casefold()
    return 0 < len(word) < SHORTEST or word in _ORDINARY
