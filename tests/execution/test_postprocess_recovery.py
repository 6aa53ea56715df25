"""How far a run came, read from the Operator's log."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_clawperator.contracts.log import LogEntry
from pytest_clawperator.contracts.payload import Action, Execution, complete_execution
from pytest_clawperator.execution.postprocess import Recovery, recover
from pytest_clawperator.execution.result import RunStep
from tests.doubles.runner import SHOP

READ: dict[str, Any] = {"type": "read", "id": "read", "params": {"matcher": {"text": "x"}}}
TYPE = {
    "id": "type",
    "type": "enter_text",
    "params": {"matcher": {"role": "textfield"}, "text": "a, error=b"},
}
CLICK: dict[str, Any] = {"type": "click", "id": "tap", "params": {"matcher": {"text": "x"}}}
SNAPSHOT = {"type": "snapshot", "id": "look"}


def execution_of(*actions: Any) -> Execution:
    """Make an execution with a known command id."""
    return complete_execution({"commandId": "c1", "actions": list(actions)})


def log(*messages: str, pid: int = 7, command_id: str = "c1") -> list[LogEntry]:
    """Make the log of a command; a message of several lines is several entries."""
    start = f"[Clawperator-Command] start commandId={command_id} taskId=t source=s"
    lines = [line for message in (start, *messages) for line in message.split("\n")]
    return [LogEntry(pid, pid, "D", "a", line) for line in lines]


def started(id: str) -> str:
    """Return the line of a step that began."""
    return f"[UiActionEngine] step_start id={id} type=b"


def done(id: str, data: str) -> str:
    """Return the line of a step that ended."""
    return f"[UiActionEngine] step_success id={id} type=b data={{{data}}}"


def recovered(execution: Execution, entries: list[LogEntry]) -> tuple[list[RunStep], Action | None]:
    """Recover; return the steps as a list, and the action at which the run stopped."""
    found = recover(execution, entries)
    return list(found.steps), found.stopped_at


def test_the_steps_before_and_the_one_that_failed() -> None:
    """A step that ended has its result; one that began and did not end is what failed."""
    read_tea = (started("read"), done("read", "text=Tea, validator=none"))
    for second in (CLICK, READ):  # ids may come twice: steps are identified by their order
        execution = execution_of(READ, second, SNAPSHOT)

        (read,), stopped_at = recovered(execution, log(*read_tea, started(second["id"]), "[Task]"))

        assert read.to_wire() == {
            "id": "read",
            "actionType": "read_text",
            "success": True,
            "data": {"text": "Tea", "validator": "none"},
        }
        assert read.is_recovered
        assert repr(read) == '<RunStep step "read" (read_text) succeeded, recovered>'
        assert stopped_at is execution.actions[1]
    steps, stopped_at = recovered(execution_of(READ), log(*read_tea))

    assert (len(steps), stopped_at) == (1, None)


@pytest.mark.parametrize(
    ("action", "printed", "data"),
    [
        (READ, "text=a, b=c, validator=none", {"text": "a, b=c", "validator": "none"}),
        (READ, "text=a}, validator=none", {"text": "a}", "validator": "none"}),
        (READ, "text=one\ntwo, validator=none", {"text": "one\ntwo", "validator": "none"}),
        (READ, "text=, validator=none, container=NodeMatcher(role=null, textEquals=x)",
         {"text": "", "validator": "none", "container": "NodeMatcher(role=null, textEquals=x)"}),
        (READ, "error=VALIDATOR_MISMATCH, raw_text=x",
         {"error": "VALIDATOR_MISMATCH", "raw_text": "x"}),
        (CLICK, "coordinate=(1,2), click_types=click",
         {"coordinate": "(1,2)", "click_types": "click"}),
        (READ, "text=a, all=true, validator=none", {"text": "a, all=true", "validator": "none"}),
        (READ, "text=a\n[TaskScope] hi, validator=none", {}),
        (READ, "text=k, text=z, validator=none", {}),
        (READ, "text=z, validator=none, validator=none", {}),
        (READ, "text=a, error=b, validator=none", {}),
        (READ, "error=VALIDATOR_MISMATCH, raw_text=x, error=y", {"error": "VALIDATOR_MISMATCH"}),
        (TYPE, "text=a, submit=true", {"text": "a", "submit": "true"}),
        (TYPE, "text=a, error=b", {}),
        (TYPE, "text=a, submit=true, error=b", {}),
        (TYPE, "error=NODE_NOT_FOUND", {"error": "NODE_NOT_FOUND"}),
        (CLICK, "something=new", {}),
        (CLICK, "", {}),
    ],
)  # fmt: skip
def test_data_is_read_by_its_known_keys(action: Any, printed: str, data: dict[str, str]) -> None:
    """Values are not quoted, so only a known key ends one."""
    execution = execution_of(action)
    name = action["id"]

    (step,), _ = recovered(execution, log(started(name), done(name, printed)))

    assert step.data == data
    assert step.success is ("error" not in data)


def test_long_data_is_put_together() -> None:
    """A message that was cut into pieces is one again, without line breaks in between."""
    execution = execution_of(READ)
    whole = done("read", f"text={'x' * 9000}, validator=none")
    pieces = [whole[at : at + 4000] for at in range(0, len(whole), 4000)]
    entries = log(started("read")) + [LogEntry(7, 7, "D", "a", piece) for piece in pieces]

    (step,), _ = recovered(execution, entries)

    assert step.data == {"text": "x" * 9000, "validator": "none"}


def test_apps_were_closed_by_the_host() -> None:
    """The Operator reports close_app as failed, but the host had already closed the app."""
    execution = execution_of({"type": "close_app", "id": "shut", "params": {"app": "com.a"}})
    printed = "application_id=com.a, error=UNSUPPORTED_RUNTIME_CLOSE, message=cannot, sorry"

    (step,), _ = recovered(execution, log(started("shut"), done("shut", printed)))

    assert step.success
    assert step.data == {"application_id": "com.a"}


def test_snapshots_come_back_whole() -> None:
    """The hierarchy that was logged belongs to its step; one that is missing is not made up."""
    execution = execution_of(SNAPSHOT, CLICK)
    data = "actual_format=hierarchy_xml, foreground_package=com.a, has_overlay=false"
    dump = f"[TaskScope] UI Hierarchy:\n{SHOP.replace('></hierarchy>', '>')}\n</hierarchy>"

    (look,), stopped_at = recovered(
        execution, log(started("look"), dump, done("look", data), started("tap"))
    )
    (lost,), _ = recovered(execution_of(SNAPSHOT), log(started("look"), done("look", data)))

    assert look.snapshot.find(text="Milk")
    assert look.snapshot.foreground_package == "com.a"
    assert stopped_at is execution.actions[1]
    assert "text" not in lost.data


@pytest.mark.parametrize(
    "entries",
    [
        [],
        log(started("read"), command_id="another"),
        [*log(), LogEntry(8, 8, "D", "a", started("read"))],
        log("the screen says:", f"x {started('read')}"),
        log("[TaskScope] UI Hierarchy:", "<hierarchy>"),
    ],
    ids=["nothing", "another command", "another process", "a quotation", "another line"],
)
def test_other_lines_are_ignored(entries: list[LogEntry]) -> None:
    """Lines of other commands, other processes or other kinds show no step."""
    assert recovered(execution_of(READ), entries) == ([], None)


def test_a_proof_that_ended_the_run_ended_its_action() -> None:
    """Proofs are left out; the snapshot that was taken is kept."""
    names = {"a": "sleep", "w": "wait_for_node", "l": "snapshot_ui", "tap": "click"}
    actions = tuple(Action(name, kind) for name, kind in names.items())
    found = Recovery(
        steps=tuple(
            RunStep.model_validate({"id": name, "actionType": kind, "success": True, "data": {}})
            for name, kind in names.items()
            if name != "tap"
        ),
        stopped_at=actions[3],
        actions=actions,
    )

    rest = found.without({"w": "tap", "l": "tap"})
    stopped_by_proof = replace(found, stopped_at=actions[1]).without({"w": "tap", "l": "tap"})

    assert [step.id for step in rest.steps] == ["a"]
    assert rest.last_proof is not None
    assert rest.last_proof.id == "l"
    assert rest.stopped_at is stopped_by_proof.stopped_at is actions[3]
