"""A text as its reader sees it: without what a terminal obeys and without characters that nobody sees.

Owns the way back: where in the text a place of the visible one is.  `grep --color` paints half of a key, and a note drops the
paint, so a key must be known through it.
"""

from __future__ import annotations

import codecs
from bisect import bisect_right
from functools import cache

from crucible.core.patterns import ANSI, late_pattern

# Line ends and tabs stay; the last ones are seen by nobody: soft hyphens, joiners, marks of direction and of byte order.
_UNSEEN = late_pattern(
    ANSI.pattern + "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
)
_FOLDED = {
    "|": "│┃║",
    '"': "“”„",
    "'": "‘’",
    ">": "→",
    ":": "：",
    " ": "\u00a0",
    "a": "ăаạậ",
    "h": "ẩ",
    "o": "óöоワ",
    "n": "ñ",
    "N": "Ñ",
    "s": "ş",
    "l": "łл",
    "p": "пパ密비",
    "P": "П",
    "w": "码碼ス밀",
    "r": "рー번",
    "j": "ь",
    "d": "ド호",
    "\0": "\x9b\x90\x9d\xad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\ufeff",
}
"""What other writing is read as.  Words for "password" come out as `names` has them: `пароль` as `parolj`, `密码` as `pw`."""

CONTROLS = [bytes([byte]) for byte in (*range(32), 127) if byte not in b"\t\n\r"]
"""Bytes of `plain` for what a reader does not see."""


@cache
def _reading() -> tuple[object, bytes]:
    """How characters become bytes, and these ASCII: C does both."""
    signs = [(sign, into) for into, others in _FOLDED.items() for sign in others]
    table = "".join(map(chr, range(128))) + "".join(sign for sign, _ in signs)
    folded = bytes(range(128)) + "".join(into for _, into in signs).encode("ascii")
    return codecs.charmap_build(table.ljust(256, "\ufffe")), folded.ljust(256, b"?")


_AT_ONCE = 256


def _fold(error: UnicodeError) -> tuple[bytes, int]:
    """A stretch from where a text is no ASCII: there is little else in most, and other writing comes together."""
    mapping, folded = _reading()
    if not isinstance(error, UnicodeEncodeError):
        raise error
    stretch = error.object[error.start : error.start + _AT_ONCE]
    plain = codecs.charmap_encode(stretch, "replace", mapping)[0]  # type: ignore[arg-type]  # as it was built
    return plain.translate(folded), error.start + len(stretch)


codecs.register_error("crucible.fold", _fold)


def plain_of(text: str) -> bytes:
    """A byte for each character, so that places are the same; secrets are ASCII, what else there is stands as `?`."""
    return text.encode("ascii", "crucible.fold")


class Visible:
    """`text` is what shows of what was given."""

    __slots__ = ("_shifts", "_starts", "text")

    def __init__(self, given: str, *, hidden: bool) -> None:
        """`hidden` says whether something of it does not show."""
        self.text = given
        self._starts: list[int] = []
        self._shifts: list[int] = []
        if hidden:
            self._drop(given)

    def _drop(self, given: str) -> None:
        kept: list[str] = []
        at = shown = 0
        for match in _UNSEEN.finditer(given):
            kept.append(given[at : match.start()])
            shown += match.start() - at
            at = match.end()
            self._starts.append(shown)
            self._shifts.append(at - shown)
        self.text = "".join((*kept, given[at:]))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of `text`, which is not empty, stands in what was given."""
        return self._place(start), self._place(end - 1) + 1

    def _place(self, shown: int) -> int:
        at = bisect_right(self._starts, shown)
        return shown + (self._shifts[at - 1] if at else 0)
