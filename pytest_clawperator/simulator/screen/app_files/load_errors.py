"""The wording of mistakes in app files: which line, what was found, what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.screen.app_files.app_schema import App
from pytest_clawperator.simulator.screen.app_files.field_types import WrongKey
from pytest_clawperator.simulator.screen.app_files.yaml_source import Source

_SHOWN_PROBLEMS = 10
_VALUE_ERROR = "Value error, "
# What pydantic calls by the names of Python's types.
_WANTED = {
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "string_type": "a text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
}


def refusal(
    source: Source, problems: Sequence[tuple[Sequence[str | int], str]]
) -> ConfigurationError:
    """Return the error for all problems of a file, the first one first."""
    first_place, first = problems[0]
    shown = problems[1:_SHOWN_PROBLEMS]
    rest = len(problems) - 1 - len(shown)
    more = f"\n  ... and {rest} more" if rest > 0 else ""
    also = "".join(f"\n  {source.spot(source.mark(place))}: {text}" for place, text in shown)
    return source.error(
        first_place,
        f"{first}{also}{more}",
        hint="docs/app-files.md describes every key of an app file.",
    )


_AS_A_LIST = "; write `- ` before each entry"


def explained(error: Any) -> tuple[tuple[str | int, ...], str]:
    """Return the place and the wording of an error that pydantic found."""
    place: tuple[str | int, ...] = tuple(error["loc"])
    kind, found, context = error["type"], error["input"], error.get("ctx", {})
    where = _spoken(place[:-1] if kind in ("missing", "extra_forbidden") else place)
    if kind == "value_error":
        if isinstance(context.get("error"), WrongKey):
            place = (*place, context["error"].key)
        return place, f"{where}: {error['msg'].removeprefix(_VALUE_ERROR)}"
    if kind == "missing":
        return place, f"{where}: `{place[-1]}` is missing"
    if kind == "extra_forbidden":
        return place, f"{where}: there is no `{place[-1]}`{_allowed(place)}"
    if kind == "literal_error":
        return place, f"{where}: {found!r} is not allowed; allowed: {context.get('expected')}"
    wanted = _WANTED.get(kind)
    if wanted is not None:
        how = _AS_A_LIST if kind == "tuple_type" and isinstance(found, dict) else ""
        return place, f"{where}: {wanted} is wanted, found {_short(found)}{how}"
    return place, f"{where}: {error['msg'].lower()}, found {_short(found)}"


def _spoken(place: Sequence[str | int]) -> str:
    """Return a place in the usual notation: ``screens.main.items[3]``."""
    text = ""
    for step in place:
        if step == "[key]":
            continue
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text or "the app"


def _allowed(place: Sequence[str | int]) -> str:
    model = _model_at(place[:-1])
    if model is None:
        return ""
    names = sorted(field.alias or name for name, field in model.model_fields.items())
    close = difflib.get_close_matches(str(place[-1]), names, n=1)
    hint = f"; did you mean `{close[0]}`?" if close else ""
    return f"{hint or ';'} allowed: {', '.join(names)}"


def _model_at(place: Sequence[str | int]) -> type[Any] | None:
    """Find the model that describes a place, by walking the annotations of the schema."""
    model: Any = App
    for step in place:
        if not isinstance(step, str):
            continue
        fields: Mapping[str, Any] = model.model_fields
        field = next((f for name, f in fields.items() if step in (name, f.alias)), None)
        inner = _models_in(field.annotation) if field is not None else []
        if inner:
            model = inner[0]
    return model if isinstance(model, type) else None


def _models_in(annotation: Any) -> list[Any]:
    # Python 3.10 calls `dict[str, int]` a type, too.
    if (
        isinstance(annotation, type)
        and not get_args(annotation)
        and issubclass(annotation, BaseModel)
    ):
        return [annotation]
    return [found for part in getattr(annotation, "__args__", ()) for found in _models_in(part)]


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
