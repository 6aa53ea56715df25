"""Read each step into the Python statements that it stands for."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence

from pytest_clawperator.contracts.actions import ACTION_TYPES
from pytest_clawperator.contracts.payload import complete_execution
from pytest_clawperator.contracts.wording import closest, quote
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.test_files import rehearsal, shapes, syntax, verbs
from pytest_clawperator.test_files.arguments import read_arguments
from pytest_clawperator.test_files.expectations import read_expect
from pytest_clawperator.test_files.syntax import Scope, check_name, has_variables
from pytest_clawperator.yaml_source import (
    Entry,
    Items,
    Mapping,
    Mark,
    Mistake,
    Scalar,
    YamlNode,
)

#: Keys that may stand beside the word of a step, and the words that each belongs to.
MODIFIERS: dict[str, tuple[str, ...]] = {
    "title": (),
    "when": (),
    "as": ("payload", "skill"),
    "with": ("use", "skill"),
    "artifact": ("skill",),
}


def step_words() -> list[str]:
    """Return every word that a step can begin with."""
    return [*verbs.client_verbs(), *verbs.node_verbs(), *_READERS]


def words_with_result() -> list[str]:
    """Return the words whose result ``as:`` can name."""
    reading = [name for name, verb in verbs.client_verbs().items() if verb.has_result]
    return [*reading, *MODIFIERS["as"]]


def read_steps(node: YamlNode, scope: Scope) -> list[ast.stmt]:
    """Return the statements of a list of steps; mistakes are collected."""
    if not isinstance(node, Items) or not node.items:
        raise shapes.unexpected(node, "steps: a list of steps is wanted")
    statements: list[ast.stmt] = []
    for item in node.items:
        with scope.mistakes.collecting():
            statements += read_step(item, scope)
        _name_result(item, scope)
    return statements


def _name_result(step: YamlNode, scope: Scope) -> None:
    """Declare the result of an unreadable step, so that its uses are not reported as mistakes."""
    named = step.get("as") if isinstance(step, Mapping) and "when" not in step.entries else None
    if (name := shapes.text_in(named)) is not None:
        scope.names.add(name)


def read_step(node: YamlNode, scope: Scope) -> Sequence[ast.stmt]:
    """Return the statements of one step."""
    if (word := shapes.text_in(node)) is not None:
        _refuse_unknown(word, node.mark)
        entry = Entry(word, node.mark, Scalar(node.mark, None))
        return _read_word(entry, Mapping(node.mark), scope)
    if not isinstance(node, Mapping):
        raise shapes.unexpected(node, "a step is wanted, such as `click: OK`")
    words = [entry for entry in node.entries.values() if entry.key not in MODIFIERS]
    for entry in words:
        _refuse_unknown(entry.key, entry.mark)
    if len(words) != 1:
        _refuse_words(node, words)
    _refuse_modifiers(node, words[0].key)
    when = node.entries.get("when")
    statements = _read_word(words[0], node, scope if when is None else scope.inner())
    return statements if when is None else [_guarded(when, statements, scope)]


def _read_word(entry: Entry, step: Mapping, scope: Scope) -> list[ast.stmt]:
    """Return the statements of a step without its condition, under its title."""
    reader = _READERS.get(entry.key, _read_call)
    statements = [syntax.placed(one, entry.mark) for one in reader(entry, step, scope)]
    title = step.entries.get("title")
    if title is None:
        return statements
    named = shapes.read_value(shapes.Text(), title.value, scope, "title")
    if isinstance(title.value, Scalar) and not str(title.value.value).strip():
        raise Mistake(title.value.mark, "title: describe what the step does")
    called = syntax.call(syntax.attribute(syntax.name(syntax.CLIENT), "step"), [named])
    body = ast.With([ast.withitem(called)], statements or [ast.Pass()])
    return [syntax.placed(body, title.mark)]


def _guarded(when: Entry, statements: Sequence[ast.stmt], scope: Scope) -> ast.stmt:
    """Return statements that run only if a node is on the screen at that moment."""
    locator = shapes.read_value(shapes.Node(), when.value, scope, "when")
    there = syntax.call(syntax.attribute(locator, "exists"))
    return syntax.placed(ast.If(there, list(statements) or [ast.Pass()], []), when.mark)


def _refuse_unknown(word: str, mark: Mark) -> None:
    if word in step_words():
        return
    if word in verbs.OTHERWISE:
        raise Mistake(mark, f"`{word}` is not a step: {verbs.OTHERWISE[word]}")
    ours = in_our_words(word)
    if ours is not None:
        raise Mistake(mark, f"there is no step {quote(word)}; here it is {ours}")
    near = closest(word, [*step_words(), *MODIFIERS], _other_words())
    meant = f"; did you mean `{near}`?" if near else ""
    raise Mistake(mark, f"there is no step {quote(word)}{meant}")


def _other_words() -> dict[str, str]:
    """Return other names of the actions that are steps, such as ``tap``, with the steps' own."""
    kinds = [kind for kind in ACTION_TYPES.values() if kind.name in step_words()]
    return {word: kind.name for kind in kinds for word in (*kind.aliases, *kind.guesses)}


