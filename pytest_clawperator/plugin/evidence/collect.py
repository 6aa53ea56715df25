"""Evidence of a client, collected within a few seconds: one collector for each kind.

A new kind is a module with its collector and a row in ``KINDS``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin.evidence.client_activity import ClientActivity
from pytest_clawperator.plugin.evidence.collectors.envelopes import collect_envelopes
from pytest_clawperator.plugin.evidence.collectors.evidence_piece import (
    Evidence,
    Piece,
    Unavailable,
)
from pytest_clawperator.plugin.evidence.collectors.log import collect_log
from pytest_clawperator.plugin.evidence.collectors.look import Look
from pytest_clawperator.plugin.evidence.collectors.screenshot import collect_screenshot
from pytest_clawperator.plugin.evidence.collectors.skill_output import collect_skill_output
from pytest_clawperator.plugin.evidence.collectors.snapshot import collect_snapshot
from pytest_clawperator.plugin.input.settings import Settings

# How long all of it may take together.
WITHIN = 8.0


@dataclass(frozen=True, kw_only=True)
class Request:
    """Whose evidence is wanted, what the screen shows, and what was collected so far."""

    client: ClientActivity
    look: Look
    found: Evidence
    is_whole_log: bool = False


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of evidence: who collects it, and the setting that says when.

    A kind without a setting is kept whenever any other is.
    """

    name: str
    setting: str | None
    collect: Callable[[Request], Iterator[Piece]]


#: What needs no device comes first.
KINDS = (
    Kind(
        name="log",
        setting="logcat",
        collect=lambda ask: collect_log(ask.client, ask.found, is_whole=ask.is_whole_log),
    ),
    Kind(name="envelopes", setting=None, collect=lambda ask: collect_envelopes(ask.client)),
    Kind(name="skills", setting=None, collect=lambda ask: collect_skill_output(ask.client)),
    Kind(
        name="screenshot",
        setting="screenshot",
        collect=lambda ask: collect_screenshot(ask.client, ask.look),
    ),
    Kind(
        name="snapshot",
        setting="snapshot",
        collect=lambda ask: collect_snapshot(ask.client, ask.look),
    ),
)


def wanted_kinds(settings: Settings, when: str | None, *, has_failed: bool) -> list[str]:
    """Return the kinds that the settings want after this phase of a test."""
    values = {"on"} if when == "call" else set()
    if has_failed:
        values |= {"on", "only-on-failure", "full"}
    wanted = {
        kind.name
        for kind in KINDS
        if kind.setting is not None and getattr(settings, kind.setting) in values
    }
    return [kind.name for kind in KINDS if kind.name in wanted or (wanted and not kind.setting)]


def collect(
    client: ClientActivity,
    kinds: Collection[str],
    *,
    is_broken: bool = False,
    is_whole_log: bool = False,
    within: float = WITHIN,
) -> Evidence:
    """Collect evidence of these kinds; what takes too long is left out and named.

    ``is_broken`` says that the device failed already: then nothing is run on it.
    """
    found = Evidence()
    look = Look(client, is_broken=is_broken, is_wanted="snapshot" in kinds)
    request = Request(client=client, look=look, found=found, is_whole_log=is_whole_log)
    wanted = [kind for kind in KINDS if kind.name in kinds]
    done: list[Kind] = []

    def collect_all() -> None:
        client.hide_passwords()
        for kind in wanted:
            _collect_one(kind, request)
            done.append(kind)

    # A device that hangs keeps this thread waiting, and not the tests.
    thread = threading.Thread(target=collect_all, name="clawperator evidence", daemon=True)
    client.collecting_threads.add(thread)
    begin = time.monotonic()
    thread.start()
    thread.join(max(begin + within - time.monotonic(), 0))
    in_time = Evidence(list(found.pieces), list(found.missing), found.crashes, found.traces)
    in_time.missing += [
        f"no {kind.name}: the device did not give it within {within:g} s"
        for kind in wanted
        if kind not in done
    ]
    return in_time


def _collect_one(kind: Kind, request: Request) -> None:
    found = request.found
    try:
        found.pieces.extend(kind.collect(request))
    except Unavailable as exc:
        found.missing.append(f"no {kind.name}: {exc}")
    except ClawperatorError as exc:
        found.missing.append(f"no {kind.name}: {exc.code}: {exc.message.splitlines()[0]}")
    except Exception as exc:  # evidence must never hide the failure that it is about
        found.missing.append(f"no {kind.name}: {type(exc).__name__}: {exc}")
