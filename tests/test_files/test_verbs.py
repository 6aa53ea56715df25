"""The words of test files are the client's own methods, and none is forgotten."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal

import pytest

from pytest_clawperator import (
    Clawperator,
    ConfigurationError,
    Device,
    EnvelopeAssertions,
    Execution,
    Locator,
    LocatorAssertions,
    PayloadError,
    RunResult,
    ScreenAssertions,
    TransportError,
)
from pytest_clawperator.test_files.shapes import (
    NODE_KEYS,
    Choice,
    Data,
    Listed,
    Number,
    OneOf,
    Point,
    Shape,
    Text,
)
from pytest_clawperator.test_files.steps import MODIFIERS, step_words
from pytest_clawperator.test_files.verbs import (
    INSTEAD_OF_NODE,
    OTHERWISE,
    Verb,
    client_verbs,
    device_verbs,
    envelope_checks,
    node_checks,
    node_verbs,
    screen_checks,
    shape_of,
)
from tests.doubles.runner import ScriptedRunner, client


def methods_of(cls: type[Any]) -> dict[str, Callable[..., Any]]:
    """Return the public methods of a class."""
    members = inspect.getmembers(cls, inspect.isfunction)
    return {name: method for name, method in members if not name.startswith("_")}


def test_every_method_of_the_client_is_a_step_or_has_a_reason() -> None:
    """A new method becomes a step by itself; one that is not a step is listed."""
    assert client_verbs().keys() | OTHERWISE.keys() == methods_of(Clawperator).keys()
    assert client_verbs().keys().isdisjoint(OTHERWISE)


def test_every_deed_of_locators_and_devices_can_be_written() -> None:
    """What a locator or a device does, and returns nothing, is a step; settings can be set."""
    done = {n for n, m in methods_of(Locator).items() if m.__annotations__["return"] == "None"}
    on_device = {n for n, m in methods_of(Device).items() if m.__annotations__["return"] == "None"}
    settings = {n for n, p in vars(Device).items() if isinstance(p, property) and p.fset}

    assert done <= client_verbs().keys() | node_verbs().keys()
    assert device_verbs().keys() == on_device | settings


@pytest.mark.parametrize(
    ("verbs", "cls"),
    [
        (node_checks(), LocatorAssertions),
        (screen_checks(), ScreenAssertions),
        (envelope_checks(), EnvelopeAssertions),
    ],
)
def test_every_check_can_be_expected(verbs: dict[str, Verb], cls: type[Any]) -> None:
    """The checks are those of Python, with the same names."""
    assert verbs.keys() == methods_of(cls).keys() - {"node"}


@pytest.mark.parametrize(
    ("verb", "method"),
    [
        *((verb, getattr(Clawperator, name)) for name, verb in client_verbs().items()),
        *((verb, getattr(Locator, name)) for name, verb in node_verbs().items()),
        *((verb, getattr(LocatorAssertions, name)) for name, verb in node_checks().items()),
        *((verb, getattr(ScreenAssertions, name)) for name, verb in screen_checks().items()),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_parameters_are_those_of_the_method(verb: Verb, method: Callable[..., Any]) -> None:
    """Each parameter can be written, and is needed exactly if Python needs it."""
    signature = inspect.signature(method).parameters
    target = {"self", "target", "matcher", "within"} & signature.keys()
    needed = {name for name, one in signature.items() if one.default is one.empty} - target

    written = verb.parameters.keys() | ({"within"} if verb.takes_within else set())
    assert written | target == signature.keys() | ({"within"} & target)
    assert {name for name, one in verb.parameters.items() if one.is_required} == needed


@pytest.mark.parametrize(
    ("hint", "shape"),
    [
        (str | None, Text()),
        (str | int, OneOf((Text(), Number(whole=True)))),
        (Any, Data()),
        (Sequence[Any], Listed(Data())),
        (Literal["up", "down"], Choice(("up", "down"))),
        (tuple[float, float], Point(Number())),
    ],
    ids=str,
)
def test_types_have_shapes(hint: Any, shape: Shape) -> None:
    """What a parameter may be in Python, its value may be in a file."""
    assert shape_of(hint) == shape


def test_a_type_that_files_cannot_write_is_noticed() -> None:
    """A method with a parameter that has no shape is an error here, and not in a user's run."""
    with pytest.raises(TypeError, match="test files have no words for values of type"):
        shape_of(complex)


def test_no_word_means_two_things() -> None:
    """Parameters do not clash with what describes a node, nor steps with what stands beside."""
    about_nodes = [verb for verb in (client_verbs() | node_verbs()).values() if verb.takes_node]

    assert all(not set(verb.parameters) & set(NODE_KEYS) for verb in about_nodes)
    assert not set(step_words()) & set(MODIFIERS)
    assert len(step_words()) == len(set(step_words()))


@pytest.mark.parametrize(
    "verb",
    [verb for verb in client_verbs().values() if verb.takes_node],
    ids=lambda verb: verb.name,
)
def test_the_client_needs_a_node_where_files_do(verb: Verb) -> None:
    """What may stand in the place of a node is what the client itself takes there."""
    values = {"at": (1, 2), "package": "com.example.shop", "label": "Total"}
    needed = ["ada" for one in verb.parameters.values() if one.is_required]
    instead = INSTEAD_OF_NODE.get(verb.name, ())

    assert is_sent(verb.name, *needed) is ("" in instead)
    assert all(is_sent(verb.name, *needed, **{key: values[key]}) for key in instead if key)
    assert is_sent(verb.name, *needed, text="OK")


def is_sent(method: str, *args: object, **named: object) -> bool:
    """Whether the client sends something, and does not refuse what it was given."""

    def answer(execution: Execution) -> RunResult:
        raise TransportError("sent")

    phone = client(ScriptedRunner(answer))
    try:
        getattr(phone, method)(*args, **named)
    except TransportError:
        return True
    except (ConfigurationError, PayloadError):
        return False
    raise AssertionError("nothing was sent, nor refused")
