"""Which texts are secrets, as people write it: a regular expression, or names of variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

from pytest_clawperator.redaction.redaction import Redaction

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
        raise ValueError(
            f"{text!r} matches an empty text, which is everywhere; allowed is a regular"
            " expression of the secret alone, as in '\\bsk-[A-Za-z0-9]+'"
        )
    return text


def apply_rule(rule: str, secrets: Redaction, environment: Mapping[str, str]) -> None:
    """Hide what a rule describes."""
    if not rule.startswith(_ENVIRONMENT):
        secrets.add_pattern(re.compile(rule))
        return
    wanted = rule.removeprefix(_ENVIRONMENT)
    for name, value in environment.items():
        if fnmatchcase(name, wanted):
            secrets.add(value)
