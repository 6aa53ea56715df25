"""How the Operator's log names and describes a node."""

from __future__ import annotations

from pytest_clawperator.simulator.operator.steps.looking import nearest
from pytest_clawperator.simulator.screen import hierarchy
from pytest_clawperator.simulator.screen.nodes import UiNode

_EFFECTIVE_ANCESTORS = 3

_WINDOW_ID = 41  # the window's number in the system; matchers never see it


def node_id(node: UiNode) -> str:
    """Return a node's id, made from its place in the tree."""
    return f"{_WINDOW_ID}:{hierarchy.node_path(node)}"


def describe(node: UiNode) -> str:
    """Return a node as the app's tasks print it."""
    left, top, right, bottom = (float(edge) for edge in node.bounds)
    clickable = nearest(node, lambda other: other.clickable, _EFFECTIVE_ANCESTORS) is not None
    return (
        f"TaskUiNode(resourceId={node.resource_id or 'null'}, label='{node.label}', "
        f"clickable={str(clickable).lower()}, role={hierarchy.role_of(node)}, "
        f"bounds=left={left}, top={top}, right={right}, bottom={bottom})"
    )


def describe_raw(node: UiNode) -> str:
    """Return a node as the app's service prints it."""
    left, top, right, bottom = node.bounds
    return (
        f'class={node.cls} text="{node.text or node.content_desc}" '
        f"bounds=Rect({left}, {top} - {right}, {bottom}) clickable={str(node.clickable).lower()}"
    )
