"""Tests without code: the recipes of ``--claw-skills`` and the payloads of ``--claw-validate``.

A recipe with variables needs values: ``NAME.vars.json`` beside ``NAME.recipe.json`` has an
object of them, or a list of objects, each of which is a test. Payloads are those of
``claw_payload`` markers, and files: every ``*.claw.json``, and every ``*.json`` in a folder
called ``payloads``, also outside of ``testpaths``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.contracts.ecmascript import parse_json, to_string, why_not_json
from pytest_clawperator.errors import ClawperatorError, SkillError, file_problem
from pytest_clawperator.plugin.marker_values import load_payload, payloads_of
from pytest_clawperator.plugin.options import on_command_line
from pytest_clawperator.plugin.run import write_line
from pytest_clawperator.plugin.settings import is_validating, settings_of
from pytest_clawperator.plugin.stash import VALIDATED_PLACES
from pytest_clawperator.skills.registry import Registry, find_registry, read_registry
from pytest_clawperator.skills.skill import RECIPE_END, Skill, recipe_name
from pytest_clawperator.text import visible_line

_VALUES_END = ".vars.json"
_FILES = "*.claw.json files and .json files in folders called payloads"
_LONGEST_ID = 60


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the registry of skills, and payload files, as files of tests."""
    named = settings_of(parent.config).skills
    if named is not None and file_path.name == named.name and file_path.resolve() == named:
        return RegistryFile.from_parent(parent, path=file_path)
    if _is_payload(file_path) and is_validating(parent.config):
        return PayloadFile.from_parent(parent, path=file_path)
    return None


class _WithoutCode(pytest.Item):
    """A test whose failures show no code: it has none."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> Any:
        """Show the message only; its first line is what the summary shows."""
        if isinstance(excinfo.value, ClawperatorError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


# Recipes


def registry_of(config: pytest.Config) -> Registry:
    """Read the registry of a run: that of the option, or the one that is found."""
    named = settings_of(config).skills
    places = dict.fromkeys((Path.cwd(), config.rootpath))
    return read_registry(named or find_registry(os.environ, folders=tuple(places)))


def add_registry(config: pytest.Config) -> None:
    """Collect the registry: alone, unless the command line names tests or an ini file names it."""
    registry = settings_of(config).skills
    if registry is None:
        return
    is_named = config.args_source is pytest.Config.ArgsSource.ARGS
    if on_command_line(config, "skills") is not None and not is_named:
        config.args[:] = []
    base = config.invocation_params.dir
    places = [(base / argument.partition("::")[0]).resolve() for argument in config.args]
    if not any(registry.is_relative_to(place) for place in places):
        config.args.append(str(registry))


class RegistryFile(pytest.File):
    """A registry, whose recipes are tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield each recipe of each skill, once for each of its sets of values."""
        try:
            registry = read_registry(self.path)
        except SkillError as error:
            raise self.CollectError(str(error)) from error
        for skill in registry.skills:
            for path in skill.recipes:
                yield from self._tests(registry, skill, path)

    def _tests(self, registry: Registry, skill: Skill, path: str) -> Iterator[pytest.Item]:
        artifact = recipe_name(Path(path).name)
        names: set[str] = set()
        for number, values in enumerate(self._values(registry, path), 1):
            name = f"{skill.id}/{artifact}{_id_of(values)}"
            name = f"{name}-{number}" if name in names else name
            names.add(name)
            item: pytest.Item = RecipeTest.from_parent(
                self, name=name, callobj=_running(skill.id, artifact, values)
            )
            about = {"app": skill.application_id, "intent": skill.intent}
            item.add_marker(pytest.mark.claw_skill(skill.id, artifact, **about))
            item.extra_keyword_matches.update({skill.id, artifact, *about.values()})
            item.extra_keyword_matches.update(skill.keywords)
            yield item

    def _values(self, registry: Registry, path: str) -> list[Mapping[str, Any]]:
        """Return the values of a recipe: none, if no file has any."""
        beside = f"{path[: -len(RECIPE_END)]}{_VALUES_END}"
        try:
            file = registry.file(beside)
            found = parse_json(file.read_text(encoding="utf-8")) if file.exists() else {}
        except OSError as error:
            raise self.CollectError(f"{beside}: {file_problem(error)}") from error
        except (ValueError, RecursionError) as error:
            why = str(error) if "outside" in str(error) else why_not_json(error)
            raise self.CollectError(f"{beside}: {why}") from error
        sets = found if isinstance(found, list) else [found]
        if not sets or not all(isinstance(one, dict) for one in sets):
            raise self.CollectError(f"{beside}: it is neither an object nor a list of objects")
        return sets


class RecipeTest(_WithoutCode, pytest.Function):
    """A recipe, which fails if its envelope does."""

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the recipe is from, as the headline above its failure."""
        # What the id ends with, pytest takes for a Python module, and changes its dots.
        return self.path, None, f"recipe {self.name} of {self.path.name}"


