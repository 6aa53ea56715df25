"""What is quoted comes out of a real shell as it went in."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.errors import ErrorCode, PayloadTooLargeError
from pytest_clawperator.transport.quoting import MAX_ARGUMENT, broadcast_command, quote

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@given(TEXT)
def test_a_posix_shell_reads_back_the_same_word(text: str) -> None:
    """Any text is one word, whatever it holds."""
    assert shlex.split(quote(text)) == [text]


@pytest.mark.parametrize(
    "text", ["", "plain", "it's", "''", "a\nb", '"$HOME" `id` \\ * ? ~ ! # ; & |', "日本 🙂"]
)
def test_a_real_shell_reads_back_the_same_word(text: str) -> None:
    """The system's own shell agrees."""
    run = subprocess.run(
        ["/bin/sh", "-c", f"printf '%s' {quote(text)}"], capture_output=True, check=True
    )

    assert run.stdout.decode() == text


def test_the_broadcast_is_the_one_that_the_operator_expects() -> None:
    """Every value is quoted, an apostrophe closes and opens the quotes."""
    command = broadcast_command("com.clawperator.operator", '{"text":"it\'s"}')

    assert command == (
        "am broadcast -a 'app.clawperator.operator.ACTION_AGENT_COMMAND' "
        "-p 'com.clawperator.operator' --es 'payload' "
        '\'{"text":"it\'"\'"\'s"}\' --receiver-foreground'
    )


def test_line_breaks_leave_the_payload() -> None:
    """Pretty JSON travels on one line."""
    command = broadcast_command("p", '{\n"a":\n1}')

    assert "'{\"a\":1}'" in command


def test_a_payload_that_no_program_can_be_given_is_refused() -> None:
    """The longest that fits is taken; one byte more names its size, quoted too, and the limit."""
    fits = broadcast_command("p", "'" * MAX_ARGUMENT)

    with pytest.raises(PayloadTooLargeError) as caught:
        broadcast_command("p", "'" * (MAX_ARGUMENT + 1))

    assert len(fits) > 5 * MAX_ARGUMENT
    assert caught.value.code == ErrorCode.PAYLOAD_TOO_LARGE
    for number in (MAX_ARGUMENT, MAX_ARGUMENT + 1, 5 * (MAX_ARGUMENT + 1) + 2):
        assert str(number) in caught.value.message


def test_bytes_are_counted_not_characters() -> None:
    """A character of four bytes counts as four."""
    with pytest.raises(PayloadTooLargeError):
        broadcast_command("p", "🙂" * (MAX_ARGUMENT // 4 + 1))
