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
from pytest_clawperator.devices.redis_lease import Names, RedisHold, RedisLeases, Terms, Ticket
from pytest_clawperator.errors import ConfigurationError, ErrorCode, LeaseError
from pytest_clawperator.execution.flight import Flight
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.leases import fencing_number, take, take_all
from tests.doubles.redis_server import DEADLINE, RedisServer
from tests.doubles.transport import ScriptedTransport

# Long enough for a busy machine to renew in time, and short where the end is waited for.
LONG, SHORT = 10.0, 1.0

LOCK, NUMBER = "clawperator:lease:PH1", "clawperator:fencing:PH1"

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


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """Start a Redis that these tests share."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture
def server(lasting: RedisServer, client: redis.Redis) -> RedisServer:
    """Return a Redis that is empty."""
    client.flushall()
    return lasting


@pytest.fixture
def client(lasting: RedisServer) -> Iterator[redis.Redis]:
    """Connect to the shared Redis without leases."""
    with redis.Redis(port=lasting.port, decode_responses=True) as client:
        yield client


@pytest.fixture
def brief(tmp_path: Path) -> Iterator[RedisServer]:
    """Start a Redis that a test may stop and start."""
    server = RedisServer(tmp_path)
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def locks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Keep the flight files of the tests apart."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path / "locks"))
    return tmp_path / "locks"


MakeStore = Callable[..., RedisLeases]
MakeOther = Callable[[RedisServer, float], OtherProcess]


@pytest.fixture
def store() -> Iterator[MakeStore]:
    """Return a factory of stores, each as another run on another machine has."""
    with ExitStack() as made:

        def make(server: RedisServer, *, run_id: str = "mine", **options: Any) -> RedisLeases:
            leases = RedisLeases(server.url, run_id=run_id, **{"settle": 0.0, **options})
            made.callback(leases.close)
            return leases

        yield make


@pytest.fixture
def leases(server: RedisServer, store: MakeStore) -> RedisLeases:
    """Return a store in the shared Redis."""
    return store(server)


@pytest.fixture
def other() -> Iterator[MakeOther]:
    """Return a factory of processes that have leased the device."""
    made: list[OtherProcess] = []

    def make(server: RedisServer, ttl: float) -> OtherProcess:
        made.append(OtherProcess(server.url, ttl))
        return made[-1]

    yield make
    for each in made:
        each.process.kill()
        each.process.communicate(timeout=DEADLINE)


def lease_in(store: RedisLeases) -> RedisHold:
    """Lease PH1."""
    lease = store.try_take("PH1")
    assert lease is not None
    return lease


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


def move_to_another_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have the flight files of another machine from now on."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path / "another machine"))


def test_one_holder_at_a_time(server: RedisServer, store: MakeStore) -> None:
    """A second run gets only the holder's name until the device is released.

    The fencing number counts the holders of a device, and of that device alone.
    """
    mine, theirs = store(server), store(server, run_id="theirs")

    with take(mine, "PH1") as lease, take(mine, "PH2") as another:
        refused, holder = theirs.try_take("PH1"), theirs.holder("PH1")
    with take(theirs, "PH1") as following:
        now = mine.holder("PH1")

    assert refused is None
    assert holder == lease.holder
    assert now is not None
    assert now.run_id == "theirs"
    assert mine.holder("PH1") is None
    assert [fencing_number(one) for one in (lease, another, following)] == [1, 1, 2]


def test_a_fork_cannot_release_a_device(
    leases: RedisLeases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that inherited the object has not inherited the lease."""
    with take(leases, "PH1") as lease:
        monkeypatch.setattr(os, "getpid", lambda: lease.holder.pid + 1)
        lease.release()
        monkeypatch.undo()

        lease.check()

    assert leases.holder("PH1") is None


def test_a_lease_is_valid_until_it_is_released(server: RedisServer, store: MakeStore) -> None:
    """The holder and a borrower may send commands while it lasts, and none afterwards."""
    lease = take(store(server, ttl=SHORT), "PH1")
    borrowed = store(server, ttl=SHORT).borrow(lease.ticket)
    for each in (lease, borrowed):
        each.check()
        each.clear("cmd-1", 30.0)
    lease.release()
    lease.release()

    for each in (lease, borrowed):
        with pytest.raises(LeaseError, match="no longer leased by this run"):
            each.check()


