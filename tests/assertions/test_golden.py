"""The files of goldens, and their names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.assertions import golden as goldens
from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.assertions.golden import (
    GoldenClaims,
    GoldenStore,
    Ignored,
    update_when_settled,
)
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import (
    ClawperatorWarning,
    ConfigurationError,
    ErrorCode,
    ExpectationError,
    SnapshotError,
)
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.snapshot.tree import Snapshot
from tests.doubles.clock import FakeTime
from tests.doubles.runner import SHOP, Phone, client, node, screen


def test_goldens_are_next_to_the_test(tmp_path: Path) -> None:
    """The path of a golden is in a folder next to the test, and asking for it marks it as used."""
    store = GoldenStore(tmp_path)

    path = store.path("login", ".yaml")

    assert path == tmp_path / "__screens__" / "login.yaml"
    assert store.used == {path}


@pytest.mark.parametrize("name", ["login", "Sign in", "a.b-c_d+e", "日本語", "x" * 100, "1"])
def test_usual_names_are_accepted(name: str) -> None:
    """A name may have letters of any script, digits, spaces and a few signs."""
    assert goldens.checked_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b", "C:x", ".hidden", "a\0b", "a\nb"),
        *("x" * 101, "CON", "nul.txt", "a ", "a.", "~", "$HOME", "*", None, 3),
    ],
)
def test_hostile_names_are_refused(name: object) -> None:
    """A name that leads to another folder, or that no file can have, is refused."""
    with pytest.raises(ConfigurationError, match="cannot be the name of a golden"):
        goldens.checked_name(name)


@given(st.text())
def test_no_name_leads_to_another_folder(name: str) -> None:
    """Any name is refused, or is a file right inside the folder."""
    store = GoldenStore(Path("/tests"))

    try:
        path = store.path(name, ".yaml")
    except ConfigurationError:
        path = Path("/tests/__screens__/refused")

    assert Path(os.path.normpath(path)).parent == Path("/tests/__screens__")


def test_a_written_golden_is_readable_and_noted(tmp_path: Path) -> None:
    """It leaves no temporary file; a missing one reads as None."""
    store = GoldenStore(tmp_path)
    path = store.path("login", ".yaml")

    missing = store.read(path)
    store.write(path, b"- ...\n")

    assert (missing, store.read(path)) == (None, b"- ...\n")
    assert store.written == {path}
    assert list(path.parent.iterdir()) == [path]


def test_a_golden_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    """The error names the path."""
    (tmp_path / "__screens__").write_text("in the way")
    store = GoldenStore(tmp_path)

    with pytest.raises(ConfigurationError, match="cannot be written"):
        store.write(store.path("login", ".yaml"), b"")
    with pytest.raises(ConfigurationError, match=str(tmp_path)) as caught:
        store.read(tmp_path)

    assert caught.value.code == ErrorCode.GOLDEN_UNREADABLE


def test_pictures_of_all_screens_are_one_golden() -> None:
    """Pictures of one name for several screen sizes have one identity."""
    folder = Path("__screens__")

    small = goldens.identity(folder / "login-720x1280-320dpi.png")

    assert small == goldens.identity(folder / "login-1080x2400.png")
    assert small != goldens.identity(folder / "logout-1080x2400.png")
    assert small != goldens.identity(folder / "login.yaml")


def test_the_folder_of_the_caller_is_the_default() -> None:
    """Without a store, goldens are next to the code that asks for them."""
    before = goldens.use(None)
    try:
        store = goldens.current()
    finally:
        goldens.use(before)

    assert store.folder == Path(__file__).parent
    assert not store.update


SETTINGS = "com.android.settings"


def updated(look: Callable[[], str], *, timeout: float = 5.0, golden: str = "") -> list[str]:
    """Run one update in no time; return what was written."""
    written: list[str] = []
    update_when_settled(
        look,
        matches=lambda seen: seen == golden,
        shown=lambda seen: seen,
        keep=lambda _: None,
        write=written.append,
        timeout=timeout,
        clock=FakeTime().clock,
    )
    return written


@pytest.mark.parametrize(
    ("screens", "golden", "written"),
    [
        pytest.param(["loading", "half", *["done"] * 100], "", ["done"], id="once it settles"),
        pytest.param(map(str, range(1_000)), "", ["50"], id="at the deadline"),
        pytest.param(["loading", "golden"], "golden", [], id="not if it matches later"),
    ],
)
def test_a_screen_is_written(screens: Iterable[str], golden: str, written: list[str]) -> None:
    """What is shown on the way to the last screen is not."""
    following = iter(screens)

    assert updated(lambda: next(following), timeout=1.0, golden=golden) == written


def test_a_screen_that_is_never_read_is_not_written() -> None:
    """The reason is raised."""

    def look() -> str:
        raise SnapshotError("no tree", code=ErrorCode.UI_TREE_UNAVAILABLE)

    with pytest.raises(SnapshotError, match="no tree"):
        updated(look)


def test_a_written_golden_matches_the_same_screen(
    real_expect: Expect, claw: Clawperator, tmp_path: Path
) -> None:
    """A tree and a picture written from a phone match its screen again, and no other."""
    claw.close_app(SETTINGS)
    claw.open_app(SETTINGS)
    real_expect(claw.node(text="Connections")).to_be_visible()
    goldens.use(GoldenStore(tmp_path, update=True))
    real_expect(claw).to_match_tree("settings")
    real_expect(claw).to_match_screenshot("settings")

    goldens.use(GoldenStore(tmp_path))
    real_expect(claw).to_match_tree("settings", exact=True)
    real_expect(claw).to_match_screenshot("settings", mask=[claw.node(text="Settings")])
    claw.click(text="Connections")
    real_expect(claw).not_to_match_tree("settings")
    with pytest.raises(ExpectationError, match="pixels that differ"):
        real_expect(claw).to_match_screenshot("settings", timeout=0)

    names = {path.name for path in (tmp_path / "__screens__").iterdir()}
    assert names == {"settings.yaml", "settings-1080x2400-420dpi.png", "failed"}


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
    """A screen that does not match yet is waited for."""
    write(store, "shop", GOLDEN)
    phone = Phone(screen(), screen(), SHOP)

    expect(client(phone)).to_match_tree("shop")
    expect(Snapshot.from_xml(SHOP)).to_match_tree("shop")

    assert len(phone.executions) == 3
    assert {path.name for path in store.used} == {"shop.yaml"}


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
    """In all forms of a plain matcher, whose role is checked; one needs no list."""
    claw = client(Phone(CLOCK))
    ways: list[Ignored] = [
        claw.node(id="clock"),
        NodeMatcher.of(id="com.example.shop:id/clock"),
        {"resourceId": "com.example.shop:id/clock"},
    ]

    for way in ways:
        expect(claw).to_match_tree('- text "Hi"', exact=True, ignore=[way])
        expect(claw).to_match_tree('- text "Hi"', exact=True, ignore=way)
    with pytest.raises(ExpectationError, match="12:00"):
        expect(claw).to_match_tree('- text "Hi"', exact=True, timeout=0)
    with pytest.raises(ConfigurationError, match="ignore= takes matchers"):
        expect(claw).to_match_tree("- text", ignore=[claw.node(id="list").node(text="Tea")])
    with pytest.raises(ConfigurationError, match="Did you mean switch"):
        expect(claw).to_match_tree("- text", ignore=[{"role": "swich"}])


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
    """The error for an unreadable golden names the file, and is not the app's failure."""
    path = write(store, "shop", "")
    path.write_bytes(content)

    with pytest.raises(ConfigurationError, match=str(path)) as caught:
        expect(Snapshot.from_xml(SHOP)).to_match_tree("shop")

    assert caught.value.code == ErrorCode.GOLDEN_UNREADABLE


