"""Secrets are hidden in everything that leaves the process."""

from __future__ import annotations

import html
import json
import random
import re
import shlex
from collections.abc import Callable
from types import SimpleNamespace
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator import redaction
from pytest_clawperator.errors import ClawperatorError, ExecutionValidationError, Problem
from pytest_clawperator.redaction import MARK, SECRETS, Redaction

ODD = 'Tr0ub4dor & "3\'s" <ü€😀>\t\\ 50% \udc80 e\x1bnd'
LETTERS = "".join(random.Random(5).choices("abcdefghijklmnopqrstuvwxyz", k=300))


def finder(*texts: str, patterns: tuple[str, ...] = ()) -> redaction.Finder:
    """Make a finder of these secrets."""
    return redaction.Finder(redaction.Secrets(frozenset(texts), tuple(map(re.compile, patterns))))


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


@pytest.mark.parametrize(
    ("secrets", "text", "hidden"),
    [
        (["hunter2"], "Item 3 ... hunt ... [1, 2]\n" * 3, "Item 3 ... hunt ... [1, 2]\n" * 3),
        # A secret that is part of another leaves nothing of the other.
        (["pass", "password1"], "pass password1", f"{MARK} {MARK}"),
        # What is hidden already is not hidden again.
        (["secret", "hidden", "****"], f"a secret, {MARK}", f"a {MARK}, {MARK}"),
        # A short one is hidden where it is alone, and is not cut out of others.
        (["007"], "pin = '007'", f"pin = '{MARK}'"),
        (["007"], '{"text":"007"}', f'{{"text":"{MARK}"}}'),
        (["007"], "text=007, submit=true", f"text={MARK}, submit=true"),
        (["007"], r'"{\"text\":\"007\"}"', rf'"{{\"text\":\"{MARK}\"}}"'),
        (["007"], "port 10077, 007 files", "port 10077, 007 files"),
        # A text that was cut in the middle shows neither beginning nor end.
        (["correct-horse-battery"], "'correct-hor...ry'", f"'{MARK}...ry'"),
        (["correct-horse-battery"], "'corr...tery'", f"'{MARK}...{MARK}'"),
        (["correct-horse-battery"], "correct-horse-batt…", f"{MARK}…"),
        # Lines are hidden one by one, as each may get a prefix.
        (
            ["-----BEGIN KEY\nabcdef\n"],
            "E  -----BEGIN KEY\nE  abcdef",
            f"E  {MARK}\nE  {MARK}",
        ),
        # Python breaks long texts at spaces, and puts quotes there.
        (
            ["correct horse battery staple"],
            "('correct horse '\n E 'battery staple')",
            f"('{MARK}')",
        ),
        # A diff that leaves out what two texts share shows the middle of a secret.
        ([LETTERS], f"- {LETTERS[40:90]}\n+ {LETTERS[200:]}?", f"- {MARK}\n+ {MARK}?"),
    ],
)
def test_secrets_are_hidden_whole_and_in_parts(secrets: list[str], text: str, hidden: str) -> None:
    """Hiding leaves the rest as it is, and hiding again changes nothing."""
    hide = finder(*secrets).hide

    assert hide(text) == hide(hide(text)) == hidden


def test_patterns_are_hidden_wherever_they_match() -> None:
    """What a pattern matches is hidden, and what is beside it is not."""
    hide = finder(patterns=("sk-[a-z0-9]+",)).hide

    assert hide("key=sk-abc123; 'sk-9'") == f"key={MARK}; '{MARK}'"


def test_excerpts_of_a_long_secret_are_hidden_at_any_place() -> None:
    """Sixteen characters are hidden, fifteen stay; overlapping secrets leave nothing."""
    hide = finder(LETTERS).hide
    for place in range(10):
        before = "." * place

        assert hide(f"{before}{LETTERS[40:56]}.") == f"{before}{MARK}.", place
        assert hide(f"{before}{LETTERS[40:55]}.") == f"{before}{LETTERS[40:55]}.", place
        assert hide(f"{before}{LETTERS[:-10]}{LETTERS[-30:]}!") == f"{before}{MARK}!", place
        assert hide(f"{before}{LETTERS[5:]}{LETTERS}!") == f"{before}{MARK}!", place
        overlapping = finder("abcdefghij", "ghijklmnop").hide(f"{before}abcdefghijklmnop!")
        assert overlapping == f"{before}{MARK}!", place


