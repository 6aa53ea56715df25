"""Load apps: a user's own file, or those that are shipped; mistakes name file and line."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.apps.checks import problems_of
from pytest_clawperator.simulator.apps.schema import App, WrongKey
from pytest_clawperator.yaml_source import Source

_SHIPPED = Path(__file__).parent
_SHOWN_PROBLEMS = 10
_VALUE_ERROR = "Value error, "
_AS_A_LIST = "; write `- ` before each entry"
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


def load_app(path: Path) -> App:
    """Load an app from its file; a mistake is a ConfigurationError with file and line."""
    return _checked(_source(path))


def parse_app(text: str, *, path: Path = Path("app.yaml")) -> App:
    """Load an app from text; ``path`` is the name of its file in errors."""
    return _checked(_source(path, text=text))


def _source(path: Path, *, text: str | None = None) -> Source:
    return Source(
        path,
        text=text,
        short_forms=("text", "items", "id", "kind"),
        hint="docs/app-files.md describes every key of an app file.",
    )


def shipped_files() -> list[Path]:
    """List the files of the apps that come with the package."""
    return sorted(_SHIPPED.glob("*.yaml"))


def shipped_apps() -> list[App]:
    """Return the apps that come with the package; they are read at the first call."""
    return list(_shipped())


@lru_cache(maxsize=1)
def _shipped() -> tuple[App, ...]:
    # Their names are checked by the tests, and not at each start of a phone.
    return tuple(_validated(_source(path)) for path in shipped_files())


def plain_app(
    package: str,
    *,
    name: str,
    activity: str = ".MainActivity",
    launcher: bool = True,
    system: bool = False,
    version: str = "1.0",
) -> App:
    """Make an app that has one screen with its name and nothing else."""
    return App.model_validate(
        {
            "package": package,
            "name": name,
            "activity": activity,
            "launcher": launcher,
            "system": system,
            "version": version,
            "start": "main",
            "screens": {"main": {"title": name.replace("{", "{{").replace("}", "}}")}},
        }
    )


def _checked(source: Source) -> App:
    app = _validated(source)
    problems = problems_of(app)
    if problems:
        raise refusal(source, problems)
    return app


def _validated(source: Source) -> App:
    if not isinstance(source.data, dict):
        raise source.error(
            (), "an app file is a mapping", hint=f"Its keys: {', '.join(App.model_fields)}."
        )
    try:
        return App.model_validate(source.data)
    except ValidationError as error:
        raise refusal(source, [explained(entry) for entry in error.errors()]) from None
    except RecursionError:
        raise source.error((), "nested too deep", hint="Flatten the widgets.") from None


def refusal(
    source: Source, problems: Sequence[tuple[Sequence[str | int], str]]
) -> ConfigurationError:
    """Return the error for all problems of a file, the first one first."""
    first_place, first = problems[0]
    shown = problems[1:_SHOWN_PROBLEMS]
    rest = len(problems) - 1 - len(shown)
    more = f"\n  ... and {rest} more" if rest > 0 else ""
    also = "".join(f"\n  {source.spot(place)}: {text}" for place, text in shown)
    return source.error(first_place, f"{first}{also}{more}")


def explained(error: Any) -> tuple[tuple[str | int, ...], str]:
    """Return the place and the wording of an error that pydantic found."""
    place: tuple[str | int, ...] = tuple(error["loc"])
    kind, found, context = error["type"], error["input"], error.get("ctx", {})
    where = _spoken(place[:-1] if kind == "missing" else place)
    if kind == "value_error":
        if isinstance(context.get("error"), WrongKey):
            place = (*place, context["error"].key)
        return place, f"{where}: {error['msg'].removeprefix(_VALUE_ERROR)}"
    if kind == "missing":
        return place, f"{where}: `{place[-1]}` is missing"
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


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
