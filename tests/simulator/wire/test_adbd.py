"""The device's end of the adb protocol."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from pathlib import Path

import pytest

from pytest_clawperator.simulator.wire.messages import MAX_PAYLOAD
from pytest_clawperator.simulator.wire.stream import Stream, StreamClosed
from tests.simulator.wire.hosts import (
    DEADLINE,
    Message,
    MiniDevice,
    RawHost,
    echo,
    listening,
    pattern,
    raw_host,
    real_adb,
)


async def soon(event: asyncio.Event) -> None:
    """Wait for something that must happen."""
    await asyncio.wait_for(event.wait(), DEADLINE)


async def collect(host: RawHost, local: int, *, number: int = 1) -> list[bytes]:
    """Acknowledge what a stream sends until the device closes it; give the pieces."""
    pieces = []
    while (message := await host.next()).command != "CLSE":
        assert message.command == "WRTE"
        pieces.append(message.payload)
        host.send("OKAY", number, local)
    return pieces


def test_a_host_is_greeted_with_properties_and_features() -> None:
    """The answer to CNXN names the device and only what it can do."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            answer = await host.greet()

            assert answer[:3] == ("CNXN", 0x01000001, MAX_PAYLOAD)
            kind, _, rest = answer.payload.decode().partition("::")
            properties = dict(part.split("=") for part in rest.split(";"))
            assert kind == "device"
            assert properties["ro.product.model"] == "Mini Phone"
            assert properties["features"] == "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir"

    asyncio.run(run())


def test_an_unauthorized_host_is_asked_for_a_key_again_and_again() -> None:
    """No signature and no key is ever good enough."""

    async def run() -> None:
        device = MiniDevice(state="unauthorized")
        async with listening(device) as (_, port), raw_host(port) as host:
            asked = await host.greet()
            host.send("AUTH", 2, 0, b"signature" * 28)
            again = await host.next()
            host.send("AUTH", 3, 0, b"key\0")
            host.send("OPEN", 1, 0, b"exec:echo x\0")

            assert asked[:2] == again[:2] == ("AUTH", 1)
            assert len(asked.payload) == 20
            assert await host.rest() == b""

    asyncio.run(run())


def test_an_offline_device_says_nothing() -> None:
    """The connection stands, but there is no answer on it."""

    async def run() -> None:
        device = MiniDevice(state="offline")
        async with listening(device) as (_, port), raw_host(port) as host:
            host.send("CNXN", 0x01000001, MAX_PAYLOAD, b"host::")
            host.send("AUTH", 3, 0, b"key\0")
            host.writer.write(b"\0" * 24)

            assert await host.rest() == b""

    asyncio.run(run())


def test_an_unknown_service_is_refused_without_a_stream() -> None:
    """The host gets CLSE with no number of the device's."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            await host.greet()
            host.send("OPEN", 5, 0, b"nonsense:\0")

            assert await host.next() == Message("CLSE", 0, 5)

    asyncio.run(run())


def test_a_service_answers_and_closes() -> None:
    """The stream opens, brings the answer, and ends."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("exec:echo hello", number=9)

            assert await host.next() == Message("WRTE", local, 9, b"hello\n")
            assert await host.next() == Message("CLSE", local, 9)

    asyncio.run(run())


