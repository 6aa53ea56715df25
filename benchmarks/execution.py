"""What an execution costs, compared with a bare ``shell`` round trip.

The round trip is made on a plain socket to the same device through the same adb server.
Ratios are medians of pairs measured alternately.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.adb_client import Adb
from benchmarks.measuring import seconds, show
from pytest_clawperator import Clawperator, connect
from pytest_clawperator.client.perform import Matchers
from pytest_clawperator.simulator import Simulator

PAIRS = 600
CHATTER = 2_000
EXECUTIONS = 10_000
DEVICES = 8

NO_OP = [{"type": "sleep", "params": {"durationMs": 0}}]
SNAPSHOT = [{"type": "snapshot_ui"}]
SCREENSHOT = [{"type": "take_screenshot"}]

# Every node of a column is on the screen, however many there are.
APP = """
package: com.example.nodes{count}
name: Nodes
start: home
state: {{rows: [{rows}]}}
screens:
  home:
    items:
      - {{button: Go, id: go}}
      - scroll: all
        items:
          - {{text: "Row {{item}} of {count}", repeat: rows}}
"""


def app_with(count: int, folder: Path) -> Path:
    """Write an app whose screen has about this many nodes; return its file."""
    path = folder / f"nodes{count}.yaml"
    rows = ", ".join(map(str, range(count)))
    path.write_text(APP.format(count=count, rows=rows), encoding="utf-8")
    return path


class Bench:
    """One device, with a client and a bare socket."""

    def __init__(self, simulator: Simulator, claw: Clawperator) -> None:
        self.claw = claw
        self._adb = Adb(simulator.adb_host, simulator.adb_port)

    def shell(self) -> None:
        """Make a bare round trip."""
        self._adb.shell(self.claw.serial, "echo hi")

    def ratio(self, actions: list[dict[str, Any]], pairs: int = PAIRS) -> tuple[float, float]:
        """Return what an execution costs: in round trips, and in milliseconds."""
        run = self.execution(actions)
        run()
        timed = [(seconds(run), seconds(self.shell)) for _ in range(pairs)]
        ours = statistics.median(run for run, _ in timed)
        return statistics.median(run / shell for run, shell in timed), ours * 1000

    def execution(self, actions: list[dict[str, Any]]) -> Callable[[], None]:
        """Return a function that runs these actions and checks that they succeeded."""

        def run() -> None:
            assert self.claw.execute(actions).ok

        return run

    def open_screen(self, count: int) -> int:
        """Show the screen with this many rows; return how many nodes it has."""
        self.claw.open_app(f"com.example.nodes{count}")
        self.claw.wait_for_navigation(package=f"com.example.nodes{count}", text=f"Row 0 of {count}")
        return len(self.claw.snapshot())

    def chatter(self, rate: int) -> None:
        """Let other processes log this many lines a second."""
        self._adb.shell(self.claw.serial, f"sim chatter {rate}")


def proof_cost(claw: Clawperator) -> float:
    """Return what a click that is proved by a look costs, in bare clicks."""

    def click(matchers: Matchers) -> Callable[[], None]:
        def run() -> None:
            claw.matchers = matchers
            claw.click(text="Go")

        return run

    proved, bare = click("strict"), click("first")
    proved()
    ratio = statistics.median(seconds(proved) / seconds(bare) for _ in range(PAIRS))
    claw.matchers = "strict"
    return ratio


def costs(bench: Bench) -> None:
    """Print what one execution costs, in round trips."""
    ratio, ms = bench.ratio(NO_OP)
    show("no-op", f"{ratio:.2f} x, {ms:.2f} ms", "<= 2.1 x")
    for count, wanted, pairs in ((90, "<= 4 x", PAIRS), (2_000, "<= 12 x", 100)):
        nodes = bench.open_screen(count)
        ratio, ms = bench.ratio(SNAPSHOT, pairs)
        show(f"snapshot of {nodes} nodes", f"{ratio:.2f} x, {ms:.2f} ms", wanted)
        if count < 100:
            show(f"proved click on {nodes} nodes", f"{proof_cost(bench.claw):.2f} x", "<= 1.6 x")
    ratio, ms = bench.ratio(SCREENSHOT, 100)
    show("screenshot", f"{ratio:.2f} x, {ms:.2f} ms")


def chatter_growth(bench: Bench) -> tuple[float, float]:
    """Return what foreign log lines add to a no-op: 200 a second, and ten times as many."""
    run = bench.execution(NO_OP)
    growth = []
    for rate in (CHATTER // 10, CHATTER):
        quiet, loud = [], []
        for _ in range(20):  # alternately, so that other load affects both
            bench.chatter(0)
            quiet += [seconds(run) for _ in range(20)]
            bench.chatter(rate)
            loud += [seconds(run) for _ in range(20)]
        growth.append(statistics.median(loud) / statistics.median(quiet) - 1)
    bench.chatter(0)
    return growth[0], growth[1]


def memory_kib() -> int:
    """Return how much memory this process uses."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0])


def memory_growth(claw: Clawperator) -> float:
    """Compare the memory after 10,000 executions with that after a tenth of them."""
    early = 0
    for count in range(EXECUTIONS):
        assert claw.execute(NO_OP).ok
        if count == EXECUTIONS // 10:
            gc.collect()
            early = memory_kib()
    gc.collect()
    return memory_kib() / early


def parallel(claws: list[Clawperator]) -> tuple[int, int]:
    """Run executions on all devices at once; return how many answers were right and wrong."""
    wrong: list[str] = []
    done: list[str] = []

    def work(number: int, claw: Clawperator) -> None:
        for count in range(EXECUTIONS // 10 // len(claws)):
            step = {"id": f"{number}-{count}", "type": "sleep", "params": {"durationMs": 0}}
            result = claw.execute([step])
            (done if result.steps[0].id == step["id"] else wrong).append(result.command_id)

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(claws)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(done), len(wrong)


def main() -> None:
    """Print one line for each figure."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        apps = [app_with(count, folder) for count in (90, 2_000)]
        simulator = stack.enter_context(Simulator(devices=DEVICES, seed=1, apps=apps))
        address = f"{simulator.adb_host}:{simulator.adb_port}"
        with ExitStack() as clients:
            claws = [
                clients.enter_context(connect(serial, adb=address)) for serial in simulator.serials
            ]
            bench = Bench(simulator, claws[0])
            costs(bench)
            some, many = chatter_growth(bench)
            show("200 log lines/s add", f"{some:+.0%}")
            show("2,000 log lines/s add", f"{many:+.0%}", "< +50%")
            done, wrong = parallel(claws)
            show(f"{DEVICES} devices at once", f"{done} right, {wrong} wrong", "none wrong")
            growth = memory_growth(claws[0])
            show("our memory, 10,000 to 1,000 executions", f"{growth:.2f} x", "flat")
        left = [t.name for t in threading.enumerate() if t is not threading.main_thread()]
        show("threads left", str(len(left)), "0")


if __name__ == "__main__":
    main()
