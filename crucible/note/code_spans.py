"""Code spans, and what is read in the shown text, code or not.

Owns a code span's text both ways, and the blanks that part what a backslash cannot, for the second format.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from crucible.note.openings import SPAN_START
from crucible.patterns import late_pattern

__all__ = [
    "FORMAT",
    "code_span",
    "harmless_json",
    "read_code",
    "read_code_span",
    "seal_code",
    "seal_shown",
    "unseal_code",
    "unseal_shown",
]

FORMAT = 2
"""By which rules notes are written now; a note says so with its property `format`."""

_RUN = late_pattern(r"`+")
_CODE = late_pattern(rf"`*\s*(?=\\*{SPAN_START})")
_SEALED_CODE = late_pattern(rf"(`*\s*)\\(?=\\*{SPAN_START})")
_BUTTON = late_pattern(r"button(?=\\*-)")
_SEALED_BUTTON = late_pattern(r"button\\(?=\\*-)")


def seal_code(text: str) -> str:
    """A code span, or the text of one, in which no plugin finds a beginning of its own."""
    text = _BUTTON.sub(r"button\\", text) if "button" in text else text
    found = _CODE.match(text)
    return f"{found[0]}\\{text[found.end() :]}" if found else text


def unseal_code(text: str) -> str:
    """The inverse of `seal_code`."""
    found = _SEALED_CODE.match(text)
    text = f"{found[1]}{text[found.end() :]}" if found else text
    return _SEALED_BUTTON.sub("button", text) if "button" in text else text


# --- what is read again when it is shown -------------------------------------------------------------------------------
#
# Templater looks for `<%` in the file and in what is shown, Dataview for `(key:: value)` in what is shown, whose value is rendered once
# more.  There a backslash is gone, or is read over, so a blank goes between the two marks, in code as well.

_RAW = late_pattern(r"<(?=[ \\]*%)")
_SEALED_RAW = late_pattern(r"< (?=[ \\]*%)")
_COLONS = late_pattern(r":( *)(?=(\\*):)")
_SEALED_COLONS = late_pattern(r": (?= *\\*:)")
_PARTS = late_pattern(r"[()\[\]]|:(?= *\\*:)")
_ACTING = late_pattern(rf"[\[$]|`\s*\\*{SPAN_START}|button\\*-")
_BLOCK_END = late_pattern(r"\n[ \t>]*\n(?=\S)")


def seal_shown(text: str, before: str = "", after: str = "") -> str:
    """Split what is read in the shown text; `before` and `after` are what is shown with it."""
    if "%" in text:
        text = _RAW.sub("< ", text)
    if ":" not in text or not _COLONS.search(text):
        return text
    blocks, at = list[str](), 0
    for end in [*(found.end() for found in _BLOCK_END.finditer(text)), len(text)]:
        blocks.append(_seal_colons(text[at:end], before, after))
        at = end
    return "".join(blocks)


def _seal_colons(text: str, before: str, after: str) -> str:
    values = _values(f"{before}\n{text}\n{after}", len(before) + 1)

    def split(found: re.Match[str]) -> str:
        at, end = found.start(), found.end(2)
        is_field = (
            not found[2]
            and text[end + 1 : end + 2] in {"", " ", "\t", "\n", "`"}
            and text[at - 1 : at].strip()
        )
        return f": {found[1]}" if found[1] or is_field or at in values else ":"

    return _COLONS.sub(split, text)


def _values(text: str, shift: int) -> set[int]:
    """Where `(key:: value)` has its first colon, less `shift`, if the value holds what would act when it is rendered once more."""
    acting = [found.start() for found in _ACTING.finditer(text)]
    if not acting:
        return set()
    keyed: list[tuple[int, int]] = []  # the bracket before each pair of colons, and the pair
    closers: dict[int, int] = {}
    open_marks: dict[str, list[int]] = {"(": [], "[": []}
    nearest = -1
    for found in _PARTS.finditer(text):
        mark, at = found[0], found.start()
        if mark in "([":
            open_marks[mark].append(at)
            nearest = at
        elif mark in ")]":
            if opened := open_marks["(" if mark == ")" else "["]:
                closers[opened.pop()] = at
            nearest = -1
        elif nearest >= 0:
            keyed.append((nearest, at))
    last = max(text.rfind(")"), text.rfind("]"))
    return {at - shift for opener, at in keyed if _is_between(acting, at, closers.get(opener, last))}


def _is_between(places: list[int], first: int, end: int) -> bool:
    at = bisect_left(places, first)
    return at < len(places) and places[at] < end


def unseal_shown(text: str) -> str:
    """The inverse of `seal_shown`."""
    text = _SEALED_RAW.sub("<", text) if "%" in text else text
    return _SEALED_COLONS.sub(":", text) if ": " in text else text


def code_span(text: str, form: int = FORMAT, after: str = "") -> str:
    """Text of one line as a code span that `read_code_span` gives back exactly; a newline becomes `⏎`.

    `after` is foreign text that is shown behind it in the same line.
    """
    text = text.replace("\n", "⏎")
    if form >= FORMAT:
        text = seal_shown(seal_code(text), after=after)
    fence = "`" * (1 + max((len(run) for run in _RUN.findall(text)), default=0))
    if not text.strip(" "):
        return f"{fence} {text}{fence}"  # there is no empty code span, so blanks are written one longer
    if text[0] == "`" or text[-1] == "`" or text[0] == text[-1] == " ":
        return f"{fence} {text} {fence}"
    return f"{fence}{text}{fence}"


def read_code(text: str, form: int) -> str:
    """What the text of a code span says, by the note's format."""
    return unseal_code(unseal_shown(text)) if form >= FORMAT else text


def read_code_span(line: str, at: int = 0) -> tuple[str, int] | None:
    """The text of the code span that opens at `at`, and the offset behind it."""
    opener = _RUN.match(line, at)
    if opener is None or (at and line[at - 1] == "`"):
        return None
    fence = re.escape(opener[0])
    closer = re.compile(rf"(?<!`){fence}(?!`)").search(line, opener.end())
    if closer is None:
        return None
    text = line[opener.end() : closer.start()]
    if not text.strip(" "):
        text = text[1:]
    elif text[0] == text[-1] == " ":
        text = text[1:-1]
    return text, closer.end()


def harmless_json(text: str) -> str:
    """JSON, or a quoted text of TOON, with escapes where plugins would read something in code, too."""
    return text.replace("<%", "<\\u0025").replace("::", ":\\u003a")
