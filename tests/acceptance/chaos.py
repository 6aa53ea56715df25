"""Rounds of runs whose processes, phones, servers and locks are struck at random moments.

``python -m tests.acceptance.chaos --seed 7 --rounds 20``, or ``--minutes 60``. The same seed
and options draw the same troubles; what they strike also depends on what lives at that moment. What
must hold after each round is in ``invariants.py``, what goes wrong in ``troubles.py``.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.acceptance import invariants
from tests.acceptance.invariants import Finding
from tests.acceptance.rack import Rack, temporary_files_in
from tests.acceptance.runs import Run, wait_for
from tests.acceptance.troubles import TROUBLES, Over, Scene, Trouble

#: How long the runs of a round may take after the last trouble, and their orphans after them.
DEADLINE = 150.0
ORPHANS = 30.0

# Each test takes the phone a few times; some executions are still under way when another run
# wants the phone of one that was killed.
_SUITE = """
import pytest

@pytest.mark.parametrize("number", range({tests}))
def test_it(clawperator, number):
    for milliseconds in (number, 40 if number % 4 else {longest}):
        sleep = {{"id": "nap", "type": "sleep", "params": {{"durationMs": milliseconds}}}}
        result = clawperator.execute([sleep]).raise_for_status()
        assert result.step("nap").data["duration_ms"] == str(milliseconds)
    if number % 3 == 0:
        clawperator.screenshot()
"""
# A Redis that never starts again need not be waited for when it is new.
_OLD_REDIS = """
from pytest_clawperator.devices.redis_lease import RedisLeases

RedisLeases.__init__.__kwdefaults__.update(settle=0.0)
"""
_PLAIN, _WORKERS = "plain", "workers"
_PARTIES = (
    (_PLAIN,),
    (_WORKERS,),
    (_PLAIN, _WORKERS),
    (_WORKERS, _WORKERS),
    (_WORKERS, _PLAIN, _PLAIN),
)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How large the rounds are, and what may happen in them."""

    phones: int
    tests: int
    longest: int
    share_with_redis: float
    troubles: Sequence[Trouble]
    preload: str

    @property
    def suite(self) -> str:
        """The suite of each run."""
        return _SUITE.format(tests=self.tests, longest=self.longest)

    @property
    def names(self) -> set[str]:
        """The names of its tests."""
        return {f"test_it[{number}]" for number in range(self.tests)}


@dataclass
class Tally:
    """What happened in all rounds."""

    rounds: int = 0
    strikes: Counter[str] = field(default_factory=Counter)
    executions: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    begin: float = field(default_factory=time.monotonic)

    def __str__(self) -> str:
        kinds = ("overlaps", "lost verdicts", "double verdicts", "leftovers")
        others = sorted(set(self.findings).difference(kinds))
        counted = ", ".join(f"{kind} {self.findings[kind]}" for kind in (*kinds, *others))
        struck = ", ".join(f"{name} {count}" for name, count in sorted(self.strikes.items()))
        return (
            f"rounds {self.rounds}, troubles {sum(self.strikes.values())} ({struck}), "
            f"executions {self.executions}, {counted}, {time.monotonic() - self.begin:.0f} s"
        )


class Round:
    """Some runs that share the rack, and the troubles that strike them."""

    def __init__(self, rack: Rack, folder: Path, plan: Plan, seed: str) -> None:
        self._plan = plan
        self._folder = folder
        self._random = random.Random(seed)
        locks, scratch = folder / "locks", folder / "scratch"
        scratch.mkdir(parents=True)
        os.environ["CLAWPERATOR_LEASE_DIR"] = str(locks)
        uses_redis = plan.share_with_redis > self._random.random() and rack.has_redis
        self.scene = Scene(rack, self._random, locks, scratch, uses_redis)
        self.struck: list[str] = []

    def run(self) -> Iterator[Finding]:
        """Start the runs, strike them, and yield what must not be."""
        self.scene.rack.reset()
        with temporary_files_in(self.scene.scratch):
            for kind in self._random.choice(_PARTIES):
                self._start(kind)
            for _ in range(self._random.randint(1, 3)):
                self._strike(self._random.choice(self._possible()))
            yield from self._end()
            yield from invariants.overlaps(self.scene)
            yield from invariants.verdicts(self.scene, self._plan.names)
            yield from invariants.failures(self.scene)
            yield from invariants.complaints(self.scene)
            yield from (Finding("waits", overdue) for overdue in self.scene.overdue)
            yield from invariants.leftovers(self.scene)

    def close(self) -> None:
        """Kill what is left of the runs."""
        for run in self.scene.runs:
            run.kill()

    def _possible(self) -> list[Trouble]:
        return [one for one in self._plan.troubles if self.scene.uses_redis or not one.needs_redis]

    def _start(self, kind: str) -> None:
        options = ["-q", "-rfE", "--claw-adb", str(self.scene.rack.adb.server)]
        options += ["--claw-lease-timeout", "100", "--max-worker-restart", "50"]
        if kind == _PLAIN:
            phones = self.scene.rack.phones
            options += [word for phone in phones for word in ("--claw-device", phone.serial)]
        else:
            options += ["-n", "2", "--claw-device", "auto"]
        if self.scene.uses_redis:
            options += ["--claw-lease", self.scene.rack.redis.url]
        folder = self._folder / f"{kind}-{len(self.scene.runs)}"
        run = Run(folder, self._plan.suite, *options, preload=self._plan.preload)
        self.scene.runs.append(run)

    def _strike(self, trouble: Trouble) -> None:
        """Wait for a moment, and let the trouble happen unless all runs have ended by then."""
        moment = self._moment()
        if self.scene.is_over:
            return
        try:
            trouble.strike(self.scene)
        except Over:
            return
        ended = [run.ended for run in self.scene.runs]
        self.struck.append(f"{trouble.name} {moment}, after {ended} tests")

    def _moment(self) -> str:
        """Wait until phones have done so much more, or everything has ended; say what it was."""
        name = self._random.choice(["commands", "executions", "executions", "in_flight"])
        much = {"commands": 40, "executions": self._plan.tests, "in_flight": 1}[name]
        count = self._random.randint(1, much)
        begin = 0 if name == "in_flight" else self.scene.rack.counters()[name]
        wait_for(lambda: self.scene.is_over or self.scene.rack.counters()[name] >= begin + count)
        return f"after {count} {name}"

    def _end(self) -> Iterator[Finding]:
        """Wait for the end of all runs; one that does not end says where it is."""
        over = time.monotonic() + DEADLINE
        for run in self.scene.runs:
            for within, is_over in (
                (over - time.monotonic(), lambda run=run: run.process.poll() is not None),
                (ORPHANS, lambda run=run: run.is_gone),
            ):
                with suppress(AssertionError):
                    wait_for(is_over, within=within)
                    continue
                yield Finding("hangs", f"{run.folder.name} does not end: {_stacks(run)}")
                run.kill()


