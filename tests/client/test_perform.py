"""Plans are carried out: aimed, sent, repeated while there is time, and explained."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.client import plans
from pytest_clawperator.client.perform import Performer, judged_by, matchers_of
from pytest_clawperator.client.plans import Aim
from pytest_clawperator.client.target import Use, target_of
from pytest_clawperator.client.timing import Wait
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.params import pauses_ms
from pytest_clawperator.contracts.payload import Action, Execution, waiting_ms
from pytest_clawperator.errors import (
    ConfigurationError,
    ContainerNotFoundError,
    EnvelopeMalformedError,
    ErrorCode,
    NodeNotFoundError,
    OperatorNotReadyError,
    SnapshotError,
    StepFailedError,
)
from pytest_clawperator.execution.result import RunResult
from tests.doubles.runner import (
    PACKAGE,
    SHOP,
    Phone,
    ScriptedRunner,
    client,
    first,
    node,
    result_of,
    screen,
    step_of,
)

MISSING = {"error": "NODE_NOT_FOUND"}

EMPTY = screen(node(text="Loading", kind="TextView"))


def answers(*given: dict[str, str]) -> Any:
    """Answer actions one after the other, the last answer for ever."""
    left = list(given)

    def answer(action: Action) -> dict[str, str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return answer


class TestWaiting:
    """How long is waited, and in how many executions."""

    def test_one_execution_where_one_retry_object_will_do(self) -> None:
        """Up to one segment the device itself waits, exactly as long as was asked."""
        phone = Phone(data={"click": MISSING})

        with pytest.raises(NodeNotFoundError):
            first(phone).click(text="Tea", timeout=5)

        assert phone.types == [["click"], ["snapshot_ui"]]
        assert pauses_ms(phone.sent[0][0]["params"]["retry"]) == 5000

    def test_a_long_wait_is_split(self) -> None:
        """A longer wait takes several executions, whose pauses sum up to it."""
        phone = Phone(data={"click": MISSING})

        with pytest.raises(NodeNotFoundError) as missed:
            first(phone).click(text="Tea", timeout=15)

        waits = [pauses_ms(sent[0]["params"]["retry"]) for sent in phone.sent[:-1]]
        assert waits[:2] == [6500, 6500]
        assert 0 < waits[2] <= 2015
        assert len(waits) == 3
        assert "within 15 s" in missed.value.message

    def test_found_in_a_later_segment(self) -> None:
        """What comes up in time is used, and nothing is sent after that."""
        phone = Phone(data={"click": answers(MISSING, {"click_types": "click"})})

        step = first(phone).click(text="Tea", timeout=15)

        assert step.data == {"click_types": "click"}
        assert phone.types == [["click"], ["click"]]

    def test_no_time_is_one_attempt(self) -> None:
        """``timeout=0`` sends one attempt and gives up."""
        phone = Phone(data={"click": MISSING})

        with pytest.raises(NodeNotFoundError):
            first(phone).click(text="Tea", timeout=0)

        assert phone.sent[0][0]["params"]["retry"] == {"maxAttempts": 1}
        assert phone.types == [["click"], ["snapshot_ui"]]

    def test_the_clients_timeout_is_the_default(self) -> None:
        """What is not given is the client's, and that can be changed."""
        phone = Phone()
        claw = client(phone, timeout=2)
        claw.click(text="Tea")

        claw.timeout = 1
        claw.click(text="Tea")

        assert [pauses_ms(s[0]["params"]["retry"]) for s in phone.sent] == [2000, 1000]

    def test_a_failure_that_time_does_not_cure(self) -> None:
        """Only what may still come up is waited for in another segment."""
        phone = Phone(data={"click": {"error": "SECURITY_BLOCK_DETECTED"}})

        with pytest.raises(StepFailedError) as failed:
            first(phone).click(text="Tea", timeout=60)

        assert failed.value.code is ErrorCode.SECURITY_BLOCK_DETECTED
        assert phone.types == [["click"], ["snapshot_ui"]]

    def test_the_execution_lasts_longer_than_the_wait(self) -> None:
        """The execution's own timeout is derived from the action's."""
        phone = Phone()

        client(phone).wait_for_navigation(package="com.a", timeout=29)

        assert phone.executions[0].timeout_ms == 34_000

    def test_wait_for_node_has_a_net_below_its_retries(self) -> None:
        """The timeout of wait_for_node does not cut off the last attempt."""
        phone = Phone()

        client(phone).wait_for_node(text="Tea", timeout=3)

        (params,) = (s[0]["params"] for s in phone.sent)
        assert pauses_ms(params["retry"]) == 3000
        assert params["timeoutMs"] == 4000

    def test_polls_pause_on_the_device(self) -> None:
        """If the device cannot wait by itself it is sent a sleep; the host never sleeps."""
        phone = Phone(data={"scroll_until": answers({"error": "CONTAINER_NOT_FOUND"}, {})})

        client(phone).scroll_until(max_scrolls=3)

        assert phone.types == [["scroll_until"], ["sleep", "scroll_until"]]
        assert phone.params("sleep") == [{"durationMs": 200}]

    def test_polls_end_by_the_pauses_that_were_sent(self) -> None:
        """The pauses that were ordered count, however quickly the device is done with them."""
        phone = Phone(data={"scroll": {}, "scroll_until": {"error": "CONTAINER_NOT_FOUND"}})

        with pytest.raises(ContainerNotFoundError):
            client(phone).scroll_until(max_scrolls=3, timeout=1)

        polls = [sent for sent in phone.sent if sent[-1]["type"] == "scroll_until"]
        assert 2 <= len(polls) <= 6
        assert 0 < sum(waiting_ms(sent[0]) for sent in polls[1:]) <= 1000


