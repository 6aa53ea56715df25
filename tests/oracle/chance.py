"""Screens, locators and checks by chance: few words, so that much matches by accident."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from xml.sax.saxutils import quoteattr

from tests.oracle import meaning
from tests.oracle.meaning import Description, Element, Screen, Text

TEXTS = (
    *("", "", "", " ", "\u00a0", "Bob", "bob", "BOBBY", "Ann", "ann & bob", "Total: 12", "12"),
    *("\u0130stanbul", "ISTANBUL", "\u0131s", "Stra\u00dfe", "STRASSE", "pa\u017fs", "PASS"),
    *("\U0001f600", "a\U0001f600b", "\U0001f600 " * 7, "e\u0301", "\u00e9", "\u03a3\u03af\u03c2"),
    *("a\nb", "twenty letters and more", '<b>"it\'s"</b>', "back\\slash", "$5.00", "273 \u212a"),
)
IDS = (
    *("", "", "a:id/row", "a:id/row", "b:id/row", "row", "a:id/Row", "a:id/title", "title"),
    *("a:id/big_row", "android:id/summary", "android:id/summary", "a:id/tab_bar", "a:id/"),
    *("a:id/row:id/row", "NAV\u0130GATION"),
)
CLASSES = (
    *("android.widget.TextView", "android.view.View", "android.widget.LinearLayout"),
    *("android.widget.FrameLayout", "android.widget.Button", "android.widget.RadioButton"),
    *("android.widget.EditText", "android.widget.Switch", "android.widget.CheckBox"),
    *("androidx.recyclerview.widget.RecyclerView", "android.widget.ImageView", ""),
    *("com.google.android.material.tabs.TabLayout", "androidx.appcompat.widget.Toolbar"),
)
# Roles that a snapshot shows, so that locators may ask for them.
ROLES = (
    *("button", "checkbox", "chip", "container", "icon", "image", "list", "pager", "switch"),
    *("tab", "tabbar", "text", "textfield", "toolbar", "unknown"),
)
FLAGS = ("clickable", "checkable", "checked", "focusable", "focused", "selected", "scrollable")
BOXES = (
    *("[0,0][100,50]", "[0,0][100,50]", "[0,100][1080,300]", "[0,100][1080,300]") * 5,
    *("[0,2350][1080,2500]", "[0,2400][100,2500]", "[0,2401][100,2500]", "[-50,0][0,50]"),
    *("[-50,0][-1,50]", "[10,10][10,60]", "[90,60][10,10]", "[0,5000][1080,5100]", None),
)
ROOT_BOXES = (*("[0,0][1080,2400]",) * 8, "[0,0][0,0]", "[0,0][540,1200]", None)


# Screens


def screen_xml(random: Random) -> str:
    """Write a hierarchy with one window, or sometimes two."""
    windows = [_window(random) for _ in range(1 if random.random() < 0.9 else 2)]
    return f'<hierarchy rotation="0">{"".join(windows)}</hierarchy>'


def _window(random: Random) -> str:
    text, depth = _opened(random, ROOT_BOXES), 1
    for _ in range(random.randrange(20)):
        while depth > 1 and random.random() < 0.45:
            text, depth = f"{text}</node>", depth - 1
        text, depth = text + _opened(random, BOXES), depth + 1
    return text + "</node>" * depth


def _opened(random: Random, boxes: tuple[str | None, ...]) -> str:
    attributes = {
        "text": random.choice(TEXTS),
        "content-desc": random.choice(TEXTS) if random.random() < 0.4 else "",
        "resource-id": random.choice(IDS),
        "class": random.choice(CLASSES),
        "enabled": str(random.random() < 0.8).lower(),
        **{flag: str(random.random() < 0.25).lower() for flag in FLAGS},
    }
    box = random.choice(boxes)
    if box is not None:
        attributes["bounds"] = box
    return f"<node {' '.join(f'{name}={quoteattr(value)}' for name, value in attributes.items())}>"


# Locators


def description(random: Random, screen: Screen) -> Description:
    """Describe a node that is likely to be on the screen."""
    shown = [one for one in screen.elements if screen.is_shown(one)]
    near = random.choice(shown if random.random() < 0.9 else screen.elements)
    return _description(random, near, depth=random.choice((0, 1, 1, 1, 2)))


def _description(random: Random, near: Element, *, depth: int) -> Description:
    around = None
    if depth and near.above and random.random() < 0.5:
        around = _description(random, _one_of(random, near.above, near), depth=depth - 1)
    inside = [
        _description(random, _one_of(random, near.below, near), depth=depth - 1)
        for _ in range(random.choice((0, 0, 0, 0, 1, 1, 2)) if depth and near.below else 0)
    ]
    index = random.choice((0, 0, 0, -1, -1, 1, -2)) if random.random() < 0.25 else None
    return Description(_keywords(random, near), around, tuple(inside), index)


def _one_of(random: Random, elements: list[Element], otherwise: Element) -> Element:
    return random.choice(elements) if elements and random.random() < 0.9 else otherwise


def _keywords(random: Random, near: Element) -> dict[str, Text]:
    """Return one or two keywords, most of which fit a node."""
    values = {
        "text": near.label,
        "text_contains": _part(random, near.label),
        "id": near.get("resource-id"),
        "desc": near.get("content-desc"),
        "desc_contains": _part(random, near.get("content-desc")),
        "role": near.role,
    }
    if random.random() < 0.1:
        values = {word: random.choice(IDS if word == "id" else TEXTS) for word in values}
        values["role"] = random.choice(ROLES)
    if values["role"] not in ROLES:
        del values["role"]
    if ":id/" in values["id"] and random.random() < 0.6:
        values["id"] = values["id"].split(":id/")[-1]
    usual = {word: value for word, value in values.items() if value.strip()} or {"role": "text"}
    # Texts and ids are what people write.
    words = sorted(usual, key=lambda word: random.random() * (2 if word == "role" else 1))
    chosen: dict[str, Text] = {}
    for word in words[: random.choice((1, 1, 1, 2))]:
        takes_pattern = word in ("text", "id", "desc") and random.random() < 0.25
        chosen[word] = pattern_for(random, usual[word]) if takes_pattern else usual[word]
    if "role" in chosen and random.random() < 0.2:
        chosen["role"] = usual["role"].upper()
    if "text" not in chosen and chosen and random.random() < 0.05:
        chosen["text"] = ""  # a node without a text
    return chosen


def _part(random: Random, text: str) -> str:
    start = random.randrange(len(text) + 1)
    part = text[start : start + random.randrange(1, 8)]
    return random.choice((str, str.upper, str.lower, str.swapcase))(part)


def code(random: Random, wanted: Description) -> str:
    """Write a description as Python code, in one of the ways in which people write it."""
    words = [f"{word}={_written(value)}" for word, value in wanted.keywords.items()]
    random.shuffle(words)
    parts = [f"has={code(random, part)}" for part in wanted.inside]
    arguments = ", ".join([*words, *parts[:1]])
    for part in parts[1:]:
        arguments = f"claw.node({arguments}), {part}"
    before = "claw"
    if wanted.around is not None and random.random() < 0.5:
        before = code(random, wanted.around)
    elif wanted.around is not None:
        arguments = f"{arguments}, within={code(random, wanted.around)}"
    words_for = {None: "", 0: ".first", -1: ".last"}
    is_word = wanted.index in words_for and random.random() < 0.7
    after = words_for[wanted.index] if is_word or wanted.index is None else f".nth({wanted.index})"
    return f"{before}.node({arguments}){after}"


def _written(value: Text) -> str:
    if isinstance(value, str):
        return repr(value)
    names = [name for name in ("I", "M", "S") if value.flags & getattr(re, name)]
    flags = f", {' | '.join(f're.{name}' for name in names)}" if names else ""
    return f"re.compile({value.pattern!r}{flags})"


# Patterns

_PIECES = (
    *("a", "b", "i", "I", "S", "\u0130", "\u0131", "\U0001f600", "\u00df", " ", "-", ":", "/"),
    *(
        r"\w",
        r"\W",
        r"\d",
        r"\D",
        r"\s",
        r"\S",
        ".",
        r"\.",
        r"\$",
        r"\-",
        r"\n",
        r"\x41",
        r"\u00e9",
    ),
    *(r"\b", r"\B", "^", "$", r"\A", r"\Z", "|", "(", ")", "(?:", "(?=", "(?!", "(?<=", "(?<!"),
    *("*", "+", "?", "*?", "{2}", "{,2}", "{1,}", "{,}", "{", "}", "{}", "]", "(?P<n>", "(?P=n)"),
    *("[a-z]", "[^a-z]", "[A-Z]+", r"[\w.]", r"[^\W\d]", "[]a]", "[^]i]", "[a-]", r"[\]-a]"),
    *("[\U0001f600x]", "[^b]", "[a--b]", r"[\w-a]", r"\1", r"\2", "(?i)", "[", r"\Z"),
)
FLAG_SETS = (0, 0, re.I, re.M, re.S, re.I | re.M | re.S)


def pattern_source(random: Random) -> str:
    """Write a pattern, which may be wrong."""
    return "".join(random.choice(_PIECES) for _ in range(random.randrange(1, 7)))


def compiled(source: str, flags: int) -> re.Pattern[str] | None:
    """Return the pattern; None if Python refuses it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what may change in a later version
            return re.compile(source, flags)
    except (re.error, OverflowError):
        return None


