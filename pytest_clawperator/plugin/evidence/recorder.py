"""What is kept of one attempt at a test, and when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import pytest

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin.evidence.artifacts import Artifacts, Attachment
from pytest_clawperator.plugin.evidence.client_activity import Watched
from pytest_clawperator.plugin.evidence.collecting import Evidence, Piece, gather
from pytest_clawperator.plugin.evidence.video import Video
from pytest_clawperator.plugin.reporting.infrastructure import is_infrastructure, is_put_aside
from pytest_clawperator.plugin.reporting.summary import CRASHES, FOLDER, HAS_FAILED
from pytest_clawperator.plugin.settings import Settings

_SECTION = "clawperator: evidence"
_SHOWN_TRACE = 30

Attach = Callable[[Attachment], None]


class Recorder:
    """Keeps the evidence of one attempt at a test.

    ``settings`` and ``folder`` are asked for when they are needed: a test's own settings are
    known only when its fixtures have begun. ``show`` says how a path is written for a person,
    ``publish`` hands a file to other reports, and ``tell`` says out loud what a device cannot
    do. ``is_ending`` is set when the test is being torn down.
    """

    def __init__(
        self,
        item: pytest.Item,
        settings: Callable[[], Settings],
        folder: Callable[[], Path],
        *,
        show: Callable[[Path], str],
        publish: Attach,
        tell: Callable[[str, str], None],
    ) -> None:
        self._item = item
        self._settings = settings
        self._folder = folder
        self._show = show
        self._publish = publish
        self._tell = tell
        self._clients: list[Watched] = []
        self._videos: dict[int, Video] = {}
        self._segments: dict[int, list[bytes]] = {}
        self._saved: dict[int, Evidence] = {}
        self._kind = "attachment"
        self._lines: list[str] = []
        self._properties: list[tuple[str, str]] = []
        self._has_failed = self._is_broken = False
        self.is_ending = False

    @cached_property
    def artifacts(self) -> Artifacts:
        """The files of this attempt."""
        return Artifacts(self._folder(), on_attached=self._attached)

    def use(self, watched: Watched) -> None:
        """Take in a client of the test, and begin its video where one is wanted."""
        self._clients.append(watched)
        self._begin_video(watched)

    def settings_changed(self) -> None:
        """Begin or drop videos as the test's own settings say."""
        for watched in self._clients:
            if self._settings().video == "off":
                self._end_video(watched, is_wanted=False)
            elif id(watched) not in self._videos:
                self._begin_video(watched)

    def _begin_video(self, watched: Watched) -> None:
        transport = watched.transport
        if self._settings().video == "off" or watched.video_refused or transport is None:
            return

        def refuse(why: str) -> None:
            watched.video_refused = True
            self._tell(watched.client.serial, why)

        self._videos[id(watched)] = Video(transport, on_problem=refuse)

    def save(self, watched: Watched) -> None:
        """Look at a device whose client is about to be closed: this may be the last chance.

        Whether a fixture's end failed is known only when all have ended.
        """
        if watched not in self._clients or not self.is_ending:  # broken off: nobody will ask
            return
        if not self._is_broken:
            kinds = self._kinds("teardown", has_failed=True)
            self._saved[id(watched)] = gather(watched, kinds)
        self._end_video(watched, is_wanted=True)

    def drop_videos(self) -> None:
        """Record no longer: the run is broken off, and nobody will ask."""
        for watched in self._clients:
            self._end_video(watched, is_wanted=False)

    def end_phase(self, report: pytest.TestReport, error: BaseException | None) -> None:
        """Keep what the options ask for, now that a phase of the test ended."""
        kinds = self._kinds(report.when, has_failed=report.failed)
        if self._is_broken:  # asking such a device once was enough
            kinds = [kind for kind in kinds if kind == "log"]
        self._has_failed = self._has_failed or report.failed
        self._is_broken = self._is_broken or (report.failed and is_infrastructure(error))
        if is_put_aside(error):  # its evidence was kept when that was found out
            kinds = []
        crashes: list[str] = []
        for place, watched in enumerate(self._clients if kinds else ()):
            prefix = _prefix(report.when, watched if place else None)
            crashes += self._keep(report, watched, kinds, prefix)
        if report.failed:
            self._keep_pictures(error)
        if report.failed or report.when == "teardown":  # whoever stops at a failure looks now
            self._keep_videos()
        self._tell_report(report, crashes)

    def _kinds(self, when: str | None, *, has_failed: bool) -> list[str]:
        settings = self._settings()
        options = {
            "screenshot": settings.screenshot,
            "snapshot": settings.snapshot,
            "log": settings.logcat,
        }
        wanted = {"on"} if when == "call" else set()
        if has_failed:
            wanted |= {"on", "only-on-failure"}
        kinds = [kind for kind, option in options.items() if option in wanted]
        return [*kinds, "envelopes"] if kinds else []

    def _keep(
        self, report: pytest.TestReport, watched: Watched, kinds: Sequence[str], prefix: str
    ) -> list[str]:
        """Write the evidence of a client; give what crashed on its device."""
        evidence = self._saved.pop(id(watched), None)
        if evidence is None:
            evidence = gather(watched, kinds, is_broken=self._is_broken)
        for piece in evidence.pieces:
            self._keep_piece(piece, prefix)
        self._lines += evidence.missing
        for crash, trace in zip(evidence.crashes, evidence.traces, strict=True):
            shown = "\n".join(trace.splitlines()[:_SHOWN_TRACE])
            report.sections.append((f"clawperator: {crash}", shown))
        if report.failed:
            self._keep_more(report, watched)
        return [str(crash) for crash in evidence.crashes]

    def _keep_piece(self, piece: Piece, prefix: str) -> None:
        self._kind = piece.kind
        try:
            path = self.artifacts.attach(f"{prefix}{piece.name}", piece.content)
        except (ClawperatorError, OSError) as exc:  # no reason to lose the test's own failure
            why = exc.message if isinstance(exc, ClawperatorError) else exc
            self._lines.append(f"no {piece.kind}: {why}")
        else:
            if piece.remark:
                self._lines[-1] = f"{piece.kind}: {self._show(path)} ({piece.remark})"
        finally:
            self._kind = "attachment"

    def _keep_more(self, report: pytest.TestReport, watched: Watched) -> None:
        hook = self._item.ihook.pytest_clawperator_collect_artifacts
        try:
            for paths in hook(item=self._item, report=report, client=watched.client):
                for path in paths:
                    self.artifacts.attach(Path(path).name, Path(path))
        except Exception as exc:  # somebody else's mistake must not hide the test's failure
            why = exc.message if isinstance(exc, ClawperatorError) else repr(exc)
            self._lines.append(f"pytest_clawperator_collect_artifacts failed: {why}")

    def _keep_pictures(self, error: BaseException | None) -> None:
        """Keep how a screen differs from its golden, which the error tells."""
        details = getattr(error, "details", None)
        pictures = details.get("pictures") if isinstance(details, dict) else None
        for path in map(Path, (pictures or {}).values()):
            try:
                self._keep_piece(Piece("picture", path.name, path.read_bytes()), "")
            except OSError as exc:
                self._lines.append(f"no picture: {exc}")

    def _end_video(self, watched: Watched, *, is_wanted: bool) -> None:
        video = self._videos.pop(id(watched), None)
        if video is None:
            return
        if not is_wanted:
            video.drop()
            return
        try:
            self._segments[id(watched)] = video.stop()
        except ClawperatorError as exc:
            self._lines.append(f"no video: {exc.message.splitlines()[0]}")

    def _keep_videos(self) -> None:
        is_wanted = self._has_failed or self._settings().video == "on"
        for place, watched in enumerate(self._clients):
            self._end_video(watched, is_wanted=is_wanted)
            segments = self._segments.pop(id(watched), []) if is_wanted else []
            prefix = _prefix("call", watched if place else None)
            for number, segment in enumerate(segments, 1):
                name = "video.mp4" if len(segments) == 1 else f"video-{number}.mp4"
                self._keep_piece(Piece("video", name, segment), prefix)

    def _attached(self, attachment: Attachment) -> None:
        shown = self._show(attachment.path)
        self._lines.append(f"{self._kind}: {shown}")
        self._properties.append((f"clawperator_{self._kind}", shown))
        self._publish(attachment)

    def _tell_report(self, report: pytest.TestReport, crashes: list[str]) -> None:
        """Let the report say what was kept, and the test's later reports too."""
        report.user_properties += self._properties
        self._item.user_properties += self._properties
        if self._lines:
            # pytest shows what a teardown adds to an earlier failure only if so named.
            title = f"{_SECTION} (teardown)" if report.when == "teardown" else _SECTION
            report.sections.append((title, "\n".join(self._lines)))
        if not self.artifacts.is_empty:
            setattr(report, FOLDER, self._show(self.artifacts.folder))
            setattr(report, CRASHES, crashes)
            setattr(report, HAS_FAILED, self._has_failed)
        self._lines, self._properties = [], []


def _prefix(when: str | None, other: Watched | None) -> str:
    """Tell apart the files of phases, and those of further devices."""
    device = f"{other.client.serial}-" if other is not None else ""
    return device if when == "call" else f"{when}-{device}"
