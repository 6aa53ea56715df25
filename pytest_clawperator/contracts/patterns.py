"""Whether a ``validatorPattern`` is a regular expression at all.

The pattern runs on the device, in Java's dialect, and the reference host judges it in
JavaScript's. Python can compile neither, so this refuses only what is broken in every
dialect: unbalanced groups and classes, quantifiers with nothing to repeat, bad ranges.
"""

from __future__ import annotations

import re
import warnings

from pytest_clawperator.contracts.limits import MAX_PAYLOAD_BYTES

_FOREIGN = re.compile(
    r"""
      \\k<\w+>                  # a reference to a named group
    | \\[pPuxN]\{[^}]*\}        # a property or a code point
    | \\c[A-Za-z]               # a control character
    | \\[dDsSwW]-(?!\])         # a class that a dash follows: no range
    | \\(?P<letter>[A-Za-z])    # any other escape
    | \\[^A-Za-z]               # an escaped sign stays what it is
    | \(\?<(?=[A-Za-z_$])\w+>   # a named group
    | \(\?[>]                   # an atomic group
    | (?<=[*+?}])\+             # a possessive quantifier
    """,
    re.VERBOSE | re.DOTALL,
)
_PYTHON_ESCAPES = frozenset("AbBdDsSwWZafnrtv")


def is_pattern(pattern: str) -> bool:
    """Tell whether ``pattern`` could be a regular expression of the device."""
    if len(pattern) > MAX_PAYLOAD_BYTES:
        return True  # the size check refuses the payload; do not spend minutes compiling it
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(_FOREIGN.sub(_in_python, pattern))
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _in_python(match: re.Match[str]) -> str:
    """Put a construct that only Java or JavaScript has into a Python one of the same shape."""
    construct = match[0]
    if construct.startswith("(?"):
        return "(?:"
    if construct == "+":
        return ""
    if construct.endswith("-") and len(construct) == 3:
        return r"x\-"
    letter = match["letter"]
    if letter is None and construct[1:2].isalpha():
        return "x"
    return "x" if letter and letter not in _PYTHON_ESCAPES else construct
