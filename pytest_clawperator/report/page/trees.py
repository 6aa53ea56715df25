"""The hierarchy of a screen as plain data, for scripts that know no XML."""

from __future__ import annotations

from typing import Any

from pytest_clawperator.errors import SnapshotError
from pytest_clawperator.snapshot.parse import decoded
from pytest_clawperator.snapshot.tree import Snapshot

# What is shown of a hierarchy that cannot be read.
_MOST_TEXT = 20_000


def tree_data(snapshot: Snapshot) -> dict[str, Any]:
    """Return the nodes of a screen, parents before children.

    ``parent`` is the place of the node around it in the list, and -1 for the root.
    """
    nodes = list(snapshot.nodes)
    places = {node: place for place, node in enumerate(nodes)}
    return {
        "rotation": snapshot.rotation,
        "isPartial": snapshot.is_partial,
        "nodes": [
            {
                "parent": -1 if node.parent is None else places[node.parent],
                "attributes": node.attributes,
            }
            for node in nodes
        ],
    }


def read_tree(xml: bytes) -> dict[str, Any]:
    """Return the nodes of a hierarchy as it was kept; of an unreadable one, why and its text."""
    try:
        return tree_data(Snapshot.from_step(decoded(xml), {}, partial=True))
    except SnapshotError as error:
        return {"problem": str(error), "text": decoded(xml[:_MOST_TEXT])}
