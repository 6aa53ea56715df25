"""The processes: ``ps``, ``pidof``, ``kill``, and where pids come from."""

from __future__ import annotations

import random

import pytest

from pytest_clawperator.simulator.android.state.process_table import PID_LIMIT, ProcessTable
from tests.simulator.android.phone import OPERATOR, Phone

SETTINGS = "com.android.settings"


class TestTable:
    """Pids."""

    def test_same_seed(self) -> None:
        """The same seed gives the same pids."""
        tables = [ProcessTable(rng=random.Random(seed)) for seed in (1, 1, 2)]

        first, second, third = ([p.pid for p in table.all()] for table in tables)
        assert first == second != third

    def test_runs_once(self) -> None:
        """Starting what runs gives the process that runs."""
        table = ProcessTable(rng=random.Random(0))

        assert table.start("a", user="u") == table.start("a", user="u")

    def test_new_pid(self) -> None:
        """What was stopped comes back with another pid."""
        table = ProcessTable(rng=random.Random(0))
        before = table.start("a", user="u")
        table.stop("a")

        after = table.start("a", user="u")

        assert after.pid > before.pid
        assert table.with_pid(before.pid) is None

    def test_many(self) -> None:
        """Pids begin again at their limit, and none is given twice at a time."""
        table = ProcessTable(rng=random.Random(0))

        for number in range(5000):
            table.start(f"p{number}", user="u")

        pids = [process.pid for process in table.all()]
        assert len(set(pids)) == len(pids) == 5016
        assert max(pids) < PID_LIMIT

    def test_parents(self) -> None:
        """Apps descend from the zygote, which descends from init."""
        table = ProcessTable(rng=random.Random(0))

        app = table.start("a", user="u")

        zygote = table.with_pid(app.ppid)
        assert zygote is not None
        assert (zygote.name, zygote.ppid) == ("zygote64", 1)


class TestPs:
    """Listing."""

    def test_all(self) -> None:
        """With -A everything is listed in Android's columns."""
        lines = Phone().out("ps -A").splitlines()

        assert " ".join(lines[0].split()) == "USER PID PPID VSZ RSS WCHAN ADDR S NAME"
        names = [line.split()[-1] for line in lines[1:]]
        assert {"init", "system_server", OPERATOR} <= set(names)

    def test_own(self) -> None:
        """Without it only the shell's own are."""
        lines = Phone().out("ps").splitlines()

        assert {line.split()[0] for line in lines[1:]} == {"shell"}

    def test_chosen_columns(self) -> None:
        """The columns can be chosen."""
        phone = Phone()
        pid = phone.out(f"pidof {OPERATOR}").strip()

        lines = phone.out(f"ps -o PID,NAME -p {pid}").splitlines()

        assert [line.split() for line in lines] == [["PID", "NAME"], [pid, OPERATOR]]

    def test_unknown_column(self) -> None:
        """A column that there is not is named, with those there are."""
        ended = Phone().run("ps -o WINGS")

        assert ended.status == 1
        assert ended.err.startswith("ps: bad -o WINGS; known fields: ")

    def test_app_comes_and_goes(self) -> None:
        """An app has a process while it is open, with one pid all that time."""
        phone = Phone()
        assert phone.run(f"pidof {SETTINGS}").status == 1

        phone.out(f"am start -n {SETTINGS}/.Settings")
        pids = {phone.out(f"pidof {SETTINGS}"), phone.out(f"pidof {SETTINGS}")}
        assert len(pids) == 1

        phone.out(f"am force-stop {SETTINGS}")
        assert phone.run(f"pidof {SETTINGS}").status == 1


class TestPidof:
    """Finding."""

    def test_several(self) -> None:
        """Several names give several pids on one line."""
        assert len(Phone().out(f"pidof {OPERATOR} system_server").split()) == 2

    def test_none(self) -> None:
        """A name that nobody has gives status 1 and not a word."""
        assert Phone().run("pidof nobody") == (1, "", "")

    def test_log_agrees(self) -> None:
        """The Operator logs under the pid that it has."""
        phone = Phone()

        phone.out(f"am broadcast -a x -n {OPERATOR}/clawperator.operator.runtime."
                  "OperatorCommandReceiver")  # fmt: skip
        phone.out(f"am broadcast -p {OPERATOR} -a app.clawperator.operator.ACTION_AGENT_COMMAND")

        pids = {line.pid for line in phone.device.log.since(1) if "Receiver" in line.message}
        assert pids == {int(phone.out(f"pidof {OPERATOR}"))}


class TestKill:
    """Ending."""

    def test_not_permitted(self) -> None:
        """The shell's user may not end an app."""
        phone = Phone()
        pid = phone.out(f"pidof {OPERATOR}").strip()

        ended = phone.run(f"kill -9 {pid}")

        assert ended.status == 1
        assert "Operation not permitted" in ended.err
        assert phone.out(f"pidof {OPERATOR}").strip() == pid

    @pytest.mark.parametrize("target", ["31999", "-9 31999"])
    def test_nobody(self, target: str) -> None:
        """A pid that nobody has is told."""
        ended = Phone().run(f"kill {target}")

        assert ended.status == 1
        assert "No such process" in ended.err
