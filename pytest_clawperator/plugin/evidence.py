"""The evidence of a failure, and the files of a test in which it is kept."""

from __future__ import annotations

import json
import mimetypes
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from pytest_clawperator.contracts.events import ExecutionFinished, SkillFinished
from pytest_clawperator.errors import (
    UNUSABLE_FILE,
    ClawperatorError,
    ConfigurationError,
    ErrorCode,
    file_problem,
)
from pytest_clawperator.execution.crashes import Crash, find_crashes
from pytest_clawperator.execution.result import PROTECTED
from pytest_clawperator.execution.screenshots import is_png, no_picture, take_picture
from pytest_clawperator.pictures import blackened
from pytest_clawperator.plugin.clients import ClientActivity
from pytest_clawperator.plugin.failures import first_line
from pytest_clawperator.plugin.settings import Settings
from pytest_clawperator.redaction import SECRETS, hide_in_document
from pytest_clawperator.report.device_log import Step, marked_log, without_dumps
from pytest_clawperator.report.sinks import Attachment
from pytest_clawperator.snapshot.tree import Snapshot, secret_places
from pytest_clawperator.text import visible, visible_in_xml

#: The name of the file with the executions.
ENVELOPES = "envelopes.json"
# How long collecting may take: all kinds together, a snapshot, a picture, and the check that the
# device is still there.
WITHIN = 8.0
_SNAPSHOT_WITHIN, _PICTURE_WITHIN, _ALIVE_WITHIN = 1.0, 4.0, 1.0
_SNAPSHOT_STEP = "evidence"
# Kinds of evidence, each collected by a method of ``_Collection``, with the setting that switches
# it; one without a setting is kept whenever any other is. What needs no device comes first.
_KINDS = {
    "log": "logcat",
    "envelopes": None,
    "skills": None,
    "screenshot": "screenshot",
    "snapshot": "snapshot",
}


@dataclass(frozen=True)
class Piece:
    """One file of evidence: its kind, its name, what is in it, and what to know about it."""

    kind: str
    name: str
    content: bytes
    remark: str = ""


@dataclass
class Evidence:
    """What was collected; ``missing`` lists what could not be collected, and why."""

    pieces: list[Piece] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    crashes: list[Crash] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)


class Unavailable(Exception):
    """Raised with the reason why evidence of some kind is missing."""


def wanted_kinds(settings: Settings, when: str | None, *, has_failed: bool) -> list[str]:
    """Return the kinds that the settings want after this phase of a test."""
    values = {"on"} if when == "call" else set()
    if has_failed:
        values |= {"on", "only-on-failure", "full"}
    switched = {name for name, key in _KINDS.items() if key and getattr(settings, key) in values}
    return [name for name, key in _KINDS.items() if name in switched or (switched and not key)]


def collect(
    client: ClientActivity,
    kinds: Collection[str],
    *,
    is_broken: bool = False,
    is_whole_log: bool = False,
    within: float = WITHIN,
) -> Evidence:
    """Collect evidence of these kinds; what takes too long is left out and named.

    ``is_broken``: the device has failed already, so nothing is run on it.
    """
    screen = CurrentScreen(client, is_broken=is_broken, is_wanted="snapshot" in kinds)
    collection = _Collection(client, screen, is_whole_log=is_whole_log)
    wanted = [kind for kind in _KINDS if kind in kinds]
    # A device that hangs keeps this thread waiting, and not the tests.
    thread = threading.Thread(
        target=collection.collect, args=(wanted,), name="clawperator evidence", daemon=True
    )
    client.collecting_threads.add(thread)
    thread.start()
    thread.join(within)
    found, done = collection.found, list(collection.done)
    late = [
        f"no {kind}: the device did not give it within {within:g} s"
        for kind in wanted
        if kind not in done
    ]
    return replace(found, pieces=list(found.pieces), missing=[*found.missing, *late])


