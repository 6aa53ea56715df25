"""The step that logs the UI hierarchy: snapshot_ui."""

from __future__ import annotations

import re

from pytest_clawperator.simulator.operator.answer.envelope import StepResult, succeeded
from pytest_clawperator.simulator.operator.answer.operator_log import SCOPE, Source
from pytest_clawperator.simulator.operator.payload.command import SnapshotUi
from pytest_clawperator.simulator.operator.steps.looking import (
    WindowMetadata,
    look,
    window_metadata,
)
from pytest_clawperator.simulator.operator.steps.run import Run, StepFailure
from pytest_clawperator.simulator.operator.steps.stage import run_stage
from pytest_clawperator.simulator.screen.accessibility.hierarchy import (
    Hierarchy,
    print_hierarchy,
)

FORMAT = "hierarchy_xml"
_MARKER = f"{SCOPE} UI Hierarchy:\n"
_UNAVAILABLE = (
    "SNAPSHOT_HIERARCHY_UNAVAILABLE: UI hierarchy dump not available; "
    "accessibility service may not be ready"
)

_MOST_FOREIGN_LINES = 1000
# What other processes say in between; one line looks like the dump, one like a result.
_FOREIGN_LINES = (
    ("WifiHAL", "Created vendor message iface"),
    ("BatteryService", '<node level="85" status="2"/>'),
    ("ConnectivityService", "requestNetwork for uid/pid:10123/4711"),
    ("Launcher", "[Clawperator-Result] is not what this line carries"),
    ("chatty", "uid=1000(system) expire 3 lines"),
)


async def snapshot_ui(run: Run, action: SnapshotUi) -> StepResult:
    """Log the hierarchy of the active window and describe the windows."""

    async def attempt() -> tuple[Hierarchy, WindowMetadata | None]:
        run.log_task("Logging UI tree")
        if look(run) is None:
            raise StepFailure(_UNAVAILABLE, code="UI_TREE_UNAVAILABLE")
        printed = print_hierarchy(run.ui.view.roots(), run.ui.display.rotation)
        _dump(run, printed.xml)
        return printed, window_metadata(run)

    _, metadata = await run_stage(
        run,
        "logUiTree",
        attempt,
        retry=action.retry,
        label="Logging UI tree",
        on_screen=False,
        success=lambda taken: {
            "stage_id": "logUiTree",
            "node_count": taken[0].node_count,
            "max_depth": 0,  # the app's own count never finds a node
            "actual_format": FORMAT,
            **_described(taken[1]),
            "truncated": False,
        },
        failure=None,
    )
    return succeeded(action, actual_format=FORMAT, **_described(metadata))


def _described(metadata: WindowMetadata | None) -> dict[str, str | None]:
    if metadata is None:
        return {"has_overlay": "false"}
    return {
        "foreground_package": metadata.foreground_package,
        "has_overlay": str(metadata.overlay_package is not None).lower(),
        "overlay_package": metadata.overlay_package,
        "window_count": str(metadata.window_count),
    }


def _dump(run: Run, xml: str) -> None:
    if run.faults.take("missing_dump"):
        return
    if run.faults.take("truncated_dump"):
        xml = xml[: len(xml) // 2]
    foreign = run.faults.take("foreign_lines")
    if foreign is None:
        run.log.debug(Source.TASK_SCOPE, _MARKER + xml)
    else:
        _dump_with_foreign_lines(run, xml, foreign.options["count"])


def _dump_with_foreign_lines(run: Run, xml: str, count: str) -> None:
    # Other processes can only come in between entries, so every line becomes one.
    lines = (_MARKER + xml).rstrip("\n").split("\n")
    wanted = min(int(count), _MOST_FOREIGN_LINES) if re.fullmatch(r"\d{1,6}", count) else 0
    places = sorted(run.rng.randrange(1, len(lines)) for _ in range(wanted))
    for number, line in enumerate(lines):
        while places and places[0] == number:
            tag, text = _FOREIGN_LINES[len(places) % len(_FOREIGN_LINES)]
            run.log.foreign(tag, text, pid=run.rng.randrange(1200, 2000))
            places.pop(0)
        run.log.debug(Source.TASK_SCOPE, line)
