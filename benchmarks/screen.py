"""What snapshots cost: parsing hierarchies and finding nodes, compared with bare lxml."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from lxml import etree  # type: ignore[import-untyped]  # lxml has no types

from benchmarks import expectations
from benchmarks.measuring import CPU, median_ratio, show
from pytest_clawperator.snapshot.tree import Snapshot

SIZES = (100, 2_000, 20_000)
FIND_SIZE = 2_000
FIND_PAIRS = 200
CHILDREN = 4

_FLAGS = " ".join(
    f'{name}="false"'
    for name in (
        "checkable",
        "checked",
        "clickable",
        "enabled",
        "focusable",
        "focused",
        "scrollable",
        "long-clickable",
        "password",
        "selected",
    )
)


def hierarchy(size: int, *, needs_repair: bool = False) -> str:
    """Return a hierarchy with so many nodes; some texts have raw line breaks if asked for."""
    lines = "\n".join(_lines(0, size, "  ", needs_repair=needs_repair))
    prolog = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
    return f'{prolog}\n<hierarchy rotation="0">\n{lines}\n</hierarchy>\n'


def _lines(number: int, size: int, indent: str, *, needs_repair: bool) -> Iterator[str]:
    tag = f"{indent}<node {_attributes(number, needs_repair=needs_repair)}"
    first = CHILDREN * number + 1
    if first >= size:
        yield f"{tag} />"
        return
    yield f"{tag}>"
    for child in range(first, min(first + CHILDREN, size)):
        yield from _lines(child, size, f"{indent}  ", needs_repair=needs_repair)
    yield f"{indent}</node>"


def _attributes(number: int, *, needs_repair: bool) -> str:
    text = f"Item {number}" if number % 2 else ""
    if needs_repair and number % 10 == 1:
        text += "\nsecond line\tafter a tab"
    bounds = (
        "[0,0][1080,2400]" if number == 0 else f"[0,{number % 2300}][1080,{number % 2300 + 96}]"
    )
    return (
        f'index="{number % CHILDREN}" text="{text}" resource-id="com.example:id/item_{number % 99}"'
        f' class="android.widget.TextView" package="com.example" content-desc="" {_FLAGS}'
        f' bounds="{bounds}"'
    )


def _parse_ratio(ours: bytes, theirs: bytes, size: int) -> float:
    return median_ratio(
        lambda: Snapshot.from_xml(ours),
        lambda: etree.fromstring(theirs),
        pairs=max(20, 20_000 // size),
        clock=CPU,
    )


def parse_ratio(size: int, *, needs_repair: bool) -> float:
    """Compare parsing a snapshot with parsing the same bytes with lxml."""
    source = hierarchy(size, needs_repair=needs_repair).encode()
    return _parse_ratio(source, source, size)


def unfit_ratio(size: int, unfit: str) -> float:
    """Compare parsing a screen with one character that XML forbids with lxml and without it."""
    clean = hierarchy(size)
    middle = f'Item {size // 2 | 1}"'
    source = clean.replace(middle, f'Item {unfit}"', 1).encode("utf-8", "surrogatepass")
    plain = clean.encode()
    return _parse_ratio(source, plain, size)


def find_ratio(*, is_first: bool) -> float:
    """Compare finding a node by its text with a compiled XPath on an equal tree.

    For a first search, every tree is searched once.
    """
    source = hierarchy(FIND_SIZE).encode()
    xpath = etree.XPath("(//node[@text=$t])[1]")
    trees = FIND_PAIRS if is_first else 1
    snapshots = [Snapshot.from_xml(source) for _ in range(trees)]
    tops = [etree.fromstring(source) for _ in range(trees)]
    numbers = itertools.cycle(range(1, FIND_SIZE, 2 * 37))
    if not is_first:
        snapshots[0].find(text="Item 1")

    left, right = itertools.cycle(snapshots), itertools.cycle(tops)
    return median_ratio(
        lambda: next(left).find(text=f"Item {next(numbers)}"),
        lambda: xpath(next(right), t=f"Item {next(numbers)}"),
        pairs=FIND_PAIRS,
        clock=CPU,
    )


def main() -> None:
    """Print one line for each figure."""
    for size in SIZES:
        for needs_repair, limit in ((False, 1.5), (True, 3.0)):
            name = f"parse {size} nodes, {'repaired' if needs_repair else 'clean'}"
            found = parse_ratio(size, needs_repair=needs_repair)
            show(name, f"{found:.2f} x etree.fromstring", f"<= {limit} x")
        for name, unfit in (("control character", "\x01"), ("half surrogate", "\ud83d")):
            found = unfit_ratio(size, unfit)
            show(f"parse {size} nodes, {name}", f"{found:.2f} x etree.fromstring", "<= 3.0 x")
    for is_first, limit in ((True, 1.5), (False, 0.2)):
        name = f"find by text, {'first' if is_first else 'later'}"
        found = find_ratio(is_first=is_first)
        show(name, f"{found:.2f} x compiled XPath", f"<= {limit} x")
    expectations.main()


if __name__ == "__main__":
    main()
