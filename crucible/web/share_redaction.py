"""Redact everything that leaves the vault again, and list what still looks private.

This covers every text of a session, its entries, its subagents and the details of its calls.  Besides secrets, home
folders and e-mail addresses (`Scrubber`), the name of this machine is removed.  Each redacted text is searched for what
looks private before a format escapes or splits it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
"""Minimum length of the name of a machine or a user: a shorter one is part of too many words."""


class Person(NamedTuple):
    """Who shares: the home folder, the machine's name, and the names that git knows; "" and () for unknown."""

    home: str = ""
    host: str = ""
    names: Sequence[str] = ()


class Taken(NamedTuple):
    """What was redacted, by rule, and what looks private but was not redacted, by kind; with counts."""

    redacted: Counter[str]
    private: Mapping[str, Counter[str]]


class ShareRedaction:
    """Redacts values for sharing.  Counts redactions by rule, and collects what looks private."""

    def __init__(self, redact: Redact, person: Person) -> None:
        self._scrub = Scrubber(redact, person.home)
        self._host = _name_pattern(person.host)
        self._names = [pattern for name in person.names if (pattern := _name_pattern(name))]
        self.private: dict[str, Counter[str]] = {}

    @property
    def counts(self) -> Counter[str]:
        """How many texts were redacted, by rule."""
        return self._scrub.counts

    def take(self) -> Taken:
        """Return what was counted and collected since the last call."""
        taken = Taken(self._scrub.counts, self.private)
        self._scrub.counts, self.private = Counter(), {}
        return taken

    def text(self, text: str) -> str:
        """Redact a text."""
        clean = self._scrub.text(text)
        if self._host is not None:
            clean, found = self._host.subn("host", clean)
            if found:
                self.counts[HOST] += found
        for kind, name in self._private_names(clean):
            self.private.setdefault(kind, Counter())[name] += 1
        return clean

    def _private_names(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield what looks private in a redacted text, with its kind."""
        if any(part in text for part in _PARTS_OF_FILES):
            yield from (("secret file", found[0]) for found in _FILES.finditer(text))
        if "://" in text:
            hosts = (found[1] for found in _HOSTS.finditer(text))
            yield from (("internal address", host) for host in hosts if host.casefold() != "localhost")
        yield from (("IP address", address) for address in _ip_addresses(text))
        yield from (("your name", found[0]) for pattern in self._names for found in pattern.finditer(text))

    def value(self, value: T) -> T:
        """Redact every text in a value made of data classes, tuples and mappings."""
        return self._value(value)  # type: ignore[no-any-return]  # of the same type

    def _value(self, value: Any) -> Any:
        if type(value) is str:
            return self.text(value)
        if value is None or isinstance(value, Enum | int | float | bytes):
            return value
        if isinstance(value, tuple):
            names = getattr(value, "_fields", None)
            if names is None:
                return tuple(map(self._value, value))
            pairs = zip(names, value, strict=True)
            return type(value)(*(item if name in _OF_NO_TEXT else self._value(item) for name, item in pairs))
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


_OF_NO_TEXT = frozenset(
    ("lines", "title_lines", "preamble_lines", "tasks_lines", "findings_lines", "summary_lines", "href")
)
"""Fields with positions, and with addresses of our own pages."""


def _name_pattern(name: str) -> re.Pattern[str] | None:
    if len(name) < _SHORTEST or name.casefold() == "localhost":
        return None
    # A name such as `ada-laptop` is no ordinary word, so it is found in `ask-ada-laptop`, too.
    beside = "" if re.search(r"[\d-]", name) else "-"
    return re.compile(rf"(?<![\w.{beside}]){re.escape(name)}(?![\w{beside}])")


# --- what looks private ----------------------------------------------------------------------------------------------

_NAMED = r"\.env(?:\.\w+)*|\.netrc|\.pgpass|\.htpasswd|id_(?:rsa|dsa|ecdsa|ed25519)"
_FILES = late_pattern(rf"(?<![\w.-])(?:{_NAMED}|[\w.-]+\.(?:pem|p12|pfx|keystore|kdbx))(?![\w.-])")
_PARTS_OF_FILES = (
    *(".env", ".netrc", ".pgpass", ".htpasswd", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"),
    *(".pem", ".p12", ".pfx", ".keystore", ".kdbx"),
)
"""Each match of `_FILES` contains one of these, which are faster to find."""
_ADDRESSES = late_pattern(r"\d(?<![\w.+-]\d)\d{0,2}(?:\.\d{1,3}){3}(?![\w-]|\.\d)")
"""The expression begins with a digit, so the search can skip to one; only then it looks back."""
_HOSTS = late_pattern(
    r"https?://((?:[A-Za-z0-9-]+\.)+(?:internal|intranet|local|lan|corp|home|private)|[A-Za-z0-9-]+)(?=[:/\s\"'<>)]|$)"
)


def _ip_addresses(text: str) -> Iterator[str]:
    """Yield addresses of machines, except loopback, unspecified and multicast ones, which reveal nothing."""
    for match in _ADDRESSES.finditer(text):
        try:
            address = ip_address(match[0])
        except ValueError:
            continue
        if not (address.is_loopback or address.is_unspecified or address.is_multicast):
            yield match[0]
