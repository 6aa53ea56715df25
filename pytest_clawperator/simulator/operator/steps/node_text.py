"""How the Operator's log names and describes a node."""

from __future__ import annotations

from pytest_clawperator.simulator.operator.steps.looking import nearest
from pytest_clawperator.simulator.screen.accessibility import node_search
from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode
from pytest_clawperator.simulator.screen.accessibility.roles import role_of

_EFFECTIVE_ANCESTORS = 3

_WINDOW_ID = 41  # the window's number in the system; matchers never see it


def node_id(node: UiNode) -> str:
    """Return a node's id, made from its place in the tree."""
    return f"{_WINDOW_ID}:{node_search.node_path(node)}"


def describe(node: UiNode) -> str:
    """Return a node as the app's tasks print it."""
    left, top, right, bottom = (float(edge) for edge in node.bounds)
    clickable = nearest(node, lambda other: other.clickable, _EFFECTIVE_ANCESTORS) is not None
    return (
        f"TaskUiNode(resourceId={node.resource_id or 'null'}, label='{node.label}', "
        f"clickable={str(clickable).lower()}, role={role_of(node)}, "
        f"bounds=left={left}, top={top}, right={right}, bottom={bottom})"
    )


def describe_raw(node: UiNode) -> str:
    """Return a node as the app's service prints it."""
    left, top, right, bottom = node.bounds
    return (
        f'class={node.cls} text="{node.text or node.content_desc}" '
        f"bounds=Rect({left}, {top} - {right}, {bottom}) clickable={str(node.clickable).lower()}"
    )
