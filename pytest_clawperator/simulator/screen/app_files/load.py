"""Loading apps: a user's own file, or those that are shipped."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from pytest_clawperator.simulator.screen.app_files.app_schema import App
from pytest_clawperator.simulator.screen.app_files.load_errors import explained, refusal
from pytest_clawperator.simulator.screen.app_files.name_check import problems_of
from pytest_clawperator.simulator.screen.app_files.yaml_source import Source, read_source

_SHIPPED = Path(__file__).parents[2] / "apps"


def load_app(path: Path) -> App:
    """Load an app from its file; a mistake is a ConfigurationError with file and line."""
    return _checked(read_source(path))


def parse_app(text: str, *, path: Path = Path("app.yaml")) -> App:
    """Load an app from text; ``path`` is the name of its file in errors."""
    return _checked(read_source(path, text=text))


@lru_cache(maxsize=1)
def _shipped() -> tuple[App, ...]:
    # Their names are checked by the tests, and not at each start of a phone.
    return tuple(_validated(read_source(path)) for path in shipped_files())


def shipped_files() -> list[Path]:
    """List the files of the apps that come with the package."""
    return sorted(_SHIPPED.glob("*.yaml"))


def shipped_apps() -> list[App]:
    """Return the apps that come with the package; they are read at the first call."""
    return list(_shipped())


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