def pattern_for(random: Random, text: str) -> re.Pattern[str]:
    """Return a pattern that is likely to be found in a text."""
    start = random.randrange(len(text))
    part = re.escape(text[start : start + random.randrange(1, 5)])
    forms = (
        *(part, f"^{re.escape(text)}$", f"^{part}", f"{part}$", f"{part}|\\d", rf"\b{part}"),
        *("^$", r"^\w+$", r"[a-z]", r"[^a-z]", ".", r"\s", "(?i:x)|i", f"(?:{part})+"),
    )
    flags = random.choice(FLAG_SETS)
    found = compiled(pattern_source(random), flags) if random.random() < 0.3 else None
    return found or re.compile(random.choice(forms), flags)


# Checks

PLAIN_CHECKS = (
    *("to_be_visible", "to_be_hidden", "to_exist", "to_exist", "to_be_enabled", "to_be_disabled"),
    *("to_be_checked", "to_be_focused", "to_be_selected", "to_be_in_viewport"),
)


@dataclass(frozen=True)
class Check:
    """A check with its arguments."""

    name: str
    given: tuple[object, ...] = ()
    options: tuple[tuple[str, float], ...] = ()

    def __str__(self) -> str:
        words = [repr(one) for one in self.given] + [f"{k}={v}" for k, v in self.options]
        return f"{self.name}({', '.join(words)})"


