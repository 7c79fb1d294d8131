"""A note's properties as the fields of a dataclass: written from a value, and read by the type of the field's default.

Items of knowledge and cases are such notes. A property of another type than its field is a problem and counts as
absent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from crucible.documents.markdown.source import Problem
from crucible.documents.markdown.wikilinks import LinkText, parse_linktext, with_links, without_links
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.properties import FieldReader

_E = TypeVar("_E", bound=StrEnum)


def property_of(value: Any) -> Value:
    """A field's value as a property; links in foreign text are disabled."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, tuple):
        return [property_of(one) for one in value]
    if isinstance(value, StrEnum):
        return value.value
    return without_links(value) if isinstance(value, str) else value


def linktext_of(told: str) -> LinkText:
    """A link, in brackets or bare."""
    inner = told.strip(" \t")
    is_link = inner.startswith("[[") and inner.endswith("]]")
    return parse_linktext(inner[2:-2]) if is_link else LinkText(inner)


class Properties(FieldReader):
    """The typed values of a note; a value of another type is reported."""

    def tell(self, code: str, message: str, line: int = 1) -> None:
        """Report a problem."""
        self.problems.append(Problem(code, line, message))

    def fields_of(self, kind: type, names: Iterable[str]) -> dict[str, Any]:
        """The properties named like fields of a dataclass, each with the type of the field's default."""
        defaults = {each.name: each.default for each in fields(kind)}
        return {name: self._like(name, defaults[name]) for name in names}

    def _like(self, key: str, default: Any) -> Any:
        match default:
            case StrEnum():
                return self.word(key, type(default)) or default
            case bool():
                found = self.flag(key)
                return default if found is None else found
            case int():
                return self.count(key) or default
            case tuple():
                return tuple(map(with_links, self.texts(key)))
            case None:
                return self.time(key)
            case _:
                return self.line(key)

    def word(self, key: str, words: type[_E]) -> _E | None:
        """One of some words, in any case."""
        told = self.text(key)
        if told is None:
            return None
        try:
            return words(told.strip().lower())
        except ValueError:
            self.complain(key, f"one of {', '.join(words)}")
            return None

    def line(self, key: str) -> str:
        """A text, "" for none."""
        return with_links(self.text(key) or "")

    def flag(self, key: str) -> bool | None:
        """True or false."""
        value = self.values.get(key)
        if value is None or isinstance(value, bool):
            return value
        self.complain(key, "true or false")
        return None

    def share(self, key: str) -> float | None:
        """A number from 0 to 1."""
        value = self.values.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
            return float(value)
        if value is not None:
            self.complain(key, "a number from 0 to 1")
        return None