class TestShortIds:
    """``id=`` without a package is looked up."""

    def test_sent_as_the_whole_id(self) -> None:
        """The id is sent as it is on the screen, with whatever else was given."""
        phone = Phone(SHOP)

        first(phone).click(id="name", text="Milk", timeout=4)

        assert phone.types == [["snapshot_ui"], ["click"]]
        matcher = {"resourceId": f"{PACKAGE}:id/name", "textEquals": "Milk"}
        assert phone.params("click") == [{"matcher": matcher}]
        assert 0 < pauses_ms(phone.sent[1][0]["params"]["retry"]) <= 4015

    def test_the_screen_is_polled_until_the_id_is_there(self) -> None:
        """The screen is looked at until the id is there."""
        phone = Phone(EMPTY, EMPTY, SHOP)

        first(phone).click(id="name")

        assert phone.types == [
            ["snapshot_ui"],
            ["sleep", "snapshot_ui"],
            ["sleep", "snapshot_ui"],
            ["click"],
        ]

    def test_a_missing_short_id_sends_nothing_but_looks(self) -> None:
        """The error names what is near, and only snapshots were sent."""
        phone = Phone(SHOP)

        with pytest.raises(NodeNotFoundError) as missed:
            client(phone).click(id="nam", timeout=0)

        assert "did you mean id='name'?" in str(missed.value.hint)
        assert phone.types == [["snapshot_ui"]]

    def test_whole_ids_are_sent_at_once(self) -> None:
        """There is nothing to look up about a whole id."""
        phone = Phone()

        first(phone).click(id="com.a:id/b")

        assert phone.types == [["click"]]

    def test_a_bare_id_on_the_screen(self) -> None:
        """Where ids have no package at all, the bare one is the whole one."""
        bare = node(text="OK", kind="Button").replace('resource-id=""', 'resource-id="login"')
        phone = Phone(screen(bare))

        client(phone).click(id="login")

        assert phone.params("click") == [{"matcher": {"resourceId": "login"}}]


