"""Character classes such as ``[:upper:]``, which ``grep`` and ``tr`` share."""

from __future__ import annotations

import string

_PRINTED = string.digits + string.ascii_letters + string.punctuation
CLASSES = {
    "alnum": string.digits + string.ascii_letters,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, (*range(32), 127))),
    "digit": string.digits,
    "graph": _PRINTED,
    "lower": string.ascii_lowercase,
    "print": _PRINTED + " ",
    "punct": string.punctuation,
    "space": string.whitespace,
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}
"""The characters of each class, by its name."""