def test_a_cut_through_a_secret_hides_both_parts() -> None:
    """The pieces of a message show no part of a secret, also if the end of one was lost."""
    text = f"before {ODD[:10]} after"
    for cut in range(8, 16):
        parts = finder(ODD[:10]).hide_across([text[:cut], text[cut:]])
        assert parts == [f"before {MARK}", f"{MARK} after"], cut

    secrets = Redaction()
    secrets.add("correct-horse-battery")
    parts = secrets.hide_across(["text=correct-ho", "battery, more"])
    assert parts == [f"text={MARK}", f"{MARK}, more"]


def test_thousands_of_secrets_are_all_found() -> None:
    """Each of many secrets is hidden, whatever place of the text it begins at."""
    chance = random.Random(7)
    secrets = ["".join(chance.choices("abcdefgh0123", k=n % 20 + 8)) for n in range(1000)]
    text = "".join(f"{secret}{' ' * (n % 5 + 1)}" for n, secret in enumerate(secrets))

    hidden = finder(*secrets).hide(text)

    assert set(hidden.split()) == {MARK}


def test_nothing_is_searched_without_secrets() -> None:
    """The same objects come back, and no finder is asked; a blank text is not a secret."""
    secrets = Redaction()
    text, content = "a" * 10, b"b" * 10

    secrets.add("")
    secrets.add("  \n")

    assert secrets.is_empty
    assert secrets.hide(text) is text
    assert secrets.hide_bytes(content) is content
    assert not vars(secrets._finder).keys() - {"secrets"}


def test_a_password_is_not_on_the_screen() -> None:
    """No screen shows what a password field holds, unless it is a secret elsewhere, too."""
    secrets = Redaction()

    secrets.add("hunter2", on_screen=False)
    before = secrets.secrets.on_screen
    secrets.add("hunter2")

    assert (before, secrets.secrets.on_screen) == (False, True)


def test_secrets_can_be_put_back() -> None:
    """A run forgets its own secrets and keeps those that were there."""
    secrets = Redaction()
    secrets.add("outer-secret")
    before = secrets.secrets
    secrets.add("inner-secret")
    secrets.add_pattern(re.compile("sk-[0-9]+"))

    secrets.secrets = before

    assert secrets.hide("outer-secret inner-secret sk-1") == "[***] inner-secret sk-1"


def test_bytes_that_are_not_text_survive() -> None:
    """Bytes that are not UTF-8 stay as they are around a secret."""
    secrets = Redaction()
    secrets.add("hunter2")

    assert secrets.hide_bytes(b"\xff\x00hunter2\xed\xa0\x80") == b"\xff\x00[***]\xed\xa0\x80"


def test_a_pattern_makes_what_it_matches_a_secret() -> None:
    """What a pattern matches in a typed text is then hidden in its other forms, too."""
    secrets = Redaction()
    secrets.add_pattern(re.compile('key"[a-z]+"'))

    secrets.add_matches('my key"abc"')

    assert secrets.hide(r"{\"text\":\"my key\\\"abc\\\"") == r"{\"text\":\"my [***]"


def test_messages_of_errors_show_no_secrets() -> None:
    """Neither the text nor the repr of an error has one; its data stays as it was."""
    SECRETS.add("hunter2")
    error = ClawperatorError("typed hunter2", hint="not hunter2", details={"typed": "hunter2"})
    invalid = ExecutionValidationError([Problem("a", "bad", found="'hunter2'")])

    assert not any("hunter2" in text for text in (str(error), repr(error), str(invalid)))
    assert (error.message, error.details) == ("typed hunter2", {"typed": "hunter2"})


ENVIRONMENT = {"BANK_PASSWORD": "hunter2", "MY_TOKEN": "t0ken-1", "TOKEN_AGE": "12345", "EMPTY": ""}
ORDINARY = {"A_TOKEN": "true", "B_TOKEN": "1", "C_TOKEN": "dev", "D_TOKEN": " Production\n"}


@pytest.mark.parametrize(
    ("rule", "hidden"),
    [
        ("sk-[a-z]+", "[***] hunter2 t0ken-1 12345"),
        ("env:BANK_PASSWORD", "sk-abc [***] t0ken-1 12345"),
        ("env:*_TOKEN", "sk-abc hunter2 [***] 12345"),
        ("env:EMPTY", "sk-abc hunter2 t0ken-1 12345"),
        ("env:NOT_THERE", "sk-abc hunter2 t0ken-1 12345"),
    ],
)
def test_a_rule_is_a_pattern_or_names_variables(rule: str, hidden: str) -> None:
    """A rule hides what its pattern matches, or the values of the variables that it names."""
    secrets = Redaction()

    redaction.apply_rule(redaction.check_rule(rule), secrets, ENVIRONMENT)

    assert secrets.hide("sk-abc hunter2 t0ken-1 12345") == hidden


