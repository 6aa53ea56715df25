"""Leases in a real Redis: renewed, fenced, taken over, and safe while Redis is away."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
import redis

from pytest_clawperator.devices import redis_lease
from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.inventory import read_device
from pytest_clawperator.devices.lease import await_store, open_leases, take_each
from pytest_clawperator.devices.redis_lease import Names, RedisLeases, Terms, Ticket
from pytest_clawperator.errors import ConfigurationError, ErrorCode, LeaseError
from pytest_clawperator.execution.flight import Flight
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.leases import fencing_number, take, take_all
from tests.doubles.redis_server import DEADLINE, RedisServer
from tests.doubles.transport import ScriptedTransport

# Long enough for a busy machine to renew in time, and short where the end is waited for.
LONG, SHORT = 10.0, 1.0

HOLDER = """
import sys
from pytest_clawperator.devices.redis_lease import RedisLeases
from pytest_clawperator.errors import LeaseError

lease = RedisLeases(sys.argv[1], run_id="other", ttl=float(sys.argv[2]), settle=0).try_take("PH1")
lease.clear("cmd-other", 600)
print(lease.ticket, flush=True)
for line in sys.stdin:
    try:
        lease.check()
    except LeaseError as error:
        print(error.message, flush=True)
    else:
        print("valid", flush=True)
"""


MakeStore = Callable[..., RedisLeases]


class OtherProcess:
    """Another process that has leased the device PH1 and sent a command to it."""

    def __init__(self, url: str, ttl: float) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(HOLDER), url, str(ttl)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parent.parent.parent,
        )
        self.ticket = self.line()

    def line(self) -> str:
        """Return the next line that it prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def asked(self) -> str:
        """Ask it whether its lease is valid."""
        assert self.process.stdin is not None
        print(file=self.process.stdin, flush=True)
        return self.line()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def end(self) -> None:
        """End it, whatever state it is in."""
        self.process.kill()
        self.process.communicate(timeout=DEADLINE)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """Start a Redis that these tests share."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture
def server(lasting: RedisServer) -> RedisServer:
    """Return a Redis that is empty."""
    with redis.Redis(port=lasting.port) as client:
        client.flushall()
    return lasting


@pytest.fixture
def brief(tmp_path: Path) -> Iterator[RedisServer]:
    """Start a Redis that a test may stop and start."""
    server = RedisServer(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def locks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Keep the flight files of the tests apart."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path / "locks"))
    return tmp_path / "locks"


@pytest.fixture
def store(locks: Path) -> Iterator[MakeStore]:
    """Return a factory of stores, each as another run on another machine has."""
    made: list[RedisLeases] = []

    def make(server: RedisServer, *, run_id: str = "mine", **options: Any) -> RedisLeases:
        options = {"settle": 0.0, **options}
        made.append(RedisLeases(server.url, run_id=run_id, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def other(locks: Path) -> Iterator[Callable[[RedisServer, float], OtherProcess]]:
    """Return a factory of processes that have leased the device."""
    made: list[OtherProcess] = []

    def make(server: RedisServer, ttl: float) -> OtherProcess:
        made.append(OtherProcess(server.url, ttl))
        return made[-1]

    yield make
    for each in made:
        each.end()


MakeOther = Callable[[RedisServer, float], OtherProcess]


def until(condition: Callable[[], Any]) -> None:
    """Wait until the condition is true."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def let_pass(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Set the clock of the leases forward."""
    clock = redis_lease.lease_time
    monkeypatch.setattr(redis_lease, "lease_time", lambda: clock() + seconds)


def is_valid(lease: Any) -> bool:
    """Whether a lease passes its check."""
    try:
        lease.check()
    except LeaseError:
        return False
    return True


def test_one_holder_at_a_time(server: RedisServer, store: MakeStore) -> None:
    """A second run gets nothing but the holder's name, until the device is released."""
    mine, theirs = store(server), store(server, run_id="theirs")

    with take(mine, "PH1") as lease:
        refused, holder = theirs.try_take("PH1"), theirs.holder("PH1")
    with take(theirs, "PH1"):
        now = mine.holder("PH1")

    assert refused is None
    assert holder == lease.holder
    assert now is not None
    assert now.run_id == "theirs"
    assert mine.holder("PH1") is None


