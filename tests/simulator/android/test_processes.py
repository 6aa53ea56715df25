"""The processes: ``ps``, ``pidof``, ``kill``, and where pids come from."""

from __future__ import annotations

import random

from pytest_clawperator.simulator.android.system import PID_LIMIT, ProcessTable
from tests.doubles.simulator.android_phone import ACTION, OPERATOR, Phone

SETTINGS = "com.android.settings"


def test_ps_lists_processes_in_columns() -> None:
    """With -A all, else the shell's own; the columns can be chosen."""
    phone = Phone()
    lines = phone.out("ps -A").splitlines()

    assert " ".join(lines[0].split()) == "USER PID PPID VSZ RSS WCHAN ADDR S NAME"
    names = [line.split()[-1] for line in lines[1:]]
    assert {"init", "system_server", OPERATOR} <= set(names)
    assert {line.split()[0] for line in phone.out("ps").splitlines()[1:]} == {"shell"}
    pid = phone.out(f"pidof {OPERATOR}").strip()
    listed = [line.split() for line in phone.out("ps -A -o PID,NAME").splitlines()]
    assert listed[0] == ["PID", "NAME"]
    assert [pid, OPERATOR] in listed
    own = phone.out("sleep 0.1 | ps -o PID,NAME").splitlines()
    assert [line.split()[1] for line in own[-2:]] == ["sleep", "ps"]
    assert phone.run("ps -o WINGS").err.startswith("ps: bad -o WINGS; known fields: ")


def test_an_app_has_one_pid_while_it_is_open() -> None:
    """The Operator logs under its own; several names give several pids on one line."""
    phone = Phone()
    assert phone.run(f"pidof {SETTINGS}") == (1, "", "")
    phone.out(f"am start -n {SETTINGS}/.Settings; am broadcast -p {OPERATOR} -a {ACTION}")

    assert phone.out(f"pidof {SETTINGS}") == phone.out(f"pidof {SETTINGS}")
    assert len(phone.out(f"pidof {OPERATOR} system_server").split()) == 2
    pids = {line.pid for line in phone.device.log.since(1) if "Receiver" in line.message}
    assert pids == {int(phone.out(f"pidof {OPERATOR}"))}
    phone.out(f"am force-stop {SETTINGS}")
    assert phone.run(f"pidof {SETTINGS}").status == 1


def test_kill_ends_only_what_the_shell_started() -> None:
    """An app may not be killed, and a pid must exist."""
    phone = Phone()
    pid = phone.out(f"pidof {OPERATOR}").strip()
    for arguments, problem in {
        f"-9 {pid}": "Operation not permitted",
        "31999": "No such process",
        "-9 31999": "No such process",
        "-BIRD 1": "bad signal '-BIRD'",
        "": "usage: kill",
    }.items():
        ended = phone.run(f"kill {arguments}")
        assert ended.status == 1, arguments
        assert problem in ended.err, arguments
    assert phone.out(f"pidof {OPERATOR}").strip() == pid


def test_pids_come_from_the_seed_and_are_never_shared() -> None:
    """A process that is stopped comes back with another pid; they wrap around at the limit."""
    tables = [ProcessTable(rng=random.Random(seed)) for seed in (1, 1, 2)]
    first, second, third = ([process.pid for process in table.all()] for table in tables)
    assert first == second != third
    table = tables[0]
    before = table.start("a", user="u")
    assert table.start("a", user="u") == before
    table.stop("a")
    assert table.start("a", user="u").pid > before.pid

    for number in range(5000):
        table.start(f"p{number}", user="u")

    by_pid = {process.pid: process for process in table.all()}
    assert len(by_pid) == len(table.all()) == len(first) + 5001
    assert max(by_pid) < PID_LIMIT
    zygote = by_pid[before.ppid]
    assert (zygote.name, zygote.ppid) == ("zygote64", 1)
