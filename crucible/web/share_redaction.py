"""Redact what leaves the vault once more, and name what still looks private.

Every text of a value passes: of a session, its entries, its subagents and the details of its calls.  Besides secrets,
home folders and e-mail addresses (`Scrubber`), the name of this machine goes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from ipaddress import ip_address
from typing import Any, NamedTuple, TypeVar

from crucible.commands.learn.scrubbing import Scrubber
from crucible.core.patterns import late_pattern
from crucible.core.secrets.scanner import Redact

T = TypeVar("T")

HOST = "host-name"
_SHORTEST = 4
"""A shorter name of a machine or a user is a part of too many words."""


class Person(NamedTuple):
    """Who shares: the home folder, the machine's name, and the names that git knows; "" and () for unknown."""

    home: str = ""
    host: str = ""
    names: Sequence[str] = ()


class ShareRedaction:
    """Redacts values for sharing, and counts redactions by rule."""

    def __init__(self, redact: Redact, person: Person) -> None:
        self._scrub = Scrubber(redact, person.home)
        self._host = _name_pattern(person.host)

    @property
    def counts(self) -> Counter[str]:
        """How many texts were redacted, by rule."""
        return self._scrub.counts

    def text(self, text: str) -> str:
        """Redact a text."""
        clean = self._scrub.text(text)
        if self._host is not None:
            clean, found = self._host.subn("host", clean)
            if found:
                self.counts[HOST] += found
        return clean

    def value(self, value: T) -> T:
        """Redact every text in a value made of data classes, tuples and mappings."""
        return self._value(value)  # type: ignore[no-any-return]  # of the same type

    def _value(self, value: Any) -> Any:
        if type(value) is str:
            return self.text(value)
        if value is None or isinstance(value, Enum | int | float | bytes):
            return value
        if isinstance(value, tuple):
            items = [self._value(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, Mapping):
            return {self._value(key): self._value(item) for key, item in value.items()}
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{name: self._value(getattr(value, name)) for name in _field_names(type(value))})
        return value


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind) if one.init and one.name not in _OF_NO_TEXT)


_OF_NO_TEXT = frozenset(("lines", "title_lines", "preamble_lines", "tasks_lines", "findings_lines", "summary_lines"))


def _name_pattern(name: str) -> re.Pattern[str] | None:
    if len(name) < _SHORTEST or name.casefold() == "localhost":
        return None
    return re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")


# --- what looks private ----------------------------------------------------------------------------------------------

_FILES = late_pattern(
    r"(?<![\w.-])(?:\.env(?:\.\w+)*|\.netrc|\.pgpass|\.htpasswd|id_(?:rsa|dsa|ecdsa|ed25519)|[\w.-]+\.(?:pem|p12|pfx|keystore|kdbx))(?![\w.-])"
)
_ADDRESSES = late_pattern(r"(?<![\w.+-])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)")
_HOSTS = late_pattern(
    r"(?i)https?://((?:[a-z0-9-]+\.)+(?:internal|intranet|local|lan|corp|home|private)|[a-z0-9-]+)(?=[:/\s\"'<>)]|$)"
)


def private_names(text: str, person: Person) -> Mapping[str, Counter[str]]:
    """Return what looks private in a text that is to be shared, by kind, with counts.  It is named, not changed."""
    found = {
        "secret file": Counter(match[0] for match in _FILES.finditer(text)),
        "internal address": Counter(host for host in _hosts(text) if host.casefold() != "localhost"),
        "IP address": Counter(one for one in _ip_addresses(text)),
        "your name": Counter(_names(text, person.names)),
    }
    return {kind: names for kind, names in found.items() if names}


def _hosts(text: str) -> Iterator[str]:
    yield from (match[1] for match in _HOSTS.finditer(text))


def _ip_addresses(text: str) -> Iterator[str]:
    """Yield addresses of machines; those of this machine and of nobody say nothing."""
    for match in _ADDRESSES.finditer(text):
        try:
            address = ip_address(match[0])
        except ValueError:
            continue
        if not (address.is_loopback or address.is_unspecified or address.is_multicast):
            yield match[0]


def _names(text: str, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        pattern = _name_pattern(name)
        if pattern is not None:
            yield from (match[0] for match in pattern.finditer(text))
