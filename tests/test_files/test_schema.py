"""The schema for editors accepts what the reader accepts, and nothing else."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped,unused-ignore]  # typed in some versions
import pytest
import yaml

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.test_files.file import read_test_file
from pytest_clawperator.test_files.header import TEST_KEYS
from pytest_clawperator.test_files.schema import schema_of_test_files
from pytest_clawperator.test_files.shapes import (
    Choice,
    Listed,
    Node,
    Number,
    OneOf,
    Pattern,
    Point,
    Shape,
    Truth,
)
from pytest_clawperator.test_files.steps import step_words, words_with_result
from pytest_clawperator.test_files.verbs import (
    Verb,
    client_verbs,
    device_verbs,
    envelope_checks,
    node_checks,
    node_verbs,
    screen_checks,
)

SCHEMA = schema_of_test_files()

VALIDATOR = jsonschema.Draft7Validator(SCHEMA)

# What only the reader can know: what names refer to, what the contract says of a payload, and
# what methods refuse.
BEYOND = (
    "there is no variable",
    "use: ",
    "payload: ",
    "would both be called",
    "does not need",
    "this row of parameters lacks",
    "a row of parameters has no",
    "title: describe",
    "there is no role",
    "this is not a pattern",
    "does not take this: ",
)

ODD: list[Any] = [
    None, True, False, 0, 3, -1, 2.5, "", "OK", "${item}", "Hi ${item}!", "${", "$5", "$${x}",
    "a b", "class", "expect", [], [1, 2], ["OK"], [[1]], {}, {"text": "OK"}, {"id": 5},
    {"pattern": "^a"}, {"pattern": 5}, {"odd": 1}, {"text": "a", "nth": 1}, {"nth": 1},
    {"env": "HOME"}, {"env": 5}, {"env": "HOME", "default": "x"}, {"to_be_visible": True}, "back",
    {"click": "OK"}, [{"click": "OK"}], {"steps": ["back"]}, {"item": "Tea"}, "down", "landscape",
]  # fmt: skip

KEYS = [
    *step_words(), *TEST_KEYS, *node_checks(), *screen_checks(), *envelope_checks(),
    "text", "id", "within", "has", "nth", "timeout", "soft", "message", "result", "title", "when",
    "as", "with", "artifact", "tests", "odd", "value", "key_event", "orientation", "package",
]  # fmt: skip


def sample(shape: Shape) -> Any:
    """Return a value that fits a shape."""
    if isinstance(shape, OneOf):
        return sample(shape.shapes[0])
    if isinstance(shape, Listed):
        return [sample(shape.shape)]
    known: dict[type[Any], Any] = {
        Number: 3, Truth: True, Point: [5, 6], Pattern: {"pattern": "^a"}, Node: {"id": "list"},
    }  # fmt: skip
    return shape.words[0] if isinstance(shape, Choice) else known.get(type(shape), "OK")


# Values that methods take, by the names of parameters, and keys that exclude others.
FITTING: dict[str, Any] = {
    "package": "a.b", "ratio": 0.5, "distance_ratio": 0.5, "role": "button", "key": "home",
    "permissions": ["a.B"], "locale": "de-DE", "action_type": "click", "threshold": 0.5,
}  # fmt: skip
EXCLUDED: dict[str, tuple[str, ...]] = {
    "click": ("at",), "long_click": ("at",), "read_text": ("validator",), "read_value": ("label",),
    "wait_for_navigation": ("within", "has", "nth"),
    "to_have_step": ("code",), "not_to_have_step": ("code",),
}  # fmt: skip


def whole(verb: Verb) -> dict[str, Any]:
    """Return a mapping with every key of a verb that may stand beside the others."""
    keys = {name: FITTING.get(name, sample(one.shape)) for name, one in verb.parameters.items()}
    node = {"text": "a", "within": {"id": "b"}, "has": "c", "nth": 1} if verb.takes_node else {}
    every = {**keys, **node, **({"extra": "x"} if verb.extra else {})}
    return {key: one for key, one in every.items() if key not in EXCLUDED.get(verb.name, ())}


def expectation(name: str, verb: Verb, **subject: Any) -> dict[str, Any]:
    """Return a step that expects something, with every key of the check."""
    value = {key: one for key, one in whole(verb).items() if key != "timeout"}
    timed = {"timeout": 3} if "timeout" in verb.parameters else {}
    return {"expect": {**subject, name: value or True, "message": "m", "soft": False, **timed}}


def steps() -> Iterator[Any]:
    """Yield steps with every word, every parameter and every check."""
    for name, verb in {**client_verbs(), **node_verbs()}.items():
        result = {"as": "found"} if name in words_with_result() else {}
        yield {name: whole(verb) or None, "title": "t", "when": "OK", **result}
    for name, verb in device_verbs().items():
        given = whole(verb)
        yield {"device": {name: given["value"] if verb.is_setting else given or None}}
    for name, verb in node_checks().items():
        yield expectation(name, verb, id="total", nth=0)
    for name, verb in screen_checks().items():
        yield expectation(name, verb)
    for name, verb in envelope_checks().items():
        yield expectation(name, verb, result="item")
    yield from ["back", {"click": "OK"}, {"expect": "OK"}, {"expect": {"id": "a"}}]
    yield {"skill": "a.b", "artifact": "c", "with": {"n": 1}, "as": "made"}
    yield {"payload": [{"id": "a", "type": "snapshot_ui"}], "as": "shot"}
    yield {"title": "t", "steps": ["back", {"click": "${item}"}]}
    yield {"use": "more.claw.yaml"}


TEST = {
    "description": "d",
    "tags": ["smoke"],
    "app": {"package": "a.b", "clear": True, "grant": ["p.C"]},
    "device": {"api": ">=33", "form": "phone", "emulator": False},
    "timeout": 3,
    "markers": {"flaky": {"reruns": 2, "args": [1]}, "other": None, "third": [1]},
    "fixtures": ["account", "clawperator"],
    "variables": {"a": 1, "b": "${a}", "c": {"env": "HOME", "default": "x"}, "d": [{"e": None}]},
    "parameters": [{"item": "Tea", "n": 1}, {"item": "Milk", "n": 2}],
    "steps": ["back"],
}

SINGLE = [{"parameters": [{"item": "Tea"}], "steps": [step]} for step in steps()]

FILES: list[Any] = [
    *SINGLE,
    TEST,
    {**{k: v for k, v in TEST.items() if k not in ("parameters", "steps")}, "tests": {"a": TEST}},
    {"app": "a.b", "parameters": {"one": {"item": 1}}, "steps": ["home"]},
]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a document: what holds it, and under which key."""
    if isinstance(value, (dict, list)):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def changed(document: Any, dice: random.Random) -> Any:
    """Return a document with one change: a value replaced, a key added, removed or renamed."""
    document = copy.deepcopy(document)
    holder, key = dice.choice(list(places(document)))
    change = dice.randrange(4)
    if change == 0 or isinstance(holder, list):
        holder[key] = copy.deepcopy(dice.choice(ODD))
    elif change == 1:
        del holder[key]
    elif change == 2:
        holder[dice.choice(KEYS)] = holder.pop(key)
    else:
        holder.setdefault(dice.choice(KEYS), copy.deepcopy(dice.choice(ODD)))
    return document


