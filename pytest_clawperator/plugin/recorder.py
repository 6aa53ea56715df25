"""What evidence is kept of one attempt at a test, and when.

A run has a folder in ``--claw-output``, a test one in that, and with reruns an attempt one in
that. Nothing that is there already is touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path

import pytest

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin import failures
from pytest_clawperator.plugin.clients import ClientActivity
from pytest_clawperator.plugin.evidence import (
    Artifacts,
    Evidence,
    Piece,
    collect,
    folder_name,
    wanted_kinds,
)
from pytest_clawperator.plugin.report_sinks import sinks_of
from pytest_clawperator.plugin.run import events_of, run_folder, run_id
from pytest_clawperator.plugin.settings import Settings, settings_of_item
from pytest_clawperator.plugin.stash import CURRENT_TEST, ENDED_ATTEMPTS, RECORDER, TRACE
from pytest_clawperator.plugin.tracing import FOLDER as TRACE_FOLDER
from pytest_clawperator.plugin.tracing import begun_trace
from pytest_clawperator.plugin.video import AttemptVideos
from pytest_clawperator.report.device_log import hide_in_log
from pytest_clawperator.report.index import PAGE_FILE
from pytest_clawperator.report.page import write_page
from pytest_clawperator.report.sinks import Attachment
from pytest_clawperator.report.trace import last_passed, read_trace
from pytest_clawperator.text import shown_path, visible

_SECTION = "clawperator: evidence"
_SHOWN_TRACE = 30
_NO_VIDEO = "no video: a secret was typed while it was recorded, and a video cannot be blackened"


class Recorder:
    """Keeps the evidence of one attempt at a test, and its trace.

    ``has_failed`` is set when a phase failed, ``is_ending`` when the test is being torn down,
    ``is_broken`` when its device failed.
    """

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._sinks = sinks_of(item.config)
        self._trace = begun_trace(item)
        self._clients: list[ClientActivity] = []
        self._saved: dict[ClientActivity, Evidence] = {}
        self._files: dict[Path, str] = {}
        self._named: Path | None = None
        self._lines: list[str] = []
        self._notes: list[str] = []
        self._videos = AttemptVideos(
            is_on=lambda: self._settings.video != "off",
            notice=events_of(item.config).notice,
            on_missing=lambda why: self._lines.append(why),
        )
        self._crashes: list[str] = []
        self.has_failed = self.is_broken = self.is_ending = False

    @property
    def _settings(self) -> Settings:
        # Those of the test are known only when its fixtures have been set up.
        return settings_of_item(self._item)

    def _show(self, path: Path) -> str:
        return shown_path(path, self._item.config.invocation_params.dir)

    @cached_property
    def artifacts(self) -> Artifacts:
        """The files of this attempt."""
        folder = run_folder(self._item.config, self._settings) / folder_name(self._item.nodeid)
        attempt = getattr(self._item, "execution_count", None)  # of pytest-rerunfailures
        folder = folder if attempt is None else folder / f"attempt-{attempt}"
        return Artifacts(folder, on_attached=self._attached)

    @property
    def _has_files(self) -> bool:
        # Most tests have none, and their folder need not be known.
        return "artifacts" in vars(self) and not self.artifacts.is_empty

    def use(self, client: ClientActivity) -> None:
        """Add a client of the test, and begin its video if one is wanted."""
        self._clients.append(client)
        self._videos.begin(client)

    def drop(self, client: ClientActivity) -> None:
        """Forget a client that the test does not use after all."""
        self._clients.remove(client)
        self._videos.drop(client)

    def note(self, line: str) -> None:
        """Add a line to the report of the test, should it fail."""
        self._notes.append(line)

    def pausing_video(self, client: ClientActivity) -> AbstractContextManager[None]:
        """Record no video of a client's device in the block."""
        return self._videos.pausing(client)

    def settings_changed(self) -> None:
        """Begin or drop videos according to the test's own settings."""
        for client in self._clients:
            self._videos.begin_or_drop(client)

    def save(self, client: ClientActivity) -> None:
        """Collect evidence from a device whose client is about to be closed.

        Whether the teardown fails is known only when all fixtures have ended.
        """
        if client not in self._clients or not self.is_ending:  # interrupted: evidence is not wanted
            return
        if not self.is_broken:
            kinds = wanted_kinds(self._settings, "teardown", has_failed=True)
            self._saved[client] = self._collect(client, kinds)
        self._videos.end(client)

    def drop_videos(self) -> None:
        """Stop recording: the run was interrupted, and videos are not wanted."""
        for client in self._clients:
            self._videos.drop(client)

    def keep_evidence(self, report: pytest.TestReport, error: BaseException | None) -> None:
        """Keep what the options ask for, now that a phase of the test ended."""
        kinds = wanted_kinds(self._settings, report.when, has_failed=report.failed)
        if self.is_broken:  # asking such a device once was enough
            kinds = [kind for kind in kinds if kind == "log"]
        self.has_failed = self.has_failed or report.failed
        self.is_broken = self.is_broken or failures.is_devices_fault(report)
        # The evidence of a device was kept when it was put aside.
        if failures.is_put_aside(error) or failures.is_shared(error):
            kinds = []
        for place, client in enumerate(self._clients if kinds else ()):
            prefix = _prefix(report.when, client if place else None)
            self._crashes += self._keep(report, client, kinds, prefix)
        if report.failed:
            self._keep_pictures(error)
        if report.failed or report.when == "teardown":  # --claw-pause stops right after a failure
            self._keep_videos()

    def end_phase(self, report: pytest.TestReport, error: BaseException | None) -> None:
        """End the phase in the trace, and add what was kept to the report."""
        self.has_failed = self.has_failed or report.failed
        self._trace.end_phase(report, error)
        if report.when == "teardown":
            self._keep_trace()
        self._complete_report(report)

    def _keep(
        self, report: pytest.TestReport, client: ClientActivity, kinds: Sequence[str], prefix: str
    ) -> list[str]:
        """Write the evidence of a client; return what crashed on its device."""
        evidence = self._saved.pop(client, None)
        if evidence is None:
            evidence = self._collect(client, kinds)
        for piece in evidence.pieces:
            self._keep_piece(piece, prefix)
        self._lines += evidence.missing
        for crash, trace in zip(evidence.crashes, evidence.traces, strict=True):
            shown = "\n".join(trace.splitlines()[:_SHOWN_TRACE])
            report.sections.append((visible(f"clawperator: {crash}"), shown))
        if report.failed:
            self._keep_more(report, client)
        return [str(crash) for crash in evidence.crashes]

    def _collect(self, client: ClientActivity, kinds: Sequence[str]) -> Evidence:
        is_whole = self._settings.logcat == "full"
        return collect(client, kinds, is_broken=self.is_broken, is_whole_log=is_whole)

    def _keep_piece(self, piece: Piece, prefix: str) -> None:
        content = hide_in_log(piece.content) if piece.kind == "log" else piece.content
        try:
            path = self.artifacts.add(f"{prefix}{piece.name}", content, kind=piece.kind)
        except (ClawperatorError, OSError) as exc:  # no reason to lose the test's own failure
            self._lines.append(f"no {piece.kind}: {failures.message_of(exc)}")
        else:
            if piece.remark:
                self._files[path] = f" ({piece.remark})"

    def _keep_more(self, report: pytest.TestReport, client: ClientActivity) -> None:
        hook = self._item.ihook.pytest_clawperator_collect_artifacts
        try:
            for paths in hook(item=self._item, report=report, client=client.client):
                for path in paths:
                    self.artifacts.attach(Path(path).name, Path(path))
        except Exception as exc:  # an error in a hook must not hide the test's failure
            why = exc.message if isinstance(exc, ClawperatorError) else repr(exc)
            self._lines.append(f"pytest_clawperator_collect_artifacts failed: {why}")

    def _keep_pictures(self, error: BaseException | None) -> None:
        """Keep the pictures of how a screen differs from its golden, which the error names."""
        details = getattr(error, "details", None)
        pictures = details.get("pictures") if isinstance(details, dict) else None
        for path in map(Path, (pictures or {}).values()):
            try:
                self._keep_piece(Piece("picture", path.name, path.read_bytes()), "")
            except OSError as exc:
                self._lines.append(f"no picture: {exc}")

    def _keep_videos(self) -> None:
        is_wanted = self.has_failed or self._settings.video == "on"
        for place, client in enumerate(self._clients):
            is_secret = client.typed_secret and self._videos.has(client)
            if is_wanted and is_secret:
                self._lines.append(_NO_VIDEO)
            is_kept = is_wanted and not is_secret
            segments = self._videos.take(client) if is_kept else self._videos.drop(client)
            prefix = _prefix("call", client if place else None)
            for number, segment in enumerate(segments, 1):
                name = "video.mp4" if len(segments) == 1 else f"video-{number}.mp4"
                self._keep_piece(Piece("video", name, segment), prefix)

    def _keep_trace(self) -> None:
        """Put the trace beside the other files, if it is to be kept."""
        written = self._trace.finish()
        if written is None:
            self._lines += [self._trace.problem] if self._trace.problem and self.has_failed else []
            return
        try:
            kept = self.artifacts.folder / TRACE_FOLDER
            written.rename(kept)
        except (ClawperatorError, OSError) as exc:
            self._lines.append(f"no trace: {exc}")
        else:
            self._keep_page(kept)

    def _keep_page(self, kept: Path) -> None:
        """Write the page of a trace beside it; an attachment of that name stays as it is."""
        page = kept.parent / PAGE_FILE
        page = kept / PAGE_FILE if page.exists() else page
        try:
            trace = read_trace(kept)
            write_page(trace, page, passed=last_passed(trace, run=run_id(self._item.config)))
        except (ClawperatorError, OSError) as exc:
            self._files[kept] = ""
            self._lines.append(f"no {PAGE_FILE}: {exc}")
            return
        self._attached(Attachment(name=PAGE_FILE, path=page, mime="text/html", kind="trace"))

    def _attached(self, attachment: Attachment) -> None:
        self._trace.keep_file(attachment)
        self._files[attachment.path] = ""
        self._sinks.attach(attachment)

    def _complete_report(self, report: pytest.TestReport) -> None:
        """Add what was kept to the report, and to the test's later reports."""
        self._sinks.complete(report)
        if report.failed:
            self._lines[:0], self._notes = self._notes, []
        if lines := [*self._listed_files(is_failure=report.failed), *self._lines]:
            # pytest shows what a teardown adds to an earlier failure only if so named.
            title = f"{_SECTION} (teardown)" if report.when == "teardown" else _SECTION
            report.sections.append((title, visible("\n".join(lines))))
        if self._has_files:
            setattr(report, failures.EVIDENCE_FOLDER, self._show(self.artifacts.folder))
            setattr(report, failures.CRASHES, self._crashes)
            setattr(report, failures.HAS_FAILED, self.has_failed)
        self._files, self._lines, self._crashes = {}, [], []

    def _listed_files(self, *, is_failure: bool) -> list[str]:
        """Return the files that came since the last report, below their folder.

        The end of a test stands below its failure, which has named the folder.
        """
        lines: list[str] = []
        if is_failure:
            self._named = None
        for path, remark in self._files.items():
            if path.parent != self._named:
                self._named = path.parent
                lines.append(self._show(path.parent))
            lines.append(f"  {path.name}{remark}")
        return lines


