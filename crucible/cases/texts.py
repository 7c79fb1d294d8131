"""The texts of a case: all of them, in order, or each changed by a function.

Owns walking through the values of `model`; what is done with a text is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import TypeVar

from crucible.cases.model import Call

__all__ = ["mapped", "names_of", "texts_of"]

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


def mapped(value: _T, change: Callable[[str], str], change_call: Callable[[Call], Call] | None = None) -> _T:
    """The value with every text changed, and every call as `change_call` gives it; itself if nothing changed.

    Without `change_call` the texts of a call's arguments are changed.
    """

    def arguments(given: object) -> object:
        if isinstance(given, str):
            return change(given)
        if isinstance(given, Mapping):
            return {name: arguments(one) for name, one in given.items()}
        return [arguments(one) for one in given] if isinstance(given, list | tuple) else given

    def called(call: Call) -> Call:
        changed = {name: arguments(one) for name, one in call.arguments.items()}
        return call if changed == call.arguments else replace(call, arguments=changed)

    return _mapped(value, change, change_call or called)  # type: ignore[return-value]  # each kind gives its own kind


def _mapped(value: object, change: Callable[[str], str], change_call: Callable[[Call], Call]) -> object:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Call):
        return change_call(value)
    if isinstance(value, tuple):
        found = tuple(_mapped(one, change, change_call) for one in value)
        return found if any(new is not old for new, old in zip(found, value, strict=True)) else value
    if is_dataclass(value) and not isinstance(value, type):
        old = {each.name: getattr(value, each.name) for each in fields(value)}
        new = {name: _mapped(one, change, change_call) for name, one in old.items()}
        changed = {name: one for name, one in new.items() if one is not old[name]}
        return replace(value, **changed) if changed else value
    return value