def test_an_ordinary_value_of_a_variable_is_not_hidden() -> None:
    """A variable that is a switch hides no text; the caller learns its name."""
    secrets = Redaction()

    left_out = redaction.apply_rule("env:*_TOKEN", secrets, {**ENVIRONMENT, **ORDINARY})

    assert left_out == [*ORDINARY]
    assert secrets.secrets.texts == {"t0ken-1"}


def test_a_pattern_of_ordinary_text_is_refused() -> None:
    """The message shows what it matches; a length, or what is before the secret, is enough."""
    for rule in (".", ".+", r"\w+", "t", r"\d+", "[A-Za-z0-9]+", ":", "-", r"\b"):
        with pytest.raises(ValueError, match="ordinary text") as caught:
            redaction.check_rule(rule)

        problem, _, advice = str(caught.value).partition(", which is ordinary text")
        assert problem.startswith(f"{rule!r} matches ")
        assert "'\\bsk-[A-Za-z0-9]+'" in advice
        assert "[0-9a-f]{32}" in advice
    for rule in ("[0-9a-f]{32}", r"\d{6}", "[A-Za-z0-9_-]{20,}", "password=\\S+"):
        assert redaction.check_rule(rule) == rule


def test_a_rule_that_makes_no_sense_is_refused() -> None:
    """The message names the rule and what is wrong with it."""
    variable = "allowed is env: and the name of an environment variable"
    for rule, problem in (
        ("sk-[a-z", "'sk-[a-z' is not a regular expression: unterminated character set"),
        ("a*", "'a*' matches an empty text, which is everywhere; allowed is"),
        ("env:", f"found 'env:', {variable}"),
        ("env:A-B", f"found 'env:A-B', {variable}"),
    ):
        with pytest.raises(ValueError, match=r"allowed|not a regular expression") as caught:
            redaction.check_rule(rule)

        assert str(caught.value).startswith(problem)


class Report(SimpleNamespace):
    """An object of this package, which may be changed."""


def test_texts_are_hidden_however_deep_they_are() -> None:
    """Lists, tuples, dicts and objects of the package lose their secrets, other objects do not."""
    foreign = SimpleNamespace(text="hunter2")
    report = Report(lines=["hunter2", ("hunter2", 1)], inner=Report(by={"hunter2": "hunter2"}))
    report.other, report.nodeid, report.itself = foreign, "hunter2", report
    lines = report.lines

    assert redaction.hide_in(report, packages=["tests"]).lines is lines, (
        "without secrets nothing is touched"
    )
    SECRETS.add("hunter2")
    redaction.hide_in(report, packages=["tests"], kept=["nodeid"])

    assert report.lines == ["[***]", ("[***]", 1)]
    assert report.inner.by == {"[***]": "[***]"}
    assert (report.nodeid, foreign.text) == ("hunter2", "hunter2")


@pytest.mark.parametrize(
    ("name", "content", "hidden"),
    [
        (
            "a.json",
            r'{"ms": 30000, "text": "a 0000", "ok": true, "pin": 1234, "q": "\"x\"yz\""}',
            '{"ms": 30000, "text": "a [***]", "ok": true, "pin": "[***]", "q": "[***]"}',
        ),
        (
            "a.xml",
            "<node password=\"true\" text='my password'>true &amp; 0000<b/></node>",
            "<node password=\"[***]\" text='my [***]'>[***] &amp; [***]<b/></node>",
        ),
        # Everything is searched in what is not a valid document, or has more than values.
        ("a.json", '{"ms": 30000, "text": 0000', '{"ms": 3[***], "text": [***]'),
        ("a.xml", "<a password='1'><!-- 0000 --></a>", "<a [***]='1'><!-- [***] --></a>"),
        ("a.xml", "<a>password", "<a>[***]"),
        ("a.txt", "30000", "3[***]"),
    ],
)
def test_a_document_stays_valid(name: str, content: str, hidden: str) -> None:
    """Values lose their secrets; names, numbers and words of the format are left alone."""
    for text in ("0000", "1234", "password", "true", '"x"yz"'):
        SECRETS.add(text)

    assert redaction.hide_in_document(content.encode(), name=name).decode() == hidden
