"""Text as a reader sees it, without control sequences and invisible characters, and positions in the original.

`grep --color` may colour only part of a key, and notes drop the colours, so keys are recognised without them.
"""

from __future__ import annotations

import codecs
from bisect import bisect_right
from functools import cache

from crucible.core.patterns import ANSI, late_pattern

# Line ends and tabs stay.  The last group is invisible: soft hyphens, joiners, direction and byte order marks.
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
"""ASCII for other characters.  Words for "password" become the ones in `secret_names`: `пароль` becomes `parolj`."""

CONTROLS = [bytes([byte]) for byte in (*range(32), 127) if byte not in b"\t\n\r"]
"""Bytes in `plain` that a reader does not see."""


@cache
def _reading() -> tuple[object, bytes]:
    """Return two tables that convert in C: from characters to bytes, and from bytes to ASCII."""
    signs = [(sign, into) for into, others in _FOLDED.items() for sign in others]
    table = "".join(map(chr, range(128))) + "".join(sign for sign, _ in signs)
    folded = bytes(range(128)) + "".join(into for _, into in signs).encode("ascii")
    return codecs.charmap_build(table.ljust(256, "\ufffe")), folded.ljust(256, b"?")


_AT_ONCE = 256


def _fold(error: UnicodeError) -> tuple[bytes, int]:
    """Handle an encoding error: fold a run of characters together, since non-ASCII characters usually come in runs."""
    mapping, folded = _reading()
    if not isinstance(error, UnicodeEncodeError):
        raise error
    stretch = error.object[error.start : error.start + _AT_ONCE]
    plain = codecs.charmap_encode(stretch, "replace", mapping)[0]  # type: ignore[arg-type]  # as it was built
    return plain.translate(folded), error.start + len(stretch)


codecs.register_error("crucible.fold", _fold)


def plain_of(text: str) -> bytes:
    """Return one byte per character, so positions stay the same.

    Secrets are ASCII.  Other characters are folded or become `?`.
    """
    if not text.isascii():
        # Claude Code puts an arrow after each line number of a file; encoding errors are far slower.
        text = text.replace("→", ">")
    return text.encode("ascii", "crucible.fold")


class Visible:
    """The visible part of a text, in `text`."""

    __slots__ = ("_shifts", "_starts", "text")

    def __init__(self, given: str) -> None:
        self._starts: list[int] = []
        self._shifts: list[int] = []
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
        """Return the span in the original text for a non-empty part of `text`."""
        return self._place(start), self._place(end - 1) + 1

    def _place(self, shown: int) -> int:
        at = bisect_right(self._starts, shown)
        return shown + (self._shifts[at - 1] if at else 0)
