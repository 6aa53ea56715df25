"""How soon an expectation notices a node that appears on the screen.

The time begins with the command that makes the node appear, so it includes that command; the
time of one snapshot execution, measured in the same round, is subtracted.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.measuring import seconds, show
from pytest_clawperator.assertions.expect import expect
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.connecting import connect
from pytest_clawperator.simulator import Simulator

ROUNDS = 60
PACKAGE = "com.example.lamp"
APP = f"""
package: {PACKAGE}
name: Lamp
start: home
state: {{on: false}}
screens:
  home:
    title: Lamp
    items:
      - {{button: Switch, id: switch, on_tap: {{toggle: on}}}}
      - {{text: Shining, visible_if: on}}
      - list: lamps
        items:
          - {{row: "Lamp {{number}}", repeat: 8}}
"""


def appearance_delay() -> float:
    """Return the median seconds from appearing to passing, minus one snapshot execution."""
    with tempfile.TemporaryDirectory() as folder:
        app = Path(folder) / "lamp.yaml"
        app.write_text(APP, encoding="utf-8")
        with (
            Simulator(apps=[app], seed=1, time_scale=0.05) as simulator,
            connect(simulator.serials[0], adb=f"127.0.0.1:{simulator.adb_port}") as claw,
        ):
            claw.open_app(PACKAGE)
            return statistics.median(_beyond_a_snapshot(claw) for _ in range(ROUNDS))


def _beyond_a_snapshot(claw: Clawperator) -> float:
    x, y = claw.node(id="switch").bounds().center
    snapshot = seconds(claw.snapshot)
    appeared: list[float] = []

    def appear() -> None:
        # At no fixed point between two looks, or every run would measure the same one.
        time.sleep(random.uniform(0.1, 0.3))
        appeared.append(time.perf_counter())
        claw.device.shell(f"input tap {x} {y}")

    thread = threading.Thread(target=appear)
    thread.start()
    expect(claw.node(text="Shining")).to_be_visible()
    passed = time.perf_counter()
    thread.join()
    claw.click(id="switch")
    expect(claw.node(text="Shining")).to_be_hidden()
    return passed - appeared[0] - snapshot


def main() -> None:
    """Print the figure."""
    delay = appearance_delay() * 1000
    show("expectation passes, after a node appears", f"{delay:.1f} ms + a snapshot", "<= 30 ms")


if __name__ == "__main__":
    main()
