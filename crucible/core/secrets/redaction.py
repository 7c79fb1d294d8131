"""Taking secrets out of texts that are to be written or shown, by a vault's settings.

Owns that nothing goes on when the scanner cannot run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from crucible.core.errors import BadSessionId, CrucibleError, VaultError
from crucible.core.patterns import late_pattern
from crucible.core.secrets.scanner import Redact, Scanner
from crucible.core.settings.settings import SecretSettings


def redact_of(settings: SecretSettings) -> Redact:
    """What a vault's settings ask for; `VaultError` when the scanner cannot run."""
    try:
        return Scanner(settings).redact
    except Exception as error:
        raise unscanned(error) from error


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}-")


def refuse_secret(name: str, settings: SecretSettings) -> str:
    """A name that somebody chose for a file, or `BadSessionId` for one that holds a secret: it would be in every link and listing.

    Titles need no refusal: secrets are taken out of them before a name is made.
    """
    redact = redact_of(settings)
    found = redact(name)[1] or redact(_DATE.sub("", name))[1]
    if found:
        raise BadSessionId(f"the name holds a secret ({', '.join(found)})", "choose another name; nothing was written")
    return name


def unscanned(error: Exception) -> CrucibleError:
    """What is said of a scanner that cannot run, or broke."""
    hint = error.hint if isinstance(error, CrucibleError) and error.hint else "nothing was written"
    return VaultError(f"the scan for secrets cannot run, so nothing is written: {error}", hint)


_TEXTS, _LONGEST = 8_000, 2_000
"""Texts that are remembered at most, and how long they may be, in code points: 64 MB in the worst case, a few as sessions go."""


def remembering(redact: Redact) -> Redact:
    """The same, which looks at a text once where it is asked again soon: sessions are told again and again.

    It holds texts with their secrets as long as it is held itself.
    """
    known: dict[str, tuple[str, Mapping[str, int]]] = {}

    def remembered(text: str) -> tuple[str, Mapping[str, int]]:
        found = known.get(text)
        if found is None:
            found = redact(text)
            if len(text) <= _LONGEST:
                if len(known) >= _TEXTS:
                    known.clear()
                known[text] = found
        return found

    return remembered


PRIVATE = "private"
"""The rule by which it is counted."""
PRIVATE_MARK = f"[{PRIVATE}]"
_TAG = late_pattern(r"(?i)<\s*(/?)\s*private(?=[\s/>]|\Z)[^<>]*>?")


class PrivateText(NamedTuple):
    """A private part: as it stood in the prompt, and what was between its marks."""

    whole: str
    inner: str


def hide_private(text: str) -> tuple[str, list[PrivateText]]:
    """The text with a mark in place of each private part, and these parts."""
    shown: list[str] = []
    hidden: list[PrivateText] = []
    begin = start = depth = 0
    for tag in _TAG.finditer(text):
        if not tag[1]:
            depth += 1
            if depth == 1:
                shown += [text[start : tag.start()], PRIVATE_MARK]
                begin, start = tag.span()
        elif depth > 1:
            depth -= 1
        else:
            if not depth:
                begin, shown = start, [PRIVATE_MARK]
            hidden.append(PrivateText(text[begin : tag.end()], text[start : tag.start()]))
            start, depth = tag.end(), 0
    if depth:
        hidden.append(PrivateText(text[begin:], text[start:]))
    else:
        shown.append(text[start:])
    return "".join(shown), hidden