class CurrentScreen:
    """The screen of a client, captured when it is first needed, unless its device ``is_broken``.

    ``is_wanted``: it will be captured in any case.
    """

    def __init__(self, client: ClientActivity, *, is_broken: bool, is_wanted: bool) -> None:
        self._client = client
        self._is_broken = is_broken
        self._captured: Snapshot | Exception | None = None
        self.is_wanted = is_wanted

    def snapshot(self) -> Snapshot:
        """Return what is on the screen; raise again what the first attempt raised."""
        if self._captured is None:
            try:
                self._captured = self._capture()
            except Exception as exc:
                self._captured = exc
        if isinstance(self._captured, Exception):
            raise self._captured
        return self._captured

    def _capture(self) -> Snapshot:
        if self._is_broken:
            raise Unavailable("the device does not answer")
        payload = [{"id": _SNAPSHOT_STEP, "type": "snapshot_ui"}]
        result = self._client.client.execute(payload, timeout=_SNAPSHOT_WITHIN).raise_for_status()
        return result.step(_SNAPSHOT_STEP).snapshot


class _Collection:
    """Collects the evidence of one client, one kind after the other."""

    def __init__(
        self, client: ClientActivity, screen: CurrentScreen, *, is_whole_log: bool
    ) -> None:
        self._client = client
        self._screen = screen
        self._is_whole_log = is_whole_log
        self.found = Evidence()
        self.done: list[str] = []

    def collect(self, kinds: Collection[str]) -> None:
        """Collect these kinds, and note why one is missing."""
        self._client.hide_passwords()
        for kind in kinds:
            try:
                self.found.pieces.extend(getattr(self, f"_{kind}")())
            except Exception as exc:  # evidence must never hide the failure that it is about
                self.found.missing.append(f"no {kind}: {_reason(exc)}")
            self.done.append(kind)

    def _log(self) -> Iterator[Piece]:
        """Yield the log of the test, and note what crashed in it.

        A second log of a test has what came after the first. Unless the whole log is wanted, one
        line replaces each hierarchy.
        """
        client = self._client
        if client.transport is None:
            raise Unavailable("the device is behind another host, which keeps its log")
        lines, lost = client.take_log()
        if not self._is_whole_log:
            lines = without_dumps(lines, kept=_kept_screen(client))
        crashes = find_crashes(lines, system=client.system_processes)
        self.found.crashes += crashes
        self.found.traces += [
            visible(b"\n".join(lines[place] for place in crash.lines).decode("utf-8", "replace"))
            for crash in crashes
        ]
        if not lines:
            raise Unavailable("nothing was logged since the test began, or since its log before")
        text = visible(marked_log(lines, crashes))  # so that it can be printed on a terminal
        if lost:
            text = f"the first {lost} lines of this test were too many to be kept\n{text}"
        yield Piece("log", "log.txt", text.encode(), "; ".join(map(str, crashes)))

    def _envelopes(self) -> Iterator[Piece]:
        """Yield the last payloads with their envelopes or errors, if there are any."""
        if self._client.executions:
            described = [_described(event) for event in self._client.executions]
            _shorten_all_but_last(described)
            # JSON escapes all that is not ASCII, and of ASCII all but this one.
            content = json.dumps(described, indent=1, ensure_ascii=True).replace("\x7f", "\\u007f")
            yield Piece("envelopes", ENVELOPES, content.encode())

    def _skills(self) -> Iterator[Piece]:
        """Yield what the scripts of skills printed, if any ran."""
        if self._client.skills:
            text = "\n".join(map(_skill_described, self._client.skills))
            yield Piece("skills", "skills.txt", text.encode("utf-8", "replace"))

    def _screenshot(self) -> Iterator[Piece]:
        """Yield a picture of the screen as it is now."""
        picture = photograph(self._client)
        is_guarded = may_show_secret(self._client)
        if is_guarded or self._screen.is_wanted:
            picture = without_secrets(picture, self._screen, is_guarded=is_guarded)
        yield Piece("screenshot", "screenshot.png", picture)

    def _snapshot(self) -> Iterator[Piece]:
        """Yield what is on the screen now; if that fails, what the test saw last."""
        remark = ""
        try:
            xml = self._screen.snapshot().xml
        except (ClawperatorError, Unavailable) as exc:
            if self._client.snapshot is None:
                raise
            xml = self._client.snapshot.decode("utf-8", "surrogatepass")
            remark = f"the last that the test saw: {first_line(exc)}"
        content = visible_in_xml(xml).encode("utf-8", "surrogatepass")
        yield Piece("snapshot", "snapshot.xml", content, remark)


