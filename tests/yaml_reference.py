"""The tables of docs/test-files.md, made from the words of test files.

``python -m tests.yaml_reference`` writes them into the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_clawperator.test_files.schema import schema_of_test_files
from pytest_clawperator.test_files.steps import MAESTRO, step_words
from pytest_clawperator.test_files.verbs import Verb, client_verbs, device_verbs, node_verbs

PAGE = Path(__file__).parent.parent / "docs" / "test-files.md"


def steps_table() -> Iterator[str]:
    """Yield the lines about each word of a step."""
    yield from ["| step | keys | what it does |", "|---|---|---|"]
    verbs = {**client_verbs(), **node_verbs()}
    words = schema_of_test_files()["definitions"]["step"]["anyOf"][1]["properties"]
    for word in sorted(step_words()):
        if word in verbs:
            yield f"| `{word}` | {_keys(verbs[word])} | {_summary(verbs[word])} |"
        elif word != "device":
            about = words[word].get("description", "Several steps, under a `title` or a `when`.")
            yield f"| `{word}` |  | {about} |"
    for name, verb in sorted(device_verbs().items()):
        keys = "the value" if verb.is_setting else _keys(verb)
        yield f"| `device: {{{name}: …}}` | {keys} | {_summary(verb)} |"


def _keys(verb: Verb) -> str:
    names = [f"**`{one.name}`**" if one.is_required else f"`{one.name}`"
             for one in verb.parameters.values()]  # fmt: skip
    return ", ".join([*(["a node"] if verb.takes_node else []), *names])


def _summary(verb: Verb) -> str:
    return verb.summary.replace("``", "`").replace("|", "\\|")


def maestro_table() -> Iterator[str]:
    """Yield the lines about each command of Maestro."""
    yield from ["| Maestro | here |", "|---|---|"]
    for theirs, ours in MAESTRO.items():
        yield f"| `{theirs}` | {ours} |"


def with_tables(page: str) -> str:
    """Return the page with new tables."""
    for name, lines in {"steps": steps_table(), "maestro": maestro_table()}.items():
        begin, end = f"<!-- {name}: made by tests/yaml_reference.py -->", "<!-- end of "
        table = f"{begin}\n\n" + "\n".join(lines) + f"\n\n{end}"
        before, _, rest = page.partition(begin)
        page = before + table + rest.partition(end)[2]
    return page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
