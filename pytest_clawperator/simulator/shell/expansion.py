"""From the words of a script to the arguments of a command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.shell.arithmetic import CalculationError, evaluate
from pytest_clawperator.simulator.shell.io import MAX_TEXT, TextTooLong
from pytest_clawperator.simulator.shell.patterns import (
    Pattern,
    Piece,
    expand_braces,
    expand_files,
    is_wild,
)
from pytest_clawperator.simulator.shell.syntax import (
    Calculation,
    Parameter,
    Part,
    Substitution,
    Text,
    Word,
)

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Shell

_WHITESPACE = " \t\n"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_DECLARED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
# Their arguments of the form name=value are assignments, which are not split.
_DECLARING = frozenset(("export", "readonly", "local", "typeset"))
# The operators that say what to do about a parameter that is not set.
_FOR_UNSET = frozenset((":-", "-", ":=", "=", ":?", "?", ":+", "+"))


class ShellFailure(Exception):
    """The script cannot go on; the text says why, without the shell's name in front."""

    def __init__(self, message: str, *, status: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.reported = False


class _Fields:
    """Collects what a word expands to, splitting unquoted expansions if that is wanted."""

    def __init__(self, separators: str | None) -> None:
        self._splits = separators is not None
        self._delimiter = _delimiter(separators) if separators else None
        self._current: list[Piece] | None = None
        self._done: list[list[Piece]] = []
        self._size = 0

    @property
    def splits(self) -> bool:
        """Whether there can be more than one field."""
        return self._splits

    def text(self, text: str, *, quoted: bool) -> None:
        """Add characters as they are."""
        self._size += len(text)
        if self._size > MAX_TEXT:
            raise TextTooLong
        if self._current is None:
            if not text and not quoted:
                return
            self._current = []
        self._current.append((text, quoted))

    def expanded(self, text: str, *, quoted: bool) -> None:
        """Add the result of an expansion."""
        if quoted or self._delimiter is None:
            self.text(text, quoted=quoted)
            return
        position = 0
        for match in self._delimiter.finditer(text):
            self.text(text[position : match.start()], quoted=False)
            position = match.end()
            if match[1] and self._current is None:
                self._current = []
            self.cut()
        self.text(text[position:], quoted=False)

    def cut(self) -> None:
        """End the current field, if there is one."""
        if self._current is not None:
            self._done.append(self._current)
            self._current = None

    def fields(self) -> list[list[Piece]]:
        """Give the fields."""
        self.cut()
        return self._done


@lru_cache(maxsize=16)
def _delimiter(separators: str) -> re.Pattern[str]:
    """Match what separates two fields; group 1 is a separator that is no white space."""
    white = "".join(character for character in separators if character in _WHITESPACE)
    other = "".join(character for character in separators if character not in _WHITESPACE)
    some = f"[{white}]*" if white else ""
    visible = f"{some}([{re.escape(other)}]){some}" if other else "((?!))"
    return re.compile(f"{visible}|[{white}]+" if white else visible)


class Expander:
    """Expands words in the state of a shell."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    async def arguments(self, words: Sequence[Word]) -> list[str]:
        """Expand the words of a command: to any number of arguments each."""
        arguments: list[str] = []
        declares = bool(words) and words[0].static in _DECLARING
        for word in words:
            if word.static is not None:
                arguments.append(word.static)
            elif declares and _is_declaration(word):
                arguments.append(await self.text(word))
            else:
                arguments.extend(await self._fields_of(word))
        return arguments

    async def text(self, word: Word) -> str:
        """Expand a word to one text, without splitting and without file names."""
        if word.static is not None:
            return word.static
        return "".join(text for text, _ in await self._pieces(word))

    async def pattern(self, word: Word) -> Pattern:
        """Expand a word to a pattern in which only unquoted wildcards are wild."""
        return Pattern(await self._pieces(word))

    async def number(self, word: Word) -> int:
        """Calculate an expression."""
        expression = await self.text(word)
        try:
            return evaluate(expression, get=self._shell.get, put=self._shell.put)
        except CalculationError as problem:
            raise ShellFailure(str(problem)) from None

    async def _pieces(self, word: Word) -> list[Piece]:
        fields = _Fields(None)
        await self._expand(word.parts, fields, expanded=False)
        return [piece for field in fields.fields() for piece in field]

    async def _fields_of(self, word: Word) -> list[str]:
        separators = self._shell.get("IFS")
        fields = _Fields(_WHITESPACE if separators is None else separators)
        await self._expand(word.parts, fields, expanded=False)
        shell = self._shell
        found: list[str] = []
        for field in fields.fields():
            for choice in expand_braces(field):
                names: list[str] = []
                if "f" not in shell.options and is_wild(choice):
                    names = expand_files(choice, files=shell.files, cwd=shell.cwd)
                found.extend(names or ["".join(text for text, _ in choice)])
        return found

    async def _expand(self, parts: Sequence[Part], fields: _Fields, *, expanded: bool) -> None:
        """Add parts to fields; ``expanded`` where their plain text came out of an expansion."""
        for part in parts:
            if isinstance(part, Text):
                if expanded and not part.quoted:
                    fields.expanded(part.text, quoted=False)
                else:
                    fields.text(part.text, quoted=part.quoted)
            elif isinstance(part, Substitution):
                output = await self._shell.substitute(part.body)
                fields.expanded(output, quoted=part.quoted)
            elif isinstance(part, Calculation):
                value = await self.number(part.expression)
                fields.expanded(str(value), quoted=part.quoted)
            else:
                await self._parameter(part, fields)

    async def _parameter(self, part: Parameter, fields: _Fields) -> None:
        name, operator = part.name, part.operator
        if operator == "bad":
            raise ShellFailure(f"{part.source}: bad substitution")
        if name in ("@", "*") and operator in ("", ":-", "-", ":+", "+"):
            is_set = bool(self._shell.positional)
        else:
            value = self._value(part)
            is_set = value is not None and (bool(value) or not operator.startswith(":"))
        if operator in (":-", "-") and not is_set:
            await self._alternative(part, fields)
        elif operator in (":+", "+"):
            if is_set:
                await self._alternative(part, fields)
            elif part.quoted:
                fields.text("", quoted=True)
        elif name in ("@", "*") and operator in ("", ":-", "-"):
            self._positional(part, fields)
        else:
            fields.expanded(await self._modified(part, is_set=is_set), quoted=part.quoted)

    async def _alternative(self, part: Parameter, fields: _Fields) -> None:
        assert part.argument is not None
        if part.quoted:
            fields.text("", quoted=True)
        await self._expand(part.argument.parts, fields, expanded=not part.quoted)

    def _positional(self, part: Parameter, fields: _Fields) -> None:
        """Add ``$@`` or ``$*``."""
        parameters = self._shell.positional
        splits = fields.splits
        if part.name == "*" and (part.quoted or not splits):
            fields.expanded(self._joined(), quoted=part.quoted)
            return
        for number, parameter in enumerate(parameters):
            if number and splits:
                fields.cut()
            elif number:
                fields.text(" ", quoted=part.quoted)
            fields.expanded(parameter, quoted=part.quoted)

    def _joined(self) -> str:
        separators = self._shell.get("IFS")
        return (" " if separators is None else separators[:1]).join(self._shell.positional)

    def _value(self, part: Parameter) -> str | None:
        if part.name in ("@", "*"):
            return self._joined() if self._shell.positional else None
        value = self._shell.parameter(part.name)
        if value is None and "u" in self._shell.options and part.operator not in _FOR_UNSET:
            raise ShellFailure(f"{part.name}: parameter not set")
        return value

    async def _modified(self, part: Parameter, *, is_set: bool) -> str:
        """Apply the operators that end in one text."""
        value = self._value(part) or ""
        operator = part.operator
        if operator == "" or (is_set and operator in (":-", "-", ":=", "=", ":?", "?")):
            return value
        if operator == "length":
            return str(len(self._shell.positional) if part.name in ("@", "*") else len(value))
        assert part.argument is not None
        if operator in (":=", "="):
            if not _NAME.match(part.name):
                raise ShellFailure(f"{part.source}: bad substitution")
            value = await self.text(part.argument)
            self._shell.put(part.name, value)
            return value
        if operator in (":?", "?"):
            text = await self.text(part.argument)
            raise ShellFailure(f"{part.name}: {text or 'parameter null or not set'}")
        if operator == ":":
            return await self._substring(part, value)
        pattern = await self.pattern(part.argument)
        if operator.startswith("/"):
            replacement = await self.text(part.second) if part.second else ""
            return _replaced(value, pattern, replacement, operator)
        return _trimmed(value, pattern, operator)

    async def _substring(self, part: Parameter, value: str) -> str:
        assert part.argument is not None
        start = await self.number(part.argument)
        start = max(0, len(value) + start) if start < 0 else start
        if part.second is None:
            return value[start:]
        length = await self.number(part.second)
        return value[start:length] if length < 0 else value[start : start + length]


def _is_declaration(word: Word) -> bool:
    first = word.parts[0]
    return isinstance(first, Text) and not first.quoted and bool(_DECLARED.match(first.text))


def _trimmed(value: str, pattern: Pattern, operator: str) -> str:
    longest = len(operator) == 2
    if operator.startswith("#"):
        length = pattern.prefix(value, longest=longest)
        return value if length is None else value[length:]
    length = pattern.suffix(value, longest=longest)
    return value if length is None else value[: len(value) - length]


def _replaced(value: str, pattern: Pattern, replacement: str, operator: str) -> str:
    if operator == "/#":
        length = pattern.prefix(value, longest=True)
        return value if length is None else replacement + value[length:]
    if operator == "/%":
        length = pattern.suffix(value, longest=True)
        return value if length is None else value[: len(value) - length] + replacement
    if operator == "//" and (quick := pattern.replaced(value, replacement)) is not None:
        return quick
    pieces: list[str] = []
    position = 0
    while found := pattern.search(value, position):
        start, end = found
        if start == end:
            break
        pieces += value[position:start], replacement
        position = end
        if len(pieces) // 2 * len(replacement) > MAX_TEXT:
            raise TextTooLong
        if operator == "/":
            break
    return "".join([*pieces, value[position:]])
