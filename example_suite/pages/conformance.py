"""The conformance app: a counter, a switch and a long list."""

from __future__ import annotations

from pytest_clawperator import Clawperator

PACKAGE = "com.clawperator.conformance"


class Conformance:
    """What can be done in the conformance app."""

    def __init__(self, claw: Clawperator) -> None:
        self.claw = claw
        self.counter = claw.node(id="txt_counter")
        self.increment = claw.node(text="Increment")
        self.toggle = claw.node(id="tgl_enabled")
        self.status = claw.node(id="txt_enabled_state")
        self.rows = claw.node(id="list_main")

    def open_list(self) -> None:
        """Open the list of rows."""
        self.claw.click(text="Open List")
        self.rows.wait()
