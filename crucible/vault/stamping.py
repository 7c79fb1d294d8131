"""Whether anybody changed a note since we wrote it: a property that holds a digest of the rest of it.

Owns how the digest is made.  Line ends do not count, since git may change them; neither do properties that are named, such as
links, which change when what they lead to is renamed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from crucible.errors import EditRefused
from crucible.note.frontmatter import find_frontmatter, remove_key, set_key
from crucible.note.source import Source, apply_edits

__all__ = ["is_stamped", "stamped"]

_DIGITS = 16


def stamped(
    text: str, key: str, besides: Sequence[str] = (), without: Callable[[str], str] | None = None
) -> str:
    """The note with the digest in its property `key`; `besides` are properties that it leaves out, `without` takes out more."""
    return _with_digest(_with_digest(text, key, "0" * _DIGITS), key, _digest(text, key, besides, without))


def is_stamped(
    source: Source, key: str, besides: Sequence[str] = (), without: Callable[[str], str] | None = None
) -> bool:
    """Whether the digest that a note tells is its own."""
    told = find_frontmatter(source).values.get(key)
    return isinstance(told, str) and bool(told) and told == _digest(source.text, key, besides, without)


def _with_digest(text: str, key: str, digest: str) -> str:
    source = Source(text)
    return apply_edits(source, set_key(source, find_frontmatter(source), key, digest)).text


def _digest(text: str, key: str, besides: Sequence[str], without: Callable[[str], str] | None) -> str:
    """Hex digits; none where the properties' own lines cannot be told."""
    source = Source(text)
    found = find_frontmatter(source)
    try:
        edits = [edit for one in dict.fromkeys((key, *besides)) for edit in remove_key(source, found, one)]
        same = apply_edits(source, edits).text.replace("\r\n", "\n")
    except EditRefused:
        return ""
    same = without(same) if without else same
    return hashlib.sha256(same.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