def _prefix(when: str | None, other: ClientActivity | None) -> str:
    """Return the prefix of file names, which differs by phase and for further devices."""
    device = f"{other.client.serial}-" if other is not None else ""
    return device if when == "call" else f"{when}-{device}"


_OUR_PROPERTIES = "clawperator_"


def keep_evidence(
    item: pytest.Item, report: pytest.TestReport, error: BaseException | None
) -> None:
    """Keep the evidence of a phase that failed, or for which the options ask for it."""
    recorder = item.stash.get(RECORDER, None)
    if recorder is not None:
        recorder.keep_evidence(report, error)


def end_phase(item: pytest.Item, report: pytest.TestReport, error: BaseException | None) -> None:
    """End a phase in the trace, and complete its report."""
    recorder = item.stash.get(RECORDER, None)
    if recorder is not None:
        recorder.end_phase(report, error)
        if report.when == "teardown":
            del item.stash[RECORDER]  # the next attempt has its own
            del item.stash[TRACE]


def begin_teardown(item: pytest.Item) -> None:
    """Note that a test is being torn down."""
    recorder = item.stash.get(RECORDER, None)
    if recorder is not None:
        recorder.is_ending = True


def save_evidence(item: pytest.Item, client: ClientActivity) -> None:
    """Collect evidence from a device whose client is about to be closed."""
    recorder = item.stash.get(RECORDER, None)
    if recorder is not None:
        recorder.save(client)


