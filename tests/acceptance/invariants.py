"""What must hold after a round of chaos, read from phones, runs, folders and Redis."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from typing import NamedTuple

import redis

from pytest_clawperator.connecting import connect
from tests.acceptance.lab import nap
from tests.acceptance.runs import Run, lease_at_once
from tests.acceptance.troubles import ENDS, Scene

_RERUN = "rerun"
_USAGE_ERROR = 4
_COMPLAINTS = re.compile(r"^.*(?:Traceback \(most recent|INTERNALERROR|Exception ignored).*", re.M)


class Finding(NamedTuple):
    """Something that must not be; ``kind`` is what the report counts it as."""

    kind: str
    text: str


def overlaps(scene: Scene) -> Iterator[Finding]:
    """No phone counted two executions together."""
    for phone in scene.rack.phones:
        if count := phone.counters()["overlaps"]:
            yield Finding("overlaps", f"{phone.serial} had {count} executions beside another one")


def verdicts(scene: Scene, tests: set[str]) -> Iterator[Finding]:
    """Each test of a run that was not ended has one verdict, and no test has two."""
    for run in scene.runs:
        final = {test: _phases(ends) for test, ends in run.ends.items()}
        for test, phases in final.items():
            if len(phases) > len(set(phases)) or {"setup", "call"} <= set(phases):
                yield Finding("double verdicts", f"{run.folder.name} {test} ended twice: {phases}")
        lost = tests.difference(test for test, phases in final.items() if phases)
        if lost and not (run in scene.ended or _was_refused(scene, run)):
            yield Finding("lost verdicts", f"{run.folder.name} says nothing of {sorted(lost)}")


def failures(scene: Scene) -> Iterator[Finding]:
    """No more tests failed than the troubles explain, and the exit codes say the same."""
    for run in scene.runs:
        failed = [test for test, ends in run.ends.items() if "failed" in dict(ends).values()]
        code = run.process.returncode
        is_excused = run in scene.ended or _was_refused(scene, run)
        if len(failed) > scene.may_fail[run] and not is_excused:
            yield Finding("failures", f"{run.folder.name} failed {sorted(failed)}")
        allowed = {1} if failed else {0}
        if run in scene.ended:
            allowed |= ENDS
        if code not in allowed and not _was_refused(scene, run):
            yield Finding("exit codes", f"{run.folder.name} ended with {code} instead of {allowed}")


def complaints(scene: Scene) -> Iterator[Finding]:
    """No output shows that the program itself went wrong."""
    for run in scene.runs:
        if found := _COMPLAINTS.search(run.output):
            yield Finding("complaints", f"{run.folder.name} says {found[0]!r}")


def leftovers(scene: Scene) -> Iterator[Finding]:
    """Nothing is left of processes that could end by themselves; the next user removes the rest."""
    for run in scene.runs:
        if left := run.group:
            yield Finding("leftovers", f"{run.folder.name} left the processes {left}")
    # The record of an execution whose end was not seen stays until the phone is used again.
    if not scene.was_killed:
        yield from _files(scene, "*.lease", "*.holder", "clawperator-*")
    _use_each_phone(scene)
    yield from _files(scene, "*.*", "clawperator-*")
    if scene.uses_redis:
        yield from _keys(scene)


def _phases(ends: list[tuple[str, str]]) -> list[str]:
    return [phase for phase, outcome in ends if outcome != _RERUN]


def _was_refused(scene: Scene, run: Run) -> bool:
    """Whether there was no device for the run because the troubles took it away.

    A run with workers reports it immediately, one without them in each test that needs the device.
    """
    if run in scene.may_refuse and run.has_workers:
        return run.process.returncode == _USAGE_ERROR and not run.ended
    ends = [end for ends in run.ends.values() for end in ends]
    return run in scene.may_refuse and set(ends) == {("setup", "failed")}


def _files(scene: Scene, *patterns: str) -> Iterator[Finding]:
    """Find files of these names, without those of phones that cannot be used any more."""
    dead = scene.rack.dead_ports
    for folder in (scene.locks, scene.scratch):
        found = [path.name for pattern in patterns for path in folder.glob(pattern)]
        names = [name for name in found if not any(f"_{port}-" in name for port in dead)]
        if names:
            yield Finding("leftovers", f"{folder} has {sorted(names)}")


def _use_each_phone(scene: Scene) -> None:
    """Have an execution, a screenshot and a lease of each phone, as if much later."""
    long_ago = time.time() - 60 * 60
    for folder in scene.scratch.glob("clawperator-*"):
        os.utime(folder, (long_ago, long_ago))
    keys = []
    for phone in scene.rack.phones:
        with connect(phone.serial, adb=str(scene.rack.adb.server)) as claw:
            claw.execute(nap(0)).raise_for_status()
            claw.screenshot()
            keys.append(claw.device.info.key)
    lease_at_once(keys)


def _keys(scene: Scene) -> Iterator[Finding]:
    """Each phone has a number that counts its holders; all else is gone, or will expire."""
    with redis.Redis(port=scene.rack.redis.port, decode_responses=True) as client:
        for name in client.scan_iter("*"):
            if client.ttl(name) == -1 and not name.startswith("clawperator:fencing:"):
                yield Finding("leftovers", f"Redis keeps {name} forever")
