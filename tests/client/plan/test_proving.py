"""An action and its proof."""

from __future__ import annotations

import pytest

from pytest_clawperator.client.plan import action_plans, scroll_plans
from pytest_clawperator.client.plan.actionability import Use
from pytest_clawperator.client.plan.plan import Aim
from pytest_clawperator.client.plan.proving import bare, judged_by, matchers_of, with_proof
from pytest_clawperator.client.plan.target import target_of
from pytest_clawperator.client.plan.timing import Wait
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import ConfigurationError

TEA = NodeMatcher(text_equals="Tea")
CLICK = action_plans.click("click", TEA, {})


def test_what_proves_an_action_is_named_after_it() -> None:
    """Its own id is as if it were sent alone."""
    sending = with_proof(CLICK, Aim(TEA), Wait(2), id="click-1")

    assert [action.id for action in sending.actions] == ["click-1-wait", "click-1-look", "click-1"]
    assert sending.proofs == {"click-1-wait": "click-1", "click-1-look": "click-1"}


def test_a_scroll_taps_after_the_look() -> None:
    """The tap at the end of a scroll is sent apart from it."""
    tea = target_of(TEA, {}, verb="scroll")
    plan = scroll_plans.scroll_until(tea, None, max_scrolls=3, click=True)

    sending = with_proof(plan, Aim(TEA), Wait(2), id="scroll_until-1")

    assert [action.type for action in sending.actions] == ["scroll_until", "snapshot_ui", "click"]
    assert "clickAfter" not in sending.actions[0].to_wire()["params"]


def test_an_action_alone() -> None:
    """Without a proof only the action is sent."""
    assert [action.id for action in bare(CLICK, Aim(TEA), Wait(2), id="click-1").actions] == [
        "click-1"
    ]


def test_what_a_look_is_judged_by() -> None:
    """A point, an untellable role, and what any node will do for are not judged."""
    role = action_plans.click("click", None, {"role": "listitem"})
    wait = action_plans.wait_for_node(TEA, {})

    assert judged_by(CLICK, Aim(TEA)) == (CLICK.target, Use.TAP)
    assert judged_by(CLICK, Aim(point=(1, 2))) is None
    assert judged_by(role, Aim(NodeMatcher(role="listitem"))) is None
    assert judged_by(wait, Aim(TEA)) is None


@pytest.mark.parametrize("given", ["Strict", None, True, "all"])
def test_only_two_kinds_of_matchers(given: object) -> None:
    """Another word is refused with what is allowed."""
    with pytest.raises(ConfigurationError, match="'strict' or 'first'"):
        matchers_of(given)
