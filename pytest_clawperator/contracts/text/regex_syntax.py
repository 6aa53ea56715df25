"""Whether a ``validatorPattern`` is a regular expression at all.

The pattern runs on the device, in Java's dialect, and the reference host judges it in
JavaScript's. Python can compile neither, so this looks only for what is broken in both:
unbalanced groups, open classes, ranges the wrong way round, quantifiers with nothing to
repeat, groups of the same name. It reads the pattern once, from left to right.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
      (?P<text>    \\Q .*? (?: \\E | \Z ) )
    | (?P<escape>  \\ (?: k<\w+> | [pPuxN]\{[^}]*\} | c. | . ) )
    | (?P<flags>   \(\? [a-zA-Z]* (?: -[a-zA-Z]+ )? \) )
    | (?P<open>    \( (?: \? (?: [:=!>] | <[=!] | <(?P<name>[^\W\d]\w*)>
                                  | [a-zA-Z]*(?:-[a-zA-Z]+)?: )
                        | (?!\?) ) )
    | (?P<close>   \) )
    | (?P<class>   \[ \^? (?P<inside> (?: \\. | [^\]\\] )* ) \] )
    | (?P<count>   \{ (?P<least>\d+) (?: , (?P<most>\d*) )? \} [?+]? )
    | (?P<repeat>  [*+?] [?+]? )
    | (?P<either>  \| )
    | (?P<broken>  [\[(\\] )
    | (?P<other>   . )
    """,
    re.VERBOSE | re.DOTALL,
)
# A range between two plain characters; after an escaped class a dash is only a dash.
_RANGE = re.compile(r"\\.|(?P<first>[^\\])-(?P<last>[^\\\]])|.", re.DOTALL)


def is_pattern(pattern: str) -> bool:
    """Whether ``pattern`` could be a regular expression of the device."""
    depth, repeatable = 0, False
    names: list[str] = []
    for token in _TOKEN.finditer(pattern):
        kind = token.lastgroup
        if _is_broken(token, depth=depth, repeatable=repeatable):
            return False
        if token["name"]:
            names.append(token["name"])
        depth += (kind == "open") - (kind == "close")
        if kind != "count":
            repeatable = kind not in ("open", "flags", "repeat", "either")
    # Newer JavaScript lets two alternatives have groups of one name.
    is_ambiguous = len(set(names)) < len(names) and "|" not in pattern
    return depth == 0 and not is_ambiguous


def _is_broken(token: re.Match[str], *, depth: int, repeatable: bool) -> bool:
    kind = token.lastgroup
    if kind == "count":
        return not repeatable or not _count_fits(token["least"], token["most"])
    if kind == "class":
        return not _ranges_fit(token["inside"])
    return (
        kind == "broken"
        or (kind == "close" and depth == 0)
        or (kind == "repeat" and not repeatable)
    )


def _ranges_fit(inside: str) -> bool:
    ranges = (found for found in _RANGE.finditer(inside) if found["first"])
    return all(found["first"] <= found["last"] for found in ranges)


def _count_fits(least: str, most: str | None) -> bool:
    # Compared as text: the numbers may be longer than Python reads.
    longest = max(len(least), len(most or ""))
    return not most or least.zfill(longest) <= most.zfill(longest)
