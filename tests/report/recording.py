"""Traces of real runs: a client on a simulated phone, and a small observer that writes them."""

from __future__ import annotations

import inspect
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from types import FrameType

from PIL import Image

from pytest_clawperator import Clawperator
from pytest_clawperator.contracts.events import Event, ExecutionFinished
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.execution.result import RunResult
from pytest_clawperator.report.trace import (
    ArtefactKept,
    DeviceUsed,
    ErrorRaised,
    Excerpt,
    ExecutionBegan,
    ExecutionEnded,
    ExpectationEnded,
    Failure,
    FixtureEnded,
    LogWritten,
    Noted,
    PhaseBegan,
    PictureTaken,
    Poll,
    Source,
    StepBegan,
    StepEnded,
    TraceBegan,
    TraceEnded,
    TraceWriter,
)

_SHOT = "/sdcard/shot.png"

_SCALE = 1 / 3

_AROUND = 4


@dataclass
class _Doing:
    """What the next executions belong to."""

    title: str
    source: Source
    before: bytes | None = None


class Recording:
    """Writes what a client does into a trace: as many of its kinds as there are."""

    def __init__(self, folder: Path, *, nodeid: str, has_pictures: bool = True) -> None:
        self.writer = TraceWriter(folder)
        self.claw: Clawperator
        self._has_pictures = has_pictures
        self._ids = iter(range(1, 1_000_000))
        self._steps: list[int] = []
        self._doing: _Doing | None = None
        self._finished: tuple[_Doing, ExecutionFinished] | None = None
        self._polls: list[Poll] | None = None
        self._began = time.time()
        self.writer.write(
            TraceBegan(
                at=self._began,
                nodeid=nodeid,
                run="2026-11-17-0914",
                worker="gw0",
                environment={"python": "3.12.4", "pytest": "9.0.3", "build": "shop-2.4.0"},
            )
        )

    def start(self, claw: Clawperator) -> None:
        """Tell of the device, and of what was set up before the test."""
        self.claw = claw
        about = {"model": "Pixel 9", "api": "35", "locale": "en-US", "operator": "0.5.1"}
        self.writer.write(
            DeviceUsed(at=self._began, serial=claw.serial, size=(1080, 2400), about=about)
        )
        self.writer.write(PhaseBegan(at=self._began, name="setup"))
        self.writer.write(
            FixtureEnded(
                at=time.time(), name="clawperator", scope="function", stage="setup", seconds=0.21
            )
        )
        self.writer.write(PhaseBegan(at=time.time(), name="call"))

    def observe(self, event: Event) -> None:
        """Write an execution that the test made; looks of an expectation are its polls."""
        if not isinstance(event, ExecutionFinished) or self._doing is None:
            return
        result = event.result if isinstance(event.result, RunResult) else None
        trees = [] if result is None else _hierarchies(result)
        if self._polls is not None:
            tree = self.writer.keep(trees[-1], ".xml") if trees else None
            count = trees[-1].count(b"<node") if trees else 0
            self._polls.append(Poll(at=event.at, found=f"{count} nodes", tree=tree))
            return
        self._finished, self._doing = (self._doing, event), None

    def _write_execution(self, doing: _Doing, event: ExecutionFinished) -> None:
        result = event.result if isinstance(event.result, RunResult) else None
        number = next(self._ids)
        began = event.at - event.elapsed
        self.writer.write(
            ExecutionBegan(
                at=began,
                id=number,
                parent=self._steps[-1] if self._steps else None,
                serial=event.serial,
                title=doing.title,
                source=doing.source,
                payload=event.execution.to_wire(),
            )
        )
        if result is not None and result.log.lines:
            lines = [line.decode("utf-8", "replace") for line in result.log.lines]
            self.writer.write(
                LogWritten(at=event.at, serial=event.serial, lines=lines, execution=number)
            )
        after = self.claw.snapshot()
        before = doing.before
        self.writer.write(
            ExecutionEnded(
                at=event.at,
                id=number,
                seconds=event.elapsed,
                envelope=None if result is None else result.to_wire(),
                failure=_failure(result, event.error),
                before=None if before is None else self.writer.keep(before, ".xml"),
                after=self.writer.keep(after.xml.encode("utf-8", "surrogatepass"), ".xml"),
            )
        )
        if self._has_pictures:
            self._take_picture(number)

    def _take_picture(self, execution: int) -> None:
        self.claw.device.shell(f"screencap -p {_SHOT}")
        with Image.open(BytesIO(self.claw.device.pull(_SHOT))) as picture:
            size = (round(picture.width * _SCALE), round(picture.height * _SCALE))
            small = BytesIO()
            picture.convert("RGB").resize(size).save(small, "WEBP", quality=80)
        self.writer.write(
            PictureTaken(
                at=time.time(),
                serial=self.claw.serial,
                blob=self.writer.keep(small.getvalue(), ".webp"),
                size=size,
                scale=_SCALE,
                execution=execution,
            )
        )

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Enclose what belongs together."""
        number = next(self._ids)
        began = time.time()
        parent = self._steps[-1] if self._steps else None
        self.writer.write(
            StepBegan(at=began, id=number, parent=parent, title=title, source=_caller(3))
        )
        self._steps.append(number)
        failure = None
        try:
            yield
        except Exception as exc:
            failure = Failure(type=type(exc).__name__, message=str(exc).partition("\n")[0])
            raise
        finally:
            self._steps.pop()
            at = time.time()
            self.writer.write(StepEnded(at=at, id=number, seconds=at - began, failure=failure))

    def act(
        self,
        title: str,
        call: Callable[[], object],
        *,
        until: Callable[[], object] = lambda: None,
    ) -> None:
        """Do something that is one execution; ``until`` waits for the screen that it leads to."""
        source = _caller(2)
        before = self.claw.snapshot().xml.encode("utf-8", "surrogatepass")
        self._doing = _Doing(title, source, before)
        call()
        assert self._finished is not None
        until()
        self._write_execution(*self._finished)

    def expect(self, title: str, call: Callable[[], object]) -> None:
        """Expect something; each look of it is a poll."""
        self._doing, self._polls = _Doing(title, _caller(2)), []
        source, began, failure = self._doing.source, time.time(), None
        try:
            call()
        except Exception as exc:
            failure = _told(exc)
            raise
        finally:
            at = time.time()
            self.writer.write(
                ExpectationEnded(
                    at=at,
                    id=next(self._ids),
                    parent=self._steps[-1] if self._steps else None,
                    serial=self.claw.serial,
                    title=title,
                    source=source,
                    seconds=at - began,
                    polls=self._polls,
                    failure=failure,
                )
            )
            self._doing = self._polls = None

    def note(self, message: str) -> None:
        """Remark something."""
        self.writer.write(Noted(at=time.time(), message=message))

    def end(self, error: Exception | None, *, artefact: Path | None = None) -> None:
        """End the test."""
        if error is not None:
            self.writer.write(_error(error))
        self.writer.write(PhaseBegan(at=time.time(), name="teardown"))
        self.writer.write(
            FixtureEnded(
                at=time.time(), name="clawperator", scope="function", stage="teardown", seconds=0.02
            )
        )
        if artefact is not None:
            self.writer.write(
                ArtefactKept(
                    at=time.time(),
                    name=artefact.name,
                    path=f"../{artefact.name}",
                    mime="text/plain",
                )
            )
        outcome = "passed" if error is None else "failed"
        at = time.time()
        self.writer.write(
            TraceEnded(at=at, outcome=outcome, seconds=at - self._began)  # type: ignore[arg-type]
        )
        self.writer.close()


def _hierarchies(result: RunResult) -> list[bytes]:
    steps = [step for step in result.steps if step.action_type == "snapshot_ui"]
    return [
        step.data["text"].encode("utf-8", "surrogatepass") for step in steps if "text" in step.data
    ]


def _failure(result: RunResult | None, error: BaseException | None) -> Failure | None:
    if error is not None:
        return _told(error)
    if result is None or result.ok:
        return None
    return Failure(
        type="StepFailedError", message=result.error or str(result), code=str(result.code or "")
    )


def _told(error: BaseException) -> Failure:
    if not isinstance(error, ClawperatorError):
        return Failure(type=type(error).__name__, message=str(error))
    return Failure(
        type=type(error).__name__,
        message=error.message,
        code=str(error.code.value if hasattr(error.code, "value") else error.code),
        hint=str(error.hint) if error.hint else None,
    )


def _caller(levels: int) -> Source:
    frame: FrameType | None = inspect.currentframe()
    for _ in range(levels):
        assert frame is not None
        frame = frame.f_back
    assert frame is not None
    about = inspect.getframeinfo(frame, context=1)
    return Source(
        file=f"tests/test_{Path(about.filename).name}",
        line=about.lineno,
        function=about.function,
        text="".join(about.code_context or ()).strip(),
    )


def _error(error: Exception) -> ErrorRaised:
    *_, place = (
        one for one in traceback.extract_tb(error.__traceback__) if one.filename.endswith("shop.py")
    )
    lines = Path(place.filename).read_text(encoding="utf-8").splitlines()
    line = place.lineno or 1
    first = max(1, line - _AROUND)
    return ErrorRaised(
        at=time.time(),
        phase="call",
        failure=_told(error),
        excerpt=Excerpt(
            source=Source(
                file=f"tests/test_{Path(place.filename).name}", line=line, function=place.name
            ),
            first=first,
            lines=lines[first - 1 : line + _AROUND],
        ),
        traceback="".join(traceback.format_exception(error)),
    )
