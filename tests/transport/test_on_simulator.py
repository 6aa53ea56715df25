"""The transport on a simulated phone, through a real adb server, while things go wrong."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pytest_clawperator import errors
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport import logcat
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.adb_program import find_adb
from pytest_clawperator.transport.interface import ShellResult
from pytest_clawperator.transport.shell import broadcast_command, properties
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.adb_server import DEADLINE, eventually, nothing_left

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="by design: the simulator needs Linux or macOS"
)


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    """Yield two phones: a healthy one, and one for faults."""
    with Simulator(devices=2, time_scale=0.05, seed=7) as running:
        yield running


@pytest.fixture(scope="module")
def server(simulator: Simulator) -> AdbServer:
    """Return the simulator's adb server."""
    return AdbServer(simulator.adb_host, simulator.adb_port)


@pytest.fixture
def phone(simulator: Simulator, server: AdbServer) -> Iterator[AdbTransport]:
    """Yield the healthy phone; it must be left without threads."""
    with nothing_left(), closed(AdbTransport(server, simulator.serials[0])) as transport:
        yield transport


@pytest.fixture
def notices() -> list[str]:
    """Collect the notices of the log of the phone for faults."""
    return []


@pytest.fixture
def poor_phone(
    simulator: Simulator, server: AdbServer, notices: list[str]
) -> Iterator[AdbTransport]:
    """Yield the phone for faults, which is reset at the end."""
    transport = AdbTransport(server, simulator.serials[1], on_notice=notices.append)
    with nothing_left(), closed(transport):
        yield transport
        assert eventually(lambda: answers(transport, "sim reset"))


@contextmanager
def closed(transport: AdbTransport) -> Iterator[AdbTransport]:
    """Close a transport in the end."""
    try:
        yield transport
    finally:
        transport.close()


def answers(transport: AdbTransport, command: str) -> bool:
    """Whether the device runs a command."""
    try:
        return transport.shell(command).ok
    except errors.ClawperatorError:
        return False


def write(transport: AdbTransport, text: str) -> None:
    """Log a line on the device."""
    assert transport.shell(f"log -t test '{text}'").ok


def find(transport: AdbTransport, position: int, text: str) -> int:
    """Wait for a line from a position on and give the end of what was read."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        end = transport.log.wait(position, deadline)
        if any(text.encode() in line for line in transport.log.read(position, end)):
            return end
        position = end
    raise AssertionError(f"{text} was not logged")


def whole_log(transport: AdbTransport) -> list[bytes]:
    """Return the device's log as it is, but for its dividers."""
    output = transport.exec_out("logcat -d -v threadtime")
    return without_dividers(output.split(b"\n")[:-1])


def without_dividers(lines: list[bytes]) -> list[bytes]:
    """Leave out what logcat adds."""
    return [line for line in lines if not line.startswith(b"-----")]


def open_sockets() -> int:
    """Count the sockets of this process."""
    links = []
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            links.append(str(entry.readlink()))
    return sum(link.startswith("socket:") for link in links)


def test_a_phone_answers(phone: AdbTransport) -> None:
    """Outputs, exit code, raw bytes and properties come back; a missing command is known."""
    result = phone.shell("echo out; echo err >&2; exit 3")
    picture = phone.exec_out("screencap -p")
    found = properties(phone)

    assert (result.stdout, result.stderr, result.exit_code) == ("out\n", "err\n", 3)
    assert picture.startswith(b"\x89PNG")
    assert found["ro.product.model"] == "Pixel 9"
    assert phone.shell("no_such_command").missing


def test_quick_commands_share_one_shell(phone: AdbTransport) -> None:
    """Unread results are passed over, and a shell that ended is opened again."""
    shell = phone.quick_shell

    def run(command: str) -> ShellResult:
        shell.start(command)
        return shell.result(DEADLINE)

    first, missing = run("echo $$"), run("ls /nowhere")
    shell.start("echo unread")
    assert run("echo $$") == first
    assert missing.exit_code != 0
    assert "/nowhere" in missing.stdout
    assert run("echo ' a  b '; false") == ShellResult(" a  b \n", "", 1)
    with pytest.raises(errors.TransportError):
        run("exit")
    assert run("echo again").stdout == "again\n"