def test_an_update_writes_a_missing_tree(expect: Expect, store: GoldenStore) -> None:
    """Once the screen is settled; then it matches exactly."""
    updating(store)
    expect(client(Phone(screen(), SHOP))).to_match_tree("shop")
    goldens.use(store)

    expect(Snapshot.from_xml(SHOP)).to_match_tree("shop", exact=True)

    assert {path.name for path in store.written} == {"shop.yaml"}


def test_an_update_leaves_a_tree_that_matches(expect: Expect, store: GoldenStore) -> None:
    """It stays as people wrote it; a negated check never writes."""
    path = write(store, "shop", GOLDEN)
    updating(store)

    expect(client(Phone(screen(), SHOP))).to_match_tree("shop")
    expect(Snapshot.from_xml(CLOCK)).not_to_match_tree("shop")

    assert path.read_text(encoding="utf-8") == GOLDEN
    assert store.written == set()


def test_an_update_replaces_a_tree_that_does_not_match(expect: Expect, store: GoldenStore) -> None:
    """Without the ignored nodes."""
    path = write(store, "clock", "nonsense")
    updating(store)
    claw = client(Phone(CLOCK))

    expect(claw).to_match_tree("clock", ignore=[claw.node(id="clock")])

    assert path.read_text(encoding="utf-8") == '- text "Hi"\n'


