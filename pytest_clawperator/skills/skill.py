"""One skill of a registry, with the fields of its entry that can be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

RECIPE_END = ".recipe.json"


@dataclass(frozen=True)
class Skill:
    """A skill; ``entry`` is its entry in the registry, including unknown keys."""

    entry: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its name, as in ``com.android.settings.capture-overview``."""
        return self._text("id")

    @property
    def application_id(self) -> str:
        """The package of the app that it is for."""
        return self._text("applicationId")

    @property
    def intent(self) -> str:
        """What it does with the app, in one word."""
        return self._text("intent")

    @property
    def summary(self) -> str:
        """What it does, in a sentence."""
        return self._text("summary")

    @property
    def keywords(self) -> tuple[str, ...]:
        """Words to find it by."""
        return self._texts("keywords")

    @property
    def scripts(self) -> tuple[str, ...]:
        """The paths of its scripts in the repository."""
        return self._texts("scripts")

    @property
    def artifacts(self) -> tuple[str, ...]:
        """The paths of its artefacts in the repository."""
        return self._texts("artifacts")

    @property
    def recipes(self) -> tuple[str, ...]:
        """The paths of the artefacts that are recipes, which compile to a payload."""
        return tuple(one for one in self.artifacts if one.lower().endswith(RECIPE_END))

    def recipe(self, name: str) -> str | None:
        """Return the path of a recipe by its name, its file's name or its path."""
        wanted = f"{recipe_name(name)}{RECIPE_END}"
        for path in self.artifacts:
            if path == wanted or path.endswith(f"/{wanted}"):
                return path
        return None

    def script(self) -> str | None:
        """Return the script to run: JavaScript first, then shell, then the first one."""
        for end in (".js", ".sh", ""):
            for path in self.scripts:
                if path.endswith(end):
                    return path
        return None

    def fits(self, app: str, intent: str, keyword: str) -> bool:
        """Whether it is for this app and intent and has the keyword; ``""`` matches all."""
        texts = (self.id, self.summary, self.application_id)
        return (
            app in ("", self.application_id)
            and intent in ("", self.intent)
            and any(keyword.lower() in text.lower() for text in texts)
        )

    def _text(self, name: str) -> str:
        value = self.entry.get(name)
        return value if isinstance(value, str) else ""

    def _texts(self, name: str) -> tuple[str, ...]:
        values = self.entry.get(name)
        found = values if isinstance(values, list) else []
        return tuple(value for value in found if isinstance(value, str))


def recipe_name(name: str) -> str:
    """Return the name of a recipe: its file name without the suffix."""
    return name[: -len(RECIPE_END)] if name.lower().endswith(RECIPE_END) else name