def test_a_fork_cannot_release_a_device(
    server: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that inherited the object has not inherited the lease."""
    with take(store(server), "PH1") as lease:
        monkeypatch.setattr(os, "getpid", lambda: lease.holder.pid + 1)
        lease.release()
        monkeypatch.undo()

        lease.check()

    assert store(server).holder("PH1") is None


def test_each_holder_has_a_higher_number(server: RedisServer, store: MakeStore) -> None:
    """The fencing number counts the holders of a device, and of that device alone."""
    leases = store(server)

    numbers = []
    for key in ("PH1", "PH1", "PH2", "PH1"):
        with take(leases, key) as lease:
            numbers.append(fencing_number(lease))

    assert numbers == [1, 2, 1, 3]


def test_a_valid_lease_passes_its_checks(server: RedisServer, store: MakeStore) -> None:
    """While the lease lasts, commands may be sent, by the holder and by who borrows the device."""
    with take(store(server), "PH1") as lease:
        borrowed = store(server).borrow(lease.ticket)

        lease.check()
        lease.clear("cmd-1", 30.0)
        borrowed.check()
        borrowed.clear("cmd-2", 30.0)

    assert store(server).holder("PH1") is None


def test_a_released_lease_is_invalid(server: RedisServer, store: MakeStore) -> None:
    """After the release neither the holder nor a borrower may send a command."""
    lease = take(store(server, ttl=SHORT), "PH1")
    borrowed = store(server, ttl=SHORT).borrow(lease.ticket)
    lease.release()
    lease.release()

    with pytest.raises(LeaseError, match="no longer leased by this run"):
        lease.check()
    with pytest.raises(LeaseError, match="no longer leased by this run"):
        borrowed.check()


def test_the_lock_is_renewed(server: RedisServer, store: MakeStore) -> None:
    """The lock does not expire while its holder lives."""
    with take(store(server, ttl=3.0), "PH1") as lease, redis.Redis(port=server.port) as client:
        name = "clawperator:lease:PH1"
        until(lambda: client.pttl(name) < 2500)

        until(lambda: client.pttl(name) > 2800)
        lease.check()

    assert fencing_number(lease) == 1


def test_a_killed_holder_is_followed_within_the_time_to_live(
    server: RedisServer,
    store: MakeStore,
    other: MakeOther,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """After a kill -9 another machine gets the device, and learns what may still run on it."""
    other(server, SHORT).send(signal.SIGKILL)
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path / "another machine"))

    with take(store(server, ttl=SHORT), "PH1", wait=DEADLINE) as lease:
        left = Flight("PH1").peek()

    assert fencing_number(lease) == 2
    assert left is not None
    assert (left.command_id, left.arrived) == ("cmd-other", True)
    assert 500 < left.latest_end - time.monotonic() < 600


def test_a_holder_that_slept_may_not_send(
    server: RedisServer, store: MakeStore, other: MakeOther
) -> None:
    """A process that could not renew in time learns who has the device now."""
    sleeper = other(server, SHORT)
    sleeper.send(signal.SIGSTOP)

    with take(store(server, ttl=LONG), "PH1", wait=DEADLINE) as lease:
        sleeper.send(signal.SIGCONT)
        told = sleeper.asked()
        lease.check()

    assert told == f"the device is no longer leased by this run: {lease.holder} has it"


def test_a_borrower_notices_that_its_lender_died(
    server: RedisServer, store: MakeStore, other: MakeOther, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker whose controller was killed may not send for longer than the time to live."""
    lender = other(server, LONG)
    borrowed = store(server, ttl=LONG).borrow(lender.ticket)
    borrowed.check()
    lender.send(signal.SIGKILL)

    with redis.Redis(port=server.port) as client:
        client.delete("clawperator:lease:PH1")  # as when the time to live is over
    let_pass(monkeypatch, LONG)

    with pytest.raises(LeaseError, match="did not renew it in time"):
        borrowed.check()


def test_a_number_that_went_up_ends_the_lease(server: RedisServer, store: MakeStore) -> None:
    """Somebody else had the device in between, though the lock looks the same."""
    with take(store(server), "PH1") as lease, redis.Redis(port=server.port) as client:
        client.incr("clawperator:fencing:PH1")

        with pytest.raises(LeaseError, match="another holder had it in between"):
            lease.clear("cmd-1", 30.0)


def test_a_number_that_started_again_is_not_enough(server: RedisServer, store: MakeStore) -> None:
    """After Redis lost its numbers two holders may have the same one: the name decides."""
    successor = Holder.here("successor")
    with take(store(server), "PH1") as lease, redis.Redis(port=server.port) as client:
        client.set("clawperator:lease:PH1", successor.to_json())

        with pytest.raises(LeaseError, match="run successor") as caught:
            lease.check()

    assert f"{successor} has it" in str(caught.value)
    assert store(server).holder("PH1") == successor


def test_what_was_lost_stays_lost_without_redis(brief: RedisServer, store: MakeStore) -> None:
    """A holder that learned of its loss stays without the device when Redis goes away."""
    lease = take(store(brief, ttl=LONG), "PH1")
    with redis.Redis(port=brief.port) as client:
        client.set("clawperator:lease:PH1", Holder.here("successor").to_json())
    at_first = is_valid(lease)
    brief.stop()

    afterwards = is_valid(lease)
    lease.release()

    assert (at_first, afterwards) == (False, False)


def test_a_holder_stops_by_its_own_clock(
    brief: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Redis a holder may send for a while, and stops before somebody else may."""
    with take(store(brief, ttl=LONG), "PH1") as lease:
        brief.stop()
        at_once = is_valid(lease)

        let_pass(monkeypatch, 0.96 * LONG)
        with pytest.raises(LeaseError) as caught:
            lease.clear("cmd-1", 30.0)

    assert at_once
    assert f"Redis at 127.0.0.1:{brief.port} did not renew it in time; it said:" in str(
        caught.value
    )


def test_a_borrower_inherits_what_the_lease_is_worth(
    brief: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker may send without Redis from its first command on, for as long as its controller."""
    with take(store(brief, ttl=LONG), "PH1") as lease:
        borrowed = store(brief, ttl=LONG).borrow(lease.ticket)
        brief.stop()

        borrowed.clear("cmd-1", 30.0)
        let_pass(monkeypatch, 2 * LONG)

        with pytest.raises(LeaseError, match="did not renew it in time; it said:"):
            borrowed.clear("cmd-2", 30.0)


def test_a_ticket_is_worth_what_the_lease_is_now(server: RedisServer, store: MakeStore) -> None:
    """A ticket that is handed over late has the time of the last renewal in it."""
    with take(store(server, ttl=SHORT), "PH1") as lease:
        early = Ticket.parse(lease.ticket).valid_until

        until(lambda: Ticket.parse(lease.ticket).valid_until > early)


def test_a_redis_that_comes_back_empty_is_waited_for(
    brief: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that knows nothing of its lease waits until its controller has restored it."""
    lease = store(brief, ttl=LONG).try_take("PH1")
    assert lease is not None
    with lease:
        late = Ticket.parse(lease.ticket)._replace(valid_until=0.0)
        borrowed = store(brief, ttl=LONG).borrow(late.to_json())
        brief.stop()
        steps = chain([brief.start], repeat(lease.renew))
        monkeypatch.setattr(redis_lease, "sleep", lambda _: next(steps)())

        borrowed.clear("cmd-1", 30.0)
        monkeypatch.undo()

        assert store(brief).holder("PH1") == lease.holder


def test_a_redis_that_lost_its_last_numbers_is_told_them(
    server: RedisServer, store: MakeStore
) -> None:
    """A number lower than ours comes from an old copy of the data, and is no other holder's."""
    take(store(server), "PH1").release()
    lease = store(server, ttl=LONG).try_take("PH1")
    assert lease is not None
    with redis.Redis(port=server.port) as client:
        client.delete("clawperator:lease:PH1")
        client.set("clawperator:fencing:PH1", 1)

    lease.renew()
    lease.check()
    lease.release()

    with take(store(server), "PH1") as following:
        assert fencing_number(following) == 3


def test_who_waits_survives_a_restart_of_redis(brief: RedisServer, store: MakeStore) -> None:
    """A run that waits for a device goes on waiting, says so, and gets it from its holder."""
    held, said = store(brief, ttl=LONG).try_take("PH1"), list[str]()
    assert held is not None

    def come_back() -> None:
        brief.start()
        held.renew()

    steps = iter([brief.stop, lambda: None, come_back, held.release])

    with take_each(
        store(brief, run_id="theirs", ttl=LONG),
        [["PH1"]],
        wait=DEADLINE,
        say=said.append,
        pause=lambda _: next(steps)(),
    )[0] as lease:
        lease.check()

    assert lease.holder.run_id == "theirs"
    assert [text.partition(", held")[0].partition(" keeps")[0] for text in said] == [
        "waiting for PH1",
        f"waiting, because Redis at 127.0.0.1:{brief.port}",
        "waiting for PH1",
    ]


def test_a_redis_that_starts_late_is_waited_for(brief: RedisServer, store: MakeStore) -> None:
    """Who is willing to wait begins when Redis answers; others get the error at once."""
    leases, said = store(brief), list[str]()
    brief.stop()
    steps = iter([lambda: None, brief.start])

    await_store(leases, "PH1", wait=DEADLINE, say=said.append, pause=lambda _: next(steps)())
    brief.stop()
    with pytest.raises(LeaseError) as caught:
        await_store(leases, "PH1", wait=0.0)

    assert len(said) == 1
    assert said[0].startswith(f"waiting, because Redis at 127.0.0.1:{brief.port} keeps the leases")
    assert caught.value.code == ErrorCode.REMOTE_HOST_UNREACHABLE


def test_setting_the_date_changes_nothing(
    server: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The date of this machine may jump to another century and back."""
    leases = store(server)

    with take(leases, "PH1") as lease:
        for date in (0.0, 4e9):
            monkeypatch.setattr(time, "time", lambda date=date: date)
            lease.check()
            refused = leases.try_take("PH1")
        monkeypatch.undo()

    assert refused is None


def test_a_restarted_redis_learns_the_holders_first(
    brief: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Holders have a time to live to renew their locks before others get their devices."""
    said: list[str] = []
    waited: list[float] = []
    mine, theirs = store(brief, ttl=LONG), store(brief, ttl=LONG, settle=None, say=said.append)
    lease = mine.try_take("PH1")
    assert lease is not None

    def renew_meanwhile(seconds: float) -> None:
        waited.append(seconds)
        lease.renew()

    with lease:
        brief.stop()
        brief.start()
        monkeypatch.setattr(time, "sleep", renew_meanwhile)
        refused = theirs.try_take("PH1")
        monkeypatch.undo()
        lease.check()
        holder = theirs.holder("PH1")

    assert refused is None
    assert holder == lease.holder
    assert LONG / 2 < waited[0] <= LONG + 1
    assert "just restarted; waiting " in said[0]


def test_a_lease_comes_back_that_nobody_had_meanwhile(brief: RedisServer, store: MakeStore) -> None:
    """A lock that expired is taken back, with its number, if nobody else had the device."""
    with take(store(brief, ttl=SHORT), "PH1") as lease:
        brief.process.send_signal(signal.SIGSTOP)
        until(lambda: not is_valid(lease))
        brief.process.send_signal(signal.SIGCONT)

        until(lambda: is_valid(lease))
        holder = store(brief).holder("PH1")

    assert holder == lease.holder


def test_a_lease_is_not_taken_back_from_others(server: RedisServer, store: MakeStore) -> None:
    """Whoever had the device in between, even if it is free again, ends the old lease."""
    lease = store(server, ttl=LONG).try_take("PH1")
    assert lease is not None
    with redis.Redis(port=server.port) as client:
        client.delete("clawperator:lease:PH1")
    take(store(server), "PH1").release()

    lease.renew()

    with pytest.raises(LeaseError):
        lease.check()
    assert store(server).holder("PH1") is None
    lease.release()


def test_the_next_holder_learns_of_a_command_without_an_end(
    server: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What a former holder left in flight is known on whichever machine leases the device."""
    with take(store(server), "PH1") as lease, redis.Redis(port=server.port) as client:
        lease.clear("cmd-lost", 600.0)
        client.delete("clawperator:lease:PH1")
        monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path / "another machine"))

        with take(store(server), "PH1"):
            unfinished = Flight("PH1").peek()

    assert unfinished is not None
    assert unfinished.command_id == "cmd-lost"


def test_after_an_orderly_end_nothing_is_left(server: RedisServer, store: MakeStore) -> None:
    """A device that is released with nothing in flight has no record of a command."""
    with take(store(server), "PH1") as lease:
        lease.clear("cmd-1", 600.0)

    with take(store(server), "PH1"):
        unfinished = Flight("PH1").peek()

    assert unfinished is None


def test_a_release_keeps_what_is_in_flight(
    server: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A device that is released while a command may still run keeps its record."""
    leases = store(server)
    with take(leases, "PH1") as lease, Flight("PH1").claim("cmd-1", serial="s") as claim:
        lease.clear("cmd-1", 600.0)
        claim.take_off(time.monotonic() + 600.0)
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path / "another machine"))

    with take(leases, "PH1"):
        elsewhere = Flight("PH1").peek()

    assert elsewhere is not None
    assert elsewhere.command_id == "cmd-1"


def emulator_at(host: str) -> str:
    """Return the key of an emulator at an adb server."""
    transport = ScriptedTransport({}, serial="emulator-5554")
    return read_device(transport, server=AdbServer(host)).key


def test_emulators_of_different_machines_are_different(
    server: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Emulators at 127.0.0.1 of two machines are two devices."""
    leases, key = store(server), emulator_at("127.0.0.1")
    monkeypatch.setattr("socket.gethostname", lambda: "rack-1")
    first = leases.try_take(key)
    refused = leases.try_take(key)

    monkeypatch.setattr("socket.gethostname", lambda: "rack-2")
    second = leases.try_take(key)

    assert refused is None
    assert first is not None
    assert second is not None
    second.release()
    monkeypatch.setattr("socket.gethostname", lambda: "rack-1")
    first.release()


def be_machine(monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    """Be another machine from now on, which has the same host name."""
    for module in ("holder", "redis_lease"):
        monkeypatch.setattr(f"pytest_clawperator.devices.{module}.machine_id", lambda: machine)


def test_machines_that_are_called_alike_have_their_own_emulators(
    server: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Machines made from one image have one host name; each excludes only itself."""
    leases, key = store(server), emulator_at("127.0.0.1")
    with ExitStack() as held:
        for machine in ("first", "second"):
            be_machine(monkeypatch, machine)
            free_for = leases.holder(key)
            held.enter_context(take(leases, key))
            holder = leases.holder(key)

            assert free_for is None
            assert leases.try_take(key) is None
            assert holder is not None
            assert holder.machine == machine


@pytest.mark.parametrize("released", ["first", "second"])
def test_an_emulator_stays_leased_when_a_namesake_releases_its_own(
    released: str, server: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of two machines of one name ends first, the other keeps and confirms its lease."""
    leases, key = store(server), emulator_at("127.0.0.1")
    held = {}
    for machine in ("first", "second"):
        be_machine(monkeypatch, machine)
        held[machine] = take(leases, key)
    held.pop(released).release()
    ((machine, kept),) = held.items()
    be_machine(monkeypatch, machine)

    refused = leases.try_take(key)
    leases.borrow(kept.ticket).clear("cmd-1", 1.0)
    kept.release()

    assert refused is None
    assert leases.holder(key) is None


@pytest.mark.parametrize("key", ["R58M1234", "198.51.100.77/emulator-5554", "rack-9/emulator-5554"])
def test_a_shared_device_has_one_lease_for_machines_called_alike(
    key: str, server: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A serial number, and an emulator of a third machine, mean one device everywhere."""
    leases = store(server)
    be_machine(monkeypatch, "first")
    with take(leases, key):
        be_machine(monkeypatch, "second")

        assert leases.try_take(key) is None
        assert leases.holder(key) is not None


def test_an_emulator_that_another_machine_uses_is_leased_here(
    server: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run elsewhere that uses the adb server of this machine has the emulator itself."""
    leases, key = store(server), emulator_at("127.0.0.1")
    name = socket.gethostname()
    monkeypatch.setattr("socket.gethostname", lambda: "laptop")
    be_machine(monkeypatch, "second")
    with take(leases, f"{name}/emulator-5554"):
        monkeypatch.setattr("socket.gethostname", lambda: name)
        be_machine(monkeypatch, "first")

        assert leases.try_take(key) is None


@pytest.mark.parametrize("name", ["rack-1", "rack-1.lab.example", "Rack-1"])
def test_a_machine_is_called_what_others_call_it(
    name: str, server: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run on the machine of the emulator and one elsewhere mean the same emulator."""
    leases = store(server)
    monkeypatch.setattr("socket.gethostname", lambda: name)

    with take(leases, emulator_at("127.0.0.1")):
        others = [leases.try_take(f"{host}/emulator-5554") for host in ("rack-1", "rack-1.lab")]

    assert others == [None, None]


def test_machines_without_a_name_differ_by_address(server: RedisServer, store: MakeStore) -> None:
    """An address is not cut at its dots as a name is."""
    keys = [emulator_at(host) for host in ("198.51.100.77", "198.51.100.78", "2001:db8::1")]

    leases = take_all(store(server), keys)
    for lease in leases:
        lease.release()

    assert len(leases) == 3


def test_fifty_devices_are_leased_at_once(server: RedisServer, store: MakeStore) -> None:
    """Each device has its own lease."""
    keys = [f"PH{number:02}" for number in range(50)]

    leases = take_all(store(server), keys)
    refused = store(server).try_take("PH07")
    for lease in leases:
        lease.release()

    assert refused is None
    assert [lease.key for lease in leases] == keys


def test_a_redis_that_is_not_there_is_an_error(brief: RedisServer, store: MakeStore) -> None:
    """Nothing is leased, and the error has the address."""
    leases = store(brief)
    brief.stop()

    with pytest.raises(LeaseError) as caught:
        take(leases, "PH1")

    assert caught.value.code == ErrorCode.REMOTE_HOST_UNREACHABLE
    assert f"Redis at 127.0.0.1:{brief.port}" in str(caught.value)


def test_passwords_stay_out_of_messages(brief: RedisServer) -> None:
    """What stands before the @ of a url is never shown."""
    brief.stop()
    leases = open_leases(f"redis://:secret@127.0.0.1:{brief.port}/0", run_id="r1")

    with pytest.raises(LeaseError) as caught:
        leases.holder("PH1")
    leases.close()

    assert "secret" not in str(caught.value)
    assert f"127.0.0.1:{brief.port}" in str(caught.value)


def test_a_lost_lease_does_not_stop_the_renewal_of_others(
    server: RedisServer, store: MakeStore
) -> None:
    """Leases are renewed one after the other; that the first is lost is no answer missing."""
    leases = store(server, ttl=SHORT)
    with take(leases, "PH1") as lost, take(leases, "PH2") as kept:
        assert leases.evict("PH1", lost.holder)
        time.sleep(2 * SHORT)

        kept.check()
        with pytest.raises(LeaseError):
            lost.check()


def test_a_url_that_is_none_is_refused() -> None:
    """It is checked before a connection is opened."""
    with pytest.raises(ConfigurationError, match="Allowed: redis://"):
        open_leases("redis://host:port/0", run_id="r1")


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """redis-py is an extra; the error says how to install it."""
    monkeypatch.setattr(redis_lease, "redis", None)

    with pytest.raises(ConfigurationError) as caught:
        open_leases("redis://127.0.0.1:1/0", run_id="r1")

    assert caught.value.code == ErrorCode.HOST_DEPENDENCY_MISSING
    assert "pip install 'pytest-clawperator[redis]'" in str(caught.value)


def test_a_device_is_taken_from_its_holder(server: RedisServer, store: MakeStore) -> None:
    """The former holder cannot take it back, and the next one is left alone."""
    mine, others = store(server), store(server)
    former = mine.try_take("PH1")
    assert former is not None
    assert others.evict("PH1", former.holder)
    former.renew()

    with take(others, "PH1") as lease:
        assert not others.evict("PH1", former.holder)
        assert is_valid(lease)
        assert not is_valid(former)


HERE = Holder.here("r1")


@pytest.mark.parametrize(
    ("holder", "valid_until", "inherited"),
    [
        pytest.param(HERE, 105.0, 105.0, id="the same machine"),
        pytest.param(replace(HERE, machine="elsewhere"), 105.0, 0.0, id="another machine"),
        pytest.param(HERE, 111.0, 0.0, id="another clock"),
        pytest.param(HERE, 95.0, 95.0, id="over"),
    ],
)
def test_only_a_clock_that_is_shared_is_believed(
    holder: Holder, valid_until: float, inherited: float
) -> None:
    """The validity is taken from a ticket of this machine, and is never beyond a time to live."""
    terms = Terms("PH1", holder, 3, Names.of("PH1"))

    ticket = Ticket.parse(Ticket(terms, valid_until).to_json())

    assert ticket.terms == terms
    assert ticket.inherited(now=100.0, ttl=10.0) == inherited
