"""Foreign text on its way into a briefing: without secrets, without this machine's paths, in a line.

Owns the order of these: secrets go while a text is whole, since half of one is found by no rule; what is cut is cut last.
"""

from __future__ import annotations

from collections.abc import Callable

from crucible.core.secrets.scanner import Redact
from crucible.documents.markdown.quoting import quote_line
from crucible.vault.index.schema import CALLOUT_LENGTH

LONG = 300
"""Characters of a line."""
_LOOKED_AT = 4_000
"""Characters of a text that are looked at: what is shown of it is far less."""


class Quoter:
    """Makes lines of texts; `redact` takes secrets out, `shorten` absolute paths."""

    def __init__(self, redact: Redact, shorten: Callable[[str], str]) -> None:
        self._redact = redact
        self._shorten = shorten

    def line(self, text: str, limit: int = LONG) -> str:
        """The text in at most `limit` characters; "" for a blank one."""
        if len(text) > _LOOKED_AT:
            text = text[:_LOOKED_AT].rpartition(" ")[0] + " …"
        return quote_line(self._shorten(self._redact(text)[0]), limit)

    def whole(self, text: str) -> str:
        """A text of many lines without the secrets that stand on several of them, as keys do; a line of it still goes through `line`."""
        return self._redact(text)[0]

    def short(self, text: str) -> str:
        """A text that holds no secrets any more, with its paths shortened."""
        return self._shorten(text)


def whole_words(cell: object) -> str:
    """A text of the index, which cuts long ones: without the half word at its end, of which nobody could say whether it is a secret's."""
    text = str(cell or "")
    if len(text) < CALLOUT_LENGTH:
        return text
    head, blank, _ = text.rpartition(" ")
    return f"{head} …" if blank else "…"
