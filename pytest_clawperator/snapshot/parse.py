"""Parse UI hierarchies, which are almost XML.

The Operator escapes five characters and prints all others as they are. XML folds raw line
breaks in a value to spaces and refuses control characters and lone surrogates; all of them
occur in what apps show, and a test wants to see what the app shows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lxml import etree  # type: ignore[import-untyped]  # lxml has no types

from pytest_clawperator.errors import SnapshotError

MAX_BYTES = 30 * 1024 * 1024
MAX_NODES = 100_000
MAX_ATTRIBUTES = 20 * MAX_NODES

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_START = b"<hierarchy"
_END = b"</hierarchy>"
_PROLOG = re.compile(rb"(?:\xef\xbb\xbf)?(?:<\?xml[^<>]*\?>)?\s*")
_EMPTY = re.compile(rb"<hierarchy[^<>]*/>")
# What is between two hierarchies: a prolog, tags of windows and displays, other output.
_BETWEEN = re.compile(rb"</hierarchy\s*>(?:(?!<hierarchy\b).)*<hierarchy\b[^<>]*>", re.DOTALL)
_QUOTED = re.compile(rb'"[^"]*"|\'[^\']*\'')
# A tag that ends without its `>` before a line that begins with another one.
_CUT_TAG = re.compile(rb"(?m)^( *)(<node [^<>]*)\n( *)(?=</?(?:node|hierarchy)\b)")
_ATTRIBUTE = re.compile(rb'<node(?: [\w-]+="[^"]*")*')
_REFERENCE = re.compile(r"&#(?:([0-9]{1,7})|x([0-9A-Fa-f]{1,6}));")
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_HALF = re.compile(b"\xed[\xa0-\xbf]")
_NO_CONTROLS = bytes(c for c in range(256) if c >= 0x20 or c in b"\t\n\r")
_STAND_IN = re.compile("[\U00100000-\U0010ffff]")
# Characters that XML cannot hold stand in the parsed tree as private ones of plane 16, where
# in UTF-8 the last two bytes are the same; of half surrogates the first two bytes will do.
_STAND_INS = [
    *((chr(c).encode(), chr(c + 0x100000).encode()) for c in range(0x20) if c not in b"\t\n\r"),
    *((bytes((0xED, c)), bytes((0xF4, 0x8D, c))) for c in range(0xA0, 0xC0)),
    *((chr(c).encode(), chr(c + 0x100000).encode()) for c in (0xFFFE, 0xFFFF)),
]


@dataclass(frozen=True)
class Parsed:
    """A parsed hierarchy; ``has_stand_ins``: its values need :func:`original`."""

    top: Any
    has_stand_ins: bool
    is_partial: bool


def parse(source: str | bytes, *, partial: bool) -> Parsed:
    """Parse a hierarchy; with ``partial`` a damaged one is read as far as it goes."""
    # What a phone prints well is parsed as it is: a copy of it would cost as much as a search.
    if isinstance(source, bytes) and _is_utf16(source):
        source = decoded(source)
    data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    if len(data) > MAX_BYTES:
        raise _too_large(f"is larger than {MAX_BYTES // 1024 // 1024} MB")
    body = _body(data)
    _check_numbers(body)
    if body.count(_START) > 1:
        body = _joined(body)
    try:
        top, has_stand_ins = _parse_whole(body)
    except SnapshotError:
        completed = _with_cut_tags_closed(body)
        if not partial and completed == body:
            raise
        top, has_stand_ins = _parse_damaged(completed) if partial else _parse_whole(completed)
        return Parsed(_checked(top), has_stand_ins, is_partial=True)
    return Parsed(_checked(top), has_stand_ins, is_partial=False)


def decoded(data: bytes) -> str:
    """Decode UTF-8 as phones write it: with lone surrogates, and damage replaced.

    UTF-16, which PowerShell makes of what it writes to a file, is decoded, too.
    """
    if _is_utf16(data):
        order = "utf-16" if data.startswith(_UTF16_MARKS) else "utf-16-le"
        return data.decode(order, "replace")
    for errors in ("strict", "surrogatepass"):
        try:
            return data.decode("utf-8", errors)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "replace")


def original(value: str) -> str:
    """Replace the stand-ins by the characters that they stand for."""
    if _STAND_IN.search(value) is None:
        return value
    data = value.encode()
    for real, other in _STAND_INS:
        data = data.replace(other, real)
    return data.decode("utf-8", "surrogatepass")


def stand_in(value: str) -> str:
    """Replace the characters that XML cannot hold by ones that stand in for them."""
    return _with_stand_ins(value.encode("utf-8", "surrogatepass")).decode()


def _with_stand_ins(data: bytes) -> bytes:
    # Few of them occur together, and replacing each of them takes longer than parsing.
    controls = data.translate(None, _NO_CONTROLS)
    present = {*(bytes((c,)) for c in controls), *_HALF.findall(data)}
    for real, other in _STAND_INS:
        if real in present or (len(real) == 3 and real in data):
            data = data.replace(real, other)
    return data


def _body(data: bytes) -> bytes:
    """Return the hierarchy without what stands before and after it."""
    start = data.find(_START)
    # A tiny declaration may expand to a huge text, so none is accepted.
    if b"<!DOCTYPE" in (data if start < 0 else data[:start]):
        raise SnapshotError(
            "The hierarchy declares a document type, which could define entities.",
            hint="Phones print none; remove the <!DOCTYPE ...> declaration.",
        )
    if start < 0:
        raise SnapshotError(
            f"There is no <hierarchy> in the text: {decoded(data[:60])!r}",
            hint="A snapshot is the XML that a snapshot_ui step has in data['text'].",
        )
    found = data.rfind(_END)
    is_ended = found > start and data.find(_START, found) < 0
    end = found + len(_END) if is_ended else len(data)
    if _PROLOG.fullmatch(data, 0, start) and not data[end:].strip():
        return data
    return data[start:end]


def _is_utf16(data: bytes) -> bool:
    return data.startswith((*_UTF16_MARKS, b"<\0"))


def _joined(body: bytes) -> bytes:
    """Return several hierarchies as one that has the nodes of all of them.

    A raw `<` cannot stand in a value, so no text of an app is mistaken for one.
    """
    filled = _EMPTY.sub(b"", body)
    start = filled.find(_START)
    return body if start < 0 else _BETWEEN.sub(b"", filled[start:])


def _check_numbers(body: bytes) -> None:
    # A raw `<` cannot stand in a value. An attribute takes five bytes at least.
    start = body.find(_START) + 1
    tags = body.count(b"<", start)
    if tags > MAX_NODES and tags - body.count(b"</") > MAX_NODES:
        raise _too_large(f"has more than {MAX_NODES:,} nodes")
    quotes = 2 * MAX_ATTRIBUTES
    if len(body) > 5 * MAX_ATTRIBUTES and body.count(b'"') + body.count(b"'") > quotes:
        raise _too_large(f"has more than {MAX_ATTRIBUTES:,} attributes")


def _parse_whole(body: bytes) -> tuple[Any, bool]:
    if body.rfind(_END) < 0:
        raise _broken_off(body)
    if _needs_whitespace(body):
        body = _with_whitespace(body)
    try:
        return _tree(body), False
    except etree.XMLSyntaxError:
        body, has_stand_ins = _repaired(body)
    try:
        return _tree(body), has_stand_ins
    except etree.XMLSyntaxError as error:
        if "depth" in str(error):
            raise _too_large("is nested too deeply") from error
        raise SnapshotError(
            f"The hierarchy is not well-formed: {error}",
            hint="Read what can be read with Snapshot.from_xml(..., partial=True).",
        ) from error


def _parse_damaged(body: bytes) -> tuple[Any, bool]:
    complete = body[: body.rfind(b">") + 1]
    repaired, has_stand_ins = _repaired(_with_whitespace(complete))
    try:
        return _tree(repaired, recover=True), has_stand_ins
    except etree.XMLSyntaxError:
        return None, False


def _with_cut_tags_closed(body: bytes) -> bytes:
    """Close the tags that the log cut, where other lines follow.

    A node keeps the attributes before the cut and what there is of the last value. How far
    the next line is indented shows whether it is inside of the node.
    """
    return _CUT_TAG.sub(_closed, body)


def _closed(found: re.Match[bytes]) -> bytes:
    indent, tag, following = found.groups()
    # A character may be cut, too.
    tag = tag.decode("utf-8", "ignore").encode()
    attributes = _ATTRIBUTE.match(tag)
    assert attributes is not None
    kept, rest = attributes[0], tag[attributes.end() :]
    name, opened, value = rest.partition(b'="')
    if opened:
        kept += name + opened + value + b'"'
    is_parent = len(following) > len(indent)
    return indent + kept + (b">" if is_parent else b"/>") + b"\n" + following


def _tree(body: bytes, *, recover: bool = False) -> Any:
    parser = etree.XMLParser(
        encoding="utf-8",  # whatever the prolog says
        huge_tree=True,  # a single text may be long; size and nodes are bounded here
        load_dtd=False,
        no_network=True,
        recover=recover,
        remove_comments=True,
        remove_pis=True,
        resolve_entities=False,
    )
    return etree.fromstring(body, parser)


def _checked(top: Any) -> Any:
    if top is None or top.tag != "hierarchy" or next(top.iterchildren("*"), None) is None:
        raise _without_nodes()
    return top


def _needs_whitespace(body: bytes) -> bool:
    # Between tags a line break follows a `>`, which is escaped inside values.
    return b"\t" in body or b"\r" in body or body.count(b"\n") != body.count(b">\n")


def _with_whitespace(body: bytes) -> bytes:
    """Escape raw line breaks and tabs inside values, where XML would fold them to spaces."""
    has_single_quotes = body.find(b"='", body.find(_START)) >= 0
    if has_single_quotes or body.count(b"<") != body.count(b">"):
        # Not written by a phone: values in single quotes, or with a raw `>` in them.
        return _QUOTED.sub(lambda found: _escaped(found[0]), body)
    return b">\n".join(map(_well_formed, body.split(b">\n")))


def _well_formed(chunk: bytes) -> bytes:
    if b"\n" not in chunk and b"\t" not in chunk and b"\r" not in chunk:
        return chunk
    parts = chunk.split(b'"')
    parts[1::2] = map(_escaped, parts[1::2])
    return b'"'.join(parts)


def _escaped(value: bytes) -> bytes:
    return value.replace(b"\n", b"&#10;").replace(b"\t", b"&#9;").replace(b"\r", b"&#13;")


def _repaired(body: bytes) -> tuple[bytes, bool]:
    """Return valid XML, and whether characters stand in for others."""
    first_end = body.find(_END)
    text = decoded(body if first_end < 0 else body[: first_end + len(_END)])
    if "&#" in text:
        text = _REFERENCE.sub(_unfit_reference, text)
    data = text.encode("utf-8", "surrogatepass")
    if _HALF.search(data):
        # Two halves that follow each other are one character.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        data = text.encode("utf-8", "surrogatepass")
    if not _is_unfit(data):
        return data, False
    if b"\xf4" in data and _STAND_IN.search(text):
        return _UNFIT.sub("\ufffd", text).encode(), False
    return _with_stand_ins(data), True


def _is_unfit(data: bytes) -> bool:
    """Whether XML cannot hold some character; bytes are searched ten times as fast as text."""
    if data.translate(None, _NO_CONTROLS) or (b"\xed" in data and _HALF.search(data)):
        return True
    # A single byte is searched for first: that is quick, and it is hardly ever there.
    return b"\xef" in data and (b"\xef\xbf\xbe" in data or b"\xef\xbf\xbf" in data)


def _unfit_reference(found: re.Match[str]) -> str:
    code = int(found[1]) if found[1] else int(found[2], 16)
    unfit = code <= 0xFFFF and _UNFIT.match(chr(code))
    return chr(code) if unfit else found[0]


def _broken_off(body: bytes) -> SnapshotError:
    if _EMPTY.search(body):
        return _without_nodes()
    tail = decoded(body.rstrip()[-60:])
    return SnapshotError(
        f"The hierarchy breaks off after {body.count(b'<node')} nodes: ...{tail!r}",
        hint="The device's log may have lost lines, or cut a long text: an entry keeps about "
        "4,000 bytes. Take the snapshot again, or read what is there with "
        "Snapshot.from_xml(..., partial=True).",
    )


def _without_nodes() -> SnapshotError:
    return SnapshotError(
        "The hierarchy holds no node.",
        hint="The window had no content yet, or protects it; take the snapshot again.",
    )


def _too_large(how: str) -> SnapshotError:
    return SnapshotError(
        f"The hierarchy {how}.", hint="No screen is like that; look at what the app shows."
    )
