"""The JSON schema of test files, for editors.

It accepts what the reader accepts, because both are made of the same shapes. It cannot check
references: whether a variable is declared, a file exists, or a payload keeps its contract.
"""

from __future__ import annotations

from typing import Any

from pytest_clawperator.contracts.matchers import KEYWORDS
from pytest_clawperator.test_files import header, shapes, syntax
from pytest_clawperator.test_files.arguments import arguments_schema, takes_nothing
from pytest_clawperator.test_files.expectations import expect_schema
from pytest_clawperator.test_files.steps import MODIFIERS, words_with_result
from pytest_clawperator.test_files.verbs import client_verbs, device_verbs, node_verbs

_NAME: shapes.Schema = {"type": "string", "pattern": syntax.NAME_PATTERN}
_LITERAL_TEXT = {"type": "string", "pattern": syntax.CONSTANT_PATTERN}


def schema_of_test_files() -> shapes.Schema:
    """Return the schema of files of tests and files of steps."""
    shared = {key: schema for key, schema in _test_keys().items() if key != "parameters"}
    several = {key: schema for key, schema in shared.items() if key != "steps"}
    steps_file = {
        **{key: shared[key] for key in header.STEPS_KEYS if key in shared},
        "needs": _names(),
    }
    tests = {
        "type": "object",
        "description": "The tests of the file, by their names.",
        "additionalProperties": {"$ref": "#/definitions/test"},
        "minProperties": 1,
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Test file of pytest-clawperator",
        "anyOf": [
            _object({**several, "tests": tests}, ["tests"]),
            {"$ref": "#/definitions/test"},
            _object(steps_file, ["steps"]),
        ],
        "definitions": _definitions(),
    }


def _definitions() -> dict[str, shapes.Schema]:
    node = _object(shapes.node_properties(), [])
    node["anyOf"] = [{"required": [key]} for key in KEYWORDS]
    return {
        "node": node,
        "data": _data(syntax.TEXT_PATTERN),
        "constant": _data(None),
        "steps": {"type": "array", "items": {"$ref": "#/definitions/step"}, "minItems": 1},
        "step": _step(),
        "test": _object(_test_keys(), ["steps"]),
    }


def _data(pattern: str | None) -> shapes.Schema:
    itself = {"$ref": "#/definitions/data" if pattern else "#/definitions/constant"}
    text = {"type": "string", "pattern": pattern} if pattern else _LITERAL_TEXT
    return {
        "anyOf": [
            {"type": ["number", "boolean", "null"]},
            text,
            {"type": "array", "items": itself},
            {"type": "object", "additionalProperties": itself},
        ]
    }


def _object(properties: dict[str, shapes.Schema], required: list[str]) -> shapes.Schema:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def _names(*more: str) -> shapes.Schema:
    name = {"anyOf": [_NAME, {"enum": list(more)}]} if more else _NAME
    return {"type": "array", "items": name, "uniqueItems": True}


def _test_keys() -> dict[str, shapes.Schema]:
    keys: dict[str, shapes.Schema] = {
        "description": {"type": "string", "description": "What it is about."},
        "tags": {
            "type": "array",
            "items": {"type": "string", "pattern": header.MARKER_PATTERN},
            "description": "Markers without arguments, for -m.",
        },
        "app": {
            "description": "The app that the test is about: the marker claw_app.",
            "anyOf": [_LITERAL_TEXT, _object(_constants(header.APP_KEYS), ["package"])],
        },
        "device": {
            **_object(_constants(header.DEVICE_KEYS), []),
            "minProperties": 1,
            "description": "What the test requires of its device: the marker claw_device.",
        },
        "timeout": {
            **shapes.SECONDS.schema(),
            "description": "How many seconds its steps wait for a node.",
        },
        "markers": {
            "type": "object",
            "additionalProperties": False,
            "patternProperties": {header.MARKER_PATTERN: _marker()},
            "description": "Markers with arguments; `args` are those without a name.",
        },
        "fixtures": {**_names(syntax.CLIENT), "description": "Fixtures; each is a variable, too."},
        "variables": _variables(),
        "parameters": _parameters(),
        "steps": {"$ref": "#/definitions/steps"},
    }
    return {key: keys[key] for key in header.TEST_KEYS}


def _constants(keys: dict[str, shapes.Shape]) -> dict[str, shapes.Schema]:
    """Return the schemas of values without variables."""
    return {key: _constant(shape.schema()) for key, shape in keys.items()}


