"""A screen compared with a golden tree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.assertions.golden import store as goldens
from pytest_clawperator.assertions.golden.store import GoldenStore
from pytest_clawperator.assertions.golden.tree import Ignored
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import (
    ClawperatorWarning,
    ConfigurationError,
    ErrorCode,
    ExpectationError,
)
from pytest_clawperator.snapshot.tree import Snapshot
from tests.doubles.runner import SHOP, Phone, client, node, screen

GOLDEN = """\
- text "Shop"
- list:
  - text "Tea"
  - text /^\\$\\d/
  - ...
  - text "Bread"
"""
CLOCK = screen(node(text="12:00", id="clock", kind="TextView"), node(text="Hi", kind="TextView"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[GoldenStore]:
    """Keep goldens in a folder of the test's own."""
    store = GoldenStore(tmp_path)
    before = goldens.use(store)
    yield store
    goldens.use(before)


def updating(store: GoldenStore) -> None:
    """Write goldens from now on."""
    goldens.use(GoldenStore(store.folder, update=True, written=store.written))


def write(store: GoldenStore, name: str, text: str) -> Path:
    """Put a golden in place."""
    path = store.folder / "__screens__" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_screen_matches_a_part_of_it(expect: Expect, store: GoldenStore) -> None:
    """A golden that lists a part of the screen matches."""
    write(store, "shop", GOLDEN)

    expect(client(Phone(SHOP))).to_match_tree("shop")
    expect(Snapshot.from_xml(SHOP)).to_match_tree("shop")

    assert {path.name for path in store.used} == {"shop.yaml"}


def test_a_tree_that_matches_later_is_waited_for(expect: Expect, store: GoldenStore) -> None:
    """A screen that does not match yet is looked at again."""
    write(store, "shop", GOLDEN)
    phone = Phone(screen(), screen(), SHOP)

    expect(client(phone)).to_match_tree("shop")

    assert len(phone.executions) == 3


def test_a_difference_is_shown_line_by_line(expect: Expect, store: GoldenStore) -> None:
    """A failure shows the difference line by line, and how to accept it."""
    path = write(store, "shop", GOLDEN.replace("Tea", "Coffee"))

    with pytest.raises(ExpectationError) as caught:
        expect(client(Phone(SHOP), timeout=0.02)).to_match_tree("shop")

    lines = str(caught.value).split("\n")
    assert "expected the screen to match __screens__/shop.yaml, found 1 of 5 golden" in lines[0]
    assert '  -   - text "Coffee"' in lines
    assert '  +   - text "Tea"' in lines
    assert (
        f"write {path} again: call expect.configure(goldens=GoldenStore(FOLDER, update=True))"
        in lines[-1]
    )


def test_an_exact_match_allows_nothing_else(expect: Expect, store: GoldenStore) -> None:
    """With exact=True nothing else may be on the screen."""
    write(store, "shop", '- text "Shop"\n')
    snapshot = Snapshot.from_xml(SHOP)

    expect(snapshot).to_match_tree("shop")
    expect(snapshot).not_to_match_tree("shop", exact=True)
    with pytest.raises(ExpectationError, match=r"to match __screens__/shop\.yaml exactly, found"):
        expect(snapshot).to_match_tree("shop", exact=True)


def test_ignored_nodes_are_left_out(expect: Expect) -> None:
    """Nodes that match ``ignore`` are left out, in all forms of a matcher."""
    claw = client(Phone(CLOCK))
    ways: list[Ignored] = [
        claw.node(id="clock"),
        NodeMatcher.of(id="com.example.shop:id/clock"),
        {"resourceId": "com.example.shop:id/clock"},
    ]

    for way in ways:
        expect(claw).to_match_tree('- text "Hi"', exact=True, ignore=[way])
    with pytest.raises(ExpectationError, match="12:00"):
        expect(claw).to_match_tree('- text "Hi"', exact=True, timeout=0)


def test_ignore_takes_only_plain_matchers(expect: Expect) -> None:
    """A locator inside another is refused."""
    claw = client(Phone(SHOP))

    with pytest.raises(ConfigurationError, match="ignore= takes matchers"):
        expect(claw).to_match_tree("- ...", ignore=[claw.node(id="list").node(text="Tea")])


def test_a_golden_may_stand_in_the_test(expect: Expect) -> None:
    """A golden may be given as text, indented like the code around it."""
    expect(Snapshot.from_xml(SHOP)).to_match_tree("""
        - text "Shop"
        - list:
          - text "Milk"
    """)


