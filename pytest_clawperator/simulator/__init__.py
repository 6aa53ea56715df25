"""A PHONE IN THE BOX: simulated Android devices on the real adb wire.

``phone/`` puts one phone together: ``android/`` and the ``operator/`` app on it, its ``screen/``
with ``picture/``, and its ``shell/``. ``wire/`` connects it to adb; the modules here
run several of them in a separate process.
"""

from __future__ import annotations

from pytest_clawperator.simulator.child_process import Simulator

__all__ = ["Simulator"]
