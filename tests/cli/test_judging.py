"""Commands on one element: judged by the screen that they met."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.cli.judging import run_on_one_node
from pytest_clawperator.contracts.payload import complete_execution
from pytest_clawperator.errors import StepFailedError
from tests.doubles.runner import Phone, node, screen


def box(*names: str, top: int) -> str:
    """Make a container with texts."""
    rows = [
        node(text=name, id="name", kind="TextView", bounds=f"[0,{top + n}][500,{top + n + 9}]")
        for n, name in enumerate(names, 1)
    ]
    return node(*rows, id="box", bounds=f"[0,{top}][1080,{top + 100}]")


TEA = {"matcher": {"textEquals": "Tea"}}
BOX = {"container": {"resourceId": "com.example.shop:id/box"}}
READ = {"type": "read_text", "params": TEA}
READ_IN_BOX = {"type": "read_text", "params": {**TEA, **BOX}}
CLICK = {"type": "click", "params": TEA}
SCROLL = {"type": "scroll_and_click", "params": {**TEA, "clickAfter": True}}
ONE, BOTH, TWICE = (
    screen(box("Tea", top=100), box("Milk", top=300)),
    screen(box("Tea", top=100), box("Tea", top=300)),
    screen(box("Tea", "Tea", top=100), box("Milk", top=300)),
)
ROLE = {"type": "read_text", "params": {"matcher": {"role": "label"}}}


@pytest.mark.parametrize(
    ("action", "use", "shown", "is_one"),
    [
        (READ, "READ", ONE, True),
        (READ, "READ", BOTH, False),
        (READ_IN_BOX, "READ", BOTH, True),
        (READ_IN_BOX, "READ", TWICE, False),
        (CLICK, "TAP", ONE, True),
        (CLICK, "TAP", BOTH, False),
        (SCROLL, "TAP", ONE, True),
        (SCROLL, "TAP", BOTH, False),
        (ROLE, "READ", BOTH, True),
    ],
)
def test_one_element_may_match(action: dict[str, Any], use: str, shown: str, is_one: bool) -> None:
    """In the first container, where one is given; what no snapshot shows is left to the device."""
    phone = Phone(shown, data={"scroll_and_click": {"click_after": "false"}})
    execution = complete_execution({"actions": [{"id": "a", **action}]})

    if is_one:
        [step] = run_on_one_node(phone, execution, use).steps
        assert (step.id, step.action_type) == ("a", action["type"])
        assert step.data.get("click_after", "true") == "true"
    else:
        with pytest.raises(StepFailedError, match=r"NODE_AMBIGUOUS(?s:.*)--matchers first"):
            run_on_one_node(phone, execution, use)

    sent = [one.type for one in phone.executions[0].actions]
    assert ("snapshot_ui" in sent) is (action is not ROLE)