def _running(skill_id: str, artifact: str, values: Mapping[str, Any]) -> Callable[..., None]:
    def run(clawperator: Clawperator) -> None:
        """Run the recipe; a failed envelope fails the test."""
        clawperator.run_artifact(skill_id, artifact, **values).raise_for_status()

    return run


def _id_of(values: Mapping[str, Any]) -> str:
    """Return values as an id, as pytest writes those of parameters."""
    text = visible_line("-".join(map(to_string, values.values()))).replace("::", ":")
    return f"[{text[:_LONGEST_ID]}]" if text else ""


# Payloads


def _is_payload(path: Path) -> bool:
    is_named_so = path.name.endswith(".claw.json") or path.parent.name == "payloads"
    return path.suffix == ".json" and is_named_so


def add_payload_files(config: pytest.Config) -> None:
    """Validate payload files below the rootdir, too, if no place was named on the command line.

    ``testpaths`` says where tests are, and payloads are often beside them.
    """
    if is_validating(config) and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        named = [(config.invocation_params.dir / place).resolve() for place in config.args]
        config.stash[VALIDATED_PLACES] = [*config.args], config.rootpath
        config.args += [
            str(path)
            for path in _payload_files(config, config.rootpath)
            if not any(path.resolve().is_relative_to(place) for place in named)
        ]


def _payload_files(config: pytest.Config, folder: Path) -> Iterator[Path]:
    """Yield the payload files below a folder, except where pytest does not look for tests."""
    for path in sorted(folder.iterdir()):
        if config.hook.pytest_ignore_collect(collection_path=path, config=config):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _payload_files(config, path)
        elif _is_payload(path) and path.is_file():
            yield path


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Replace the tests by the payloads that they declare."""
    if is_validating(config):
        kept = [payload for item in items for payload in _payloads(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept


def write_validated_places(reporter: pytest.TerminalReporter, exitstatus: int) -> None:
    """Report where payloads were looked for; a quiet run only if there were none."""
    config = reporter.config
    if not is_validating(config):
        return
    tests, folder = config.stash.get(VALIDATED_PLACES, (config.args, None))
    files = ", ".join(tests) if folder is None else f"everything below {folder}"
    looked = f"looked for claw_payload markers in {', '.join(tests)}, and in {files} for {_FILES}"
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        write_line(reporter, f"--claw-validate: no payload was found: {looked}", yellow=True)
    elif config.get_verbosity() >= 0:
        write_line(reporter, f"--claw-validate: {looked}")


class PayloadFile(pytest.File):
    """A file that holds one payload."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the payload as a test."""
        yield PayloadItem.from_parent(self, name="payload", declared=self.path)


class PayloadItem(_WithoutCode):
    """A payload that is valid or not."""

    def __init__(self, *, declared: Path | Any, **about: Any) -> None:
        super().__init__(**about)
        self.declared = declared

    def runtest(self) -> None:
        """Validate the payload."""
        load_payload(self.declared)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the source of the payload, as the headline above its problems."""
        return self.path, None, ": ".join(self.nodeid.rsplit("::", 1))


def _payloads(item: pytest.Item) -> Iterator[pytest.Item]:
    if isinstance(item, PayloadItem):
        yield item
        return
    assert item.parent is not None
    for number, declared in enumerate(payloads_of(item), 1):
        name = declared.name if isinstance(declared, Path) else str(number)
        yield PayloadItem.from_parent(
            item.parent, name=f"{item.name}::claw_payload[{name}]", declared=declared
        )