def test_a_timeout_ends_the_command(phone: AdbTransport) -> None:
    """Nothing goes on running on the phone."""
    with pytest.raises(errors.TransportTimeoutError):
        phone.shell("sleep 321", timeout=0.1)

    assert eventually(lambda: "sleep" not in phone.shell("ps -A -o ARGS").stdout)


def test_long_commands_arrive_whole(phone: AdbTransport) -> None:
    """Whether they fit into one request or have to be typed."""
    for size in (60_000, 100_000):
        result = phone.shell(f"echo '{'x' * size}'; exit 4")

        assert (result.stdout, result.exit_code) == ("x" * size + "\n", 4)


def test_a_payload_of_apostrophes_is_broadcast(phone: AdbTransport) -> None:
    """Quoting makes it five times as long, and it arrives all the same."""
    position = phone.log.mark()

    result = phone.shell(broadcast_command("com.clawperator.operator", "'" * 64_000))

    assert "Broadcast completed: result=0" in result.stdout
    find(phone, position, "Failed to parse agent command payload")


def test_files_come_back_as_they_were_sent(phone: AdbTransport, tmp_path: Path) -> None:
    """Bytes and files go there, and come back the same; a missing one has the phone's reason."""
    data = bytes(range(256)) * 4096
    source = tmp_path / "source.bin"
    source.write_bytes(data)

    phone.push(source, "/sdcard/one.bin")
    phone.push(b"", "/sdcard/empty.bin")
    phone.push(source, "/data/local/tmp")

    assert phone.pull("/sdcard/one.bin") == data
    assert phone.pull("/sdcard/empty.bin") == b""
    assert phone.pull("/data/local/tmp/source.bin") == data
    with pytest.raises(errors.TransportError, match="No such file or directory"):
        phone.pull("/sdcard/nothing")


def test_a_file_for_which_there_is_no_room_is_refused(poor_phone: AdbTransport) -> None:
    """The phone's own reason is in the message."""
    poor_phone.shell("sim fault storage_full")

    with pytest.raises(errors.TransportError, match="No space left on device") as caught:
        poor_phone.push(b"x" * 1000, "/sdcard/x")

    assert caught.value.code == ErrorCode.FILE_UNAVAILABLE


def test_lines_come_in_order_and_once(phone: AdbTransport) -> None:
    """What is logged after a mark comes after it."""
    position = phone.log.mark()

    for number in range(20):
        write(phone, f"line {number}")
    end = find(phone, position, "line 19")

    texts = [line.rpartition(b": ")[2] for line in phone.log.read(position, end)]
    assert [text for text in texts if text.startswith(b"line ")] == [
        b"line %d" % number for number in range(20)
    ]


@pytest.mark.parametrize("fault", ["log_cut times=1", "log_cut", "slow_log ms=30 times=5"])
def test_a_troubled_log_loses_nothing(
    fault: str, poor_phone: AdbTransport, notices: list[str]
) -> None:
    """Streams that end or lag are made good, without a line twice and without an error."""
    position = poor_phone.log.mark()
    before = whole_log(poor_phone)

    poor_phone.shell(f"sim fault {fault}")
    for number in range(5):
        write(poor_phone, f"{fault} {number}")
    poor_phone.shell("sim fault clear")
    write(poor_phone, "all is well")
    end = find(poor_phone, position, "all is well")

    lines = without_dividers(list(poor_phone.log.read(position, end)))
    assert lines == [line for line in whole_log(poor_phone) if line not in before][: len(lines)]
    assert notices == []
    assert poor_phone.connections == 1


@pytest.mark.parametrize("fault", ["offline ms=200", "unauthorized ms=200", "disconnect after=now"])
def test_a_phone_that_goes_away_raises_and_comes_back(
    fault: str, poor_phone: AdbTransport, notices: list[str]
) -> None:
    """A wait ends immediately; afterwards everything works, and nothing was missed."""
    start = poor_phone.log.mark()
    poor_phone.shell(f"sim fault {fault}")

    with pytest.raises(errors.DeviceError) as caught:
        poor_phone.log.wait(10**9, time.monotonic() + DEADLINE)
    assert eventually(lambda: answers(poor_phone, "log -t test 'back again'"))
    poor_phone.log.mark()
    find(poor_phone, start, "back again")

    assert caught.value.serial == poor_phone.serial
    assert caught.value.code in (
        ErrorCode.DEVICE_OFFLINE,
        ErrorCode.DEVICE_UNAUTHORIZED,
        ErrorCode.DEVICE_NOT_FOUND,
    )
    assert poor_phone.connections == 2
    assert notices == []