def _refuse_words(node: Mapping, words: Sequence[Entry]) -> None:
    if not words:
        raise Mistake(node.mark, "a step has one word for what it does, such as `click: OK`")
    raise Mistake(
        words[1].mark,
        f"a step does one thing, and `{words[0].key}` is one already; begin another with `- `",
    )


def _refuse_modifiers(step: Mapping, word: str) -> None:
    allowed = {**MODIFIERS, "as": words_with_result()}
    for entry in step.entries.values():
        belongs_to = allowed.get(entry.key)
        if belongs_to and word not in belongs_to:
            listed = ", ".join(belongs_to)
            raise Mistake(entry.mark, f"`{entry.key}` belongs to {listed}, not to `{word}`")


# The words


def _read_call(entry: Entry, step: Mapping, scope: Scope) -> Iterator[ast.stmt]:
    """Yield the call of a method of the client or of a locator."""
    client = syntax.name(syntax.CLIENT)
    verb = verbs.client_verbs().get(entry.key)
    if verb is not None:
        arguments = read_arguments(verb, _value_of(entry), scope)
        called = arguments.of(syntax.attribute(client, verb.name))
        rehearsal.rehearse(rehearsal.client(), verb, called, entry.mark)
        yield _result(called, step, scope)
        return
    verb = verbs.node_verbs()[entry.key]
    called = _on_locator(verb, _value_of(entry), scope)
    rehearsal.rehearse(None, verb, called, entry.mark)
    yield ast.Expr(called)


def _value_of(entry: Entry) -> YamlNode:
    """Return the value of a word; an empty value is placed at the word for messages."""
    is_empty = isinstance(entry.value, Scalar) and entry.value.value is None
    return Scalar(entry.mark, None) if is_empty else entry.value


def _on_locator(verb: verbs.Verb, node: YamlNode, scope: Scope) -> ast.Call:
    arguments = read_arguments(verb, node, scope)
    if isinstance(node, Mapping):
        # The node is the subject of the call, not one of its arguments.
        inner = {key: entry for key, entry in node.entries.items() if key in verb.parameters}
        bare = verbs.Verb(verb.name, verb.summary, parameters=verb.parameters)
        arguments = read_arguments(bare, Mapping(node.mark, inner), scope)
        outer = {key: entry for key, entry in node.entries.items() if key not in inner}
        node = Mapping(node.mark, outer)
    else:
        arguments.named.pop("text", None)
    locator = shapes.Node().read(node, scope)
    return arguments.of(syntax.attribute(locator, verb.name))


def _result(value: ast.expr, step: Mapping, scope: Scope) -> ast.stmt:
    """Return the statement of a call, whose result ``as:`` may name."""
    named = step.entries.get("as")
    if named is None:
        return ast.Expr(value)
    given = named.value.value if isinstance(named.value, Scalar) else None
    identifier = check_name(given, named.value.mark)
    scope.names.add(identifier)
    return syntax.assign(identifier, value)