@pytest.mark.parametrize("check", ["to_match_tree", "not_to_match_tree"])
def test_a_missing_golden_fails_at_once(expect: Expect, store: GoldenStore, check: str) -> None:
    """A missing golden fails, negated or not, without waiting, with how to write it."""
    phone = Phone(SHOP)

    with pytest.raises(ExpectationError) as caught:
        getattr(expect(client(phone)), check)("shop")

    assert "__screens__/shop.yaml, found no such file" in str(caught.value)
    assert "GoldenStore(FOLDER, update=True)" in str(caught.value)
    assert len(phone.executions) == 1


@pytest.mark.parametrize("content", [b'- txt "Shop"\n', b"\xff\xfe"])
def test_an_unreadable_golden_is_named(expect: Expect, store: GoldenStore, content: bytes) -> None:
    """The error for an unreadable golden names the file, and is no failure of the app."""
    path = write(store, "shop", "")
    path.write_bytes(content)

    with pytest.raises(ConfigurationError, match=str(path)) as caught:
        expect(Snapshot.from_xml(SHOP)).to_match_tree("shop")

    assert caught.value.code == ErrorCode.GOLDEN_UNREADABLE


def test_an_update_writes_a_missing_tree(expect: Expect, store: GoldenStore) -> None:
    """A missing golden is written once the screen is settled; then it matches exactly."""
    updating(store)
    expect(client(Phone(screen(), SHOP))).to_match_tree("shop")
    goldens.use(store)

    expect(Snapshot.from_xml(SHOP)).to_match_tree("shop", exact=True)

    assert {path.name for path in store.written} == {"shop.yaml"}


def test_an_update_leaves_a_tree_that_matches(expect: Expect, store: GoldenStore) -> None:
    """A golden that matches stays as people wrote it."""
    path = write(store, "shop", GOLDEN)
    updating(store)

    expect(client(Phone(screen(), SHOP))).to_match_tree("shop")

    assert path.read_text(encoding="utf-8") == GOLDEN
    assert store.written == set()


def test_an_update_replaces_a_tree_that_does_not_match(expect: Expect, store: GoldenStore) -> None:
    """A golden that does not match is overwritten, without the ignored nodes."""
    path = write(store, "clock", "nonsense")
    updating(store)
    claw = client(Phone(CLOCK))

    expect(claw).to_match_tree("clock", ignore=[claw.node(id="clock")])

    assert path.read_text(encoding="utf-8") == '- text "Hi"\n'


def test_a_negated_check_never_writes(expect: Expect, store: GoldenStore) -> None:
    """An update run writes nothing for not_to_match_tree."""
    path = write(store, "shop", GOLDEN)
    updating(store)

    expect(Snapshot.from_xml(CLOCK)).not_to_match_tree("shop")

    assert path.read_text(encoding="utf-8") == GOLDEN


def test_an_update_warns_about_lost_comments(expect: Expect, tmp_path: Path) -> None:
    """Overwriting comments and expressions is a warning."""
    path = tmp_path / "__screens__" / "shop.yaml"
    path.parent.mkdir()
    path.write_text("# the shop\n- text /Cheese/\n")
    expect.configure(goldens=GoldenStore(tmp_path, update=True))

    with pytest.warns(ClawperatorWarning, match="without its comments and expressions"):
        expect(Snapshot.from_xml(SHOP)).to_match_tree("shop")

    assert "Cheese" not in path.read_text()


def test_one_name_for_two_screens_is_refused(expect: Expect, tmp_path: Path) -> None:
    """An update does not let one test overwrite the golden of another."""
    expect.configure(goldens=GoldenStore(tmp_path, update=True))
    expect(Snapshot.from_xml(SHOP)).to_match_tree("shop")

    with pytest.raises(ConfigurationError, match="written in this run already"):
        expect(Snapshot.from_xml(screen(node(text="Other")))).to_match_tree("shop")


def test_a_single_matcher_may_be_ignored(expect: Expect) -> None:
    """One matcher needs no list, and its role is checked."""
    snapshot = Snapshot.from_xml(SHOP)

    expect(snapshot).to_match_tree('- button "Buy"', ignore={"role": "switch"})
    with pytest.raises(ConfigurationError, match="Did you mean switch"):
        expect(snapshot).to_match_tree('- button "Buy"', ignore=[{"role": "swich"}])
