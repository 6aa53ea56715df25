"""Modules become one script: in order, complete, and without clashes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_clawperator.report import page
from pytest_clawperator.report.page import declared_names, join_modules

FILES = Path(page.__file__).parent / "files"
MODULES = sorted(FILES.rglob("*.js"))


def write(folder: Path, **modules: str) -> Path:
    """Write modules, one for each keyword."""
    for name, source in modules.items():
        (folder / f"{name}.js").write_text(source, encoding="utf-8")
    return folder


def test_a_module_comes_after_what_it_imports(tmp_path: Path) -> None:
    """Imports and exports are gone, and each module is there once."""
    folder = write(
        tmp_path,
        main='import { one } from "./a.js";\nimport { two } from "./b.js";\none(two);\n',
        a='import { two } from "./b.js";\nexport function one() { return two; }\n',
        b="export const two = 2;\n",
    )

    script = join_modules(folder, "main.js")

    assert script == "const two = 2;\n\nfunction one() { return two; }\n\none(two);\n"


IMPORT = 'import { a } from "./a.js";\n'


@pytest.mark.parametrize(
    ("main", "other", "told"),
    [
        (f"{IMPORT}let b = a;", "export const a = 1;\nconst b = 2;", "both declare b"),
        (IMPORT, "const a = 1;", "does not export"),
        ('import { a as b } from "./a.js";\n', "export const a = 1;", "does not export"),
        ("export default 5;\n", "", "another form"),
        ('export { a } from "./a.js";\n', "export const a = 1;", "another form"),
        (IMPORT, 'import { b } from "./main.js";\nexport const a = 1;', "import each other"),
    ],
)
def test_what_cannot_be_joined_is_refused(tmp_path: Path, main: str, other: str, told: str) -> None:
    """Clashes, unknown names, other forms of imports, and circles are errors."""
    with pytest.raises(ValueError, match=told):
        join_modules(write(tmp_path, main=main, a=other), "main.js")


def test_names_of_the_pages_do_not_clash() -> None:
    """No two modules declare the same name, also those that are not in one page yet."""
    names = Counter(
        name for path in MODULES for name in declared_names(path.read_text(encoding="utf-8"))
    )

    assert [name for name, count in names.items() if count > 1] == []
    assert len(names) > 100


def test_every_module_is_part_of_the_page() -> None:
    """What no page uses is not shipped."""
    script = join_modules(FILES, "viewer/main.js") + join_modules(FILES, "index/main.js")
    unused = {
        path.name
        for path in MODULES
        for name in declared_names(path.read_text(encoding="utf-8"))
        if f" {name}" not in script
    }

    assert unused == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_scripts_stay_small(path: Path) -> None:
    """A module has one purpose, and says which."""
    source = path.read_text(encoding="utf-8")

    assert source.startswith("// ")
    assert len(source.splitlines()) < 500
    assert "innerHTML" not in source
