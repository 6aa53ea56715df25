"""A scripted runner, for tests of what is above the run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import Device
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.payload import Action, Execution
from pytest_clawperator.execution.pipeline import Observers
from pytest_clawperator.execution.postprocess import (
    NO_PROOFS,
    Collected,
    Processor,
    postprocess,
    reconcile_status,
    set_proofs_apart,
)
from pytest_clawperator.execution.result import RunResult, RunStep
from tests.doubles.transport import ScriptedTransport

Act = Callable[[Clawperator], Any]
"""Something a test does with a client."""

SERIAL = "phone-1"
PACKAGE = "com.example.shop"


class ScriptedRunner:
    """Runs executions by asking a function, and remembers them."""

    serial = SERIAL

    def __init__(self, answer: Callable[[Execution], RunResult]) -> None:
        self._answer = answer
        self.observers = Observers(serial=self.serial)
        self.executions: list[Execution] = []
        self.is_closed = False

    def run(
        self,
        execution: Execution,
        *,
        processors: Sequence[Processor] = (),
        proofs: Mapping[str, str] = NO_PROOFS,
    ) -> RunResult:
        """Return the scripted answer, judged as a runner does it."""
        self.executions.append(execution)
        collected = Collected(actions=execution.actions, serial=self.serial, proofs=proofs)
        apart = (set_proofs_apart, reconcile_status) if proofs else ()
        result = postprocess(self._answer(execution), collected, (*apart, *processors))
        assert isinstance(result, RunResult)
        return RunResult.of(result, serial=self.serial)

    def close(self) -> None:
        """Remember it."""
        self.is_closed = True

    @property
    def sent(self) -> list[list[dict[str, Any]]]:
        """The actions of each execution, in wire form."""
        return [[a.to_wire() for a in e.actions] for e in self.executions]

    @property
    def executed(self) -> list[str]:
        """The types of the actions of each execution, as in ``sleep snapshot_ui``."""
        return [" ".join(kinds) for kinds in self.types]

    @property
    def types(self) -> list[list[str]]:
        """The types of the actions of each execution."""
        return [[a.type for a in e.actions] for e in self.executions]

    def params(self, kind: str) -> list[dict[str, Any]]:
        """Return the parameters of every action of a type, retries aside."""
        hidden = {"retry", "scrollRetry", "clickRetry"}
        return [
            {k: v for k, v in action.get("params", {}).items() if k not in hidden}
            for actions in self.sent
            for action in actions
            if action["type"] == kind
        ]


class Phone(ScriptedRunner):
    """Answers as the documented Operator does.

    ``screens`` are shown one after the other, a new one at each snapshot, the last for ever.
    ``data`` is what each type of action brings; an ``error`` in it makes it fail.
    """

    def __init__(
        self, *screens: str, data: dict[str, Any] | None = None, picture: bytes | None = None
    ) -> None:
        super().__init__(self._respond)
        self.screens = list(screens) or [screen()]
        self.data = data or {}
        self.picture = picture

    def _respond(self, execution: Execution) -> RunResult:
        steps: list[RunStep] = []
        for action in execution.actions:
            steps.append(self._step(action))
            if not steps[-1].success:
                break
        return result_of(execution, steps, screenshot=self.picture)

    def _step(self, action: Action) -> RunStep:
        if action.type == "snapshot_ui" and "snapshot_ui" not in self.data:
            shown = self.screens[0]
            if len(self.screens) > 1:
                self.screens.pop(0)
            return step_of(action, text=shown, foreground_package=PACKAGE)
        given = self.data.get(action.type, {})
        return step_of(action, **(given(action) if callable(given) else given))


def step_of(action: Action, **data: str) -> RunStep:
    """Make the result of an action; it failed if there is an ``error``."""
    wire = {"id": action.id, "actionType": action.type, "success": "error" not in data}
    return RunStep.model_validate({**wire, "data": data})


def result_of(
    execution: Execution,
    steps: Iterable[RunStep] = (),
    *,
    error: str | None = None,
    **about: Any,
) -> RunResult:
    """Make the answer to an execution; it failed if a step did, or if there is an ``error``."""
    steps = tuple(steps)
    failed = next((step for step in steps if not step.success), None)
    if failed is not None and error is None:
        error = f"Step {failed.id} ({failed.action_type}) failed: {failed.code}"
    return RunResult.model_construct(
        None,
        command_id=execution.command_id,
        task_id=execution.task_id,
        status="success" if error is None else "failed",
        steps=steps,
        error=error,
        serial=SERIAL,
        elapsed=0.0,
        **about,
    )


def client(
    runner: ScriptedRunner,
    answers: Mapping[str | re.Pattern[str], str] | None = None,
    **options: Any,
) -> Clawperator:
    """Make a client of a scripted device, whose shell answers from a table, or lists apps."""
    info = DeviceInfo(serial=SERIAL, key=SERIAL)
    apps = "".join(f"package:{name}\n" for name in (PACKAGE, "com.a", "com.b", "com.other"))
    table = answers or {re.compile("pm list packages.*"): apps}
    transport = ScriptedTransport(dict(table.items()))
    return Clawperator(runner, device=Device(transport, info), **options)


def first(runner: ScriptedRunner, **options: Any) -> Clawperator:
    """Make a client that sends actions alone, without a proof: the first node wins."""
    return client(runner, matchers="first", **options)


def screen(*nodes: str) -> str:
    """Make a hierarchy of nodes."""
    return f'<hierarchy rotation="0">{node(*nodes, bounds="[0,0][1080,2400]")}</hierarchy>'


def node(
    *children: str,
    text: str = "",
    id: str = "",
    desc: str = "",
    kind: str = "FrameLayout",
    bounds: str = "[0,0][100,50]",
    **flags: bool,
) -> str:
    """Make a node; an id is one of the app's."""
    attributes = {
        "text": text,
        "resource-id": f"{PACKAGE}:id/{id}" if id else "",
        "class": f"android.widget.{kind}",
        "package": PACKAGE,
        "content-desc": desc,
        "bounds": bounds,
        **{name.replace("_", "-"): str(value).lower() for name, value in flags.items()},
    }
    written = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    return f"<node {written}>{''.join(children)}</node>"


def row(name: str, price: str, top: int) -> str:
    """Make a row of a list of products, with a button that is in every row."""
    return node(
        node(text=name, id="name", kind="TextView", bounds=f"[0,{top}][500,{top + 50}]"),
        node(text=price, id="price", kind="TextView", bounds=f"[500,{top}][800,{top + 50}]"),
        node(text="Buy", id="buy", kind="Button", bounds=f"[800,{top}][1080,{top + 50}]"),
        id="row",
        bounds=f"[0,{top}][1080,{top + 100}]",
    )


SHOP = screen(
    node(text="Shop", kind="TextView"),
    node(
        row("Tea", "$3", 200),
        row("Milk", "$2", 300),
        row("Bread", "$4", 400),
        id="list",
        kind="ListView",
        bounds="[0,200][1080,2000]",
        scrollable=True,
    ),
)


def page(*names: str, scrollable: bool = True) -> str:
    """Make a screen with a list that shows some names."""
    rows = [row(name, "$1", 100 * place) for place, name in enumerate(names, 1)]
    return screen(node(*rows, id="list", bounds="[0,0][1080,2000]", scrollable=scrollable))


def moving(times: int) -> Any:
    """Answer scrolls: so many move, the next meets the edge."""
    left = [times]

    def answer(action: Action) -> dict[str, str]:
        left[0] -= 1
        return {"scroll_outcome": "moved" if left[0] >= 0 else "edge_reached", "direction": "down"}

    return answer