def _reason(error: Exception) -> str:
    if isinstance(error, ClawperatorError):
        return f"{error.code}: {first_line(error)}"
    return str(error) if isinstance(error, Unavailable) else f"{type(error).__name__}: {error}"


def _kept_screen(client: ClientActivity) -> dict[Step, str]:
    """Return the step whose screen is in the file of envelopes: the last snapshot of the test."""
    for event in reversed(client.executions):
        for step in reversed(event.result.steps if event.result is not None else ()):
            if step.action_type == "snapshot_ui":
                return {(event.execution.command_id, step.id): ENVELOPES}
    return {}


def _described(event: ExecutionFinished) -> dict[str, Any]:
    return {
        "at": time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(event.at)),
        "seconds": round(event.elapsed, 3),
        "execution": event.execution.to_wire(),
        "envelope": event.result.to_wire() if event.result is not None else None,
        "error": None if event.error is None else str(event.error),
    }


def _shorten_all_but_last(described: list[dict[str, Any]]) -> None:
    """Shorten all screens but the last: each is as long as everything else."""
    steps = [
        step for one in described if one["envelope"] for step in one["envelope"]["stepResults"]
    ]
    screens = [step for step in steps if step.get("actionType") == "snapshot_ui"]
    for step in screens[:-1]:
        text = step.get("data", {}).get("text")
        if text:
            step["data"] = {**step["data"], "text": f"... {len(text)} characters"}


def _skill_described(event: SkillFinished) -> str:
    complaints = f"--- stderr\n{event.complaints}" if event.complaints else ""
    return f"=== {event.skill_id}, {event.elapsed:.1f} s\n{event.output}{complaints}"


def photograph(client: ClientActivity, *, on_captured: Callable[[], None] = lambda: None) -> bytes:
    """Return a picture of the screen, secrets included.

    ``on_captured`` is called if it is known before that the screen may change again.
    """
    transport = client.transport
    if transport is None:
        picture = client.client.screenshot()
    else:
        picture = take_picture(transport, timeout=_PICTURE_WITHIN, on_captured=on_captured).content
        if not picture:  # raises if the device went away meanwhile
            transport.shell("true", timeout=_ALIVE_WITHIN)
    if not is_png(picture):
        raise Unavailable(no_picture(picture))
    return picture


def may_show_secret(client: ClientActivity) -> bool:
    """Whether there is anything to hide on the screens of a test."""
    showed_password = PROTECTED.encode() in (client.snapshot or b"")
    return SECRETS.secrets.on_screen or client.typed_secret or showed_password


def without_secrets(picture: bytes, screen: CurrentScreen, *, is_guarded: bool) -> bytes:
    """Return a picture in which secrets are blackened; a snapshot shows where they are.

    ``is_guarded``: there is something to hide, so without a snapshot there is no picture.
    """
    try:
        places = secret_places(screen.snapshot())
        return blackened(picture, places) if places else picture
    except Exception as exc:
        if not is_guarded:  # there is no sign of anything to hide
            return picture
        raise Unavailable(
            f"it may show a secret, and it is not known where: {first_line(exc)}"
        ) from exc


# The files of a test

_UNKNOWN = "application/octet-stream"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
# Windows allows 260 characters for a whole path; a run, a test and a file must fit below
# wherever the user keeps them.
_LONGEST_TEST, _LONGEST_FILE = 60, 80


