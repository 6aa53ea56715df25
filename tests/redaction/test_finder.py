"""Secrets are found in every form in which they travel, and nothing else is."""

from __future__ import annotations

import html
import json
import random
import re
import shlex
from collections.abc import Callable
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.redaction.finder import MARK, Finder, Secrets

ODD = 'Tr0ub4dor & "3\'s" <ü€😀>\t\\ 50% \udc80 e\x1bnd'
LETTERS = "".join(random.Random(5).choices("abcdefghijklmnopqrstuvwxyz", k=300))


def finder(*texts: str, patterns: tuple[str, ...] = ()) -> Finder:
    """Make a finder of these secrets."""
    return Finder(Secrets(frozenset(texts), tuple(map(re.compile, patterns))))


WAYS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "repr": repr,
    "repr in a dict": lambda text: repr({"a": text}),
    "repr among quotes": lambda text: repr(f"'\"{text}"),
    "repr of bytes": lambda text: repr(text.encode("utf-8", "surrogatepass")),
    "ascii": ascii,
    "JSON": json.dumps,
    "readable JSON": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON of Android": lambda text: json.dumps(text, ensure_ascii=False).replace("/", "\\/"),
    "repr of JSON": lambda text: repr(json.dumps([text])),
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "attribute of XML": quoteattr,
    "XML of the Operator": lambda text: html.escape(text).replace("&#x27;", "&apos;"),
    "XML in JSON": lambda text: json.dumps(html.escape(text)),
    "HTML": html.escape,
    "a shell": shlex.quote,
    "JSON in a shell": lambda text: shlex.quote(json.dumps(text)),
    "a URL": lambda text: quote(text, errors="backslashreplace"),
    "a damaged file": lambda text: text.encode("utf-8", "surrogatepass").decode(errors="replace"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_secret_is_hidden_however_it_is_written(way: str) -> None:
    """Quoted, escaped or encoded, once or twice, nothing of the secret is left."""
    written = WAYS[way](ODD)

    hidden = finder(ODD).hide(f"before {written} after")

    assert MARK in hidden
    assert not {"Tr0ub", "dor", "50", "nd "} & {*re.findall(r"Tr0ub|dor|50|nd(?= )", hidden)}
    assert hidden.startswith("before ")
    assert hidden.endswith(" after")


@given(st.text(min_size=4).filter(lambda text: len(text.strip()) >= 4), st.sampled_from([*WAYS]))
def test_any_text_can_be_a_secret(text: str, way: str) -> None:
    """What is hidden once is hidden in whatever comes of it."""
    written = WAYS[way](text)

    hidden = finder(text).hide(written)

    assert written not in hidden or not text.strip("[]*. ")


def test_other_texts_stay_as_they_are() -> None:
    """A text without secrets is returned as it is, dots included."""
    text = "Item 3 ... hunt ... [1, 2]\n" * 3

    assert finder("hunter2").hide(text) == text


def test_the_longest_secret_is_hidden_first() -> None:
    """A secret that is part of another leaves nothing of the other."""
    assert finder("pass", "password1").hide("pass password1") == f"{MARK} {MARK}"


def test_hiding_twice_changes_nothing() -> None:
    """What is hidden already is not hidden again, whatever the secret is."""
    hide = finder("secret", "hidden", "****").hide

    assert hide(hide("a secret, hidden")) == f"a {MARK}, {MARK}"


def test_patterns_are_hidden_wherever_they_match() -> None:
    """What a pattern matches is hidden, and what is beside it is not."""
    hide = finder(patterns=("sk-[a-z0-9]+",)).hide

    assert hide("key=sk-abc123; 'sk-9'") == f"key={MARK}; '{MARK}'"


@pytest.mark.parametrize(
    "text",
    ["pin = '007'", '{"text":"007"}', "text=007, submit=true", r'"{\"text\":\"007\"}"'],
)
def test_a_short_secret_is_hidden_where_it_stands_alone(text: str) -> None:
    """Variables, payloads, envelopes and log lines do not show it."""
    assert finder("007").hide(text) == text.replace("007", MARK)


def test_a_short_secret_is_not_cut_out_of_others() -> None:
    """Numbers and words that merely contain it stay readable."""
    assert finder("007").hide("port 10077, 007 files") == "port 10077, 007 files"


def test_what_dots_leave_of_a_secret_is_hidden() -> None:
    """A text that was cut in the middle shows neither beginning nor end."""
    hide = finder("correct-horse-battery").hide

    assert hide("'correct-hor...ry'") == f"'{MARK}...ry'"
    assert hide("'corr...tery'") == f"'{MARK}...{MARK}'"
    assert hide("correct-horse-batt…") == f"{MARK}…"


def test_excerpts_of_a_long_secret_are_hidden() -> None:
    """A diff that leaves out what two texts share shows the middle of a secret."""
    shown = finder(LETTERS).hide(f"- {LETTERS[40:90]}\n+ {LETTERS[200:]}?")

    assert shown == f"- {MARK}\n+ {MARK}?"


def test_lines_of_a_secret_are_hidden_one_by_one() -> None:
    """A secret of several lines is hidden where each line gets a prefix."""
    hide = finder("-----BEGIN KEY\nabcdef\n").hide

    assert hide("E  -----BEGIN KEY\nE  abcdef") == f"E  {MARK}\nE  {MARK}"


def test_words_that_were_broken_into_lines_are_hidden() -> None:
    """Python breaks long texts at spaces, and puts quotes there."""
    hide = finder("correct horse battery staple").hide

    assert hide("('correct horse '\n E 'battery staple')") == f"('{MARK}')"


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_cut_through_a_secret_hides_both_parts(cut: int) -> None:
    """The pieces of a long message show no part of a secret between them."""
    text = f"before {ODD[:10]} after"

    parts = finder(ODD[:10]).hide_across([text[: 7 + cut], text[7 + cut :]])

    assert parts == [f"before {MARK}", f"{MARK} after"]


def test_thousands_of_secrets_are_all_found() -> None:
    """Each of many secrets is hidden, whatever place of the text it begins at."""
    chance = random.Random(7)
    secrets = ["".join(chance.choices("abcdefgh0123", k=n % 20 + 8)) for n in range(1000)]
    text = "".join(f"{secret}{' ' * (n % 5 + 1)}" for n, secret in enumerate(secrets))

    hidden = finder(*secrets).hide(text)

    assert set(hidden.split()) == {MARK}
