"""The secrets of a process: added one by one, put back together."""

from __future__ import annotations

import re

from pytest_clawperator.errors import ClawperatorError, ExecutionValidationError, Problem
from pytest_clawperator.redaction.redaction import SECRETS, Redaction


def test_nothing_is_searched_without_secrets() -> None:
    """Without secrets the same objects come back, and no finder is asked."""
    secrets = Redaction()
    text, content = "a" * 10, b"b" * 10

    assert secrets.is_empty
    assert secrets.hide(text) is text
    assert secrets.hide_bytes(content) is content
    assert not vars(secrets._finder).keys() - {"secrets"}


def test_blank_texts_are_no_secrets() -> None:
    """Nothing and spaces are everywhere, so that they cannot be hidden."""
    secrets = Redaction()

    secrets.add("")
    secrets.add("  \n")

    assert secrets.is_empty


def test_a_password_is_not_on_the_screen() -> None:
    """What a password field holds is shown by no screen, until it is a secret otherwise."""
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


def test_files_that_are_no_text_survive() -> None:
    """Bytes that are no UTF-8 stay as they are around a secret."""
    secrets = Redaction()
    secrets.add("hunter2")

    assert secrets.hide_bytes(b"\xff\x00hunter2\xed\xa0\x80") == b"\xff\x00[***]\xed\xa0\x80"


def test_a_pattern_makes_what_it_matches_a_secret() -> None:
    """What a pattern matches in a typed text is then hidden in its other forms, too."""
    secrets = Redaction()
    secrets.add_pattern(re.compile('key"[a-z]+"'))

    secrets.add_matches('my key"abc"')

    assert secrets.hide(r"{\"text\":\"my key\\\"abc\\\"") == r"{\"text\":\"my [***]"


def test_cut_pieces_show_no_rest_of_a_secret() -> None:
    """Where the end of a piece was lost, neither piece shows what is left."""
    secrets = Redaction()
    secrets.add("correct-horse-battery")

    parts = secrets.hide_across(["text=correct-ho", "battery, more"])

    assert parts == ["text=[***]", "[***], more"]


def test_messages_of_errors_show_no_secrets() -> None:
    """Neither the text nor the repr of an error has one; its data stays as it was."""
    SECRETS.add("hunter2")
    error = ClawperatorError("typed hunter2", hint="not hunter2", details={"typed": "hunter2"})
    invalid = ExecutionValidationError([Problem("a", "bad", found="'hunter2'")])

    assert not any("hunter2" in text for text in (str(error), repr(error), str(invalid)))
    assert (error.message, error.details) == ("typed hunter2", {"typed": "hunter2"})