class TestWithin:
    """``within=`` is never dropped."""

    def test_sent_where_the_operator_honours_it(self) -> None:
        """Reads and scrolls take a container."""
        phone = Phone(data={"read_text": {"text": "Tea"}})
        claw = first(phone)
        around = {"id": f"{PACKAGE}:id/list"}

        claw.read_text(text="Tea", within=around)
        claw.scroll(within=around)
        claw.scroll_and_click(text="Tea", within=around)

        container = {"resourceId": f"{PACKAGE}:id/list"}
        sent = [s[0]["params"]["container"] for s in phone.sent]
        assert sent == [container, container, container]

    def test_by_a_matcher_that_finds_it_first(self) -> None:
        """Elsewhere the node is looked up and aimed at by a matcher of its own."""
        phone = Phone(SHOP)

        first(phone).click(id="name", within=first(phone).node(id="list"))

        assert phone.params("click") == [{"matcher": {"resourceId": f"{PACKAGE}:id/name"}}]
        assert phone.sent[1][0]["params"]["retry"] == {"maxAttempts": 1}

    def test_else_by_its_point(self) -> None:
        """A node that no matcher finds first is tapped where it is."""
        phone = Phone(SHOP)
        claw = client(phone)
        row = claw.node(id="row", has={"text": "Bread"})

        claw.click(text="Buy", within=row)

        assert phone.params("click") == [{"coordinate": {"x": 940, "y": 425}}]

    @pytest.mark.parametrize("method", ["focus", "enter_text", "read_value"])
    def test_else_not_at_all(self, method: str) -> None:
        """What cannot go to a point is refused, never sent to another node."""
        phone = Phone(SHOP)
        claw = client(phone)
        target = claw.node(id="row", has={"text": "Bread"}).node(text="Buy")
        args = ("hello", target) if method == "enter_text" else (target,)

        with pytest.raises(StepFailedError) as refused:
            getattr(claw, method)(*args)

        assert refused.value.code is ErrorCode.NODE_AMBIGUOUS
        assert "node(id='row', has=node(text='Bread')).node(text='Buy')" in str(refused.value)
        assert phone.types == [["snapshot_ui"]]

    def test_a_container_that_is_missing(self) -> None:
        """The error is about the container."""
        phone = Phone(SHOP)

        with pytest.raises(ContainerNotFoundError) as missed:
            client(phone).click(text="Tea", within={"text": "Cart"}, timeout=0)

        assert "no node(text='Cart') on the screen" in missed.value.message

    def test_moved_in_the_meantime(self) -> None:
        """A node that was seen and is gone when it is clicked is looked for again."""
        phone = Phone(SHOP, data={"click": answers(MISSING, {})})
        claw = client(phone)

        claw.node(id="name").nth(1).click()

        assert phone.types == [["snapshot_ui"], ["click"], ["sleep", "snapshot_ui"], ["click"]]


class TestNodesOfSnapshots:
    """A node that a snapshot gave can be used as it is."""

    def test_nothing_is_looked_up_again(self) -> None:
        """It is found by what distinguishes it from the others."""
        phone = Phone(SHOP)
        claw = first(phone)
        milk = claw.snapshot().find_all(id="name")[1]

        claw.click(milk)

        assert phone.types == [["snapshot_ui"], ["click"]]
        assert phone.params("click") == [{"matcher": {"textEquals": "Milk"}}]

    def test_inside_a_node(self) -> None:
        """A node may be a container; what is in it was in it on that snapshot."""
        phone = Phone(SHOP)
        claw = client(phone)
        row = claw.snapshot().find_all(id="row")[2]

        claw.click(text="Buy", within=row)

        assert phone.types == [["snapshot_ui"], ["click"]]
        assert phone.params("click") == [{"coordinate": {"x": 940, "y": 425}}]

    def test_what_is_not_in_it_will_not_come(self) -> None:
        """An old snapshot does not change, so nothing is waited for."""
        phone = Phone(SHOP)
        claw = client(phone)
        row = claw.snapshot().find_all(id="row")[2]

        with pytest.raises(NodeNotFoundError):
            claw.click(text="Tea", within=row, timeout=60)

        assert phone.types == [["snapshot_ui"]]

    def test_only_what_is_visible_of_it_is_tapped(self) -> None:
        """The point lies on the screen, even if the node's middle does not."""
        wide = node(id="a", bounds="[0,2300][1080,2900]")
        phone = Phone(screen(node(id="a", bounds="[0,0][10,10]"), wide))
        claw = client(phone)

        claw.click(claw.snapshot().find_all(id="a")[1])

        assert phone.params("click") == [{"coordinate": {"x": 540, "y": 2350}}]


