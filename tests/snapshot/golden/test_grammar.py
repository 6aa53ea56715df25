"""The text of a golden is parsed, and its mistakes are shown with their place."""

from __future__ import annotations

import pytest

from pytest_clawperator.errors import ConfigurationError, ErrorCode
from pytest_clawperator.snapshot.golden.golden import parse


class TestMistakes:
    """A mistake in a golden is told with line, column and what is allowed."""

    @pytest.mark.parametrize(
        ("golden", "line", "column", "problem", "allowed"),
        [
            ("", 1, 1, "the golden is empty", '- button "OK"'),
            ("# only\n\n", 1, 1, "the golden is empty", "- ..."),
            ("button", 1, 1, "begins with '- '", '- button "OK"'),
            ("-button", 1, 1, "begins with '- '", '- button "OK"'),
            ("\t- button", 1, 1, "begins with '- '", "spaces"),
            ("-", 1, 2, "a role is missing", "textfield"),
            ('- "OK"', 1, 3, "a role is missing", "textfield"),
            ("- text\n- buton", 2, 3, "did you mean button?", "checkbox"),
            ("- listitem", 1, 3, "no such role", "checkbox"),
            ("- Button", 1, 3, "did you mean button?", "checkbox"),
            ('- text "a', 1, 8, "the quote is not closed", 'text in ""'),
            (r'- text "a\x"', 1, 8, "an escape that is none", r"\u0000"),
            ("- text /a", 1, 8, "the expression is not closed", "/expression/"),
            ("- text /a/x", 1, 8, "no such flag", "/expression/i"),
            ("- text /(/", 1, 8, "the expression cannot be used", "Python"),
            ("- text [checkd]", 1, 8, "did you mean checked?", "checked, disabled"),
            ("- text [checked", 1, 8, "the bracket is not closed", "[state]"),
            ("- text [checked=maybe]", 1, 8, "true or false", "[state=false]"),
            ('- text "a" "b"', 1, 12, "something follows", "name and states"),
            ("- text: Wi-Fi", 1, 9, "something follows", '- text "Wi-Fi"'),
            ("- text [checked] /a/", 1, 18, "something follows", "name and states"),
            ("- list\n  - text", 2, 3, "does not end in ':'", "indented"),
            ("- list:\n- text", 1, 1, "nothing lies below", "deeper lines"),
            ("- text\n- list:", 2, 1, "nothing lies below", "deeper lines"),
            ("- list:\n    - text\n  - text", 3, 3, "indented as no line above", "indented"),
            ("  - text\n- text", 2, 1, "indented as no line above", "indented"),
            ("- ...:\n  - text", 1, 6, "nothing lies inside ...", "- ..."),
            ("- 'text", 1, 3, "the single quote is not closed", '- button "OK"'),
            ("- 'text oops'", 1, 9, "something follows", '- button "OK"'),
        ],
    )
    def test_a_mistake_is_shown_with_its_place_and_a_hint(
        self, golden: str, line: int, column: int, problem: str, allowed: str
    ) -> None:
        """The message says where and what, the hint what would be right."""
        with pytest.raises(ConfigurationError) as caught:
            parse(golden)

        error = caught.value
        assert error.code == ErrorCode.GOLDEN_UNREADABLE
        assert f"line {line}, column {column} of the golden: " in error.message
        assert problem in error.message
        assert allowed in (error.hint or "")
        assert error.details == {"line": line, "column": column}

    def test_a_golden_nested_too_deep_is_refused(self) -> None:
        """A golden nested beyond reason is refused."""
        golden = "".join(f"{' ' * n}- text:\n" for n in range(60))

        with pytest.raises(ConfigurationError, match=r"line 51, .*nested too deeply"):
            parse(golden)