def _stacks(run: Run) -> str:
    """Have the processes of a run write down where they are, and return the files."""
    with suppress(ProcessLookupError):
        os.killpg(run.process.pid, signal.SIGCONT)
        os.killpg(run.process.pid, signal.SIGUSR1)
        time.sleep(1.0)  # their writing has no event
    return ", ".join(str(path) for path in sorted(run.folder.glob("stacks-*")))


def play(
    rack: Rack, folder: Path, plan: Plan, *, seed: int, number: int, tally: Tally
) -> list[Finding]:
    """Play one round, print broken invariants, and remove its files if there are none."""
    begin = time.monotonic()
    played = Round(rack, folder, plan, f"{seed}.{number}")
    try:
        findings = list(played.run())
    finally:
        played.close()
    tally.rounds += 1
    tally.strikes.update(strike.partition(" ")[0] for strike in played.struck)
    tally.executions += rack.counters()["executions"]
    tally.findings.update(finding.kind for finding in findings)
    runs = ", ".join(run.folder.name for run in played.scene.runs)
    where = "Redis" if played.scene.uses_redis else "files"
    print(
        f"round {number} of seed {seed}: {runs} with leases in {where}; "
        f"{'; '.join(played.struck) or 'no trouble'}; {time.monotonic() - begin:.1f} s",
        *(f"  {finding.kind}: {finding.text}" for finding in findings),
        *([f"  everything is kept in {folder}"] if findings else []),
        sep="\n",
        flush=True,
    )
    if not findings:
        shutil.rmtree(folder)
    return findings


def main(arguments: list[str] | None = None) -> int:
    """Play the rounds and print the tally; return 1 if something must not be."""
    options = _parse(arguments)
    # Started in the background, it would hand on that Ctrl-C is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing is left of it
    plan = _plan(options)
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    tally, rack = Tally(), Rack(folder, phones=plan.phones)
    number = options.first
    try:
        while _goes_on(tally, options):
            place = folder / f"round-{number}"
            play(rack, place, plan, seed=options.seed, number=number, tally=tally)
            number += 1
    finally:
        left = rack.close()
        tally.findings.update("leftovers" for _ in left)
        print(*left, tally, sep="\n")
    if not tally.findings:
        shutil.rmtree(folder)
    return 1 if tally.findings else 0


def _goes_on(tally: Tally, options: argparse.Namespace) -> bool:
    if options.minutes is not None:
        return bool(time.monotonic() - tally.begin < options.minutes * 60)
    return bool(tally.rounds < options.rounds)


def _plan(options: argparse.Namespace) -> Plan:
    troubles = [one for one in TROUBLES if _is_wanted(one, options)]
    return Plan(
        phones=options.phones,
        tests=options.tests,
        longest=options.longest,
        share_with_redis=1.0 if all(one.needs_redis for one in troubles) else 0.4,
        troubles=troubles,
        preload=_OLD_REDIS if options.quick and not options.only else "",
    )


def _is_wanted(trouble: Trouble, options: argparse.Namespace) -> bool:
    if options.only:
        return trouble.name in options.only
    return trouble.name not in options.without and not (options.quick and trouble.is_slow)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    names = [trouble.name for trouble in TROUBLES]
    parser = argparse.ArgumentParser(prog="python -m tests.acceptance.chaos", description=__doc__)
    add = parser.add_argument
    add("--seed", type=int, default=random.randrange(1_000_000), help="default: another each time")
    add("--rounds", type=int, default=10)
    add("--minutes", type=float, help="play for so long, whatever the number of rounds")
    add("--first", type=int, default=1, metavar="ROUND", help="begin with this round of the seed")
    add("--phones", type=int, default=2)
    add("--tests", type=int, default=12, help="in each run")
    add("--longest", type=int, default=1500, metavar="MS", help="the longest execution")
    add("--only", action="append", choices=names, metavar="TROUBLE")
    add("--without", action="append", choices=names, default=[], metavar="TROUBLE",
        help=", ".join(names))  # fmt: skip
    add("--quick", action="store_true", help="leave out what takes long")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