class TestPercentSigns:
    """The published Operator puts what it did not find into a format string."""

    OFFER = screen(node(text="50% off", id="offer", kind="Button"))

    def test_what_is_not_there_is_not_sent(self) -> None:
        """Looking does no harm, so it is looked until the node is there."""
        phone = Phone(EMPTY, self.OFFER)

        client(phone).click(text="50% off")

        assert phone.types == [["snapshot_ui"], ["sleep", "snapshot_ui"], ["click"]]
        assert phone.params("click") == [{"matcher": {"resourceId": f"{PACKAGE}:id/offer"}}]

    def test_what_never_comes(self) -> None:
        """The error is that of any node."""
        phone = Phone(EMPTY)

        with pytest.raises(NodeNotFoundError, match="no node\\(text='50% off'\\)"):
            client(phone).wait_for_node(text="50% off", timeout=0)

        assert phone.types == [["snapshot_ui"]]

    def test_in_a_list(self) -> None:
        """It is searched for page by page."""
        phone = Phone(self.OFFER.replace("<node ", '<node scrollable="true" ', 1))

        outcome = first(phone).scroll_and_click(text="50% off")

        assert outcome.found
        assert phone.types == [["snapshot_ui"], ["click"]]

    def test_a_list_is_named_by_another_matcher(self) -> None:
        """A list is sent to the device by what else identifies it."""
        phone = Phone(self.OFFER)

        client(phone).scroll(within={"text": "50% off"})

        assert phone.params("scroll")[0]["container"] == {"resourceId": f"{PACKAGE}:id/offer"}


class TestAnswersFromTheScreen:
    """What a snapshot shows need not be asked of the device."""

    def test_a_looked_up_text_is_read_from_the_same_look(self) -> None:
        """A text that had to be looked up is read from the same look."""
        phone = Phone(SHOP)
        claw = client(phone)

        price = claw.node(id="row").nth(1).node(id="price").read()

        assert price == "$2"
        assert phone.types == [["snapshot_ui"]]

    def test_all_texts_are_read_from_the_same_look(self) -> None:
        """All texts, none being an answer too."""
        phone = Phone(SHOP)
        claw = client(phone)
        row = claw.node(id="row").nth(2)

        assert claw.read_all_text(within=row, text_contains="r") == ["Bread"]
        assert claw.read_all_text(within=row, text="Nobody") == []

    def test_a_node_without_text(self) -> None:
        """A node that stays without text is reported as such."""
        phone = Phone(SHOP)
        claw = client(phone)

        with pytest.raises(StepFailedError) as failed:
            claw.node(id="row").nth(1).read(timeout=0)

        assert failed.value.code is ErrorCode.NODE_HAS_NO_TEXT

    def test_waiting_for_a_looked_up_node_is_polling(self) -> None:
        """Waiting for what cannot be sent to the device takes snapshots."""
        phone = Phone(EMPTY, SHOP)
        claw = client(phone)

        step = claw.wait_for_node(id="row", within=claw.node(id="list").nth(0))

        assert step.action_type == "snapshot_ui"
        assert phone.types == [["snapshot_ui"], ["sleep", "snapshot_ui"]]


