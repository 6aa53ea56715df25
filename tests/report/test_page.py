"""The file of a page: complete, small, and closed to what its data say."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import Counter
from hashlib import sha256
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from pytest_clawperator.report import page
from pytest_clawperator.report.page import (
    declared_names,
    embedded,
    join_modules,
    page_text,
    write_page,
)
from pytest_clawperator.report.trace import ArtefactKept, PictureTaken, StepBegan, Trace
from tests.report.made_traces import DEVICE, END, HEAD, NASTY, SERIAL, long_trace, write_trace

SCRIPT = re.compile(r'<script type="module">(.*?)</script>', re.DOTALL)

STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)

POLICY = re.compile(r'http-equiv="content-security-policy" content="([^"]*)"')


def found(pattern: re.Pattern[str], text: str) -> str:
    """Return the one part of a page that fits."""
    (part,) = pattern.findall(text)
    return str(part)


def data_of(path: Path) -> dict[str, Any]:
    """Return what a page holds of its trace."""
    data: dict[str, Any] = json.loads(found(DATA, path.read_text(encoding="utf-8")))
    return data


def steps_of(path: Path) -> list[dict[str, Any]]:
    """Return the blocks of the trace that a page holds."""
    return [one for one in data_of(path)["trace"]["events"] if one["kind"] == "step"]


def hash_of(text: str) -> str:
    """Return the hash of a text as a policy names it."""
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def small_trace(folder: Path, *more: Any) -> Trace:
    """Write a trace of next to nothing."""
    return write_trace(folder / "trace", [HEAD, DEVICE, *more, END])


def photo(width: int, height: int) -> bytes:
    """Return a picture that compresses badly, as a PNG."""
    file = BytesIO()
    Image.effect_noise((width, height), 40).convert("RGB").save(file, "PNG")
    return file.getvalue()


def test_only_the_own_script_and_style_may_run(failed_trace: Trace, tmp_path: Path) -> None:
    """The policy names the hashes of what is in the page; without scripts there is a summary."""
    text = page_text(failed_trace, folder=tmp_path)

    policy = unescape(found(POLICY, text)).split("; ")
    assert "default-src 'none'" in policy
    assert f"script-src {hash_of(found(SCRIPT, text))}" in policy
    assert f"style-src {hash_of(found(STYLE, text))}" in policy
    assert "img-src data: blob:" in policy
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    summary = found(re.compile(r"<noscript>(.*?)</noscript>", re.DOTALL), text)
    for part in ("failed: tests/test_shop.py", "ExpectationError", "in its own tab"):
        assert part in summary
    assert page_text(failed_trace, folder=tmp_path) == text  # which does not depend on the time


def test_data_cannot_end_their_element(tmp_path: Path) -> None:
    """No character that HTML knows is in embedded data, and a placeholder is not replaced."""
    for text in NASTY:
        embedded_text = embedded({text: [text]})
        assert not set(embedded_text) & set("<>&\u2028\u2029")
        assert embedded_text.isascii()
        assert json.loads(embedded_text) == {text: [text]}
    step = StepBegan(at=101.0, id=1, title="{{script}} {{policy}}")
    write_page(small_trace(tmp_path, step), tmp_path / "page.html")
    [event] = steps_of(tmp_path / "page.html")
    assert event["title"] == "{{script}} {{policy}}"


def test_a_page_with_pictures_is_small(tmp_path: Path) -> None:
    """Fifty steps with a picture each take at most 1.5 MB; what two runs share is there once."""
    pictures = [_webp(number) for number in range(50)]
    trace = long_trace(tmp_path / "trace", steps=50, nodes=120, trees=50, pictures=pictures)
    path = tmp_path / "page.html"
    write_page(trace, path)
    assert [len(data_of(path)[kind]) for kind in ("pictures", "trees")] == [50, 50]
    assert path.stat().st_size <= 1_500_000

    now, passed = (
        long_trace(tmp_path / one, steps=4, pictures=pictures[:1]) for one in ("now", "passed")
    )
    write_page(now, path, passed=passed)
    text = path.read_text(encoding="utf-8")
    assert text.count(base64.b64encode(pictures[0]).decode()) == 1
    assert len(data_of(path)["trees"]) == 5


def _webp(seed: int) -> bytes:
    """Return the picture of a screen as traces keep it: about 15 kB."""
    small = Image.effect_noise((42, 93), 20 + seed % 7).resize((360, 800)).convert("RGB")
    file = BytesIO()
    small.save(file, "WEBP", quality=80)
    assert 10_000 < len(file.getvalue()) < 20_000
    return file.getvalue()


def test_small_pictures_stay_as_they_are_and_large_ones_shrink(tmp_path: Path) -> None:
    """A small file is embedded byte for byte; a whole screenshot becomes a WebP."""
    small, large = photo(40, 60), photo(1080, 2400)
    trace = small_trace(tmp_path)
    events = [trace.events[0]]
    broken = b"\x89PNG\r\n\x1a\n" + b"x" * 50_000
    for number, content in enumerate((small, large, b"no picture", broken)):
        name = f"{number:032x}.png"
        (trace.folder / "blobs" / name).write_bytes(content)
        events.append(PictureTaken(at=101.0, serial=SERIAL, blob=name, size=(1, 1)).to_json())
    write_page(Trace(trace.folder, tuple(events)), tmp_path / "page.html")

    first, second = data_of(tmp_path / "page.html")["pictures"].values()
    assert first == f"data:image/png;base64,{base64.b64encode(small).decode()}"
    shrunk = base64.b64decode(second.removeprefix("data:image/webp;base64,"))
    assert Image.open(BytesIO(shrunk)).size == (432, 960)
    assert len(shrunk) < len(large) / 5


def test_long_texts_are_cut_and_odd_numbers_written(tmp_path: Path) -> None:
    """A page holds what people can read, and is always valid JSON."""
    trace = small_trace(tmp_path, StepBegan(at=101.0, id=1, title="x" * 50_000))
    payload: Any = {"big": "y" * 2_000_000, "n": float("nan")}
    odd = {"kind": "execution", "at": 102.0, "id": 2, "payload": payload}
    write_page(Trace(trace.folder, (*trace.events, odd)), tmp_path / "page.html")

    [step] = steps_of(tmp_path / "page.html")
    packed = data_of(tmp_path / "page.html")["trace"]["packed"]
    payload = json.loads(gzip.decompress(base64.b64decode(packed[0])))
    assert step["title"] == "x" * 10_000 + "… (40,000 more characters)"
    assert payload["big"].endswith("(1,000,000 more characters)")
    assert payload["n"] == "nan"


def test_files_are_linked_from_where_the_page_is(tmp_path: Path) -> None:
    """A link leads from the page to the file; what is not there, or elsewhere, has none."""
    (tmp_path / "the log.txt").write_text("log")
    (tmp_path / "pages").mkdir()
    others = ("../missing.txt", "/etc/passwd", "javascript:alert(1)", "a\0b", "../")
    kept = [
        ArtefactKept(at=101.0, name="n", path=path, mime="text/plain")
        for path in ("../the log.txt", *others)
    ]
    write_page(small_trace(tmp_path, *kept), tmp_path / "pages" / "page.html")

    events = data_of(tmp_path / "pages" / "page.html")["trace"]["events"]
    links = [one["href"] for one in events if one["kind"] == "artefact"]
    assert links == ["../the%20log.txt", None, None, None, None, None]


def test_nothing_is_left_of_a_page_that_could_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old page stays whole, and no other file is there."""
    trace, place = small_trace(tmp_path / "given"), tmp_path / "pages"
    write_page(trace, place / "page.html")
    before = (place / "page.html").read_bytes()

    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        write_page(trace, place / "page.html")

    assert [path.name for path in place.iterdir()] == ["page.html"]
    assert (place / "page.html").read_bytes() == before


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
    ("main", "other", "problem"),
    [
        (f"{IMPORT}let b = a;", "export const a = 1;\nconst b = 2;", "both declare b"),
        (IMPORT, "const a = 1;", "does not export"),
        ('import { a as b } from "./a.js";\n', "export const a = 1;", "does not export"),
        ("export default 5;\n", "", "another form"),
        ('export { a } from "./a.js";\n', "export const a = 1;", "another form"),
        (IMPORT, 'import { b } from "./main.js";\nexport const a = 1;', "import each other"),
    ],
)
def test_what_cannot_be_joined_is_refused(
    tmp_path: Path, main: str, other: str, problem: str
) -> None:
    """Clashes, unknown names, other forms of imports, and circles are errors."""
    with pytest.raises(ValueError, match=problem):
        join_modules(write(tmp_path, main=main, a=other), "main.js")


def test_every_module_has_one_purpose_and_is_part_of_a_page() -> None:
    """It states its purpose, declares its own names, and uses no unsafe markup."""
    script = join_modules(FILES, "viewer/main.js") + join_modules(FILES, "index/main.js")
    names: Counter[str] = Counter()
    for path in MODULES:
        source = path.read_text(encoding="utf-8")
        declared = declared_names(source)
        names.update(declared)
        assert [name for name in declared if f" {name}" not in script] == [], path.name
        assert source.startswith("// "), path.name
        assert len(source.splitlines()) < 500, path.name
        assert "innerHTML" not in source, path.name

    assert [name for name, count in names.items() if count > 1] == []
    assert len(names) > 100
