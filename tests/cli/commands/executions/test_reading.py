"""Texts of the screen."""

from __future__ import annotations

import json

from tests.cli.conftest import Cli


def test_a_text_is_read_alone_for_people(settings: Cli) -> None:
    """A script of a shell gets the text without anything around it."""
    printed = settings("read", "--text-contains", "Bluetooth", "--output", "pretty")

    assert "Bluetooth" in printed.out
    assert printed.out.count("\n") == 1


def test_all_texts_need_json(settings: Cli) -> None:
    """Several texts cannot be told apart but in JSON, which must be asked for."""
    refused = settings("read", "--role", "text", "--all")
    texts = json.loads(settings("read", "--role", "text", "--all", "--json").step["data"]["text"])

    assert refused.json["code"] == "EXECUTION_VALIDATION_FAILED"
    assert any("Bluetooth" in text for text in texts)


def test_a_value_is_read_beside_its_label(settings: Cli) -> None:
    """The label can be described by each of its flags."""
    settings("scroll-and-click", "--text", "About phone")

    printed = settings("read-value", "--label", "Android version", "--output", "pretty")

    assert printed.out.strip().isdecimal()


def test_a_reading_can_be_rehearsed(cli: Cli) -> None:
    """Nothing is sent; the plan says what would be."""
    printed = cli("read-value", "--text", "Battery", "--dry-run", "--device", "no-such-device")

    assert printed.json["plan"]["actions"][0]["params"]["labelMatcher"] == {"textEquals": "Battery"}