class TestStrict:
    """An action on one node is proved by a look that travels with it."""

    def test_the_node_is_waited_for_looked_at_and_clicked_in_one_execution(self) -> None:
        """The device waits as long as was asked, and the click itself is tried once."""
        phone = Phone(SHOP)

        step = client(phone).click(text="Tea", timeout=2)

        assert phone.types == [["wait_for_node", "snapshot_ui", "click"]]
        assert pauses_ms(phone.sent[0][0]["params"]["retry"]) == 2000
        assert phone.sent[0][2]["params"]["retry"] == {"maxAttempts": 1}
        assert (step.id, step.action_type) == ("click-1", "click")
        assert step.look.snapshot.find(text="Tea")

    def test_several_nodes_are_listed(self) -> None:
        """All of them are listed, and that the first was tapped."""
        phone = Phone(SHOP)

        with pytest.raises(StepFailedError) as refused:
            client(phone).click(text="Buy")

        assert refused.value.code is ErrorCode.NODE_AMBIGUOUS
        assert "3 nodes match node(text='Buy'), and the first was tapped" in refused.value.message
        assert len(refused.value.details["nodes"]) == 3
        assert len(phone.sent) == 1

    def test_nothing_is_clicked_where_a_look_comes_first(self) -> None:
        """Several nodes with a short id are reported before anything is tapped."""
        phone = Phone(SHOP)

        with pytest.raises(StepFailedError) as refused:
            client(phone).click(id="buy", timeout=5)

        assert refused.value.code is ErrorCode.NODE_AMBIGUOUS
        assert "was tapped" not in refused.value.message
        assert {kind for sent in phone.types for kind in sent} == {"snapshot_ui", "sleep"}

    def test_a_transition_is_waited_for_where_nothing_is_done_yet(self) -> None:
        """Two screens that are there at once for a moment are not an error."""
        both = screen(node(text="Tea", id="x"), node(text="Tea", id="x", bounds="[0,90][9,99]"))
        phone = Phone(both, both, SHOP, data={"read_text": {"text": "Tea"}})

        assert client(phone).read_text(text="Tea") == "Tea"

        assert len(phone.sent) == 3

    @pytest.mark.parametrize("method", ["click", "read_text", "scroll"])
    def test_several_containers_are_an_error_too(self, method: str) -> None:
        """A container must be one, too."""
        claw = client(Phone(SHOP))
        matcher = {} if method == "scroll" else {"text": "Buy"}

        with pytest.raises(StepFailedError) as refused:
            getattr(claw, method)(within={"id": f"{PACKAGE}:id/row"}, **matcher)

        assert f"3 nodes match node(id='{PACKAGE}:id/row')" in refused.value.message

    @pytest.mark.parametrize("role", ["listitem", "Row"])
    def test_what_a_snapshot_cannot_tell(self, role: str) -> None:
        """A role that only the device knows is left to the device."""
        phone = Phone(SHOP)

        client(phone).click(role=role)

        assert phone.types == [["click"]]

    def test_reading_all_is_about_several(self) -> None:
        """Where all are meant there is nothing to choose."""
        phone = Phone(SHOP, data={"read_text": {"text": "[]"}})

        assert client(phone).read_all_text(text="Buy") == []

    def test_waiting_is_about_any(self) -> None:
        """One of several is enough for what only waits."""
        phone = Phone(SHOP, data={"scroll_until": {"termination_reason": "TARGET_FOUND"}})
        claw = client(phone)

        claw.wait_for_node(text="Buy")
        claw.wait_for_navigation(text="Buy")
        claw.scroll_until(text="Buy")

        assert phone.types == [["wait_for_node"], ["wait_for_navigation"], ["scroll_until"]]

    def test_the_first_of_several_is_what_the_device_finds(self) -> None:
        """``first`` needs no look of its own; another index does."""
        phone = Phone(SHOP)
        buttons = client(phone).node(text="Buy")

        buttons.first.click()
        buttons.last.click()

        assert phone.types == [
            ["wait_for_node", "snapshot_ui", "click"],
            ["snapshot_ui"],
            ["click"],
        ]
        assert phone.sent[2][0]["params"]["coordinate"] == {"x": 940, "y": 425}

    def test_a_look_that_was_lost_proves_nothing(self) -> None:
        """Without the snapshot it is unknown what was tapped, so the test stops."""
        phone = Phone(data={"snapshot_ui": {"error": "SNAPSHOT_EXTRACTION_FAILED"}})

        with pytest.raises(SnapshotError) as lost:
            client(phone).click(text="Tea", timeout=0)

        assert lost.value.code is ErrorCode.SNAPSHOT_EXTRACTION_FAILED


def button(*, enabled: bool = True, others: tuple[str, ...] = (), covered: bool = False) -> str:
    """Make a screen with a button, and a scrim over it."""
    whole = "[0,0][1080,2400]"
    scrim = node(id="scrim", bounds=whole, clickable=True)
    send = node(text="Send", kind="Button", clickable=True, enabled=enabled)
    return screen(send, *others, *([scrim] if covered else []))


