"""Makes ``matching_cases.json``: matchers on screens, and the nodes that they find.

``python -m tests.report.matching_cases`` writes the file anew: screens of the simulated
apps with matchers for what is on them, and odd screens with matchers where two languages or two
implementations could differ. The answers are those of ``snapshot/query.py``; one test compares
the file with it, another one with the script of the pages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_clawperator import Clawperator, connect
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.snapshot.query import KNOWN_ROLES
from pytest_clawperator.snapshot.tree import Snapshot
from tests.snapshot.screens import hierarchy, node

FILE = Path(__file__).with_suffix(".json")

# What the XML says of nearly every node, and no matcher asks for.
_USUAL = re.compile(
    r" (?:index|package|checkable|checked|focusable|focused|scrollable|long-clickable|password"
    r'|selected)="[^"]*"| (?:clickable)="false"| enabled="true"| (?:text|content-desc)=""'
)

TEXT, IMAGE, BUTTON = (f"android.widget.{name}" for name in ("TextView", "ImageView", "Button"))

LINEAR = "android.widget.LinearLayout"


def places(snapshot: Snapshot, matcher: dict[str, str]) -> list[int]:
    """Return which nodes fit, as places in the order of the tree."""
    order = {found: place for place, found in enumerate(snapshot.nodes)}
    return [order[found] for found in snapshot.find_all(**matcher)]  # type: ignore[arg-type]


def real_screens() -> dict[str, str]:
    """Look at the simulated apps."""
    with (
        Simulator(seed=1, time_scale=0.05) as simulator,
        connect(adb=f"{simulator.adb_host}:{simulator.adb_port}") as claw,
    ):
        return {name: _USUAL.sub("", xml) for name, xml in _walk(claw)}


def _walk(claw: Clawperator) -> Iterator[tuple[str, str]]:
    for package in ("com.android.settings", "com.clawperator.conformance", "com.example.shop"):
        claw.open_app(package)
        yield package, claw.snapshot().xml
    for uri in ("shop://item/3", "shop://cart"):
        claw.open_uri(uri)
        yield uri, claw.snapshot().xml
    claw.open_app("com.clawperator.conformance")
    claw.click(text="Open List")
    yield "conformance list", claw.snapshot().xml


def odd_screens() -> dict[str, str]:
    """Return screens on which details of the rules matter."""
    turkish = "İstanbul ISPARTA ıssız Straße ΣΊΣΥΦΟΣ ǅ ﬁn \u1e9e Ω K Å"
    spaces = ["\u00a0", "\u3000 ", "\x1f", "\x85", "\ufeff", "\u200b", "\n\t"]
    return {
        "case": hierarchy(
            *(node(text=word, cls=TEXT) for word in turkish.split()),
            *(node(desc=word.lower(), cls=TEXT) for word in turkish.split()),
        ),
        "windows": "<hierarchy>"
        + node(node(text="12:00"), bounds="[0,0][1080,80]")
        + node(node(text="Send", bounds="[0,1200][1080,1300]"), bounds="[0,0][1080,2400]")
        + node(text="Gone", bounds="[0,0][0,0]")
        + "</hierarchy>",
        "blank": hierarchy(
            *(node(text=one, desc=f"said {place}") for place, one in enumerate(spaces)),
            *(node(text="", desc=one) for one in spaces),
        ),
        "ids": hierarchy(
            *(
                node(id=one, text=one or "none")
                for one in (
                    *(
                        "a:id/ok",
                        "b:id/ok",
                        "ok",
                        "x:id/not_ok",
                        "a:id/ok:id/ok",
                        "android:id/",
                        "",
                    ),
                    *("__proto__", "a:id/__proto__", "constructor", "a:id/OK"),
                )
            )
        ),
        "roles": hierarchy(
            node(
                node(
                    node(node(node(text="deep", cls=TEXT), cls=LINEAR), cls=LINEAR),
                    node(cls=IMAGE, desc="logo"),
                    node(text="a longer text, with spaces", cls=TEXT),
                    node(text="a-longer-text-without-spaces", cls=TEXT),
                    node(text="\U0001f600 " * 10, cls=TEXT),
                    node(text="\U0001f600 " * 10 + "!", cls=TEXT),
                    cls=LINEAR,
                    clickable=True,
                ),
                node(node(text="Title", cls=TEXT), cls="androidx.appcompat.widget.Toolbar"),
                node(node(text="Home", cls=TEXT), node(cls=IMAGE), id="x:id/BottomBar"),
                node(node(desc="Tab", cls=BUTTON), cls="com.google.TabLayout"),
                *(
                    node(cls=f"android.widget.{name}", text="x")
                    for name in (
                        *("RadioButton", "EditText", "AutoCompleteTextView", "SwitchCompat"),
                        *("CheckBox", "RecyclerView", "ListView", "GridView", "ViewPager2"),
                        *("ImageView", "Chip", "View", "ConstraintLayout", "ImageButton"),
                    )
                ),
                cls=LINEAR,
            )
        ),
        "off the screen": hierarchy(
            node(text="below", bounds="[0,2401][100,2500]"),
            node(text="at the edge", bounds="[0,2400][100,2500]"),
            node(text="left", bounds="[-100,0][-1,50]"),
            node(text="touching", bounds="[-100,0][0,50]"),
            node(text="empty", bounds="[10,10][10,60]"),
            node(text="inside out", bounds="[90,60][10,10]"),
            node(text="nowhere", bounds="somewhere"),
            node(node(text="in hidden", bounds="[0,0][50,50]"), bounds="[0,3000][9,3009]"),
        ),
        "a root without size": hierarchy(node(text="inside")).replace(
            "[0,0][1080,2400]", "[0,0][0,0]"
        ),
        "signs": hierarchy(
            *(
                node(text=one, desc=one)
                for one in (
                    *('"quoted"', "it's", "back\\slash", "<b>&amp;", "a\nb", "tab\there"),
                    *("\U0001f600", "e\u0301", "\u00e9", "אב", "a\u202eb", "  padded  "),
                )
            )
        ),
    }


def matchers_for(snapshot: Snapshot) -> Iterator[dict[str, str]]:
    """Yield matchers by all that nodes have, and by parts of it in another case."""
    for found in snapshot.nodes:
        label, desc = found.label, found.content_desc
        yield from _with_parts("text", "text_contains", label)
        yield from _with_parts("desc", "desc_contains", desc)
        if found.resource_id:
            yield {"id": found.resource_id}
            yield {"id": found.short_id or "/"}
        if label:
            yield {"role": found.role, "text": label}
        if found.resource_id and label:
            yield {"id": found.short_id or "/", "text_contains": label[:512]}
    for role in sorted(KNOWN_ROLES):
        yield {"role": role}
        yield {"role": role.upper(), "text_contains": "e"}


def _with_parts(whole: str, part: str, value: str) -> Iterator[dict[str, str]]:
    if not value:
        return
    yield {whole: value}
    yield {whole: value.upper()}
    yield {part: value.swapcase()}
    yield {part: value[1:5] or value}
    yield {whole: value, part: value.lower()}


def all_cases() -> dict[str, Any]:
    """Return screens and cases, as the file has them."""
    screens = {**real_screens(), **odd_screens()}
    cases = []
    for name, xml in screens.items():
        snapshot = Snapshot.from_xml(xml)
        different = {
            json.dumps(one, sort_keys=True): one
            for one in matchers_for(snapshot)
            if not any(value.isspace() for value in one.values())  # which is refused
        }
        cases += [
            {"screen": name, "matcher": one, "places": places(snapshot, one)}
            for one in different.values()
        ]
    return {"screens": screens, "cases": cases}


if __name__ == "__main__":
    made = all_cases()
    lines = ",\n".join(json.dumps(case) for case in made["cases"])
    screens = json.dumps(made["screens"], indent=0)
    FILE.write_text(f'{{"screens": {screens},\n"cases": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{len(made['cases'])} cases on {len(made['screens'])} screens")
