"""Checkpoints: states of an emulator that are built once, saved, and brought back.

``Checkpoints`` brings the device of a client into such a state.
"""

from pytest_clawperator.emulators.checkpoints.checkpoints import Checkpoints, Reached

__all__ = ["Checkpoints", "Reached"]
