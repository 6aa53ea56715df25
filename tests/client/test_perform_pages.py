"""Going through a list page by page, and looking there for what the device cannot find."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.errors import (
    ConfigurationError,
    ContainerNotFoundError,
    ErrorCode,
    NodeNotFoundError,
)
from tests.doubles.runner import PACKAGE, Phone, client, first, moving, page

FULL_ID = f"{PACKAGE}:id/list"


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
    """What cannot be sent to the device is looked for page by page."""

    def test_found_and_clicked(self) -> None:
        """It is clicked on the page where it was seen."""
        phone = Phone(page("A"), page("B"), page("Milk"), data={"scroll": moving(9)})
        claw = first(phone)
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

    def test_the_gesture_is_as_asked_for(self) -> None:
        """Length and rest of a gesture are those that were asked for."""
        phone = Phone(page("Tea"), data={"scroll": moving(0)})

        with pytest.raises(NodeNotFoundError):
            client(phone).scroll_until(id="wine", distance_ratio=0.2, settle_delay=0.01)

        assert phone.params("scroll") == [
            {"direction": "down", "distanceRatio": 0.2, "settleDelayMs": 10}
        ]

    def test_no_scroll_after_the_duration_is_over(self) -> None:
        """When the time is over nothing more is scrolled, and the error says so."""
        phone = Phone(page("Tea"), data={"scroll": moving(100)})

        with pytest.raises(NodeNotFoundError, match="MAX_DURATION_REACHED"):
            client(phone).scroll_until(id="wine", max_duration=0.000001, max_scrolls=50)

        assert len(phone.params("scroll")) < 50

    @pytest.mark.parametrize("target", [{"id": "wine"}, {"text": "Wine"}])
    @pytest.mark.parametrize("scrolls", [1000, 0, -3, "3", 2.0, True])
    def test_an_invalid_number_of_scrolls_is_refused(self, target: Any, scrolls: Any) -> None:
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

    def test_a_search_that_taps_needs_a_list(self) -> None:
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
