"""Scrolling: what is sent, what comes back, and going through a list page by page."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.payload import Action
from pytest_clawperator.errors import (
    ConfigurationError,
    ContainerNotFoundError,
    ErrorCode,
    NodeNotFoundError,
)
from tests.doubles.runner import PACKAGE, Phone, client, node, row, screen

FULL_ID = f"{PACKAGE}:id/list"


def page(*names: str, scrollable: bool = True) -> str:
    """Make a screen with a list that shows some names."""
    rows = [row(name, "$1", 100 * place) for place, name in enumerate(names, 1)]
    return screen(node(*rows, id="list", bounds="[0,0][1080,2000]", scrollable=scrollable))


def moving(times: int) -> Any:
    """Let a scroll move so many times, then meet the edge."""
    left = [times]

    def answer(action: Action) -> dict[str, str]:
        left[0] -= 1
        return {"scroll_outcome": "moved" if left[0] >= 0 else "edge_reached", "direction": "down"}

    return answer


def test_scroll() -> None:
    """One gesture, with everything that can be said about it."""
    phone = Phone(data={"scroll": moving(1)})

    outcome = client(phone).scroll(
        "up", within={"id": FULL_ID}, distance_ratio=0.5, settle_delay=0.1
    )

    assert outcome.moved
    assert phone.params("scroll") == [
        {
            "direction": "up",
            "container": {"resourceId": FULL_ID},
            "distanceRatio": 0.5,
            "settleDelayMs": 100,
        }
    ]


def test_a_container_by_its_short_id() -> None:
    """What the device cannot be told is looked up first."""
    phone = Phone(page("Tea"), data={"scroll": moving(1)})
    claw = client(phone)

    claw.scroll(within=claw.node(id="list"))

    assert phone.types == [["snapshot_ui"], ["scroll"]]
    assert phone.params("scroll")[0]["container"] == {"resourceId": FULL_ID}


def test_scroll_until() -> None:
    """The device searches by itself; it may take a second for each scroll."""
    found = {"termination_reason": "TARGET_FOUND", "scrolls_executed": "3", "direction": "down"}
    phone = Phone(data={"scroll_until": found})

    outcome = client(phone).scroll_until(text="Bread", click=True, max_scrolls=40)

    assert outcome.found
    assert outcome.scrolls_executed == 3
    assert phone.params("scroll_until") == [
        {
            "matcher": {"textEquals": "Bread"},
            "direction": "down",
            "maxScrolls": 40,
            "maxDurationMs": 40_000,
            "clickAfter": True,
        }
    ]


@pytest.mark.parametrize(("scrolls", "duration"), [(1, 10_000), (20, 20_000), (200, 100_000)])
def test_time_for_a_search(scrolls: int, duration: int) -> None:
    """A search gets no less than the Operator's own limit, and no more than a run can last."""
    phone = Phone()

    client(phone).scroll_until(max_scrolls=scrolls)

    assert phone.params("scroll_until")[0]["maxDurationMs"] == duration
    assert phone.executions[0].timeout_ms > duration


def test_scroll_and_click() -> None:
    """Both of its retry objects last as long as was asked."""
    phone = Phone(data={"scroll_and_click": {"direction": "Up"}})

    outcome = client(phone).scroll_and_click(text="Tea", direction="up", max_scrolls=3, timeout=0)

    assert outcome.found
    assert phone.sent[0][0]["params"] == {
        "matcher": {"textEquals": "Tea"},
        "direction": "up",
        "maxSwipes": 3,
        "scrollRetry": {"maxAttempts": 1},
        "clickRetry": {"maxAttempts": 1},
    }


@pytest.mark.parametrize("scrolls", [0, 51])
def test_more_swipes_than_the_operator_makes(scrolls: int) -> None:
    """What the Operator would quietly change is refused."""
    with pytest.raises(ConfigurationError, match="1 to 50 times") as refused:
        client(Phone()).scroll_and_click(text="Tea", max_scrolls=scrolls)

    assert "scroll_until" in str(refused.value.hint)


