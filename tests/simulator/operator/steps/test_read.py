"""The steps that read."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.simulator.operator.command import Profile
from tests.simulator.operator.fakes import (
    MISSING,
    OK,
    PROFILES,
    Bench,
    node,
    screen,
)


@pytest.mark.parametrize("profile", PROFILES)
class TestReading:
    """What the specification and the published app agree upon."""

    def test_read_text_prefers_the_text_over_the_description(self, profile: Profile) -> None:
        """The label is read: text, or where there is none the description."""
        bench = Bench(screen(node("", content_desc="Search")), profile=profile)

        assert bench.step("read_text", matcher={"textEquals": "Search"})["data"] == {
            "text": "Search",
            "validator": "none",
        }

    def test_read_text_in_a_container(self, profile: Profile) -> None:
        """Only what is inside the container counts, and the container is printed."""
        bench = Bench(screen(node("A"), node("", node("B"), resource_id="box")), profile=profile)

        data = bench.step("read_text", matcher={"role": "text"}, container={"resourceId": "box"})[
            "data"
        ]

        assert data["text"] == "B"
        assert data["container"].startswith("NodeMatcher(resourceId=box, role=null, ")

    def test_read_all_texts(self, profile: Profile) -> None:
        """Every label that fits is in the array, with quotes and backslashes escaped."""
        bench = Bench(screen(node('say "hi"'), node("back\\slash"), node("")), profile=profile)

        assert bench.step("read_text", matcher={"role": "text"}, all=True)["data"] == {
            "text": '["say \\"hi\\"","back\\\\slash"]',
            "all": "true",
            "count": "2",
            "validator": "none",
        }

    def test_nothing_to_read_is_an_empty_array(self, profile: Profile) -> None:
        """Reading all of nothing succeeds at once."""
        bench = Bench(profile=profile)

        assert bench.step("read_text", matcher=MISSING, all=True)["data"]["text"] == "[]"
        assert bench.ui.looks == 1

    @pytest.mark.parametrize(
        ("params", "code"),
        [
            ({"matcher": MISSING, "container": {"resourceId": "box"}}, "NODE_NOT_FOUND"),
            ({"matcher": OK, "container": {"resourceId": "none"}}, "CONTAINER_NOT_FOUND"),
            (
                {"matcher": OK, "container": {"resourceId": "none"}, "all": True},
                "CONTAINER_NOT_FOUND",
            ),
        ],
    )
    def test_reading_in_vain(self, profile: Profile, params: dict[str, Any], code: str) -> None:
        """With a container, what is missing is a failed step."""
        bench = Bench(screen(node("", node("OK"), resource_id="box")), profile=profile)

        step = bench.step("read_text", **params)

        assert (step["success"], step["data"]) == (False, {"error": code})
        assert bench.ui.looks == 5

    def test_a_text_of_the_wrong_form_fails_with_that_text(self, profile: Profile) -> None:
        """A text of the wrong form fails with the text that was read."""
        bench = Bench(screen(node("Settings")), profile=profile)
        read = {"matcher": {"role": "text"}, "validator": "version"}
        good = Bench(screen(node("14.1.2")), profile=profile)

        assert bench.step("read_text", **read)["data"] == {
            "error": "VALIDATOR_MISMATCH",
            "raw_text": "Settings",
        }
        assert good.step("read_text", **read)["data"] == {"text": "14.1.2", "validator": "version"}

    def test_read_key_value_pair(self, profile: Profile) -> None:
        """A summary after the label wins over what stands first."""
        row = node(
            "",
            node("Android version", resource_id="android:id/title"),
            node("", node("icon")),
            node("16", resource_id="android:id/summary"),
        )
        bench = Bench(screen(row), profile=profile)

        assert bench.step("read_key_value_pair", labelMatcher={"textEquals": "Android version"})[
            "data"
        ] == {"label": "Android version", "value": "16"}

    def test_a_label_without_a_value(self, profile: Profile) -> None:
        """A row ends the search for a value, and a missing label is another error."""
        row = node("", node("OK"), cls="android.widget.LinearLayout", orientation="horizontal")
        bench = Bench(screen(row, node("another row")), profile=profile)
        empty = Bench(profile=profile)

        assert bench.step("read_key_value_pair", labelMatcher=OK)["data"] == {
            "error": "VALUE_NODE_NOT_FOUND"
        }
        assert empty.step("read_key_value_pair", labelMatcher=OK)["data"] == {
            "error": "NODE_NOT_FOUND"
        }

    def test_a_value_is_looked_for_upwards(self, profile: Profile) -> None:
        """Without a row around it, the label's value may be its parent's sibling."""
        bench = Bench(screen(node("", node("", node("OK"))), node("value")), profile=profile)

        assert bench.step("read_key_value_pair", labelMatcher=OK)["data"]["value"] == "value"