def test_the_lock_is_renewed(server: RedisServer, store: MakeStore, client: redis.Redis) -> None:
    """It does not expire while its holder lives, and a ticket has the time of the renewal."""
    with take(store(server, ttl=SHORT), "PH1") as lease:
        early = Ticket.parse(lease.ticket).valid_until
        until(lambda: client.pttl(LOCK) < 900)

        until(lambda: client.pttl(LOCK) > 950)
        until(lambda: Ticket.parse(lease.ticket).valid_until > early)
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
    other(server, SHORT).process.send_signal(signal.SIGKILL)
    move_to_another_machine(monkeypatch, tmp_path)

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
    sleeper.process.send_signal(signal.SIGSTOP)

    with take(store(server, ttl=LONG), "PH1", wait=DEADLINE) as lease:
        sleeper.process.send_signal(signal.SIGCONT)
        answer = sleeper.asked()
        lease.check()

    assert answer == f"the device is no longer leased by this run: {lease.holder} has it"


def test_a_borrower_notices_that_its_lender_died(
    server: RedisServer,
    store: MakeStore,
    other: MakeOther,
    client: redis.Redis,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker whose controller was killed may not send for longer than the time to live."""
    lender = other(server, LONG)
    borrowed = store(server, ttl=LONG).borrow(lender.ticket)
    borrowed.check()
    lender.process.send_signal(signal.SIGKILL)

    client.delete(LOCK)  # as when the time to live is over
    let_pass(monkeypatch, LONG)

    with pytest.raises(LeaseError, match="did not renew it in time"):
        borrowed.check()


def test_another_holder_in_between_ends_the_lease(leases: RedisLeases, client: redis.Redis) -> None:
    """A higher number does, though the lock is the same, and so does another name in the lock."""
    successor = Holder.here("successor")
    with take(leases, "PH1") as lease:
        client.incr(NUMBER)
        with pytest.raises(LeaseError, match="another holder had it in between"):
            lease.clear("cmd-1", 30.0)
    client.flushall()  # Redis lost its numbers, so two holders may have the same one
    with take(leases, "PH1") as lease:
        client.set(LOCK, successor.to_json())
        with pytest.raises(LeaseError, match="run successor") as caught:
            lease.check()

    assert f"{successor} has it" in str(caught.value)
    assert leases.holder("PH1") == successor


def test_a_lost_lease_stays_lost_without_redis(brief: RedisServer, store: MakeStore) -> None:
    """A holder that learned of its loss stays without the device when Redis goes away."""
    lease = take(store(brief, ttl=LONG), "PH1")
    with redis.Redis(port=brief.port) as client:
        client.set(LOCK, Holder.here("successor").to_json())
    at_first = is_valid(lease)
    brief.stop()

    afterwards = is_valid(lease)
    lease.release()

    assert (at_first, afterwards) == (False, False)


def test_without_redis_the_clock_decides(
    brief: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Holder and borrower may send for a while, and stop before another may have the device."""
    with take(store(brief, ttl=LONG), "PH1") as lease:
        borrowed = store(brief, ttl=LONG).borrow(lease.ticket)
        brief.stop()
        lease.clear("cmd-1", 30.0)
        borrowed.clear("cmd-1", 30.0)

        let_pass(monkeypatch, 0.96 * LONG)
        with pytest.raises(LeaseError) as caught:
            lease.clear("cmd-2", 30.0)
        let_pass(monkeypatch, LONG)
        with pytest.raises(LeaseError, match="did not renew it in time; it said:"):
            borrowed.clear("cmd-2", 30.0)

    assert f"Redis at 127.0.0.1:{brief.port} did not renew it in time; it said:" in str(
        caught.value
    )


def test_a_redis_that_comes_back_empty_is_waited_for(
    brief: RedisServer, store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that knows nothing of its lease waits until its controller has restored it."""
    with lease_in(store(brief, ttl=LONG)) as lease:
        late = Ticket.parse(lease.ticket)._replace(valid_until=0.0)
        borrowed = store(brief, ttl=LONG).borrow(late.to_json())
        brief.stop()
        steps = chain([brief.start], repeat(lease.renew))
        monkeypatch.setattr(redis_lease, "sleep", lambda _: next(steps)())

        borrowed.clear("cmd-1", 30.0)
        monkeypatch.undo()

        assert store(brief).holder("PH1") == lease.holder


def test_a_redis_that_lost_its_last_numbers_gets_them_again(
    server: RedisServer, store: MakeStore, client: redis.Redis
) -> None:
    """A number lower than ours comes from an old copy of the data, not from another holder."""
    take(store(server), "PH1").release()
    with lease_in(store(server, ttl=LONG)) as lease:
        client.delete(LOCK)
        client.set(NUMBER, 1)

        lease.renew()
        lease.check()

    with take(store(server), "PH1") as following:
        assert fencing_number(following) == 3


def test_waiting_survives_a_restart_of_redis(brief: RedisServer, store: MakeStore) -> None:
    """A run that waits for a device continues to wait, reports it, and gets the device."""
    held, said = lease_in(store(brief, ttl=LONG)), list[str]()

    def come_back() -> None:
        brief.start()
        held.renew()

    steps = iter([brief.stop, lambda: None, come_back, held.release])

    with take_each(
        store(brief, run_id="theirs", ttl=LONG),
        [["PH1"]],
        wait=DEADLINE,
        notify=said.append,
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
    """A caller that may wait gets the store when Redis answers; others get the error."""
    leases, said = store(brief), list[str]()
    brief.stop()
    steps = iter([lambda: None, brief.start])

    await_store(leases, "PH1", wait=DEADLINE, notify=said.append, pause=lambda _: next(steps)())
    brief.stop()
    with pytest.raises(LeaseError) as caught:
        await_store(leases, "PH1", wait=0.0)
    with pytest.raises(LeaseError, match=f"Redis at 127.0.0.1:{brief.port}"):
        take(leases, "PH1")
    secret = open_leases(f"redis://:secret@127.0.0.1:{brief.port}/0", run_id="r1")
    with pytest.raises(LeaseError, match=f"127.0.0.1:{brief.port}") as hidden:
        secret.holder("PH1")
    secret.close()

    assert len(said) == 1
    assert said[0].startswith(f"waiting, because Redis at 127.0.0.1:{brief.port} keeps the leases")
    assert caught.value.code == ErrorCode.REMOTE_HOST_UNREACHABLE
    assert "secret" not in str(hidden.value)


def test_setting_the_date_changes_nothing(
    leases: RedisLeases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The date of this machine may jump to another century and back."""
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
    theirs = store(brief, ttl=LONG, settle=None, notify=said.append)

    def renew_meanwhile(seconds: float) -> None:
        waited.append(seconds)
        lease.renew()

    with lease_in(store(brief, ttl=LONG)) as lease:
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


def test_a_lease_comes_back_if_no_other_had_the_device(
    brief: RedisServer, store: MakeStore
) -> None:
    """A lock that expired is taken back, with its number."""
    with take(store(brief, ttl=SHORT), "PH1") as lease:
        brief.process.send_signal(signal.SIGSTOP)
        until(lambda: not is_valid(lease))
        brief.process.send_signal(signal.SIGCONT)

        until(lambda: is_valid(lease))
        holder = store(brief).holder("PH1")

    assert holder == lease.holder


def test_a_lease_is_not_taken_back_from_others(
    server: RedisServer, store: MakeStore, client: redis.Redis
) -> None:
    """Another holder in between ends the old lease, even if the device is free again."""
    with lease_in(store(server, ttl=LONG)) as lease:
        client.delete(LOCK)
        take(store(server), "PH1").release()

        lease.renew()

        assert not is_valid(lease)
        assert store(server).holder("PH1") is None


@pytest.mark.parametrize(
    ("ending", "left"),
    [("orderly", None), ("lost lock", "cmd-1"), ("released in flight", "cmd-1")],
)
def test_the_next_holder_learns_of_a_command_without_an_end(
    leases: RedisLeases,
    client: redis.Redis,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    ending: str,
    left: str | None,
) -> None:
    """What a former holder left in flight is known on whichever machine leases the device."""
    with ExitStack() as held:
        lease = held.enter_context(take(leases, "PH1"))
        lease.clear("cmd-1", 600.0)
        if ending == "released in flight":
            claim = held.enter_context(Flight("PH1").claim("cmd-1", serial="s"))
            claim.take_off(time.monotonic() + 600.0)
        if ending == "lost lock":
            client.delete(LOCK)
            held.pop_all()
    move_to_another_machine(monkeypatch, tmp_path)

    with take(leases, "PH1"):
        unfinished = Flight("PH1").peek()
    lease.release()

    assert (unfinished.command_id if unfinished else None) == left


def test_a_lost_lease_does_not_stop_the_renewal_of_others(
    server: RedisServer, store: MakeStore
) -> None:
    """Leases are renewed one after the other; one that is lost is not a missing answer."""
    leases = store(server, ttl=SHORT)
    with take(leases, "PH1") as lost, take(leases, "PH2") as kept:
        assert leases.evict("PH1", lost.holder)
        early = Ticket.parse(kept.ticket).valid_until

        until(lambda: Ticket.parse(kept.ticket).valid_until > early)
        kept.check()
        assert not is_valid(lost)


def test_a_device_is_taken_from_its_holder(server: RedisServer, store: MakeStore) -> None:
    """The former holder cannot take it back, and the next one is left alone."""
    others, former = store(server), lease_in(store(server))
    assert others.evict("PH1", former.holder)
    former.renew()

    with take(others, "PH1") as lease:
        assert not others.evict("PH1", former.holder)
        assert is_valid(lease)
        assert not is_valid(former)


def test_fifty_devices_are_leased_together(leases: RedisLeases) -> None:
    """Each device has its own lease."""
    keys = [f"PH{number:02}" for number in range(50)]

    held = take_all(leases, keys)
    refused = leases.try_take("PH07")
    for lease in held:
        lease.release()

    assert refused is None
    assert [lease.key for lease in held] == keys


class TestMachines:
    """One device has one lease, whichever machine asks and however machines are called."""

    def emulator_at(self, host: str) -> str:
        """Return the key of an emulator at an adb server."""
        transport = ScriptedTransport({}, serial="emulator-5554")
        return read_device(transport, server=AdbServer(host)).key

    def be(self, patch: pytest.MonkeyPatch, machine: str, host: str = "") -> None:
        """Be another machine from now on, with the same host name unless it is given."""
        for module in ("holder", "redis_lease"):
            patch.setattr(f"pytest_clawperator.devices.{module}.machine_id", lambda: machine)
        if host:
            patch.setattr("socket.gethostname", lambda: host)

    def test_emulators_of_different_machines_are_different(
        self, leases: RedisLeases, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Emulators at 127.0.0.1 of two machines are two devices."""
        key, host = self.emulator_at("127.0.0.1"), "socket.gethostname"
        monkeypatch.setattr(host, lambda: "rack-1")
        with take(leases, key):
            assert leases.try_take(key) is None
            monkeypatch.setattr(host, lambda: "rack-2")
            take(leases, key).release()
            monkeypatch.setattr(host, lambda: "rack-1")

    @pytest.mark.parametrize("released", ["first", "second"])
    def test_machines_with_one_host_name_have_their_own_emulators(
        self, released: str, leases: RedisLeases, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Machines made from one image have one host name; each excludes only itself.

        Whichever of them ends first, the other keeps its lease.
        """
        key = self.emulator_at("127.0.0.1")
        held = {}
        for machine in ("first", "second"):
            self.be(monkeypatch, machine)
            assert leases.holder(key) is None
            held[machine] = take(leases, key)
            holder = leases.holder(key)
            assert leases.try_take(key) is None
            assert holder is not None
            assert holder.machine == machine
        held.pop(released).release()
        ((machine, kept),) = held.items()
        self.be(monkeypatch, machine)

        refused = leases.try_take(key)
        leases.borrow(kept.ticket).clear("cmd-1", 1.0)
        kept.release()

        assert refused is None
        assert leases.holder(key) is None

    @pytest.mark.parametrize("key", ["R58M1234", "198.51.100.77/emulator-5554", "r-9/emulator-1"])
    def test_a_shared_device_has_one_lease(
        self, key: str, leases: RedisLeases, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A serial number, and an emulator of a third machine, mean one device everywhere."""
        self.be(monkeypatch, "first")
        with take(leases, key):
            self.be(monkeypatch, "second")

            assert leases.try_take(key) is None
            assert leases.holder(key) is not None

    def test_an_emulator_that_another_machine_uses_is_leased_here(
        self, leases: RedisLeases, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A run elsewhere that uses the adb server of this machine has the emulator itself."""
        key, name = self.emulator_at("127.0.0.1"), socket.gethostname()
        self.be(monkeypatch, "second", "laptop")
        with take(leases, f"{name}/emulator-5554"):
            self.be(monkeypatch, "first", name)

            assert leases.try_take(key) is None

    @pytest.mark.parametrize("name", ["rack-1", "rack-1.lab.example", "Rack-1"])
    def test_a_machine_has_the_name_that_others_use(
        self, name: str, leases: RedisLeases, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A run on the machine of the emulator and one elsewhere mean the same emulator."""
        monkeypatch.setattr("socket.gethostname", lambda: name)

        with take(leases, self.emulator_at("127.0.0.1")):
            others = [leases.try_take(f"{host}/emulator-5554") for host in ("rack-1", "rack-1.lab")]

        assert others == [None, None]

    def test_machines_without_a_name_differ_by_address(self, leases: RedisLeases) -> None:
        """An address is not cut at its dots as a name is."""
        hosts = "198.51.100.77", "198.51.100.78", "2001:db8::1"

        held = take_all(leases, [self.emulator_at(host) for host in hosts])
        for lease in held:
            lease.release()

        assert len(held) == 3


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """redis-py is an extra; the error says how to install it."""
    monkeypatch.setattr(redis_lease, "redis", None)

    with pytest.raises(ConfigurationError) as caught:
        open_leases("redis://127.0.0.1:1/0", run_id="r1")

    assert caught.value.code == ErrorCode.HOST_DEPENDENCY_MISSING
    assert "pip install 'pytest-clawperator[redis]'" in str(caught.value)


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
def test_only_a_shared_clock_is_trusted(
    holder: Holder, valid_until: float, inherited: float
) -> None:
    """The validity is taken from a ticket of this machine, and is never beyond a time to live."""
    terms = Terms("PH1", holder, 3, Names.of("PH1"))

    ticket = Ticket.parse(Ticket(terms, valid_until).to_json())

    assert ticket.terms == terms
    assert ticket.inherited(now=100.0, ttl=10.0) == inherited
