"""What to say of a name that an object does not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_clawperator.contracts.text.foreign_names import plain
from pytest_clawperator.contracts.text.wording import closest


class HintsAtNames:
    """An object whose ``AttributeError`` says what the name is called here, or what is near it.

    ``_own_word`` is what examples call such an object, ``_their_names`` a table of
    :mod:`~pytest_clawperator.contracts.text.foreign_names`.
    """

    __slots__ = ()

    _own_word: ClassVar[str]
    _their_names: ClassVar[Mapping[str, str]]

    # Type checkers would take it for a sign that every name is there.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            __tracebackhide__ = True
            cls = type(self)
            if hasattr(cls, name):
                # A property of that name raised it, and says what is missing.
                return object.__getattribute__(self, name)
            told = f"{cls.__name__!r} object has no attribute {name!r}"
            if not name.startswith("_"):
                names = [own for own in dir(self) if not own.startswith("_")]
                told += name_hint(name, cls._their_names, names, own_word=cls._own_word)
            raise AttributeError(told, name=name, obj=self)


def name_hint(name: str, theirs: Mapping[str, str], names: list[str], *, own_word: str) -> str:
    """Return what is appended to a message about an unknown name; empty if nothing is near."""
    ours = theirs.get(plain(name))
    if ours is not None:
        called = f"{own_word}{ours}" if ours.startswith(".") else ours
        return f". {ours[:-1]}" if is_sentence(ours) else f": here it is called {called}"
    near = closest(name, names)
    return f". Did you mean {near}?" if near else ""


def is_sentence(ours: str) -> bool:
    """Whether a row has no call, but says how it is otherwise."""
    return ours[:1].isupper()