def test_one_piece_travels_until_it_is_acknowledged() -> None:
    """A second piece waits for the host, while other streams go on."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open(f"exec:big {2 * MAX_PAYLOAD}", number=1)
            first = await host.next()
            await host.open("exec:echo between", number=2)
            between = [await host.next(), await host.next()]
            host.send("OKAY", 1, local)
            second = await host.next()

            assert [message.arg1 for message in between] == [2, 2]
            assert first.payload + second.payload == pattern(2 * MAX_PAYLOAD)

    asyncio.run(run())


@pytest.mark.parametrize("max_payload", [4096, 256 * 1024, MAX_PAYLOAD, 2**32 - 1])
def test_writes_are_split_to_what_both_sides_allow(max_payload: int) -> None:
    """No piece is larger than the smaller of the two limits, and nothing is lost."""

    async def run() -> None:
        size = 3 * min(max_payload, MAX_PAYLOAD) + 17
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            await host.greet(max_payload=max_payload)
            local = await host.open(f"exec:big {size}")
            pieces = await collect(host, local)

            assert b"".join(pieces) == pattern(size)
            assert max(map(len, pieces)) == min(max_payload, MAX_PAYLOAD)

    asyncio.run(run())


def test_small_writes_leave_together() -> None:
    """What is written while the host is busy goes in one piece afterwards."""

    async def run() -> None:
        async def chatty(_: str, stream: Stream) -> None:
            await stream.write(b"first ")
            await sent.wait()
            for _line in range(1000):
                await stream.write(b"line\n")
            written.set()
            await stream.read()

        sent, written = asyncio.Event(), asyncio.Event()
        device = MiniDevice({"chatty": chatty})
        async with listening(device) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("chatty:")
            first = await host.next()
            sent.set()
            await soon(written)
            host.send("OKAY", 1, local)
            second = await host.next()

            assert first.payload == b"first "
            assert second.payload == b"line\n" * 1000

    asyncio.run(run())


def test_many_streams_at_once_do_not_mix() -> None:
    """Hundreds of echoes, interleaved, each give back their own bytes."""

    async def run() -> None:
        numbers = range(1, 301)
        async with listening(MiniDevice({"echo": echo})) as (_, port), raw_host(port) as host:
            await host.greet()
            for number in numbers:
                host.send("OPEN", number, 0, b"echo:\0")
            opened = [await host.next() for _ in numbers]
            locals_ = {message.arg1: message.arg0 for message in opened}
            for number in numbers:
                host.send("WRTE", number, locals_[number], b"stream %d" % number)
            answers: dict[int, bytes] = {}
            while len(answers) < len(numbers):
                message = await host.next()
                if message.command == "WRTE":
                    answers[message.arg1] = message.payload
                    host.send("OKAY", message.arg1, message.arg0)

            assert len(set(locals_.values())) == len(numbers)
            assert answers == {number: b"stream %d" % number for number in numbers}

    asyncio.run(run())


def test_large_writes_of_the_host_arrive_whole() -> None:
    """Five full messages, each acknowledged, are what the service reads."""

    async def run() -> None:
        received = bytearray()

        async def sink(_: str, stream: Stream) -> None:
            while data := await stream.read():
                received.extend(data)
            done.set()

        done = asyncio.Event()
        data = pattern(5 * MAX_PAYLOAD)
        async with listening(MiniDevice({"sink": sink})) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("sink:")
            for start in range(0, len(data), MAX_PAYLOAD):
                host.send("WRTE", 1, local, data[start : start + MAX_PAYLOAD])
                assert await host.next() == Message("OKAY", local, 1)
            host.send("CLSE", 1, local)
            await soon(done)

            assert received == data

    asyncio.run(run())


def test_a_service_that_does_not_read_holds_the_host_back() -> None:
    """Beyond a full message, acknowledgements wait until the service reads."""

    async def run() -> None:
        async def lazy(_: str, stream: Stream) -> None:
            await release.wait()
            total = 0
            while total < 2 * MAX_PAYLOAD:
                total += len(await stream.read())
            await stream.write(b"%d" % total)

        release = asyncio.Event()
        device = MiniDevice({"lazy": lazy})
        async with listening(device) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("lazy:", number=1)
            host.send("WRTE", 1, local, b"x" * MAX_PAYLOAD)
            assert await host.next() == Message("OKAY", local, 1)
            host.send("WRTE", 1, local, b"x" * MAX_PAYLOAD)
            await host.open("exec:echo between", number=2)
            between = [await host.next(), await host.next()]
            release.set()

            assert [message.command for message in between] == ["WRTE", "CLSE"]
            assert await host.next() == Message("OKAY", local, 1)
            assert (await host.next()).payload == b"%d" % (2 * MAX_PAYLOAD)

    asyncio.run(run())


def test_a_host_that_ignores_flow_control_is_dropped() -> None:
    """Nobody can fill the memory by never waiting."""

    async def run() -> None:
        async def deaf(_: str, stream: Stream) -> None:
            await asyncio.Event().wait()

        device = MiniDevice({"deaf": deaf})
        async with listening(device) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("deaf:")
            for _ in range(8):
                host.send("WRTE", 1, local, b"x" * MAX_PAYLOAD)

            assert (await host.rest())[:4] in (b"OKAY", b"")

    asyncio.run(run())


def test_after_the_host_closed_a_service_can_finish_its_work() -> None:
    """Sent bytes are still read, then nothing; writing says that nobody listens."""

    async def run() -> None:
        seen: list[object] = []

        async def careful(_: str, stream: Stream) -> None:
            await release.wait()
            seen.append(await stream.read())
            seen.append(await stream.read())
            try:
                await stream.write(b"too late")
            except StreamClosed:
                seen.append(StreamClosed)
            done.set()

        release, done = asyncio.Event(), asyncio.Event()
        device = MiniDevice({"careful": careful})
        async with listening(device) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("careful:")
            host.send("WRTE", 1, local, b"last words")
            assert await host.next() == Message("OKAY", local, 1)
            host.send("CLSE", 1, local)
            assert await host.next() == Message("CLSE", local, 1)
            release.set()
            await soon(done)

            assert seen == [b"last words", b"", StreamClosed]

    asyncio.run(run())


def test_a_writer_wakes_when_the_host_closes() -> None:
    """A service stuck in a write learns that the host wants no more."""

    async def run() -> None:
        async def endless(_: str, stream: Stream) -> None:
            try:
                while True:
                    await stream.write(b"x" * MAX_PAYLOAD)
            except StreamClosed:
                woken.set()

        woken = asyncio.Event()
        device = MiniDevice({"endless": endless})
        async with listening(device) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("endless:")
            assert (await host.next()).command == "WRTE"
            host.send("CLSE", 1, local)
            await soon(woken)

    asyncio.run(run())


@pytest.mark.parametrize("ending", ["host vanishes", "device drops", "adbd stops", "host restarts"])
def test_services_are_cancelled_when_their_connection_ends(ending: str) -> None:
    """However the connection ends, its services end too."""

    async def run() -> None:
        async def waiting(_: str, stream: Stream) -> None:
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        started, ended = asyncio.Event(), asyncio.Event()
        device = MiniDevice({"waiting": waiting})
        async with listening(device) as (adbd, port), raw_host(port) as host:
            await host.greet()
            await host.open("waiting:")
            await soon(started)
            if ending == "host vanishes":
                await host.close()
            elif ending == "device drops":
                adbd.drop_connections()
                assert await host.rest() == b""
            elif ending == "adbd stops":
                await adbd.stop()
                assert ended.is_set()
            else:
                assert (await host.greet()).command == "CNXN"
            await soon(ended)

    asyncio.run(run())


def test_a_cancelled_service_may_clean_up_and_stopping_waits_for_it() -> None:
    """It is cancelled once, and adbd has stopped only when it is done."""

    async def run() -> None:
        steps: list[str] = []

        async def tidy(_: str, stream: Stream) -> None:
            try:
                await stream.read()
                await asyncio.Event().wait()
            finally:
                for step in ("close", "flush", "leave"):
                    await asyncio.sleep(0.001)
                    steps.append(step)

        async with listening(MiniDevice({"tidy": tidy})) as (adbd, port), raw_host(port) as host:
            await host.greet()
            await host.open("tidy:")
            adbd.drop_connections()
            assert await host.rest() == b""
            adbd.drop_connections()
            await adbd.stop()

            assert steps == ["close", "flush", "leave"]

    asyncio.run(run())


def test_after_a_drop_the_device_can_be_reached_again() -> None:
    """Dropping connections is a pulled cable, not the end."""

    async def run() -> None:
        async with listening(MiniDevice()) as (adbd, port):
            async with raw_host(port) as host:
                await host.greet()
                adbd.drop_connections()
                assert await host.rest() == b""
            async with raw_host(port) as host:
                assert (await host.greet()).command == "CNXN"

    asyncio.run(run())


def test_a_failing_service_closes_only_its_own_stream(caplog: pytest.LogCaptureFixture) -> None:
    """The error is logged, and the connection lives on."""

    async def run() -> None:
        async def broken(_: str, stream: Stream) -> None:
            raise LookupError("no such thing")

        device = MiniDevice({"broken": broken})
        async with listening(device) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("broken:", number=1)
            assert await host.next() == Message("CLSE", local, 1)
            await host.open("exec:echo alive", number=2)
            assert (await host.next()).payload == b"alive\n"

    with caplog.at_level(logging.ERROR):
        asyncio.run(run())
    assert "no such thing" in caplog.text


def test_a_host_of_the_old_version_gets_and_must_send_checksums() -> None:
    """Below the version that skips them, every message is summed up, and a wrong sum ends it."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            await host.greet(version=0x01000000, max_payload=4096)
            await host.open("exec:echo sum")
            answer = await host.next()
            assert host.checksums[-1] == sum(answer.payload)
            await host.next()
            host.writer.write(Message("OPEN", 2, 0, b"exec:echo x\0").packed(checksum=1))

            assert await host.rest() == b""

    asyncio.run(run())