class Artifacts:
    """The files of one test, or of one attempt at it; the folder is made when it is needed."""

    def __init__(
        self,
        wanted: Path,
        *,
        on_attached: Callable[[Attachment], None] = lambda _: None,
    ) -> None:
        self._wanted = wanted
        self._folder: Path | None = None
        self._on_attached = on_attached

    @property
    def folder(self) -> Path:
        """The folder of this test only; it is created again if it was deleted."""
        if self._folder is None or self.is_empty:
            with _refused(self._wanted):
                self._folder = _make_folder(self._wanted)
        return self._folder

    @property
    def is_empty(self) -> bool:
        """Whether the folder does not exist yet, or was deleted."""
        return self._folder is None or not self._folder.is_dir()

    def attach(self, name: str, content: bytes | Path, mime: str | None = None) -> Path:
        """Keep bytes, or a copy of a file, and show it in reports; return its path.

        ``clawperator_artifacts.attach("cart.json", json.dumps(cart).encode())``

        A name that is taken gets a number. ``mime`` is the type, if the name does not show it.
        Secrets in text are hidden.
        """
        return self.add(name, content, mime=mime)

    def add(
        self,
        name: str,
        content: bytes | Path,
        *,
        mime: str | None = None,
        kind: str = "attachment",
    ) -> Path:
        """Attach bytes or a file of this kind."""
        if not isinstance(content, (bytes, Path)):
            raise ConfigurationError(
                f"attach({name!r}): found {type(content).__name__}, wanted bytes or a Path",
                hint="Text becomes bytes by .encode(), the name of a file a Path by Path(...).",
            )
        mime = mime or mimetypes.guess_type(name)[0] or _UNKNOWN
        if not Path(name).suffix:
            name += mimetypes.guess_extension(mime) or ""
        path = self._write(safe_file_name(name), content, is_text=_is_text(mime))
        self._on_attached(Attachment(name=name, path=path, mime=mime, kind=kind))
        return path

    def _write(self, name: str, content: bytes | Path, *, is_text: bool) -> Path:
        if isinstance(content, Path):
            if content.absolute().parent == self.folder.absolute():
                return content
            content = _read(content)
        if is_text:
            content = hide_in_document(content, name=name)
        for path in _numbered(self.folder / name, Path(name).suffix):
            with _refused(path), suppress(FileExistsError):
                with path.open("xb") as file:
                    file.write(content)
                return path
        raise AssertionError("numbers do not end")


def folder_name(nodeid: str) -> str:
    """Return the name of a test's folder: safe, short, readable and unique."""
    file, _, test = nodeid.partition("::")
    readable = _safe(f"{Path(file).stem}-{test}")[:_LONGEST_TEST].strip("-.")
    return f"{readable}-{sha256(nodeid.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def safe_file_name(name: str) -> str:
    """Return a form of the name that every file system accepts, with the same suffix."""
    suffix = _safe(Path(name).suffix)[:12]
    stem = _safe(name.removesuffix(Path(name).suffix))[: _LONGEST_FILE - len(suffix)]
    # Some names are devices on Windows, whatever their suffix.
    reserved = re.fullmatch(r"con|prn|aux|nul|com\d|lpt\d", stem.partition(".")[0].lower())
    return f"{'_' if reserved else ''}{stem.strip('-.') or 'file'}{suffix}"


def _is_text(mime: str) -> bool:
    kind, _, detail = mime.partition("/")
    return kind == "text" or detail.endswith(("json", "xml", "yaml", "javascript"))


def _safe(text: str) -> str:
    return _UNSAFE.sub("-", text)


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Turn an error of the file system into one with a hint."""
    try:
        yield
    except OSError as exc:
        raise ConfigurationError(
            f"{path} cannot be written: {exc.strerror or exc}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint="See that there is room, and that nothing else is in the place of its folders;"
            " --claw-output names another place.",
        ) from exc


def _make_folder(wanted: Path) -> Path:
    """Create a new folder; one that exists belongs to another run or test."""
    wanted.parent.mkdir(parents=True, exist_ok=True)
    for path in _numbered(wanted):
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return path
    raise AssertionError("numbers do not end")


def _numbered(path: Path, suffix: str = "") -> Iterator[Path]:
    yield path
    for number in count(2):
        yield path.with_name(f"{path.name.removesuffix(suffix)}-{number}{suffix}")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except UNUSABLE_FILE as exc:
        raise ConfigurationError(
            f"{path} cannot be attached: {file_problem(exc)}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint="Write the file first; a path starts from the folder that pytest runs in.",
        ) from exc