class TestInTheWay:
    """What keeps a tap from its node is waited on; a tap is not repeated without need."""

    @staticmethod
    def taps(phone: Phone) -> int:
        """Return how many taps were sent."""
        return sum(kind == "click" for sent in phone.types for kind in sent)

    def test_enabled_later(self) -> None:
        """It is tapped again when it is enabled; until then it is only looked at."""
        off = button(enabled=False)
        phone = Phone(off, off, off, off, button())

        client(phone).click(text="Send", timeout=20)

        assert phone.types == [
            ["wait_for_node", "snapshot_ui", "click"],
            ["snapshot_ui"],
            ["sleep", "snapshot_ui"],
            ["sleep", "snapshot_ui"],
            ["sleep", "snapshot_ui"],
            ["sleep", "wait_for_node", "snapshot_ui", "click"],
        ]

    def test_enabled_together_with_other_changes(self) -> None:
        """What changes long after the tap is not an effect of it."""
        off = button(enabled=False, others=(node(text="Loading"),))
        phone = Phone(off, off, off, button())

        client(phone).click(text="Send", timeout=20)

        assert self.taps(phone) == 2

    @pytest.mark.parametrize("after", [button(others=(node(text="Sent"),)), EMPTY])
    def test_enabled_just_before_the_tap(self, after: str) -> None:
        """If the screen has changed at once, the tap worked, and is not repeated."""
        phone = Phone(button(enabled=False), after)

        client(phone).click(text="Send", timeout=20)

        assert self.taps(phone) == 1

    def test_enabled_at_once_without_any_effect(self) -> None:
        """If nothing else has changed, the tap did nothing, and is repeated."""
        phone = Phone(button(enabled=False), button())

        client(phone).click(text="Send", timeout=20)

        assert self.taps(phone) == 2

    def test_never_enabled(self) -> None:
        """At the end of the time the error says why."""
        phone = Phone(button(enabled=False))

        with pytest.raises(StepFailedError) as refused:
            client(phone).click(text="Send", timeout=3)

        assert refused.value.code is ErrorCode.NODE_NOT_CLICKABLE
        assert "click node(text='Send'): it is disabled for 3 s" in refused.value.message
        assert self.taps(phone) == 1

    def test_refused_by_the_operator(self) -> None:
        """The documented Operator refuses the tap itself: that is waited on, too."""
        off = button(enabled=False)
        refusing = answers({"error": "NODE_NOT_CLICKABLE"}, {})
        phone = Phone(off, off, off, button(), data={"click": refusing})

        client(phone).click(text="Send", timeout=20)

        assert self.taps(phone) == 2

    def test_uncovered_later(self) -> None:
        """A node that takes no clicks itself is tapped again when nothing covers it."""
        label = node(text="Send", kind="TextView")
        scrim = node(id="scrim", bounds="[0,0][1080,2400]", clickable=True)
        covered = screen(label, scrim)
        phone = Phone(covered, covered, screen(label))

        client(phone).click(text="Send", timeout=20)

        assert self.taps(phone) == 2

    def test_uncovered_and_changed(self) -> None:
        """The Operator's click goes through a cover: if the screen changed, it worked."""
        phone = Phone(
            button(covered=True), button(covered=True), button(others=(node(text="Sent"),))
        )

        client(phone).click(text="Send", timeout=20)

        assert self.taps(phone) == 1

    def test_never_uncovered(self) -> None:
        """Nobody could tap it, so the test does not go on."""
        phone = Phone(button(covered=True))

        with pytest.raises(StepFailedError) as refused:
            client(phone).click(text="Send", timeout=1)

        assert refused.value.code is ErrorCode.NODE_NOT_CLICKABLE
        assert "it is covered by" in refused.value.message
        assert f"{PACKAGE}:id/scrim" in refused.value.message

    def test_before_the_tap_where_a_look_comes_first(self) -> None:
        """A node that is looked up is tapped only once nothing is in its way."""

        def at(enabled: bool) -> str:
            return screen(node(text="Send", id="send", clickable=True, enabled=enabled))

        phone = Phone(at(False), at(False), at(True))

        client(phone).click(id="send", timeout=20)

        assert phone.types[-1] == ["click"]
        assert self.taps(phone) == 1

    def test_reading_needs_nothing(self) -> None:
        """What is disabled or covered can be read."""
        phone = Phone(button(enabled=False, covered=True), data={"read_text": {"text": "Send"}})

        assert client(phone).read_text(text="Send") == "Send"

    def test_first_wins_asks_nothing(self) -> None:
        """Without strict matchers the device's word counts."""
        phone = Phone(button(enabled=False))

        first(phone).click(text="Send")

        assert phone.types == [["click"]]


