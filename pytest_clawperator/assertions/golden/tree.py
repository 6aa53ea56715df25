"""``to_match_tree``: a screen compared with a golden tree."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clawperator.assertions.checks.check import Check, Verdict
from pytest_clawperator.assertions.failure import Failure, overlay_hint, overlay_lines
from pytest_clawperator.assertions.golden import store as goldens
from pytest_clawperator.assertions.golden.left_out import targets_of
from pytest_clawperator.assertions.golden.store import GoldenStore
from pytest_clawperator.assertions.golden.update import update_when_settled
from pytest_clawperator.assertions.wait_loop import Clock, Outcome
from pytest_clawperator.client.locator import Locator
from pytest_clawperator.client.plan.target import Target
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import (
    ClawperatorWarning,
    ConfigurationError,
    ErrorCode,
    ExpectationError,
)
from pytest_clawperator.remedies import HintParts, Remedy, RemedyKind
from pytest_clawperator.snapshot import golden
from pytest_clawperator.snapshot.golden import Golden
from pytest_clawperator.snapshot.golden_diff import Difference, compare
from pytest_clawperator.snapshot.query import Query
from pytest_clawperator.snapshot.tree import Snapshot

__tracebackhide__ = True  # a failure is shown at the test's own line

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

    @classmethod
    def of(cls, given: Any, *, exact: bool, ignore: Ignored | Iterable[Ignored]) -> GoldenTree:
        """Read a golden, given by the name of its file or as its text."""
        queries = tuple(_query(target) for target in targets_of(ignore, verb="ignore="))
        if isinstance(given, str) and given.lstrip().startswith(("-", "#")):
            return cls("the golden", golden.parse(_dedented(given)), exact, queries)
        store = goldens.current()
        path = store.path(given, ".yaml")
        name = f"{goldens.FOLDER}/{path.name}"
        return cls(name, _read(store, path), exact, queries, store, path)

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
        found = "a match" if difference is None else str(difference).partition(" (")[0]
        return Verdict(difference is None, found)

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
            write=lambda seen: self._write(store, path, seen),
            timeout=timeout,
            clock=clock,
        )

    def _write(self, store: GoldenStore, path: Path, snapshot: Snapshot) -> None:
        lost = _handwritten(store.read(path))
        store.write(path, (self.render(snapshot) or "- ...\n").encode())
        if lost:
            warnings.warn(
                f"{path} did not match and was overwritten, without its {lost}",
                ClawperatorWarning,
                stacklevel=2,
            )

    def render(self, snapshot: Snapshot) -> str:
        """Return the golden of a screen, as text."""
        return golden.render(snapshot, ignore=self.ignore)

    def explain(
        self, failure: Failure, check: Check[Snapshot], outcome: Outcome[Snapshot]
    ) -> ExpectationError:
        """Build the error: the difference, or how to write the golden."""
        snapshot = outcome.seen
        if snapshot is None or self.golden is None:
            once = "; only to_match_tree() writes it, so expect that once."
            end = once if check.wanted.startswith("not ") else "."
            hint = (Remedy(RemedyKind.WRITE_GOLDEN, str(self.path)), end)
            return failure.error(check, outcome, snapshot=snapshot, hint=hint)
        difference = self.difference(snapshot)
        diff = str(difference).split("\n")[1:] if difference is not None else []
        return failure.error(
            check,
            outcome,
            evidence=["(- golden, + screen):", *diff, *overlay_lines(snapshot)] if diff else (),
            snapshot=None if diff else snapshot,
            hint=overlay_hint(snapshot) or (self._hint if diff else None),
            details={"diff": "\n".join(diff), "xml": snapshot.xml},
        )

    @property
    def _hint(self) -> HintParts:
        if self.path is None:
            return ("Change the golden, or ignore= nodes that come and go.",)
        return (
            "If the screen is right, ",
            Remedy(RemedyKind.REPLACE_GOLDEN, str(self.path)),
            "; nodes that come and go are left out with ignore=.",
        )


def _query(target: Target) -> Query:
    is_simple = target.within is None and target.has is None and target.index is None
    if target.query is None or not is_simple:
        raise ConfigurationError(
            f"ignore= takes matchers, found {target}",
            hint="Write ignore=[claw.node(id='clock')] or ignore=[{'resourceId': ...}].",
        )
    return target.query


def _handwritten(content: bytes | None) -> str:
    """Name what a golden contains that only people write."""
    lines = [] if content is None else content.decode(errors="replace").splitlines()
    kinds = {
        "comments": any(line.lstrip().startswith("#") for line in lines),
        "expressions": any(_EXPRESSION.match(line) for line in lines),
        "dots": any(line.strip() == "- ..." for line in lines) and len(lines) > 1,
    }
    return " and ".join(kind for kind, is_there in kinds.items() if is_there)


def _read(store: GoldenStore, path: Path) -> Golden | None:
    content = store.read(path)
    if content is None:
        return None
    try:
        return golden.parse(content.decode())
    except (ConfigurationError, UnicodeDecodeError) as exc:
        if store.update:
            return None
        message = str(exc)
        hint: HintParts = ("Goldens are UTF-8 text.",)
        details: dict[str, Any] = {}
        if isinstance(exc, ConfigurationError):
            message, hint, details = exc.message, exc.advice, exc.details
        raise ConfigurationError(
            f"{path}: {message}",
            code=ErrorCode.GOLDEN_UNREADABLE,
            hint=hint,
            details={**details, "path": str(path)},
        ) from exc


def _dedented(text: str) -> str:
    """Remove the common indentation of a golden that stands in a test."""
    lines = text.split("\n")
    margin = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] for line in lines)