def test_an_update_warns_about_lost_comments(expect: Expect, tmp_path: Path) -> None:
    """Overwriting comments and expressions is a warning."""
    path = tmp_path / "__screens__" / "shop.yaml"
    path.parent.mkdir()
    path.write_text("# the shop\n- text /Cheese/\n")
    expect.configure(goldens=GoldenStore(tmp_path, update=True))

    with pytest.warns(ClawperatorWarning, match="without its comments and expressions"):
        expect(Snapshot.from_xml(SHOP)).to_match_tree("shop")

    assert "Cheese" not in path.read_text()


OTHER = screen(node(text="Other"))


@pytest.mark.parametrize("is_there", [False, True], ids=["written", "found right"])
def test_one_name_for_two_screens_is_refused(
    expect: Expect, store: GoldenStore, is_there: bool
) -> None:
    """No test overwrites the golden that another one wrote or found right; both are named."""
    if is_there:
        write(store, "shop", GOLDEN)
    claims = GoldenClaims(store.folder / "claims")
    (store.folder / "claims").mkdir()
    for test, xml in (("test_a", SHOP), ("test_b", SHOP)):
        goldens.use(GoldenStore(store.folder, update=True, claims=claims, test=test))
        expect(Snapshot.from_xml(xml)).to_match_tree("shop")
    kept = (store.folder / "__screens__" / "shop.yaml").read_text()

    # Another process knows the claims only by their folder.
    claims = GoldenClaims(store.folder / "claims")
    goldens.use(GoldenStore(store.folder, update=True, claims=claims, test="test_c"))
    with pytest.raises(ConfigurationError, match=r"run: test_a .* test_c") as no:
        expect(Snapshot.from_xml(OTHER)).to_match_tree("shop")

    assert "another name" in str(no.value.hint)
    assert (store.folder / "__screens__" / "shop.yaml").read_text() == kept


def test_a_test_that_is_run_again_may_write_its_golden_again(
    expect: Expect, store: GoldenStore
) -> None:
    """What its first attempt wrote is forgotten; within one attempt a name is one screen."""
    again = GoldenStore(store.folder, update=True)
    goldens.use(again)
    expect(Snapshot.from_xml(OTHER)).to_match_tree("shop")

    with pytest.raises(ConfigurationError, match="two screens"):
        expect(Snapshot.from_xml(SHOP)).to_match_tree("shop")
    again.claims.release(again.test)
    expect(Snapshot.from_xml(SHOP)).to_match_tree("shop")

    assert "Tea" in (store.folder / "__screens__" / "shop.yaml").read_text()


@pytest.mark.parametrize(
    ("xml", "why"),
    [
        (
            screen(node(text="It is hunter2")),
            r"a secret, as in - \w+ \"It is \[\*\*\*",
        ),
        (screen(), "nothing that it could ask for"),
    ],
)
def test_a_golden_that_would_be_wrong_is_not_written(
    expect: Expect, store: GoldenStore, xml: str, why: str
) -> None:
    """A secret would leave the process; an empty golden would match every screen."""
    SECRETS.add("hunter2")
    updating(store)

    with pytest.raises(ConfigurationError, match=why) as caught:
        expect(Snapshot.from_xml(xml)).to_match_tree("code")

    assert "ignore=" in str(caught.value.hint)
    assert not (store.folder / "__screens__").exists()


def test_the_mark_of_a_secret_in_a_golden_is_explained(expect: Expect) -> None:
    """Copied from a report, it is not what the screen has."""
    SECRETS.add("hunter2")
    shown = Snapshot.from_xml(screen(node(text="hunter2", kind="TextView")))

    expect(shown).to_match_tree('- text "hunter2"')
    with pytest.raises(ExpectationError, match="shown in the place of a secret"):
        expect(shown).to_match_tree('- text "[***]"')