def test_a_target_that_is_not_in_the_list_is_not_waited_for() -> None:
    """After a whole list was searched another search would start at its end."""
    missing = {"error": "NODE_NOT_FOUND"}
    phone = Phone(page("Tea"), data={"scroll_and_click": missing})

    with pytest.raises(NodeNotFoundError):
        client(phone).scroll_and_click(text="Bread", timeout=60)

    assert phone.types == [["scroll_and_click"], ["snapshot_ui"]]


def test_a_search_that_the_device_calls_a_success() -> None:
    """To the specification the end of a list is a success; without its target it is none."""
    ended = {"termination_reason": "MAX_SCROLLS_REACHED", "scrolls_executed": "20"}
    phone = Phone(page("Tea"), data={"scroll_until": ended})

    with pytest.raises(NodeNotFoundError) as missed:
        client(phone).scroll_until(text="Bread")

    assert missed.value.code is ErrorCode.TARGET_NOT_FOUND
    assert "MAX_SCROLLS_REACHED after 20 scrolls" in missed.value.message
    assert missed.value.step.success is False


def test_scroll_to_top() -> None:
    """The way back is the specification's."""
    phone = Phone(data={"scroll_until": {"termination_reason": "EDGE_REACHED"}})

    outcome = client(phone).scroll_to_top(within={"id": FULL_ID})

    assert outcome.edge_reached
    assert phone.params("scroll_until") == [
        {
            "container": {"resourceId": FULL_ID},
            "direction": "up",
            "maxScrolls": 50,
            "maxDurationMs": 50_000,
            "noPositionChangeThreshold": 3,
        }
    ]


class TestPages:
    """Going through a list."""

    def test_until_the_edge(self) -> None:
        """A snapshot, then a scroll and a snapshot in one execution, until nothing moves."""
        phone = Phone(page("A"), page("B"), page("C"), data={"scroll": moving(2)})

        pages = list(client(phone).pages())

        assert [p.find_all(id="name")[0].label for p in pages] == ["A", "B", "C"]
        assert phone.types == [["snapshot_ui"], *[["scroll", "snapshot_ui"]] * 3]

    def test_no_further_than_allowed(self) -> None:
        """A feed without an end is left after so many scrolls."""
        phone = Phone(page("A"), data={"scroll": moving(99)})

        pages = list(client(phone).pages(max_scrolls=4, direction="up", within={"id": FULL_ID}))

        assert len(pages) == 5
        wanted = {"direction": "up", "container": {"resourceId": FULL_ID}}
        assert phone.params("scroll") == [wanted] * 4

    def test_a_list_that_does_not_scroll(self) -> None:
        """What fits on the screen is one page."""
        phone = Phone(page("A", scrollable=False))

        assert len(list(client(phone).pages())) == 1
        assert phone.types == [["snapshot_ui"]]

    def test_nothing_is_sent_ahead(self) -> None:
        """Each page is fetched when it is asked for."""
        phone = Phone(page("A"), data={"scroll": moving(9)})

        next(client(phone).pages())

        assert phone.types == [["snapshot_ui"]]

    def test_a_list_that_is_not_there(self) -> None:
        """A container that was named and is missing is an error."""
        phone = Phone(page("A"), data={"scroll": {"error": "CONTAINER_NOT_FOUND"}})

        with pytest.raises(ContainerNotFoundError) as missed:
            list(client(phone).pages(within={"text": "Cart"}))

        assert "no node(text='Cart')" in missed.value.message


