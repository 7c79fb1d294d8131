"""Whether anybody changed a note since we wrote it: a property that holds a digest of the rest of it.

Owns how the digest is made.  Line ends do not count, since git may change them; neither do properties that are named, such as
links, which change when what they lead to is renamed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from crucible.core.errors import EditRefused
from crucible.documents.markdown.frontmatter import Frontmatter, find_frontmatter, set_key
from crucible.documents.markdown.source import Edit, Source, Span, apply_edits
from crucible.documents.markdown.yaml_scalars import render_entry

__all__ = ["is_stamped", "stamped"]

_DIGITS = 16


def stamped(text: str, key: str, besides: Sequence[str] = (), without: Callable[[str], str] | None = None) -> str:
    """The note with the digest in its property `key`; `besides` are properties that it leaves out, `without` takes out more."""
    source = Source(text)
    found = find_frontmatter(source)
    if found.locked or not found.present or key in found.values:
        source = apply_edits(source, set_key(source, found, key, "0" * _DIGITS))
        found = find_frontmatter(source)
        edits = set_key(source, found, key, _digest(source, found, key, besides, without))
        return apply_edits(source, edits).text
    entry = render_entry(key, _digest(source, found, key, besides, without))
    at = source.starts[found.lines.end - 1]
    lines = "".join(f"{line}{source.newline}" for line in entry)
    return apply_edits(source, [Edit(Span(at, at), lines)]).text


def is_stamped(
    source: Source,
    key: str,
    besides: Sequence[str] = (),
    without: Callable[[str], str] | None = None,
    found: Frontmatter | None = None,
) -> bool:
    """Whether the digest that a note tells is its own; `found` is its frontmatter, where that is known."""
    found = found or find_frontmatter(source)
    told = found.values.get(key)
    return isinstance(told, str) and bool(told) and told == _digest(source, found, key, besides, without)


def _digest(
    source: Source,
    found: Frontmatter,
    key: str,
    besides: Sequence[str],
    without: Callable[[str], str] | None,
) -> str:
    """Hex digits; none where the properties' own lines cannot be told.

    What is cut out need not leave a frontmatter that can be read: the digest is that of a note which we wrote, or no note has it.
    """
    if found.present and found.locked and not found.keys.keys() >= {key, *besides}:
        return ""
    names = {key, *besides}
    spans = [span for name, span in (*found.keys.items(), *found.repeats) if name in names]
    try:
        same = apply_edits(source, [Edit(span, "") for span in spans]).text.replace("\r\n", "\n")
    except EditRefused:
        return ""
    same = without(same) if without else same
    return hashlib.sha256(same.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