def _read_device(entry: Entry, step: Mapping, scope: Scope) -> Iterator[ast.stmt]:
    """Yield what is done to the device, or set on it."""
    if not isinstance(entry.value, Mapping) or len(entry.value.entries) != 1:
        raise Mistake(
            entry.value.mark, "device: one thing to do is wanted, such as {key_event: enter}"
        )
    shapes.unknown_key(entry.value, list(verbs.device_verbs()), "`device`")
    (inner,) = entry.value.entries.values()
    verb = verbs.device_verbs()[inner.key]
    target = syntax.attribute(syntax.name(syntax.CLIENT), "device", verb.name)
    if verb.is_setting:
        (parameter,) = verb.parameters.values()
        value = shapes.read_value(parameter.shape, inner.value, scope, verb.name)
        assert isinstance(target, ast.Attribute)
        rehearsal.rehearse_setting(verb, value, inner.mark)
        yield ast.Assign([ast.Attribute(target.value, verb.name, ast.Store())], value)
    else:
        called = read_arguments(verb, _value_of(inner), scope).of(target)
        rehearsal.rehearse(rehearsal.client().device, verb, called, inner.mark)
        yield ast.Expr(called)


def _read_payload(entry: Entry, step: Mapping, scope: Scope) -> Iterator[ast.stmt]:
    """Yield the execution of a payload; without ``as:`` a failed one fails the test."""
    if not isinstance(entry.value, (Mapping, Items)):
        raise shapes.unexpected(entry.value, "payload: a payload or a list of actions is wanted")
    value = shapes.Data().read(entry.value, scope)
    if not _has_variables(entry.value):
        _check_payload(value, entry)
    called = syntax.call(syntax.attribute(syntax.name(syntax.CLIENT), "execute"), [value])
    yield _result(_judged(called, step), step, scope)


def _judged(envelope: ast.expr, step: Mapping) -> ast.expr:
    if "as" in step.entries:
        return envelope
    return syntax.call(syntax.attribute(envelope, "raise_for_status"))


def _has_variables(node: YamlNode) -> bool:
    if isinstance(node, Scalar):
        return isinstance(node.value, str) and has_variables(node.value)
    parts = node.items if isinstance(node, Items) else [e.value for e in node.entries.values()]
    return any(_has_variables(part) for part in parts)


def _check_payload(value: ast.expr, entry: Entry) -> None:
    """Refuse an invalid payload before anything is run."""
    try:
        complete_execution(ast.literal_eval(ast.fix_missing_locations(ast.Expression(value))))
    except ClawperatorError as error:
        place = _place_in(entry.value, str(error.details.get("path", "")))
        problem = str(error).partition(": ")[2].replace("\n", "\n    ")
        raise Mistake(place.mark, f"payload: {problem}") from error


def _place_in(node: YamlNode, path: str) -> YamlNode:
    """Return the part of a payload that a path leads to, or the deepest part on the way."""
    for word in path.replace("[", ".").replace("]", "").split("."):
        inner: YamlNode | None = None
        if isinstance(node, Mapping):
            inner = node.get(word)
        elif word.isdigit() and int(word) < len(node.items if isinstance(node, Items) else ()):
            inner = node.items[int(word)]  # type: ignore[union-attr]  # checked just above
        if inner is None and not (word == "actions" and isinstance(node, Items)):
            break
        node = inner or node
    return node


def _read_use(entry: Entry, step: Mapping, scope: Scope) -> Iterator[ast.stmt]:
    """Yield the call of another file's steps."""
    path = shapes.text_in(entry.value)
    if path is None:
        raise shapes.unexpected(entry.value, "use: the path of a file is wanted")
    function, needs = scope.used(path, entry.value.mark)
    given = _given(step, scope)
    for key in given:
        if key not in needs:
            wanted = f"it needs {', '.join(needs)}" if needs else "it needs nothing"
            mark = _with_of(step)[key].mark
            raise Mistake(mark, f"{path} does not need {quote(key)}: {wanted}")
    missing = [key for key in needs if key not in given]
    if missing:
        raise Mistake(entry.mark, f"{path} needs `{missing[0]}`: give it under `with:`")
    yield ast.Expr(syntax.call(syntax.name(function), [syntax.name(syntax.CLIENT)], given))