def checks(random: Random, view: meaning.View) -> Iterator[Check]:
    """Yield checks without end, about half of which hold."""
    while True:
        check = _check(random, view)
        yield replace(check, name=f"not_{check.name}") if random.random() < 0.5 else check


def _check(random: Random, view: meaning.View) -> Check:
    kind = random.randrange(8)
    one = random.choice(view.shown or view.screen.elements)
    if kind < 3:
        name = random.choice(PLAIN_CHECKS)
        has_ratio = name == "to_be_in_viewport" and random.random() < 0.7
        return Check(name, options=(("ratio", random.choice((0.25, 0.5, 1.0))),) * has_ratio)
    if kind == 3:
        return Check("to_have_count", (random.choice((len(view.shown), 0, 1, 2)),))
    if kind == 4:
        return Check("to_have_role", (random.choice((one.role, *ROLES[:3])),))
    if kind == 5:
        return Check("to_have_desc", (_text(random, one.get("content-desc")),))
    if kind == 6:
        value = meaning.value_of(view.screen, one) or random.choice(view.screen.elements).label
        return Check("to_have_value", (_text(random, value),))
    return _text_check(random, view, one)


def _text_check(random: Random, view: meaning.View, one: Element) -> Check:
    is_part = random.random() < 0.5
    name = "to_contain_text" if is_part else "to_have_text"
    if random.random() < 0.6:
        return Check(name, (_text(random, one.label, is_part=is_part),))
    every = [_text(random, each.label, is_part=is_part) for each in view.shown]
    if every and random.random() < 0.4:
        del every[random.randrange(len(every))]
    if random.random() < 0.2:
        random.shuffle(every)
    return Check(name, (every or [_text(random, one.label, is_part=is_part)],))


def _text(random: Random, text: str, *, is_part: bool = False) -> Text:
    """Return a text or a pattern, most often one that fits."""
    if random.random() < 0.2:
        text = random.choice(TEXTS)
    if text and random.random() < 0.25:
        return re.compile(re.escape(text[: random.randrange(1, 5)]), random.choice(FLAG_SETS))
    if is_part:
        start = random.randrange(len(text) or 1)
        return text[start : start + random.randrange(1, 6)] or "Bob"
    return text