def _constant(schema: Any) -> Any:
    """Replace texts in a schema by texts without variables."""
    if isinstance(schema, dict):
        if schema.get("pattern") == syntax.TEXT_PATTERN:
            return _LITERAL_TEXT
        return {key: _constant(value) for key, value in schema.items()}
    return [_constant(each) for each in schema] if isinstance(schema, list) else schema


def _marker() -> shapes.Schema:
    constant = {"$ref": "#/definitions/constant"}
    named = {
        "type": "object",
        "additionalProperties": False,
        "patternProperties": {header.MARKER_PATTERN: constant},
    }
    single = {"type": ["number", "boolean", "null"]}
    return {"anyOf": [single, _LITERAL_TEXT, {"type": "array", "items": constant}, named]}


def _variables() -> shapes.Schema:
    environment = _object(
        {"env": {"type": "string", "minLength": 1}, "default": shapes.Text().schema()}, ["env"]
    )
    value = {"if": {"required": ["env"], "type": "object"}, "then": environment,
             "else": shapes.Data().schema()}  # fmt: skip
    return {
        "type": "object",
        "additionalProperties": False,
        "patternProperties": {syntax.NAME_PATTERN: value},
        "description": "Names and values; ${name} stands for the value. {env: NAME} is one from"
        " the environment.",
    }


def _parameters() -> shapes.Schema:
    row = {
        "type": "object",
        "additionalProperties": False,
        "patternProperties": {syntax.NAME_PATTERN: {"$ref": "#/definitions/constant"}},
        "minProperties": 1,
    }
    return {
        "description": "Rows of values; each one is a separate test.",
        "anyOf": [
            {"type": "array", "items": row, "minItems": 1},
            {"type": "object", "additionalProperties": row, "minProperties": 1},
        ],
    }


def _words() -> dict[str, shapes.Schema]:
    """Return the schema of each word that a step can begin with."""
    verbs = {**client_verbs(), **node_verbs()}
    device = {name: arguments_schema(verb) for name, verb in device_verbs().items()}
    for name, verb in device_verbs().items():
        if verb.is_setting:
            (parameter,) = verb.parameters.values()
            device[name] = {**shapes.value_schema(parameter.shape), "description": verb.summary}
    return {
        **{name: arguments_schema(verb) for name, verb in verbs.items()},
        "expect": expect_schema(),
        "device": {**_object(device, []), "minProperties": 1, "maxProperties": 1,
                   "description": "Do something to the device, or set something on it."},
        "payload": {
            "description": "An execution payload, or a list of actions.",
            "type": ["object", "array"],
            "items": shapes.Data().schema(),
            "additionalProperties": shapes.Data().schema(),
        },
        "use": {"type": "string", "description": "A file whose steps are done here."},
        "skill": {**shapes.Text().schema(), "description": "A skill, of which an artefact is run."},
        "steps": {"$ref": "#/definitions/steps"},
        "expecting_crash": {"type": "array", "items": {"$ref": "#/definitions/step"}, "minItems": 1,
                            "description": "Steps in which the app must crash or hang."},
    }  # fmt: skip


def _step() -> shapes.Schema:
    words = _words()
    given = {
        "type": "object",
        "additionalProperties": False,
        "patternProperties": {syntax.NAME_PATTERN: shapes.Data().schema()},
    }
    modifiers: dict[str, shapes.Schema] = {
        "title": {**shapes.Text().schema(), "description": "What reports call the step.",
                  "minLength": 1},
        "when": {**shapes.value_schema(shapes.Node()),
                 "description": "Only if this node is on the screen."},
        "as": {**_NAME, "description": "Names the result."},
        "with": {**given, "description": "Values for `use` or `skill`."},
        "artifact": {**shapes.Text().schema(), "description": "Which artefact of the skill."},
    }  # fmt: skip
    belongs = {**MODIFIERS, "as": tuple(words_with_result())}
    dependencies: dict[str, Any] = {
        key: {"anyOf": [{"required": [word]} for word in to]} for key, to in belongs.items() if to
    }
    dependencies["skill"] = ["artifact"]
    verbs = {**client_verbs(), **node_verbs()}
    alone = [name for name, verb in verbs.items() if takes_nothing(verb)]
    mapping = {
        **_object({**words, **modifiers}, []),
        "oneOf": [{"required": [word]} for word in words],
        "dependencies": dependencies,
    }
    return {"anyOf": [shapes.Choice(tuple(alone)).schema(), mapping]}
