"""Background commands, and the process ids of a device's shells."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pytest_clawperator.simulator.shell.signals import TERMINATE
from pytest_clawperator.simulator.shell.streams import Output

_FIRST_PID = 20000
_LAST_PID = 32767
# Together, all the processes of a device's shells; more than a script with a purpose needs.
_MAX_PROCESSES = 512
SHELL = "sh"
"""How a shell is called in the list of processes."""


@dataclass(eq=False)
class Job:
    """One background command; ``session`` is the run of a script that started it.

    With ``ignores_hangup`` it continues when its session hangs up.
    """

    pid: int
    session: object
    outputs: Collection[Output]
    name: str = SHELL
    ignores_hangup: bool = False
    ended_by: int = TERMINATE
    task: asyncio.Task[int] = field(init=False)

    def holds(self, output: Output) -> bool:
        """Whether the command may still write there."""
        return not self.task.done() and any(held is output for held in self.outputs)

    def signal(self, number: int) -> None:
        """End it, whichever signal it is."""
        self.ended_by = number
        self.task.cancel()

    async def status(self) -> int:
        """Wait for its end and return its exit status."""
        await asyncio.wait([self.task])
        if self.task.cancelled() or self.task.exception() is not None:
            return 128 + self.ended_by
        return self.task.result()


@dataclass(frozen=True)
class Program:
    """A program that runs until a signal comes; ``signal`` takes its number."""

    pid: int
    name: str
    signal: Callable[[int], None]


class Jobs:
    """All background commands of one device; they outlive the shells that started them."""

    def __init__(self) -> None:
        self._jobs: dict[int, Job] = {}
        self._programs: dict[int, Program] = {}
        self._piped = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._next_pid = _FIRST_PID

    def new_pid(self) -> int:
        """Return a process id that is not in use."""
        while True:
            pid = self._next_pid
            self._next_pid = _FIRST_PID if pid == _LAST_PID else pid + 1
            if pid not in self._jobs and pid not in self._programs:
                return pid

    def start(
        self,
        work: Coroutine[Any, Any, int],
        *,
        session: object,
        outputs: Collection[Output],
        name: str = SHELL,
    ) -> Job | None:
        """Start background work; return None if too much already runs."""
        if self._are_too_many(1):
            work.close()
            return None
        job = Job(self.new_pid(), session, outputs, name)
        job.task = asyncio.get_running_loop().create_task(work)
        self._jobs[job.pid] = job
        job.task.add_done_callback(lambda _: self._ended(job))
        return job

    def _ended(self, job: Job) -> None:
        self._jobs.pop(job.pid, None)
        self._wake_waiters()

    def _wake_waiters(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    @contextmanager
    def pipeline(self, count: int) -> Iterator[bool]:
        """Count the commands of a pipeline while they run; yield False if they are too many."""
        if self._are_too_many(count):
            yield False
            return
        self._piped += count
        try:
            yield True
        finally:
            self._piped -= count

    def _are_too_many(self, count: int) -> bool:
        return len(self._jobs) + self._piped + count > _MAX_PROCESSES

    @contextmanager
    def program(self, name: str, *, pid: int, signal: Callable[[int], None]) -> Iterator[None]:
        """Register a program for signals while it runs, under its job's process id or ``pid``."""
        task = asyncio.current_task()
        own = next((job.pid for job in self._jobs.values() if job.task is task), pid)
        # It takes the place of the shell that it was started from.
        taken = own in self._programs and self._programs[own].name != SHELL
        with self.listed(Program(self.new_pid() if taken else own, name, signal)):
            yield

    @contextmanager
    def listed(self, program: Program) -> Iterator[None]:
        """List a program among those that take signals, for as long as it runs."""
        before = self._programs.get(program.pid)
        self._programs[program.pid] = program
        try:
            yield
        finally:
            if before is None:
                del self._programs[program.pid]
            else:
                self._programs[program.pid] = before

    def programs(self) -> list[Program]:
        """List the shells, programs and jobs that run, by number."""
        jobs = {job.pid: Program(job.pid, job.name, job.signal) for job in self._jobs.values()}
        return sorted((jobs | self._programs).values(), key=lambda program: program.pid)

    def send(self, pid: int, number: int) -> bool:
        """Send a signal (0 only asks); return whether there is such a program or job."""
        program = next((each for each in self.programs() if each.pid == pid), None)
        if program is not None and number:
            program.signal(number)
        return program is not None

    def _holding(self, *outputs: Output, session: object) -> list[Job]:
        """List the running jobs of a session that may still write to one of these outputs."""
        return [
            job
            for job in self._jobs.values()
            if job.session is session and any(job.holds(output) for output in outputs)
        ]

    async def released(self, *outputs: Output, session: object) -> None:
        """Wait until no job of a session can write to these outputs any more."""
        while self._holding(*outputs, session=session):
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            try:
                await future
            finally:
                if future in self._waiting:
                    self._waiting.remove(future)

    def redirect(self, outputs: Collection[Output]) -> None:
        """Record where the job that calls this writes from now on."""
        task = asyncio.current_task()
        for job in self._jobs.values():
            if job.task is task:
                job.outputs = outputs
        self._wake_waiters()

    async def stop(self, *, session: object = None) -> None:
        """Hang up on the jobs of a session, or end all jobs, and wait until they have ended."""
        jobs = [
            job
            for job in self._jobs.values()
            if session is None or (job.session is session and not job.ignores_hangup)
        ]
        for job in jobs:
            job.task.cancel()
        if jobs:
            await asyncio.wait([job.task for job in jobs])