def _read_skill(entry: Entry, step: Mapping, scope: Scope) -> Iterator[ast.stmt]:
    """Yield the execution of a skill's artefact; without ``as:`` a failed one fails the test."""
    skill = shapes.read_value(shapes.Text(), entry.value, scope, "skill")
    artifact = step.get("artifact")
    if artifact is None:
        raise Mistake(entry.mark, "a skill has several artefacts: name one under `artifact:`")
    named = shapes.read_value(shapes.Text(), artifact, scope, "artifact")
    run = syntax.attribute(syntax.name(syntax.CLIENT), "run_artifact")
    called = syntax.call(run, [skill, named], _given(step, scope))
    yield _result(_judged(called, step), step, scope)


def _with_of(step: Mapping) -> dict[str, Entry]:
    given = step.get("with")
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise shapes.unexpected(given, "with: names and values are wanted")
    return given.entries


def _given(step: Mapping, scope: Scope) -> dict[str, ast.expr]:
    entries = _with_of(step).values()
    return {
        check_name(entry.key, entry.mark): shapes.Data().read(entry.value, scope)
        for entry in entries
    }


def _read_expecting_crash(entry: Entry, step: Mapping, scope: Scope) -> Iterator[ast.stmt]:
    """Yield the steps in which the app under test is expected to crash."""
    called = syntax.call(syntax.attribute(syntax.name(syntax.CLIENT), "expecting_crash"))
    yield ast.With([ast.withitem(called)], read_steps(entry.value, scope) or [ast.Pass()])


_READERS: dict[str, Callable[[Entry, Mapping, Scope], Iterable[ast.stmt]]] = {
    "expect": lambda entry, step, scope: read_expect(_value_of(entry), scope),
    "device": _read_device,
    "payload": _read_payload,
    "use": _read_use,
    "skill": _read_skill,
    "steps": lambda entry, step, scope: read_steps(entry.value, scope),
    "expecting_crash": _read_expecting_crash,
}


#: Maestro's commands and their counterparts here, or why there is none.
MAESTRO: dict[str, str] = {
    "launchApp": "`open_app: com.example.shop`",
    "stopApp": "`close_app: com.example.shop`",
    "killApp": "`close_app: com.example.shop`",
    "clearState": "`device: {clear_data: com.example.shop}`",
    "tapOn": "`click: OK`",
    "doubleTapOn": "`double_click: OK`",
    "longPressOn": "`long_click: OK`",
    "inputText": "`enter_text: {value: ada, id: email}`",
    "eraseText": "`clear: {id: email}`",
    "pressKey": "`press_key: back`, for other keys `device: {key_event: enter}`",
    "hideKeyboard": "`back`",
    "openLink": '`open_uri: "shop://item/3"`',
    "scrollUntilVisible": "`scroll_until: About phone`",
    "assertVisible": "`expect: OK`",
    "assertNotVisible": "`expect: {text: OK, not_to_be_visible: true}`",
    "extendedWaitUntil": "`expect: {text: Welcome, timeout: 20}`",
    "waitForAnimationToEnd": "nothing: steps and expectations wait for their node",
    "copyTextFrom": "`read_text: {id: total}`, with `as:` beside it",
    "takeScreenshot": "`screenshot: start.png`",
    "assertScreenshot": "`expect: {to_match_screenshot: start}`",
    "startRecording": "no step, but the option `--claw-video`",
    "stopRecording": "no step, but the option `--claw-video`",
    "runFlow": "`use: sign_in.claw.yaml`",
    "setOrientation": "`device: {orientation: landscape}`",
    "setAirplaneMode": "`device: {airplane_mode: true}`",
    "repeat": "Python: `clawperator-py convert` writes the test as a function",
    "retry": "Python: `clawperator-py convert` writes the test as a function",
    "runScript": "Python, as a fixture, which the file names",
    "evalScript": "Python, as a fixture, which the file names",
    "assertTrue": "Python: `clawperator-py convert` writes the test as a function",
    "addMedia": "`device: {push: {source: photo.jpg, path: /sdcard/Pictures/photo.jpg}}`",
}


_BY_PLAIN_NAME = {name.lower(): ours for name, ours in MAESTRO.items()}


def in_our_words(name: str) -> str | None:
    """Return the counterpart of a Maestro command, or None."""
    return _BY_PLAIN_NAME.get(name.replace("_", "").lower())
