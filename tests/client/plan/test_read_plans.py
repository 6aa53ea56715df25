"""Plans of reads: what is sent, and how the answer is read."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.errors import ConfigurationError, EnvelopeMalformedError, StepFailedError
from tests.doubles.runner import Phone, client

TEA = {"textEquals": "Tea"}


def test_reading_a_text() -> None:
    """A read gives the text."""
    phone = Phone(data={"read_text": {"text": "Tea", "validator": "none"}})

    assert client(phone).read_text(text_contains="e") == "Tea"


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"validator": "version"}, {"validator": "version"}),
        ({"pattern": "[0-9]+"}, {"validator": "regex", "validatorPattern": "[0-9]+"}),
        (
            {"validator": "regex", "pattern": "x"},
            {"validator": "regex", "validatorPattern": "x"},
        ),
    ],
)
def test_reading_a_text_of_a_form(given: Any, sent: Any) -> None:
    """A pattern alone is a validator, too."""
    phone = Phone(data={"read_text": {"text": "1"}})

    client(phone).read_text(text="Tea", **given)

    assert phone.params("read_text") == [{"matcher": TEA, **sent}]


def test_reading_all_texts() -> None:
    """The Operator's list is read even where a text holds a raw line break."""
    phone = Phone(data={"read_text": {"text": '["a","say \\"b\\"","c\nd"]', "all": "true"}})

    texts = client(phone).read_all_text(text_contains="e")

    assert texts == ["a", 'say "b"', "c\nd"]
    assert phone.params("read_text")[0]["all"] is True


@pytest.mark.parametrize("text", ["", "[", "5"])
def test_a_list_that_cannot_be_read(text: str) -> None:
    """What is no list is told with the raw answer."""
    phone = Phone(data={"read_text": {"text": text}})

    with pytest.raises(EnvelopeMalformedError) as broken:
        client(phone).read_all_text(text_contains="e")

    assert broken.value.details == {"text": text}


@pytest.mark.parametrize(
    ("args", "keywords"),
    [
        (("Version",), {}),
        ((), {"label": "Version"}),
        ((), {"text": "Version"}),
        (({"text": "Version"},), {}),
        ((), {"label": {"text": "Version"}}),
    ],
)
def test_reading_a_value(args: Any, keywords: Any) -> None:
    """A label is a text, or whatever else a node may be said by."""
    phone = Phone(data={"read_key_value_pair": {"label": "Version", "value": "16"}})

    assert client(phone).read_value(*args, **keywords) == "16"
    assert phone.params("read_key_value_pair") == [{"labelMatcher": {"textEquals": "Version"}}]


class TestValidators:
    """What a text must look like is judged before it is read, and said when it does not."""

    @pytest.mark.parametrize("validator", ["version", "temperature"])
    def test_not_with_a_pattern(self, validator: Any) -> None:
        """A validator has a form of its own, so a pattern would be ignored."""
        with pytest.raises(ConfigurationError, match="Give either"):
            client(Phone()).read_text(text="x", validator=validator, pattern="zzz")

    def test_an_unknown_one(self) -> None:
        """A misspelt validator is told what it may have meant."""
        with pytest.raises(ConfigurationError, match="Did you mean 'version'"):
            client(Phone()).read_text(text="x", validator="versionn")  # type: ignore[arg-type]

    def test_the_error_says_what_was_wanted(self) -> None:
        """Both the text and the pattern are in the message."""
        phone = Phone(data={"read_text": {"error": "VALIDATOR_MISMATCH", "raw_text": "Tea"}})

        with pytest.raises(StepFailedError) as failed:
            client(phone).read_text(text="Tea", pattern="[0-9]", timeout=0)

        assert "it reads 'Tea', wanted a text that matches '[0-9]'" in failed.value.message
