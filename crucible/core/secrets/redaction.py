"""Remove secrets from text before it is stored or shown, according to a vault's settings.

If the scanner cannot run, nothing is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from crucible.core.errors import BadSessionId, CrucibleError, VaultError
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.core.secrets.scanner import Redact, Scanner
from crucible.core.settings.settings import SecretSettings


def redact_of(settings: SecretSettings) -> Redact:
    """Return the redaction function for a vault's settings; `VaultError` if the scanner cannot run."""
    try:
        return Scanner(settings).redact
    except Exception as error:
        raise unscanned(error) from error


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}-")


def refuse_secret(name: str, settings: SecretSettings) -> str:
    """Return a file name chosen by the user; `BadSessionId` if it contains a secret.

    A name is repeated in every link and listing.  Titles are redacted before names are derived from them.
    """
    redact = redact_of(settings)
    found = redact(name)[1] or redact(_DATE.sub("", name))[1]
    if found:
        raise BadSessionId(
            f"the name contains a secret ({', '.join(found)})", "choose another name; nothing was written"
        )
    return name


def unscanned(error: Exception) -> CrucibleError:
    """Return the error for a scanner that failed or cannot run."""
    hint = error.hint if isinstance(error, CrucibleError) and error.hint else "nothing was written"
    return VaultError(f"the scan for secrets cannot run, so nothing was written: {error}", hint)


_TEXTS, _LONGEST = 8_000, 2_000
"""Maximum number of cached strings, and maximum code points in one: at most 64 MB in all, in practice a few."""


def caching_redact(redact: Redact) -> Redact:
    """Return a redaction function with a cache, for strings that recur within a session.

    The cache holds strings with their secrets in memory as long as the function exists.
    """
    known: dict[str, tuple[str, Mapping[str, int]]] = {}

    def cached(text: str) -> tuple[str, Mapping[str, int]]:
        found = known.get(text)
        if found is None:
            found = redact(text)
            if len(text) <= _LONGEST:
                if len(known) >= _TEXTS:
                    known.clear()
                known[text] = found
        return found

    return cached


PRIVATE = "private"
"""The name under which private parts are counted among the rules."""
PRIVATE_MARK = f"[{PRIVATE}]"
_TAG = late_pattern(r"(?i)<\s*(/?)\s*private(?=[\s/>]|\Z)[^<>]*>?")


class PrivateText(NamedTuple):
    """A private part of a prompt: the full text including its tags, and the text between the tags."""

    whole: str
    inner: str


def hide_private(text: str) -> tuple[str, list[PrivateText]]:
    """Replace each private part with a mark; return the text and the parts."""
    if "<" not in text:
        return text, []
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
