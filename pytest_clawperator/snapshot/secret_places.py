"""Where a screen shows secrets."""

from __future__ import annotations

from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.snapshot.bounds import Bounds
from pytest_clawperator.snapshot.node import Node
from pytest_clawperator.snapshot.tree import Snapshot


def secret_places(snapshot: Snapshot) -> list[Bounds]:
    """Return the bounds of password fields, and of nodes whose texts hold a secret."""
    return [node.bounds for node in snapshot.nodes if _is_secret(node)]


def _is_secret(node: Node) -> bool:
    return node.password or SECRETS.is_in(node.text) or SECRETS.is_in(node.content_desc)