class TestTroubleOnTheWay:
    """What is not about nodes is raised as what it is."""

    def test_the_lab_is_broken(self) -> None:
        """A service that is switched off is not about nodes: no second snapshot, no outline."""
        phone = Phone(data={"click": {"error": "SERVICE_UNAVAILABLE"}})

        with pytest.raises(OperatorNotReadyError) as broken:
            first(phone).click(text="Tea")

        assert broken.value.serial == phone.serial
        assert phone.types == [["click"]]

    def test_a_look_that_fails_does_not_hide_the_error(self) -> None:
        """The error comes without the screen if the screen cannot be had."""
        broken = {"error": "UI_TREE_UNAVAILABLE"}
        phone = Phone(data={"click": MISSING, "snapshot_ui": broken})

        with pytest.raises(NodeNotFoundError) as missed:
            first(phone).click(text="Tea", timeout=0)

        assert missed.value.snapshot is None
        assert missed.value.outline == ""

    def test_a_look_that_raises_does_not_hide_the_error(self) -> None:
        """Even a device that vanishes just then leaves the first error standing."""

        def answer(execution: Any) -> Any:
            if execution.actions[0].type == "snapshot_ui":
                raise SnapshotError("gone")
            return result_of(execution, error="Task execution failed: No UI node found")

        with pytest.raises(NodeNotFoundError):
            client(ScriptedRunner(answer)).click(text="Tea", timeout=0)

    def test_a_screen_that_cannot_be_read(self) -> None:
        """A look that was needed is not best effort."""
        phone = Phone(data={"snapshot_ui": {"error": "UI_TREE_UNAVAILABLE"}})

        with pytest.raises(SnapshotError) as failed:
            client(phone).click(id="name")

        assert failed.value.serial == phone.serial

    def test_an_envelope_without_steps(self) -> None:
        """Success without a result is not a success."""
        runner = ScriptedRunner(lambda execution: result_of(execution))

        with pytest.raises(EnvelopeMalformedError) as broken:
            client(runner).back()

        assert "no step results" in broken.value.message


class TestShortIdsOfSeveral:
    """All texts under a short id are read, whatever packages the nodes belong to."""

    IDS = SHOP.replace(f"{PACKAGE}:id/name", "android:id/name", 1)

    def test_of_every_package(self) -> None:
        """Nodes whose whole ids differ are all read."""
        texts = client(Phone(self.IDS)).read_all_text(id="name")

        assert texts == ["Tea", "Milk", "Bread"]

    def test_none_is_an_answer(self) -> None:
        """Nothing is waited for where no node has the id."""
        phone = Phone(SHOP)

        texts = client(phone).read_all_text(id="nope", timeout=5)

        assert texts == []
        assert phone.types == [["snapshot_ui"]]


class TestDamagedSnapshots:
    """A text that the log cut does not hide the other nodes."""

    BROKEN = SHOP[: SHOP.index("Bread") + 2]

    def test_what_is_before_the_break_is_found(self) -> None:
        """A short id is looked up on what there is."""
        phone = Phone(self.BROKEN)

        first(phone).click(id="buy", timeout=0)

        assert phone.params("click")[0]["matcher"] == {"resourceId": f"{PACKAGE}:id/buy"}

    def test_a_miss_names_the_cause(self) -> None:
        """The error says that the node may be there."""
        with pytest.raises(NodeNotFoundError, match="The snapshot is damaged"):
            client(Phone(self.BROKEN)).click(id="nope", timeout=0)

    def test_all_cannot_be_known(self) -> None:
        """Reading all texts does not take a part for the whole."""
        with pytest.raises(SnapshotError, match="cut a long text"):
            client(Phone(self.BROKEN)).read_all_text(id="name")


