"""A PHONE IN THE BOX: simulated Android devices on the real adb wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_clawperator.simulator.child_process import Simulator

__all__ = ["Simulator"]


def __getattr__(name: str) -> Any:
    # Lazily, because the simulator's own process imports this package too.
    if name == "Simulator":
        from pytest_clawperator.simulator.child_process import Simulator

        return Simulator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
