"""A shell that stays open on the device."""

from __future__ import annotations

import shlex
import socket
import subprocess
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator import errors
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.transport import shell
from pytest_clawperator.transport import shell as warm_shell
from pytest_clawperator.transport.interface import ShellResult
from pytest_clawperator.transport.shell import broadcast_command, quote
from tests.doubles.transport import ScriptedTransport

DEADLINE = 20.0


class Far:
    """The far ends of shells that a test plays itself."""

    def __init__(self) -> None:
        self.ends: list[socket.socket] = []
        self.alone: list[str] = []
        self.absence: errors.ClawperatorError | None = None
        self.on_silence: Callable[[], None] = lambda: None
        self.shell = shell.WarmShell(
            self.open, self.run_alone, lambda: self.absence, self.prove_alive, serial="PH1"
        )

    def open(self) -> socket.socket:
        """Open another shell."""
        near, far = socket.socketpair()
        far.settimeout(DEADLINE)
        self.ends.append(far)
        return near

    def run_alone(self, command: str) -> ShellResult:
        """Run a command in a shell of its own."""
        self.alone.append(command)
        return ShellResult("alone", "", 7)

    def prove_alive(self) -> None:
        """Do what the test wants to happen in a silence."""
        self.on_silence()

    def mark(self) -> str:
        """Read a command and return the word that marks its end."""
        return self.ends[-1].recv(65536).decode().rpartition(" ")[2].partition(":")[0]

    def send(self, text: str) -> None:
        """Print something."""
        self.ends[-1].sendall(text.encode())


@pytest.fixture
def far() -> Iterator[Far]:
    """Yield a shell whose far end the test plays."""
    made = Far()
    yield made
    made.shell.close()
    for end in made.ends:
        end.close()


@pytest.mark.parametrize("is_idle", [True, False])
def test_a_shell_that_broke_is_opened_again(far: Far, *, is_idle: bool) -> None:
    """Neither an idle connection nor an unread result keeps the next command from being sent."""
    far.shell.start("one")
    if is_idle:
        far.send(f"{far.mark()}:0\n")
        far.shell.result(DEADLINE)
    far.ends[0].close()

    far.shell.prepare()
    far.shell.start("two")
    far.send(f"two\n{far.mark()}:3\n")
    result = far.shell.result(DEADLINE)

    assert result == ShellResult("two\n", "", 3)
    assert len(far.ends) == 2


def test_a_result_in_pieces_is_put_together(far: Far) -> None:
    """The end is only the end with its line complete."""
    far.shell.start("x")
    mark = far.mark()
    for piece in ("out", "put\n", mark[:5], f"{mark[5:]}:", "12"):
        far.send(piece)
    with pytest.raises(
        errors.TransportTimeoutError, match=r"the device did not answer within 0\.05 s\n"
    ):
        far.shell.result(0.0500004)
    far.shell.start("y")
    far.send(f"output\n{far.mark()}:12\n")

    result = far.shell.result(DEADLINE)

    assert result == ShellResult("output\n", "", 12)


def test_a_long_command_gets_a_shell_of_its_own(far: Far) -> None:
    """The device's shell reads its input byte by byte, which long payloads are spared."""
    command = "x" * (shell.LONGEST + 1)

    far.shell.start(command)
    result = far.shell.result(DEADLINE)

    assert result == ShellResult("alone", "", 7)
    assert far.alone == [command]
    assert far.ends == []


def test_a_shell_that_ends_early_names_the_cause(far: Far) -> None:
    """The error has its last output, or is that of a device that is gone."""
    far.shell.start("x")
    far.mark()
    far.send("out of memory")
    far.ends[0].close()
    with pytest.raises(errors.TransportError, match="out of memory"):
        far.shell.result(DEADLINE)

    far.absence = errors.DeviceNotFoundError("gone", serial="PH1")
    far.shell.start("y")
    far.ends[-1].close()
    with pytest.raises(errors.DeviceNotFoundError):
        far.shell.result(DEADLINE)