class Reader:
    """Reads documents as files."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "test_it.claw.yaml"
        (folder / "more.claw.yaml").write_text("steps: [back]", encoding="utf-8")

    def refusal(self, document: Any) -> str | None:
        """Return why a document is refused, or None."""
        text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
        self._path.write_text(text, encoding="utf-8")
        try:
            read_test_file(self._path, root=self._path.parent)
        except ConfigurationError as error:
            return str(error)
        return None


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    """Return a reader."""
    return Reader(tmp_path)


def test_the_schema_is_one() -> None:
    """Editors get a schema that keeps to draft 7."""
    jsonschema.Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("number", range(len(FILES)))
def test_what_can_be_written_is_accepted_by_both(number: int, reader: Reader) -> None:
    """Every step with every parameter is read, and editors do not complain."""
    document = FILES[number]

    assert reader.refusal(document) is None
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []


@pytest.mark.parametrize("seed", range(4))
def test_changed_files_are_judged_alike(seed: int, reader: Reader) -> None:
    """Whatever is spoilt in a file, editors and the reader agree on whether it is allowed."""
    dice = random.Random(seed)
    judged = {True: 0, False: 0}
    for _ in range(400):
        document = changed(dice.choice(FILES), dice)
        refusal = reader.refusal(document)
        if refusal is not None and any(words in refusal for words in BEYOND):
            continue
        is_valid = VALIDATOR.is_valid(document)
        assert is_valid is (refusal is None), f"{document}\n{refusal}"
        judged[is_valid] += 1

    assert min(judged.values()) > 50


def test_a_file_of_steps_is_accepted() -> None:
    """A file that others use has a schema, too, and what tests alone have is refused there."""
    assert VALIDATOR.is_valid({"needs": ["user"], "variables": {"a": 1}, "steps": ["back"]})
    assert not VALIDATOR.is_valid({"needs": ["user"], "tags": ["a"], "steps": ["back"]})


@pytest.mark.parametrize(
    ("document", "missing"),
    [
        ({"description": "No steps."}, "steps"),
        ({"needs": ["user"]}, "steps"),
        ({"tests": {"one": {"description": "No steps."}}}, "steps"),
        ({"steps": [{"skill": "shop.buy"}]}, "artifact"),
    ],
)
def test_editors_require_what_the_reader_requires(
    document: Any, missing: str, reader: Reader
) -> None:
    """A file without steps, or a skill without its artefact, is wrong in editors as well."""
    assert missing in (reader.refusal(document) or "")
    assert not VALIDATOR.is_valid(document)


def test_editors_explain_every_word() -> None:
    """Each word of a step has a description, which editors show."""
    (_, mapping) = SCHEMA["definitions"]["step"]["anyOf"]

    described = {word for word, schema in mapping["properties"].items() if "description" in schema}
    assert set(step_words()) - described == {"steps"}
