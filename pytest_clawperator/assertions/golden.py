"""``to_match_tree``: compare a screen with a golden; where goldens are kept and updated."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from weakref import finalize

from pytest_clawperator import errors
from pytest_clawperator.assertions.checks import Check, Verdict, check_roles
from pytest_clawperator.assertions.failure import (
    Failure,
    calling_frame,
    overlay_hint,
    overlay_lines,
)
from pytest_clawperator.assertions.wait import Clock, Outcome, watch
from pytest_clawperator.client.locator import Locator
from pytest_clawperator.client.target import Target, target_of
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.redaction import MARK, SECRETS
from pytest_clawperator.remedies import HintParts, Remedy, RemedyKind
from pytest_clawperator.snapshot import golden
from pytest_clawperator.snapshot.golden import Golden
from pytest_clawperator.snapshot.golden_diff import Difference, compare
from pytest_clawperator.snapshot.query import Query
from pytest_clawperator.snapshot.tree import Snapshot

__tracebackhide__ = True  # a failure is shown at the test's own line
FOLDER = "__screens__"
SUFFIXES = (".yaml", ".png")
_LONGEST_NAME = 100
# What every file system accepts, without a path to another folder.
_NAME = re.compile(rf"\w(?:[\w .+-]{{0,{_LONGEST_NAME - 2}}}[\w+-])?")
_SCREEN_KEY = re.compile(r"-\d+x\d+(?:-\d+dpi)?$")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


class GoldenClaims:
    """What each golden holds in a run that updates them, and which test needs it so.

    A golden that one test wrote or found right is not written for another. The claims are files
    of a folder, so that all processes of a run share them.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._given = folder
        self._own: dict[Path, str] = {}

    @cached_property
    def folder(self) -> Path:
        """Where they are kept; without a given folder, as long as this object is there."""
        if self._given is not None:
            return self._given
        made = tempfile.mkdtemp(prefix="clawperator-goldens-")
        finalize(self, shutil.rmtree, made, ignore_errors=True)
        return Path(made)

    def claim(self, path: Path, content: bytes, test: str) -> None:
        """Claim a golden with this content; raise if a test needs it with another."""
        wanted = f"{sha256(content).hexdigest()}\n{test}"
        record = self.folder / sha256(str(path).encode(errors="surrogatepass")).hexdigest()
        try:
            with tempfile.NamedTemporaryFile(dir=self.folder) as file:
                file.write(wanted.encode(errors="surrogatepass"))
                file.flush()
                os.link(file.name, record)  # whole, and only if there is none
        except FileExistsError:
            found = record.read_bytes().decode(errors="surrogatepass")
            known, _, other = found.partition("\n")
            if known != wanted.partition("\n")[0]:
                raise _claimed(path, test, other) from None
        except errors.UNUSABLE_FILE as exc:
            raise errors.ConfigurationError(
                f"goldens cannot be updated: {errors.file_problem(exc)}",
                hint="The folder for temporary files must be writable.",
            ) from exc
        else:
            self._own[record] = test

    def release(self, test: str) -> None:
        """Forget the claims of a test that is run again."""
        for record in [record for record, owner in self._own.items() if owner == test]:
            del self._own[record]
            record.unlink(missing_ok=True)


def _claimed(path: Path, test: str, other: str) -> errors.ConfigurationError:
    who = "it" if test == other else test
    return errors.ConfigurationError(
        f"the golden {path} is needed for two screens in this run: {other} wrote it or found it"
        f" right, and {who} shows something else",
        hint="A name is that of one screen: give one of them another name.",
    )


