"""The table of processes."""

from __future__ import annotations

import random

from pytest_clawperator.simulator.android.system import PID_LIMIT, ProcessTable


class TestTable:
    """Pids."""

    def test_the_same_seed_gives_the_same_pids(self) -> None:
        """The same seed gives the same pids."""
        tables = [ProcessTable(rng=random.Random(seed)) for seed in (1, 1, 2)]

        first, second, third = ([p.pid for p in table.all()] for table in tables)
        assert first == second != third

    def test_starting_a_running_process_returns_it(self) -> None:
        """Starting what runs gives the process that runs."""
        table = ProcessTable(rng=random.Random(0))

        assert table.start("a", user="u") == table.start("a", user="u")

    def test_a_restarted_process_has_another_pid(self) -> None:
        """What was stopped comes back with another pid."""
        table = ProcessTable(rng=random.Random(0))
        before = table.start("a", user="u")
        table.stop("a")

        after = table.start("a", user="u")

        assert after.pid > before.pid
        assert before not in table.all()

    def test_pids_wrap_around_without_duplicates(self) -> None:
        """Pids begin again at their limit, and none is given twice at a time."""
        table = ProcessTable(rng=random.Random(0))

        for number in range(5000):
            table.start(f"p{number}", user="u")

        pids = [process.pid for process in table.all()]
        assert len(set(pids)) == len(pids) == 5016
        assert max(pids) < PID_LIMIT

    def test_apps_descend_from_the_zygote(self) -> None:
        """Apps descend from the zygote, which descends from init."""
        table = ProcessTable(rng=random.Random(0))

        app = table.start("a", user="u")

        by_pid = {process.pid: process for process in table.all()}
        zygote = by_pid[app.ppid]
        assert (zygote.name, zygote.ppid) == ("zygote64", 1)