class TestSearch:
    """What the device cannot be told of is looked for page by page."""

    def test_found_and_clicked(self) -> None:
        """It is clicked on the page where it was seen."""
        phone = Phone(page("A"), page("B"), page("Milk"), data={"scroll": moving(9)})
        claw = client(phone)
        milk = claw.node(id="row", has={"text": "Milk"})

        outcome = claw.scroll_and_click(milk)

        assert outcome
        assert outcome.scrolls_executed == 2
        assert phone.types[-1] == ["click"]
        assert phone.params("click") == [{"matcher": {"resourceId": f"{PACKAGE}:id/row"}}]

    def test_a_short_id(self) -> None:
        """A node that is not on the screen has no whole id yet."""
        phone = Phone(page("A"), page("B"), data={"scroll": moving(9)})

        outcome = client(phone).scroll_until(id="name", text="B")

        assert outcome.found
        assert outcome.scrolls_executed == 1
        assert phone.params("click") == []

    def test_in_sight_already(self) -> None:
        """Nothing is scrolled for what is there."""
        phone = Phone(page("A"))

        outcome = client(phone).scroll_until(id="name")

        assert outcome.found
        assert outcome.moved is False
        assert phone.types == [["snapshot_ui"]]

    def test_not_in_the_list(self) -> None:
        """The end of the list is the end of the search."""
        phone = Phone(page("A"), page("B"), data={"scroll": moving(1)})

        with pytest.raises(NodeNotFoundError) as missed:
            client(phone).scroll_until(id="name", text="C")

        assert missed.value.code is ErrorCode.TARGET_NOT_FOUND
        assert "no node(text='C', id='name') on the screen after 1 scrolls" in missed.value.message


class TestSearching:
    """A search on the host's side keeps to what was said about it, as the device does."""

    def test_the_gesture(self) -> None:
        """Length and rest of a gesture are those that were asked for."""
        phone = Phone(page("Tea"), data={"scroll": moving(0)})

        with pytest.raises(NodeNotFoundError):
            client(phone).scroll_until(id="wine", distance_ratio=0.2, settle_delay=0.01)

        assert phone.params("scroll") == [
            {"direction": "down", "distanceRatio": 0.2, "settleDelayMs": 10}
        ]

    def test_its_duration(self) -> None:
        """When the time is over nothing more is scrolled, and the error says so."""
        phone = Phone(page("Tea"), data={"scroll": moving(100)})

        with pytest.raises(NodeNotFoundError, match="MAX_DURATION_REACHED"):
            client(phone).scroll_until(id="wine", max_duration=0.000001, max_scrolls=50)

        assert len(phone.params("scroll")) < 50

    @pytest.mark.parametrize("target", [{"id": "wine"}, {"text": "Wine"}])
    @pytest.mark.parametrize("scrolls", [1000, 0, -3, "3", 2.0, True])
    def test_how_often(self, target: Any, scrolls: Any) -> None:
        """What the device would refuse is refused, however the node is described."""
        phone = Phone(page("Tea"))

        with pytest.raises(ConfigurationError, match="times, not"):
            client(phone).scroll_until(**target, max_scrolls=scrolls)
        with pytest.raises(ConfigurationError, match="times, not"):
            client(phone).scroll_and_click(**target, max_scrolls=scrolls)

        assert phone.types == []

    def test_pages_are_counted_in_whole_numbers(self) -> None:
        """Going through pages judges its number, too."""
        with pytest.raises(ConfigurationError, match="pages\\(\\) scrolls"):
            list(client(Phone()).pages(max_scrolls="2"))  # type: ignore[arg-type]

    def test_nothing_scrolls(self) -> None:
        """A search that taps needs a list, however the node is described."""
        phone = Phone(page("Tea", scrollable=False))

        with pytest.raises(ContainerNotFoundError, match="click\\(\\) will do"):
            client(phone).scroll_and_click(id="buy")

    @pytest.mark.parametrize("verb", ["scroll", "scroll_until", "scroll_and_click"])
    def test_a_container_that_is_missing(self, verb: str) -> None:
        """A short id that is not there is a missing container, not a missing node."""
        claw = client(Phone(page("Tea")), timeout=0)
        target = {} if verb == "scroll" else {"text": "Tea"}

        with pytest.raises(ContainerNotFoundError, match=f"{verb}: no node"):
            getattr(claw, verb)(**target, within=claw.node(id="nope"))

    def test_errors_name_the_method(self) -> None:
        """Going to the top is a scroll_until on the wire, and called what it is."""
        phone = Phone(data={"scroll_until": {"error": "CONTAINER_NOT_FOUND"}})

        with pytest.raises(ContainerNotFoundError, match="scroll_to_top: nothing"):
            client(phone).scroll_to_top(timeout=0)