@dataclass(frozen=True)
class GoldenStore:
    """The goldens of one folder of tests.

    With ``update``, a golden that is missing or does not match is written, unless another
    expectation of the run needs it as it is: ``claims`` has those. ``used`` and ``written``
    collect paths. ``output`` is the folder for pictures of differences, ``test`` the name of
    who uses the store.
    """

    folder: Path
    update: bool = False
    output: Path | None = None
    used: set[Path] = field(default_factory=set)
    written: set[Path] = field(default_factory=set)
    claims: GoldenClaims = field(default_factory=GoldenClaims)
    test: str = "this program"

    def path(self, name: str, ending: str) -> Path:
        """Return the path of a golden, and note that it is used."""
        path = self.folder / FOLDER / f"{checked_name(name)}{ending}"
        self.used.add(path)
        return path

    def output_folder(self) -> Path:
        """Return the folder for pictures of differences."""
        return self.output if self.output is not None else self.folder / FOLDER / "failed"

    def read(self, path: Path) -> bytes | None:
        """Return the content of a golden; None if there is no such file."""
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except errors.UNUSABLE_FILE as exc:
            raise errors.ConfigurationError(
                f"the golden {path} cannot be read: {errors.file_problem(exc)}",
                code=errors.ErrorCode.GOLDEN_UNREADABLE,
                hint="Check what is there and who may read it.",
            ) from exc

    def keep(self, path: Path, content: bytes) -> None:
        """Keep a golden that is right as it is, so that no other expectation overwrites it."""
        self.claims.claim(path, content, self.test)

    def write(self, path: Path, content: bytes) -> None:
        """Write a golden; raise if an expectation of the same run needs another content."""
        self.claims.claim(path, content, self.test)
        write_atomically(path, content)
        self.written.add(path)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a half-written one is never read."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        # A temporary file is readable by its owner only; a golden by everyone.
        os.chmod(file.name, 0o644)  # noqa: PTH101 - it is a name
        os.replace(file.name, path)  # noqa: PTH105 - it is a name
    except errors.UNUSABLE_FILE as exc:
        raise errors.ConfigurationError(
            f"{path} cannot be written: {errors.file_problem(exc)}",
            hint="Goldens are kept next to the tests: make that folder writable.",
        ) from exc


def checked_name(name: Any) -> str:
    """Return the name of a golden; refuse one that could lead to another folder."""
    if isinstance(name, str) and _NAME.fullmatch(name) and not _RESERVED.fullmatch(name):
        return name
    raise errors.ConfigurationError(
        f"{shown(name):.120} cannot be the name of a golden",
        hint=f"Use up to {_LONGEST_NAME} letters, digits, spaces and . _ + -, as in 'login'.",
    )


def identity(path: Path) -> tuple[Path, str, str]:
    """Return what pictures of one name for several screen sizes have in common."""
    return path.parent, _SCREEN_KEY.sub("", path.stem), path.suffix


_current: GoldenStore | None = None


def use(store: GoldenStore | None) -> GoldenStore | None:
    """Use this store from now on; return the one that was used before."""
    global _current
    before, _current = _current, store
    return before


def current() -> GoldenStore:
    """Return the store in use; if none was set, that of the folder of the calling code."""
    if _current is not None:
        return _current
    file = Path(calling_frame().f_code.co_filename)
    return GoldenStore(file.parent if file.is_file() else Path.cwd())


T = TypeVar("T")


# Updating goldens

#: A screen that shows the same for this many seconds is settled.
SETTLED_AFTER = 0.5
_MATCHES = Verdict(True, "matches")


def update_when_settled(
    look: Callable[[], T],
    *,
    matches: Callable[[T], bool],
    shown: Callable[[T], object],
    keep: Callable[[T], None],
    write: Callable[[T], None],
    timeout: float,
    clock: Clock,
) -> None:
    """Wait until a screen matches its golden or is settled; write it if it does not match.

    ``shown`` returns what must stay the same for a screen to be settled. A golden that matches
    is kept.
    """
    settling = _Settling(clock)

    def judge(seen: T) -> Verdict:
        return _MATCHES if matches(seen) else Verdict(settling.is_settled(shown(seen)), "unsettled")

    outcome = watch(look, judge, timeout=timeout, clock=clock)
    if outcome.seen is None:
        assert outcome.error is not None, "a snapshot is taken, or fails"
        raise outcome.error
    (keep if outcome.verdict == _MATCHES else write)(outcome.seen)