def test_a_host_of_the_new_version_may_leave_checksums_out() -> None:
    """A reconnecting adb fills in no sum, not even for its greeting."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            greeting = Message("CNXN", 0x01000001, MAX_PAYLOAD, b"host::")
            host.writer.write(greeting.packed(checksum=0))
            assert (await host.next()).command == "CNXN"
            host.writer.write(Message("OPEN", 1, 0, b"exec:echo x\0").packed(checksum=0))
            assert (await host.next()).command == "OKAY"

    asyncio.run(run())


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\0" * 24,
        Message("CNXN", 0x00FFFFFF, 4096).packed(),
        Message("CNXN", 0x01000001, 0).packed(),
        Message("OPEN", 1, 0, b"exec:echo x\0").packed(),
        Message("STLS", 0x01000000, 0).packed(),
        Message("CNXN", 0x01000001, 4096)._replace(payload=b"x" * (MAX_PAYLOAD + 1)).packed(),
    ],
    ids=["http", "zeros", "old", "no payload", "no greeting", "unknown", "oversize"],
)
def test_a_stranger_is_dropped(data: bytes) -> None:
    """What is not the protocol ends that connection without an answer."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            host.writer.write(data)

            assert await host.rest() == b""

    asyncio.run(run())


def test_talk_about_streams_that_do_not_exist_is_ignored() -> None:
    """A late word about a closed stream is normal."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            await host.greet()
            for command in ("OKAY", "WRTE", "CLSE"):
                host.send(command, 77, 78, b"x" if command == "WRTE" else b"")
            await host.open("exec:echo fine")

            assert (await host.next()).payload == b"fine\n"

    asyncio.run(run())


def test_a_host_cannot_open_streams_without_end() -> None:
    """Beyond a thousand open streams, further ones are refused."""

    async def run() -> None:
        async with listening(MiniDevice({"echo": echo})) as (_, port), raw_host(port) as host:
            await host.greet()
            for number in range(1, 1101):
                host.send("OPEN", number, 0, b"echo:\0")
            commands = [(await host.next()).command for _ in range(1100)]

            assert commands.count("OKAY") == 1024
            assert commands.count("CLSE") == 76

    asyncio.run(run())


def _hostile(rng: random.Random) -> bytes:
    """Make up what a broken or malicious host might send after a good start or none."""
    greeting = Message("CNXN", 0x01000001, rng.choice([1, 4096, MAX_PAYLOAD]), b"host::").packed()
    commands = ["CNXN", "OPEN", "OKAY", "WRTE", "CLSE", "AUTH", "STLS", "SYNC", "\0\1\2\3"]
    numbers = [0, 1, 2, 3, 2**31, 2**32 - 1]
    destinations = [b"echo:\0", b"exec:big 100000\0", b"sync:\0", b"\xff\xfe:\0", b"", b"shell,v2:"]
    data = bytearray(greeting if rng.random() < 0.9 else b"")
    for _ in range(rng.randrange(12)):
        payload = rng.choice([rng.choice(destinations), rng.randbytes(rng.randrange(200))])
        message = Message(rng.choice(commands), rng.choice(numbers), rng.choice(numbers), payload)
        data += message.packed(checksum=rng.choice([None, 0, 7]))
    if rng.random() < 0.3 and data:
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.random() < 0.5:
        del data[rng.randrange(len(data) + 1) :]
    if rng.random() < 0.1:
        data = bytearray(rng.randbytes(rng.randrange(300)))
    return bytes(data)


@pytest.mark.parametrize("seed", range(4))
def test_hostile_bytes_harm_nobody_else(seed: int) -> None:
    """Random, mutated and truncated messages end their own connection at worst."""

    async def run() -> None:
        rng = random.Random(seed)
        async with listening(MiniDevice({"echo": echo})) as (_, port), raw_host(port) as good:
            await good.greet()
            local = await good.open("echo:")
            before = len(asyncio.all_tasks())
            for round_ in range(100):
                async with raw_host(port) as bad:
                    for piece in _cut(rng, _hostile(rng)):
                        bad.writer.write(piece)
                        await asyncio.sleep(0)
                    if rng.random() < 0.5:
                        with contextlib.suppress(OSError):
                            bad.writer.write_eof()
                        await bad.rest()
                good.send("WRTE", 1, local, b"%d" % round_)
                assert await good.next() == Message("OKAY", local, 1)
                assert await good.next() == Message("WRTE", local, 1, b"%d" % round_)
                good.send("OKAY", 1, local)
            while len(asyncio.all_tasks()) > before:
                await asyncio.sleep(0)

    async def limited() -> None:
        await asyncio.wait_for(run(), DEADLINE)

    asyncio.run(limited())


def _cut(rng: random.Random, data: bytes) -> list[bytes]:
    """Cut data at random places."""
    places = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(4)))
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


def test_the_real_adb_sees_the_device(tmp_path: Path) -> None:
    """It lists the device with its properties and knows its features."""

    async def run() -> None:
        async with real_adb(tmp_path, MiniDevice()) as adb:
            listed = await adb("devices", "-l")
            features = await adb("features")

            row = listed.text.splitlines()[1].split()
            assert row[:2] == [adb.serial, "device"]
            assert {"product:mini", "model:Mini_Phone", "device:mini1"} <= set(row)
            assert "shell_v2" in features.text.split()

    asyncio.run(run())


def test_the_real_adb_runs_commands(tmp_path: Path) -> None:
    """Output, input and the exit code go through; unknown services are refused."""

    async def run() -> None:
        async with real_adb(tmp_path, MiniDevice()) as adb:
            shell = await adb("shell", "echo", "hi")
            stdin = await adb("shell", "cat", stdin=b"from the host\n")
            raw = await adb("exec-out", "big 3000000")
            unknown = await adb("jdwp")

            assert (shell.code, shell.stdout) == (7, b"hi\n")
            assert stdin.stdout == b"from the host\n"
            assert raw.stdout == pattern(3_000_000)
            assert (unknown.code, unknown.text) == (1, "error: closed\n")

    asyncio.run(run())


def test_the_real_adb_moves_much_data_both_ways_on_many_streams(tmp_path: Path) -> None:
    """Eight commands at once each get their own four megabytes back."""

    async def run() -> None:
        async with real_adb(tmp_path, MiniDevice()) as adb:
            data = [pattern(4_000_000 + number) for number in range(8)]
            ended = await asyncio.gather(*(adb("shell", "cat", stdin=each) for each in data))

            assert [one.stdout == sent for one, sent in zip(ended, data, strict=True)] == [True] * 8

    asyncio.run(run())


@pytest.mark.parametrize("state", ["unauthorized", "offline"])
def test_the_real_adb_shows_a_device_that_is_not_ready(tmp_path: Path, state: str) -> None:
    """Its state is listed, commands fail, and it comes back when the state ends."""

    async def run() -> None:
        device = MiniDevice()
        async with real_adb(tmp_path) as adb, listening(device) as (adbd, port):
            serial = await adb.server.connect(port)
            device.state = "unauthorized" if state == "unauthorized" else "offline"
            adbd.drop_connections()
            await adb.until(serial, state)
            listed = await adb("devices")
            refused = await adb("shell", "echo", "x")
            device.state = "device"
            adbd.drop_connections()
            await adb.until(serial, "device")
            back = await adb("shell", "echo", "back")

            assert f"{serial}\t{state}" in listed.text
            assert refused.code != 0
            assert state in refused.text
            assert back.stdout == b"back\n"

    asyncio.run(run())


def test_the_real_adb_reconnects_and_disconnects(tmp_path: Path) -> None:
    """Reconnecting from the device, disconnecting and connecting again all work."""

    async def run() -> None:
        device = MiniDevice()
        async with real_adb(tmp_path, device) as adb:
            device.admitted.clear()
            again = await adb("reconnect", "device")
            await soon(device.admitted)
            await adb.until(adb.serial, "device")
            first = await adb("shell", "echo", "1")
            gone = await adb("disconnect", adb.serial)
            listed = await adb("devices")
            connected = await adb("connect", adb.serial)
            second = await adb("shell", "echo", "2")

            assert again.code == 0
            assert (first.stdout, second.stdout) == (b"1\n", b"2\n")
            assert gone.text == f"disconnected {adb.serial}\n"
            assert adb.serial not in listed.text
            assert connected.text == f"connected to {adb.serial}\n"

    asyncio.run(run())


def test_killing_a_running_adb_ends_its_service(tmp_path: Path) -> None:
    """A command whose adb program is gone learns that nobody listens."""

    async def run() -> None:
        async def follow(_: str, stream: Stream) -> None:
            started.set()
            assert await stream.read() == b""
            ended.set()

        started, ended = asyncio.Event(), asyncio.Event()
        async with real_adb(tmp_path, MiniDevice({"exec": follow})) as adb:
            running = asyncio.create_task(adb("exec-out", "follow"))
            await soon(started)
            running.cancel()
            await soon(ended)
            with contextlib.suppress(asyncio.CancelledError):
                await running

    asyncio.run(run())
