"""The processes: ``ps``, ``pidof``, ``kill``, and where pids come from."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.android_phone import OPERATOR, Phone

SETTINGS = "com.android.settings"


class TestPs:
    """Listing."""

    def test_ps_lists_everything_with_a(self) -> None:
        """With -A everything is listed in Android's columns."""
        lines = Phone().out("ps -A").splitlines()

        assert " ".join(lines[0].split()) == "USER PID PPID VSZ RSS WCHAN ADDR S NAME"
        names = [line.split()[-1] for line in lines[1:]]
        assert {"init", "system_server", OPERATOR} <= set(names)

    def test_ps_lists_only_the_shells_processes_without_a(self) -> None:
        """Without it only the shell's own are."""
        lines = Phone().out("ps").splitlines()

        assert {line.split()[0] for line in lines[1:]} == {"shell"}

    def test_ps_prints_the_chosen_columns(self) -> None:
        """The columns can be chosen."""
        phone = Phone()
        pid = phone.out(f"pidof {OPERATOR}").strip()

        lines = phone.out(f"ps -o PID,NAME -p {pid}").splitlines()

        assert [line.split() for line in lines] == [["PID", "NAME"], [pid, OPERATOR]]

    def test_ps_names_the_known_columns_for_an_unknown_one(self) -> None:
        """A column that does not exist is named, with those there are."""
        ended = Phone().run("ps -o WINGS")

        assert ended.status == 1
        assert ended.err.startswith("ps: bad -o WINGS; known fields: ")

    def test_ps_lists_the_shells_own_processes(self) -> None:
        """A program that runs and the listing itself are there."""
        phone = Phone()

        listed = phone.out("sleep 0.1 | ps -o PID,NAME").splitlines()

        assert [line.split()[1] for line in listed[-2:]] == ["sleep", "ps"]

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

    def test_pidof_prints_several_pids_on_one_line(self) -> None:
        """Several names give several pids on one line."""
        assert len(Phone().out(f"pidof {OPERATOR} system_server").split()) == 2

    def test_pidof_of_an_unknown_name_fails_silently(self) -> None:
        """A name that nobody has gives status 1 and no output."""
        assert Phone().run("pidof nobody") == (1, "", "")

    def test_the_operator_logs_under_its_own_pid(self) -> None:
        """The Operator logs under the pid that it has."""
        phone = Phone()

        phone.out(f"am broadcast -a x -n {OPERATOR}/clawperator.operator.runtime."
                  "OperatorCommandReceiver")  # fmt: skip
        phone.out(f"am broadcast -p {OPERATOR} -a app.clawperator.operator.ACTION_AGENT_COMMAND")

        pids = {line.pid for line in phone.device.log.since(1) if "Receiver" in line.message}
        assert pids == {int(phone.out(f"pidof {OPERATOR}"))}


class TestKill:
    """Ending."""

    def test_kill_may_not_end_an_app(self) -> None:
        """The shell's user may not end an app."""
        phone = Phone()
        pid = phone.out(f"pidof {OPERATOR}").strip()

        ended = phone.run(f"kill -9 {pid}")

        assert ended.status == 1
        assert "Operation not permitted" in ended.err
        assert phone.out(f"pidof {OPERATOR}").strip() == pid

    @pytest.mark.parametrize("target", ["31999", "-9 31999"])
    def test_kill_of_an_unknown_pid_is_reported(self, target: str) -> None:
        """A pid that nobody has is reported."""
        ended = Phone().run(f"kill {target}")

        assert ended.status == 1
        assert "No such process" in ended.err
