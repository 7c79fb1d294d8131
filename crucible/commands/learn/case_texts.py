"""The texts of a case: all of them, in order, or each changed by a function.

Owns walking through the values of `model`; what is done with a text is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

_T = TypeVar("_T")


def names_of(kind: type) -> tuple[str, ...]:
    """The names of a dataclass's fields, in their order."""
    return tuple(each.name for each in fields(kind))


def texts_of(value: object) -> Iterator[str]:
    """Every text in a value of `model`, in the order of its fields; keys of arguments too."""
    if isinstance(value, Enum):
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield str(key)
            yield from texts_of(one)
    elif isinstance(value, tuple | list):
        for one in value:
            yield from texts_of(one)
    elif is_dataclass(value):
        for name in names_of(type(value)):
            yield from texts_of(getattr(value, name))


def mapped(value: _T, change: Callable[[str, str], str], key: str = "") -> _T:
    """The value with `change` applied to every text; it gets the text and the name of its argument ("" for none)."""
    given: Any = value
    if isinstance(given, str) and not isinstance(given, Enum):
        given = change(given, key)
    elif isinstance(given, Mapping):
        given = {change(str(name), ""): mapped(one, change, str(name)) for name, one in given.items()}
    elif isinstance(given, tuple | list):
        given = type(given)(mapped(one, change, key) for one in given)
    elif is_dataclass(given) and not isinstance(given, type):
        names = names_of(type(given))
        given = replace(given, **{name: mapped(getattr(given, name), change) for name in names})
    return given  # type: ignore[no-any-return]