def settings_known(config: pytest.Config) -> None:
    """Note that the settings of the current test are known: they may switch its video."""
    if recorder := _current(config):
        recorder.settings_changed()


def end_interrupted(config: pytest.Config) -> None:
    """End the recording of a test in which the run was interrupted, while its device is there."""
    if recorder := _current(config):
        recorder.drop_videos()


def has_failed(config: pytest.Config) -> bool:
    """Whether the current test has failed so far."""
    recorder = _current(config)
    return recorder is not None and recorder.has_failed


def _current(config: pytest.Config) -> Recorder | None:
    item = config.stash.get(CURRENT_TEST, None)
    return None if item is None else item.stash.get(RECORDER, None)


def begin_attempt(item: pytest.Item) -> None:
    """Begin another attempt at a test without the properties of the last one.

    Not all plugins that rerun tests report the end of an attempt; without that, the report of
    the next attempt has the properties of both.
    """
    if item.nodeid in item.config.stash.get(ENDED_ATTEMPTS, ()):
        properties = item.user_properties
        properties[:] = [
            one
            for one in properties
            if one[0] == failures.CLASS_PROPERTY or _OUR_PROPERTIES not in one[0]
        ]


def note_end_of_attempt(config: pytest.Config, report: pytest.TestReport) -> None:
    """Note that an attempt is over and reported."""
    if report.when == "teardown":
        config.stash.setdefault(ENDED_ATTEMPTS, set()).add(report.nodeid)


def recorder_of(item: pytest.Item) -> Recorder:
    """Return the recorder of this attempt at a test."""
    if RECORDER not in item.stash:
        item.stash[RECORDER] = Recorder(item)
    return item.stash[RECORDER]
