"""Plans are carried out: aimed, sent, repeated while there is time, and explained."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.completion import waiting_ms
from pytest_clawperator.contracts.durations import pauses_ms
from pytest_clawperator.contracts.payload import Action, Execution
from pytest_clawperator.errors import (
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
            client(phone).click(text="Tea", timeout=5)

        assert phone.types == [["click"], ["snapshot_ui"]]
        assert pauses_ms(phone.sent[0][0]["params"]["retry"]) == 5000

    def test_a_long_wait_is_split(self) -> None:
        """A longer wait takes several executions, whose pauses sum up to it."""
        phone = Phone(data={"click": MISSING})

        with pytest.raises(NodeNotFoundError) as missed:
            client(phone).click(text="Tea", timeout=15)

        waits = [pauses_ms(sent[0]["params"]["retry"]) for sent in phone.sent[:-1]]
        assert waits[:2] == [6500, 6500]
        assert 0 < waits[2] <= 2015
        assert len(waits) == 3
        assert "within 15 s" in missed.value.message

    def test_found_in_a_later_segment(self) -> None:
        """What comes up in time is used, and nothing is sent after that."""
        phone = Phone(data={"click": answers(MISSING, {"click_types": "click"})})

        step = client(phone).click(text="Tea", timeout=15)

        assert step.data == {"click_types": "click"}
        assert phone.types == [["click"], ["click"]]

    def test_no_time_is_one_attempt(self) -> None:
        """``timeout=0`` sends one attempt and gives up."""
        phone = Phone(data={"click": MISSING})

        with pytest.raises(NodeNotFoundError):
            client(phone).click(text="Tea", timeout=0)

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
            client(phone).click(text="Tea", timeout=60)

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
        """Where the device cannot wait by itself it is told to sleep; the host never does."""
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

        client(phone).click(id="name", text="Milk", timeout=4)

        assert phone.types == [["snapshot_ui"], ["click"]]
        matcher = {"resourceId": f"{PACKAGE}:id/name", "textEquals": "Milk"}
        assert phone.params("click") == [{"matcher": matcher}]
        assert 0 < pauses_ms(phone.sent[1][0]["params"]["retry"]) <= 4015

    def test_the_screen_is_polled_until_the_id_is_there(self) -> None:
        """The screen is looked at until the id is there."""
        phone = Phone(EMPTY, EMPTY, SHOP)

        client(phone).click(id="name")

        assert phone.types == [
            ["snapshot_ui"],
            ["sleep", "snapshot_ui"],
            ["sleep", "snapshot_ui"],
            ["click"],
        ]

    def test_a_missing_short_id_sends_nothing_but_looks(self) -> None:
        """What is near is told, and nothing was sent but looks."""
        phone = Phone(SHOP)

        with pytest.raises(NodeNotFoundError) as missed:
            client(phone).click(id="nam", timeout=0)

        assert "did you mean id='name'?" in str(missed.value.hint)
        assert phone.types == [["snapshot_ui"]]

    def test_whole_ids_are_sent_at_once(self) -> None:
        """There is nothing to look up about a whole id."""
        phone = Phone()

        client(phone).click(id="com.a:id/b")

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
        claw = client(phone)
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

        client(phone).click(id="name", within=client(phone).node(id="list"))

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
        """It is aimed at by what tells it from the others."""
        phone = Phone(SHOP)
        claw = client(phone)
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

        outcome = client(phone).scroll_and_click(text="50% off")

        assert outcome.found
        assert phone.types == [["snapshot_ui"], ["click"]]

    def test_a_list_is_named_by_another_matcher(self) -> None:
        """A list is named to the device by what else tells it."""
        phone = Phone(self.OFFER)

        client(phone).scroll(within={"text": "50% off"})

        assert phone.params("scroll")[0]["container"] == {"resourceId": f"{PACKAGE}:id/offer"}


class TestAnswersFromTheScreen:
    """What a look tells need not be asked of the device."""

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
        """A node that stays without text is told as such."""
        phone = Phone(SHOP)
        claw = client(phone)

        with pytest.raises(StepFailedError) as failed:
            claw.node(id="row").nth(1).read(timeout=0)

        assert failed.value.code is ErrorCode.NODE_HAS_NO_TEXT

    def test_waiting_for_a_looked_up_node_is_polling(self) -> None:
        """Waiting for what the device cannot be told of is looking."""
        phone = Phone(EMPTY, SHOP)
        claw = client(phone)

        step = claw.wait_for_node(id="row", within=claw.node(id="list").nth(0))

        assert step.action_type == "snapshot_ui"
        assert phone.types == [["snapshot_ui"], ["sleep", "snapshot_ui"]]


class TestStrict:
    """With ``strict_matchers`` several nodes are an error."""

    def test_several_nodes_are_listed_and_none_is_clicked(self) -> None:
        """All of them are listed, and nothing is clicked."""
        phone = Phone(SHOP)

        with pytest.raises(StepFailedError) as refused:
            client(phone, strict_matchers=True).click(text="Buy")

        assert refused.value.code is ErrorCode.NODE_AMBIGUOUS
        assert "3 nodes fit node(text='Buy')" in refused.value.message
        assert len(refused.value.details["nodes"]) == 3
        assert phone.types == [["snapshot_ui"]]

    @pytest.mark.parametrize("method", ["click", "read_text", "scroll"])
    def test_several_containers_are_an_error_too(self, method: str) -> None:
        """A container must be one, too."""
        claw = client(Phone(SHOP), strict_matchers=True)
        matcher = {} if method == "scroll" else {"text": "Buy"}

        with pytest.raises(StepFailedError) as refused:
            getattr(claw, method)(within={"id": f"{PACKAGE}:id/row"}, **matcher)

        assert f"3 nodes fit node(id='{PACKAGE}:id/row')" in refused.value.message

    def test_a_single_node_is_sent_as_its_matcher(self) -> None:
        """The matcher itself is sent, and the device waits as usual."""
        phone = Phone(SHOP)

        client(phone, strict_matchers=True).click(text="Tea", timeout=2)

        assert phone.params("click") == [{"matcher": {"textEquals": "Tea"}}]
        assert 0 < pauses_ms(phone.sent[1][0]["params"]["retry"]) <= 2015

    @pytest.mark.parametrize("role", ["listitem", "Row"])
    def test_what_a_snapshot_cannot_tell(self, role: str) -> None:
        """A role that only the device knows is left to the device."""
        phone = Phone(SHOP)

        client(phone, strict_matchers=True).click(role=role)

        assert phone.types == [["click"]]

    def test_reading_all_is_about_several(self) -> None:
        """Where all are meant there is nothing to choose."""
        phone = Phone(SHOP, data={"read_text": {"text": "[]"}})

        assert client(phone, strict_matchers=True).read_all_text(text="Buy") == []

    def test_one_of_several(self) -> None:
        """An index says which."""
        phone = Phone(SHOP)

        client(phone, strict_matchers=True).node(text="Buy").nth(0).click()

        assert phone.types == [["snapshot_ui"], ["click"]]


class TestTroubleOnTheWay:
    """What is not about nodes is raised as what it is."""

    def test_the_lab_is_broken(self) -> None:
        """A switched-off service is no matter of nodes: no second look, no outline."""
        phone = Phone(data={"click": {"error": "SERVICE_UNAVAILABLE"}})

        with pytest.raises(OperatorNotReadyError) as broken:
            client(phone).click(text="Tea")

        assert broken.value.serial == phone.serial
        assert phone.types == [["click"]]

    def test_a_look_that_fails_does_not_hide_the_error(self) -> None:
        """The error comes without the screen if the screen cannot be had."""
        broken = {"error": "UI_TREE_UNAVAILABLE"}
        phone = Phone(data={"click": MISSING, "snapshot_ui": broken})

        with pytest.raises(NodeNotFoundError) as missed:
            client(phone).click(text="Tea", timeout=0)

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
        """Success without a result is no success."""
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

        client(phone).click(id="buy", timeout=0)

        assert phone.params("click")[0]["matcher"] == {"resourceId": f"{PACKAGE}:id/buy"}

    def test_a_miss_names_the_cause(self) -> None:
        """The error says that the node may be there."""
        with pytest.raises(NodeNotFoundError, match="The snapshot is damaged"):
            client(Phone(self.BROKEN)).click(id="nope", timeout=0)

    def test_all_cannot_be_told(self) -> None:
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
    """With strict matchers a search that finds several nodes is an error, before any tap."""

    @pytest.mark.parametrize(
        "search",
        [
            lambda claw: claw.scroll_until(text="Buy"),
            lambda claw: claw.scroll_until(text="Buy", click=True),
            lambda claw: claw.scroll_and_click(text="Buy"),
            lambda claw: claw.wait_for_navigation(text="Buy"),
        ],
    )
    def test_several_nodes_in_a_list_are_listed_before_a_tap(self, search: Any) -> None:
        """The nodes are listed, and none was tapped."""
        phone = Phone(SHOP, data={"scroll_until": {"termination_reason": "TARGET_FOUND"}})

        with pytest.raises(StepFailedError) as failed:
            search(client(phone, strict_matchers=True))

        assert failed.value.code == ErrorCode.NODE_AMBIGUOUS
        assert not {"click", "scroll_and_click"} & {kind for sent in phone.types for kind in sent}
