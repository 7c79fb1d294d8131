"""Read and write one Obsidian callout, `> [!kind]- Title`.

It is read from source lines, not from tokens: to markdown-it `> [!decision]: /url` is a link definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from crucible.core.patterns import late_pattern

_HEAD = late_pattern(r" {0,3}>[ \t]?\[!([^\]|\s][^\]|]*)(?:\|([^\]]*))?\]([+-]?)(?:[ \t]+(.*?))?[ \t]*$")


class RawCallout(NamedTuple):
    """A callout as it stands: `kind` in lower case, `fold` `+`, `-` or "", `title` "" when there is none.

    `body` holds the lines below the head with one level of `>` taken off.
    """

    kind: str
    title: str
    body: list[str]
    fold: str = ""
    metadata: str = ""


def read_callout(lines: Sequence[str]) -> RawCallout | None:
    """The callout that a quote's lines make, or None for an ordinary quote."""
    head = _HEAD.match(lines[0])
    if not head:
        return None
    # Kinds compare in lower case: Obsidian reads "[!Note]" as "[!note]".
    return RawCallout(head[1].lower(), head[4] or "", unquote_lines(lines[1:]), head[3], head[2] or "")


def unquote_lines(lines: Iterable[str]) -> list[str]:
    """Lines without one level of `>` and one blank after it; a lazy line stays as it is."""
    return [_unquoted(line) for line in lines]


def _unquoted(line: str) -> str:
    if line[:2] == "> ":
        return line[2:]
    if line == ">":
        return ""
    bare = line.lstrip(" ")
    if bare[:1] != ">" or len(line) - len(bare) > 3:
        return line
    return bare[2:] if bare[1:2] == " " else bare[1:]


def quote_lines(lines: Iterable[str]) -> list[str]:
    """Lines one level deeper; blank lines become a bare `>`, so that no editor strips their end."""
    return [f"> {line}" if line else ">" for line in lines]
