"""A plan decides how its action gets to the node, or a scroll to its list."""

from __future__ import annotations

import pytest

from pytest_clawperator.client.plan import action_plans, read_plans, scroll_plans
from pytest_clawperator.client.plan.plan import Plan
from pytest_clawperator.client.plan.target import Route, container_of

SHORT = {"id": "list"}


@pytest.mark.parametrize(
    ("plan", "route"),
    [
        (action_plans.open_app("com.a"), Route.SENT),
        (action_plans.click("click", None, {"text": "Tea"}), Route.SENT),
        (action_plans.click("click", None, SHORT), Route.COMPLETED),
        (action_plans.click("click", None, {"text": "Tea"}, within={"text": "a"}), Route.LOOKED_UP),
        (read_plans.read_text(None, {"text": "Tea"}, within={"text": "a"}), Route.SENT),
        (read_plans.read_all_text(None, SHORT), Route.LOOKED_UP),
        (scroll_plans.scroll("down", None), Route.SENT),
        (scroll_plans.scroll("down", container_of({"text": "5 %"}, verb="s")), Route.LOOKED_UP),
    ],
)
def test_the_route_depends_on_what_the_action_can_be_sent(plan: Plan[object], route: Route) -> None:
    """Only reads take a container, and several nodes with a short id are looked up."""
    assert plan.route(strict=False) is route


def test_only_a_strict_plan_about_one_node_is_proved() -> None:
    """Where only one node may fit, a look goes along, unless all that fit are wanted."""
    click = action_plans.click("click", None, {"text": "Tea"})
    read_all = read_plans.read_all_text(None, {"text": "Tea"})

    assert click.route(strict=True) is Route.PROVED
    assert not click.route(strict=True).needs_look
    assert read_all.route(strict=True) is Route.SENT