def test_lines_of_a_log_that_was_cleared_are_reported_lost(
    poor_phone: AdbTransport, notices: list[str]
) -> None:
    """The notice names the times between which lines are missing."""
    position = poor_phone.log.mark()
    write(poor_phone, "before")
    position = find(poor_phone, position, "before")

    poor_phone.shell("logcat -c; sim fault log_cut times=1; sleep 0.01; log -t test after")
    find(poor_phone, position, "after")

    assert len(notices) == 1


def test_a_phone_that_does_not_exist_fails_immediately(server: AdbServer) -> None:
    """Every way of asking names it."""
    with nothing_left(), closed(AdbTransport(server, "NONE")) as missing:
        for ask in (
            lambda: missing.shell("ls"),
            lambda: missing.exec_out("ls"),
            lambda: missing.pull("/x"),
            lambda: missing.push(b"", "/x"),
            lambda: missing.log.mark(),
        ):
            with pytest.raises(errors.DeviceNotFoundError, match="NONE"):
                ask()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="by design: counts sockets in /proc")
def test_nothing_is_left_open(simulator: Simulator, server: AdbServer) -> None:
    """Commands, failures and logs leave no socket behind."""

    def use() -> None:
        with nothing_left(), closed(AdbTransport(server, simulator.serials[0])) as transport:
            transport.log.mark()
            transport.shell("true")
            transport.exec_out("true")
            transport.push(b"x", "/sdcard/x")
            with suppress(errors.TransportTimeoutError):
                transport.shell("sleep 9", timeout=0.02)
            with suppress(errors.TransportError):
                transport.pull("/nothing")
            with suppress(errors.DeviceError), closed(AdbTransport(server, "NONE")) as missing:
                missing.log.mark()

    use()
    before = open_sockets()

    for _ in range(5):
        use()

    assert open_sockets() <= before


class OwnServer:
    """A real adb server that a test may kill, on a port that stays the same."""

    def __init__(self, home: Path) -> None:
        (home / ".android").mkdir()
        (home / ".android" / "adbkey").touch()
        self._home = home
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            self.server = AdbServer(*unused.getsockname())
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, serial: str) -> None:
        """Start it and connect it to a phone."""
        self._process = subprocess.Popen(
            [
                *(find_adb(), "-L", f"tcp:localhost:{self.server.port}"),
                *("--one-device", "none", "server", "nodaemon"),
            ],
            env={
                "HOME": str(self._home),
                "ADB_LIBUSB": "0",
                "ADB_MDNS": "0",
                "ADB_LOCAL_TRANSPORT_MAX_PORT": "5554",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert eventually(self._is_up)
        self.server.ask(f"host:connect:{serial}")
        assert eventually(lambda: (serial, "device") in self.server.devices())

    def kill(self) -> None:
        """End it as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _is_up(self) -> bool:
        try:
            return self.server.version() > 0
        except errors.ClawperatorError:
            return False


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[OwnServer]:
    """Yield an adb server of the test's own."""
    own = OwnServer(tmp_path)
    yield own
    own.kill()


def test_a_server_that_is_killed_and_comes_back(
    own_server: OwnServer,
    simulator: Simulator,
    phone: AdbTransport,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was logged meanwhile is read after the restart, and the connection is a new one."""
    monkeypatch.setattr(logcat, "_GRACE", 0.1)
    serial = simulator.serials[0]
    own_server.start(serial)
    notices: list[str] = []
    away = AdbTransport(own_server.server, serial, on_notice=notices.append)
    with nothing_left(), closed(away) as transport:
        start = transport.log.mark()
        own_server.kill()
        write(phone, "while away")
        with pytest.raises(errors.AdbUnavailableError):
            transport.log.wait(10**9, time.monotonic() + DEADLINE)
        with pytest.raises(errors.AdbUnavailableError):
            transport.shell("true")
        own_server.start(serial)

        assert eventually(lambda: answers(transport, "true"))
        transport.log.mark()
        find(transport, start, "while away")
        assert transport.connections == 2
        assert notices == []