class _Settling:
    """Notices when a screen has shown the same for a while."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._shown: object = None
        self._since = 0.0

    def is_settled(self, shown: object) -> bool:
        """Note what is shown now; return whether it has been the same long enough."""
        now = self._clock.now()
        if shown != self._shown:
            self._shown, self._since = shown, now
            return False
        return now - self._since >= SETTLED_AFTER


def targets_of(given: Any, *, verb: str) -> tuple[Target, ...]:
    """Return the targets of an argument that takes one matcher or several."""
    is_several = isinstance(given, Iterable) and not isinstance(given, (Mapping, str))
    targets = tuple(target_of(each, {}, verb=verb) for each in (given if is_several else [given]))
    for target in targets:
        check_roles(target)
    return targets


# Golden trees

_TOO_MUCH = (
    "Ask for a state only where there can be one: of the switch or the checkbox itself for"
    " [checked=false], of what can take the focus for [focused=false].",
)
_EXPRESSION = re.compile(r"\s*- '?\w+ /")
Ignored = Locator | NodeMatcher | Mapping[str, Any]


@dataclass(frozen=True)
class GoldenTree:
    """A golden to compare a screen with; ``golden`` is None if there is no file yet."""

    name: str
    golden: Golden | None
    exact: bool
    ignore: tuple[Any, ...]  # queries: matchers with short ids, which snapshots understand
    store: GoldenStore | None = None
    path: Path | None = None
    content: bytes | None = None

    @classmethod
    def of(cls, given: Any, *, exact: bool, ignore: Ignored | Iterable[Ignored]) -> GoldenTree:
        """Read a golden, given by the name of its file or as its text."""
        queries = tuple(_query(target) for target in targets_of(ignore, verb="ignore="))
        if isinstance(given, str) and given.lstrip().startswith(("-", "#")):
            return cls("the golden", golden.parse(_dedented(given)), exact, queries)
        store = current()
        path = store.path(given, ".yaml")
        content = store.read(path)
        wanted = None if content is None else _parsed(content, store, path)
        return cls(f"{FOLDER}/{path.name}", wanted, exact, queries, store, path, content)

    def difference(self, snapshot: Snapshot) -> Difference | None:
        """Return how a screen differs; None if it matches."""
        assert self.golden is not None
        return compare(self.golden, snapshot, exact=self.exact, ignore=self.ignore)

    @property
    def check(self) -> Check[Snapshot]:
        """The check that a screen matches."""
        last: dict[str, Verdict] = {}  # a screen that does not change is compared once

        def judge(snapshot: Snapshot) -> Verdict:
            if snapshot.xml not in last:
                last.clear()
                last[snapshot.xml] = self._judge(snapshot)
            return last[snapshot.xml]

        exactly = " exactly" if self.exact else ""
        return Check(f"to match {self.name}{exactly}", judge, "matched")

    def _judge(self, snapshot: Snapshot) -> Verdict:
        if self.golden is None:
            return Verdict(None, "no such file")
        difference = self.difference(snapshot)
        if difference is None:
            return Verdict(True, "a match")
        found = str(difference).partition(" (")[0]
        # Whether something is unchecked that cannot be checked has no answer.
        return Verdict(None if difference.asks_too_much else False, found)

    @property
    def is_updated(self) -> bool:
        """Whether the file is written if the screen does not match."""
        return self.store is not None and self.store.update

    def update(self, look: Callable[[], Snapshot], clock: Clock, timeout: float) -> None:
        """Wait until the screen matches or no longer changes; write it if it does not match."""
        store, path = self.store, self.path
        assert store is not None
        assert path is not None
        update_when_settled(
            look,
            matches=lambda snapshot: self.golden is not None and self.difference(snapshot) is None,
            shown=self.render,
            keep=lambda _: store.keep(path, self.content or b""),
            write=lambda seen: self._write(store, path, seen),
            timeout=timeout,
            clock=clock,
        )

    def _write(self, store: GoldenStore, path: Path, snapshot: Snapshot) -> None:
        lost = _handwritten(store.read(path))
        _check_writable(golden.items_of(snapshot, self.ignore), path)
        store.write(path, self.render(snapshot).encode())
        if lost:
            warnings.warn(
                f"{path} did not match and was overwritten, without its {lost}",
                errors.ClawperatorWarning,
                stacklevel=2,
            )

    def render(self, snapshot: Snapshot) -> str:
        """Return the golden of a screen, as text."""
        return golden.render(snapshot, ignore=self.ignore)

    def explain(
        self, failure: Failure, check: Check[Snapshot], outcome: Outcome[Snapshot]
    ) -> errors.ExpectationError:
        """Build the error: the difference, or how to write the golden."""
        snapshot = outcome.seen
        if snapshot is None or self.golden is None:
            once = "; only to_match_tree() writes it, so expect that once."
            end = once if check.wanted.startswith("not ") else "."
            remedy = (Remedy(RemedyKind.WRITE_GOLDEN, str(self.path)), end)
            return failure.error(check, outcome, snapshot=snapshot, hint=remedy)
        difference = self.difference(snapshot)
        diff = str(difference).split("\n")[1:] if difference is not None else []
        if difference is not None and difference.asks_too_much:
            hint: HintParts | None = _TOO_MUCH
        else:
            hint = self._hint if diff else None
        return failure.error(
            check,
            outcome,
            evidence=["(- golden, + screen):", *diff, *overlay_lines(snapshot)] if diff else (),
            snapshot=None if diff else snapshot,
            hint=overlay_hint(snapshot) or hint,
            details={"diff": "\n".join(diff), "xml": snapshot.xml},
        )

    @property
    def _hint(self) -> HintParts:
        if MARK in str(self.golden):
            return (
                f"{MARK} is shown in the place of a secret, and is not what the screen has: write"
                " a /pattern/ there, or ignore= the node.",
            )
        if self.path is None:
            return ("Change the golden, or ignore= nodes that come and go.",)
        return (
            "If the screen is right, ",
            Remedy(RemedyKind.REPLACE_GOLDEN, str(self.path)),
            "; nodes that come and go are left out with ignore=.",
        )


def _query(target: Target) -> Query:
    if target.query is None or target.is_narrowed or target.index is not None:
        raise errors.ConfigurationError(
            f"ignore= takes matchers, found {target}",
            hint="Write ignore=[claw.node(id='clock')] or ignore=[{'resourceId': ...}].",
        )
    return target.query


def _check_writable(items: Sequence[golden.Item], path: Path) -> None:
    """Raise if a golden would ask for nothing, or contain a secret."""
    if not items:
        raise errors.ConfigurationError(
            f"the golden {path} is not written: the screen shows nothing that it could ask for",
            hint="Wait for what the screen should show; ignore= must leave something of it.",
        )
    secret = next((item.line for item in items if SECRETS.is_in(item.name)), None)
    if secret is not None:
        raise errors.ConfigurationError(
            f"the golden {path} is not written: it would contain a secret, as in - {secret}",
            hint="Leave the node out, as in ignore=claw.node(id='token'); or write the golden by"
            " hand, with a /pattern/ in the place of the secret.",
        )


def _handwritten(content: bytes | None) -> str:
    """Name what a golden contains that only people write."""
    lines = [] if content is None else content.decode(errors="replace").splitlines()
    kinds = {
        "comments": any(line.lstrip().startswith("#") for line in lines),
        "expressions": any(_EXPRESSION.match(line) for line in lines),
        "dots": any(line.strip() == "- ..." for line in lines) and len(lines) > 1,
    }
    return " and ".join(kind for kind, is_there in kinds.items() if is_there)


def _parsed(content: bytes, store: GoldenStore, path: Path) -> Golden | None:
    """Return a golden; None if it cannot be read and is about to be written again."""
    try:
        return golden.parse(content.decode())
    except (errors.ConfigurationError, UnicodeDecodeError) as exc:
        if store.update:
            return None
        message = str(exc)
        hint: HintParts = ("Goldens are UTF-8 text.",)
        details: dict[str, Any] = {}
        if isinstance(exc, errors.ConfigurationError):
            message, hint, details = exc.message, exc.advice, exc.details
        raise errors.ConfigurationError(
            f"{path}: {message}",
            code=errors.ErrorCode.GOLDEN_UNREADABLE,
            hint=hint,
            details={**details, "path": str(path)},
        ) from exc


def _dedented(text: str) -> str:
    """Remove the common indentation of a golden that stands in a test."""
    lines = text.split("\n")
    margin = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] for line in lines)


# A plain assert of a snapshot


def explain(left: object, right: object) -> list[str] | None:
    """Return lines that explain a failed ``left == right``; None if it is not about a snapshot."""
    if isinstance(left, Snapshot) and isinstance(right, Snapshot):
        return _two_screens(left, right)
    screen, other = (left, right) if isinstance(left, Snapshot) else (right, left)
    if not isinstance(screen, Snapshot) or not isinstance(other, (Golden, str)):
        return None
    wanted = other if isinstance(other, Golden) else golden.parse(other)
    return [f"{screen!r} == golden", *str(compare(wanted, screen)).split("\n")]


def _two_screens(left: Snapshot, right: Snapshot) -> list[str]:
    shown = golden.render(right)
    difference = compare(golden.parse(shown), left, exact=True) if shown else None
    header = [f"{left!r} == {right!r}", "They show different things (- right, + left):"]
    return header + ([] if difference is None else difference.diff.split("\n"))
