"""A shell that stays open on the device."""

from __future__ import annotations

import shlex
import socket
import subprocess
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.errors import (
    ClawperatorError,
    DeviceNotFoundError,
    ErrorCode,
    PayloadTooLargeError,
    TransportError,
    TransportTimeoutError,
)
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport import shell as warm_shell
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import ShellResult
from pytest_clawperator.transport.shell import (
    LONGEST,
    MAX_ARGUMENT,
    WarmShell,
    broadcast_command,
    parse_properties,
    properties,
    quote,
)
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.transport import ScriptedTransport

DEADLINE = 20.0


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    """Yield one simulated phone."""
    with Simulator(seed=1) as running:
        yield running


@pytest.fixture
def transport(simulator: Simulator) -> Iterator[AdbTransport]:
    """Yield a transport to the phone."""
    server = AdbServer(simulator.adb_host, simulator.adb_port)
    made = AdbTransport(server, simulator.serials[0])
    yield made
    made.close()


class Far:
    """The far ends of shells that a test plays itself."""

    def __init__(self) -> None:
        self.ends: list[socket.socket] = []
        self.alone: list[str] = []
        self.absence: ClawperatorError | None = None
        self.on_silence: Callable[[], None] = lambda: None
        self.shell = WarmShell(
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
        """Read a command and give the word that its end is told by."""
        return self.ends[-1].recv(65536).decode().rpartition(" ")[2].partition(":")[0]

    def say(self, text: str) -> None:
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


def test_commands_share_one_shell(transport: AdbTransport) -> None:
    """Outputs and exit codes come one by one from the same process."""
    shell = transport.quick_shell
    results = []
    for command in ("echo $$", "ls /nowhere", "echo $$", "echo ' a  b '; false"):
        shell.start(command)
        results.append(shell.result(DEADLINE))

    assert results[0].stdout == results[2].stdout
    assert results[1].exit_code != 0
    assert "/nowhere" in results[1].stdout
    assert results[3] == ShellResult(" a  b \n", "", 1)


def test_a_result_that_nobody_asked_for_is_passed_over(transport: AdbTransport) -> None:
    """The next command's result is its own."""
    shell = transport.quick_shell
    shell.start("echo first")

    shell.start("echo second")
    result = shell.result(DEADLINE)

    assert result.stdout == "second\n"


def test_a_shell_that_ended_is_opened_again(transport: AdbTransport) -> None:
    """A shell that is gone is noticed before a command is sent into it."""
    shell = transport.quick_shell
    shell.start("exit")
    with pytest.raises(TransportError):
        shell.result(DEADLINE)

    shell.start("echo again")
    result = shell.result(DEADLINE)

    assert result.stdout == "again\n"


def test_a_shell_that_ended_while_idle_is_opened_again(far: Far) -> None:
    """An idle connection that broke costs nothing but a new one."""
    far.shell.start("one")
    far.say(f"{far.mark()}:0\n")
    far.shell.result(DEADLINE)
    far.ends[0].close()

    far.shell.start("two")
    far.say(f"two\n{far.mark()}:3\n")
    result = far.shell.result(DEADLINE)

    assert result == ShellResult("two\n", "", 3)
    assert len(far.ends) == 2


def test_a_shell_that_broke_under_a_result_nobody_wants_is_opened_again(far: Far) -> None:
    """How the last command ended does not keep the next one from being sent."""
    far.shell.start("one")
    far.ends[0].close()

    far.shell.prepare()
    far.shell.start("two")
    far.say(f"two\n{far.mark()}:0\n")
    result = far.shell.result(DEADLINE)

    assert result == ShellResult("two\n", "", 0)
    assert len(far.ends) == 2


def test_a_result_in_pieces_is_put_together(far: Far) -> None:
    """The end is only the end with its line complete."""
    far.shell.start("x")
    mark = far.mark()
    for piece in ("out", "put\n", mark[:5], f"{mark[5:]}:", "12"):
        far.say(piece)
    with pytest.raises(TransportTimeoutError, match=r"the device did not answer within 0\.05 s\n"):
        far.shell.result(0.0500004)
    far.shell.start("y")
    far.say(f"output\n{far.mark()}:12\n")

    result = far.shell.result(DEADLINE)

    assert result == ShellResult("output\n", "", 12)


def test_a_long_command_gets_a_shell_of_its_own(far: Far) -> None:
    """The device's shell reads its input byte by byte, which long payloads are spared."""
    command = "x" * (LONGEST + 1)

    far.shell.start(command)
    result = far.shell.result(DEADLINE)

    assert result == ShellResult("alone", "", 7)
    assert far.alone == [command]
    assert far.ends == []


def test_what_the_shell_said_before_it_ended_is_told(far: Far) -> None:
    """An early end is an error with the last words in it."""
    far.shell.start("x")
    far.mark()
    far.say("out of memory")
    far.ends[0].close()

    with pytest.raises(TransportError, match="out of memory"):
        far.shell.result(DEADLINE)


def test_a_device_that_is_away_is_to_blame(far: Far) -> None:
    """A connection that broke because the device vanished says so."""
    far.absence = DeviceNotFoundError("gone", serial="PH1")
    far.shell.start("x")
    far.ends[0].close()

    with pytest.raises(DeviceNotFoundError):
        far.shell.result(DEADLINE)


def test_a_silent_device_is_asked_whether_it_is_there(
    far: Far, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that takes long is waited for, as long as the device answers meanwhile."""
    monkeypatch.setattr(warm_shell, "QUIET", 0.01)
    far.shell.start("slow")
    mark = far.mark()
    said = iter(["", f"done{mark}:0\n"])
    far.on_silence = lambda: far.say(next(said))

    result = far.shell.result(DEADLINE)

    assert result == ShellResult("done", "", 0)
    assert list(said) == []


def test_a_device_that_does_not_answer_is_not_waited_for(
    far: Far, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait for a command ends when the device answers nothing at all."""
    monkeypatch.setattr(warm_shell, "QUIET", 0.01)
    silent = TransportTimeoutError("the device does not answer", serial="PH1")

    def raise_silent() -> None:
        raise silent

    far.on_silence = raise_silent
    far.shell.start("slow")

    with pytest.raises(TransportTimeoutError) as caught:
        far.shell.result(DEADLINE)

    assert caught.value is silent


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


def test_properties_are_read_in_one_go() -> None:
    """One command gives them all."""
    transport = ScriptedTransport({"getprop": "[ro.a]: [1]\n[ro.b]: []\n"})

    found = properties(transport)

    assert found == {"ro.a": "1", "ro.b": ""}
    assert transport.calls == ["getprop"]


def test_values_may_have_line_breaks_and_brackets() -> None:
    """A value goes on until the next key."""
    text = "[a]: [one\ntwo]\r\n[b]: [x] y]\n[c]: [[1]: not a key]\n[d]: [end\n\n]\n"

    found = parse_properties(text)

    assert found == {"a": "one\ntwo", "b": "x] y", "c": "[1]: not a key", "d": "end\n\n"}


def test_a_device_without_getprop_tells_nothing() -> None:
    """What is missing is unknown, not an error."""
    transport = ScriptedTransport({"getprop": ShellResult("", "getprop: not found\n", 127)})

    assert properties(transport) == {}