def test_a_silent_device_is_asked_whether_it_is_there(
    far: Far, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that takes long is waited for, as long as the device answers meanwhile."""
    monkeypatch.setattr(warm_shell, "QUIET", 0.01)
    far.shell.start("slow")
    mark = far.mark()
    said = iter(["", f"done{mark}:0\n"])
    far.on_silence = lambda: far.send(next(said))

    result = far.shell.result(DEADLINE)

    assert result == ShellResult("done", "", 0)
    assert list(said) == []


def test_a_device_that_does_not_answer_is_not_waited_for(
    far: Far, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait for a command ends when the device answers nothing at all."""
    monkeypatch.setattr(warm_shell, "QUIET", 0.01)
    silent = errors.TransportTimeoutError("the device does not answer", serial="PH1")

    def raise_silent() -> None:
        raise silent

    far.on_silence = raise_silent
    far.shell.start("slow")

    with pytest.raises(errors.TransportTimeoutError) as caught:
        far.shell.result(DEADLINE)

    assert caught.value is silent


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_a_posix_shell_reads_back_the_same_word(text: str) -> None:
    """Any text is one word, whatever it holds."""
    assert shlex.split(quote(text)) == [text]


def test_a_real_shell_reads_back_the_same_word() -> None:
    """The system's own shell agrees."""
    texts = ["", "plain", "it's", "''", "a\nb", '"$HOME" `id` \\ * ? ~ ! # ; & |', "日本 🙂"]
    words = " ".join(quote(text) for text in texts)

    run = subprocess.run(
        ["/bin/sh", "-c", f"printf '%s\\000' {words}"], capture_output=True, check=True
    )

    assert run.stdout.decode().split("\0")[:-1] == texts


def test_the_broadcast_is_the_one_that_the_operator_expects() -> None:
    """Every value is quoted, an apostrophe closes and opens the quotes, line breaks go."""
    command = broadcast_command("com.clawperator.operator", '{\n"text":\n"it\'s"}')

    assert command == (
        "am broadcast -a 'app.clawperator.operator.ACTION_AGENT_COMMAND' "
        "-p 'com.clawperator.operator' --es 'payload' "
        '\'{"text":"it\'"\'"\'s"}\' --receiver-foreground'
    )


def test_a_payload_that_no_program_can_be_given_is_refused() -> None:
    """The longest that fits is taken; one byte more names its size, quoted too, and the limit."""
    fits = broadcast_command("p", "'" * shell.MAX_ARGUMENT)

    with pytest.raises(errors.PayloadTooLargeError) as caught:
        broadcast_command("p", "'" * (shell.MAX_ARGUMENT + 1))
    with pytest.raises(errors.PayloadTooLargeError):
        broadcast_command("p", "🙂" * (shell.MAX_ARGUMENT // 4 + 1))

    assert len(fits) > 5 * shell.MAX_ARGUMENT
    assert caught.value.code == ErrorCode.PAYLOAD_TOO_LARGE
    for number in (shell.MAX_ARGUMENT, shell.MAX_ARGUMENT + 1, 5 * (shell.MAX_ARGUMENT + 1) + 2):
        assert str(number) in caught.value.message


def test_properties_are_read_by_one_command() -> None:
    """A value goes on until the next key; a device without getprop has none."""
    text = "[a]: [one\ntwo]\r\n[b]: [x] y]\n[c]: [[1]: not a key]\n[d]: [end\n\n]\n[e]: []\n"
    found = {"a": "one\ntwo", "b": "x] y", "c": "[1]: not a key", "d": "end\n\n", "e": ""}
    transport = ScriptedTransport({"getprop": text})
    without = ScriptedTransport({"getprop": ShellResult("", "getprop: not found\n", 127)})

    assert shell.properties(transport) == shell.parse_properties(text) == found
    assert transport.calls == ["getprop"]
    assert shell.properties(without) == {}