class TestGarbledFailures:
    """Failures that a percent sign garbles in the published Operator have their codes."""

    @staticmethod
    def garbling(execution: Execution) -> RunResult:
        """Fail as a confused formatter does, but for looks."""
        if execution.actions[0].type == "snapshot_ui":
            return result_of(execution, [step_of(execution.actions[0], text=SHOP)])
        return result_of(execution, error="Conversion = 'F'")

    def test_of_a_matcher(self) -> None:
        """A role that only the device knows must be sent; the node is missing."""
        with pytest.raises(NodeNotFoundError, match="100%"):
            client(ScriptedRunner(self.garbling)).click(role="listitem", text="100%", timeout=0)

    def test_of_an_address(self) -> None:
        """A device that cannot be asked before fails with the right code all the same."""
        with pytest.raises(StepFailedError) as failed:
            client(ScriptedRunner(self.garbling)).open_uri("nope://a%2Fb")

        assert failed.value.code == ErrorCode.URI_NOT_HANDLED

    def test_of_anything_else(self) -> None:
        """Without a percent sign nothing is guessed."""
        with pytest.raises(StepFailedError) as failed:
            client(ScriptedRunner(self.garbling)).open_uri("nope://a")

        assert failed.value.code == ErrorCode.EXECUTION_FAILED


class TestStrictSearches:
    """A scroll that taps is sent without its tap, then a look, then the tap."""

    @pytest.mark.parametrize(
        ("search", "kind"),
        [
            (lambda claw: claw.scroll_until(text="Buy", click=True), "scroll_until"),
            (lambda claw: claw.scroll_and_click(text="Buy"), "scroll_and_click"),
        ],
    )
    def test_several_nodes_in_a_list_are_listed(self, search: Any, kind: str) -> None:
        """The nodes are listed after a tap that the scroll did not make itself."""
        phone = Phone(SHOP, data={"scroll_until": {"termination_reason": "TARGET_FOUND"}})

        with pytest.raises(StepFailedError) as failed:
            search(client(phone))

        assert failed.value.code == ErrorCode.NODE_AMBIGUOUS
        assert phone.types == [[kind, "snapshot_ui", "click"]]
        assert not phone.sent[0][0]["params"].get("clickAfter")


TEA = NodeMatcher(text_equals="Tea")

CLICK = plans.click("click", TEA, {})


def test_what_proves_an_action_is_named_after_it() -> None:
    """Its own id is as if it were sent alone."""
    sending = Performer(Phone()).sending(CLICK, Aim(TEA), Wait(2), id="click-1")

    assert [action.id for action in sending.actions] == ["click-1-wait", "click-1-look", "click-1"]
    assert sending.proofs == {"click-1-wait": "click-1", "click-1-look": "click-1"}


def test_a_scroll_taps_after_the_look() -> None:
    """The tap at the end of a scroll is sent apart from it."""
    tea = target_of(TEA, {}, verb="scroll")
    plan = plans.scroll_until(tea, None, max_scrolls=3, click=True)

    sending = Performer(Phone()).sending(plan, Aim(TEA), Wait(2), id="scroll_until-1")

    assert [action.type for action in sending.actions] == ["scroll_until", "snapshot_ui", "click"]
    assert "clickAfter" not in sending.actions[0].to_wire()["params"]


def test_an_action_alone() -> None:
    """Without a proof only the action is sent."""
    performer = Performer(Phone(), matchers="first")

    sending = performer.sending(CLICK, Aim(TEA), Wait(2), id="click-1")

    assert [action.id for action in sending.actions] == ["click-1"]


def test_what_a_look_is_judged_by() -> None:
    """A point, an untellable role, and what any node will do for are not judged."""
    role = plans.click("click", None, {"role": "listitem"})
    wait = plans.wait_for_node(TEA, {})

    assert judged_by(CLICK, Aim(TEA)) == (CLICK.target, Use.TAP)
    assert judged_by(CLICK, Aim(point=(1, 2))) is None
    assert judged_by(role, Aim(NodeMatcher(role="listitem"))) is None
    assert judged_by(wait, Aim(TEA)) is None


@pytest.mark.parametrize("given", ["Strict", None, True, "all"])
def test_only_two_kinds_of_matchers(given: object) -> None:
    """Another word is refused with what is allowed."""
    with pytest.raises(ConfigurationError, match="'strict' or 'first'"):
        matchers_of(given)
