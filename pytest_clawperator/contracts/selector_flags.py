"""The flags of the command line that describe a node: ``--text "Wi-Fi" --role button``.

As in the reference host, a flag is a separate word, its value is the next word, and a value
never begins with a dash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pytest_clawperator.contracts.ecmascript import is_blank, parse_json
from pytest_clawperator.errors import PayloadError

FlagKind = Literal["element", "container"]

#: The simple flags without their dashes, and the field of the matcher that each stands for.
FLAG_FIELDS: Mapping[str, str] = {
    "text": "textEquals",
    "text-contains": "textContains",
    "id": "resourceId",
    "desc": "contentDescEquals",
    "desc-contains": "contentDescContains",
    "role": "role",
}
#: Other spellings, which count as the flag itself.
FLAG_SPELLINGS: Mapping[str, str] = {
    "resource-id": "id",
    "content-desc": "desc",
    "content-desc-contains": "desc-contains",
}
_PREFIXES: Mapping[FlagKind, str] = {"element": "--", "container": "--container-"}
_NOT_BOTH: Mapping[FlagKind, str] = {
    "element": "use --selector OR the simple flags, not both",
    "container": "use --container-selector OR the --container-* flags, not both",
}


def parse_selector_flags(argv: Sequence[str], kind: FlagKind = "element") -> dict[str, Any] | None:
    """Return the matcher that the flags among the words describe, in wire form.

    Without any flag it is empty, or None for a container. The value of ``--selector`` is
    returned unchecked: the validation of the execution checks it.
    """
    spellings = {_flag(other, kind): _flag(name, kind) for other, name in FLAG_SPELLINGS.items()}
    words = [spellings.get(word, word) for word in argv]
    flags = [_flag("selector", kind), *(_flag(name, kind) for name in FLAG_FIELDS)]
    for flag in flags:
        if words.count(flag) > 1:
            raise PayloadError(f"{flag} must not appear more than once")
    values = {flag: _value_of(flag, words) for flag in flags if flag in words}
    raw = values.pop(flags[0], None)
    if raw is None:
        return _flag_matcher(values, kind)
    if values:
        raise PayloadError(_NOT_BOTH[kind])
    return _parsed_selector(flags[0], raw)


def _flag(name: str, kind: FlagKind) -> str:
    return f"{_PREFIXES[kind]}{name}"


def _value_of(flag: str, words: Sequence[str]) -> str:
    value = words[words.index(flag) + 1 :][:1]
    if not value or value[0].startswith("-"):
        raise PayloadError(f"{flag} requires a value")
    return value[0]


def _flag_matcher(values: Mapping[str, str], kind: FlagKind) -> dict[str, Any] | None:
    for flag, value in values.items():
        if is_blank(value):
            raise PayloadError(f"{flag} value must not be blank")
    if not values and kind == "container":
        return None
    return {
        FLAG_FIELDS[flag.removeprefix(_PREFIXES[kind])]: value for flag, value in values.items()
    }


def _parsed_selector(flag: str, text: str) -> dict[str, Any]:
    if is_blank(text):
        raise PayloadError(f"{flag} value must not be blank")
    try:
        matcher = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"{flag} must be valid JSON") from error
    if not isinstance(matcher, dict):
        raise PayloadError(f"{flag} must be a JSON object")
    return matcher
