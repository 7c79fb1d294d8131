"""Escape the text of code spans, and marks that plugins find in rendered text, in code or prose.

In format 2, escapes are a backslash at the start of a code span, and a blank between two marks where a backslash would
have no effect.
"""

from __future__ import annotations

import re

from crucible.core.patterns import late_pattern

FORMAT = 2
"""The current version of the escape rules, stored in a note's property `format`."""

SPAN_START = r"(?:\$?=|(?:INPUT|VIEW|BUTTON)\[|dice[\w+-]*:)"
"""The start of a code span that a plugin evaluates."""

_RUN = late_pattern(r"`+")
_CODE = late_pattern(rf"`*\s*(?=\\*{SPAN_START})")
_SEALED_CODE = late_pattern(rf"(`*\s*)\\(?=\\*{SPAN_START})")
_BUTTON = late_pattern(r"button(?=\\*-)")
_SEALED_BUTTON = late_pattern(r"button\\(?=\\*-)")


def seal_code(text: str) -> str:
    """Escape a code span, or only its text, so that no plugin evaluates it."""
    text = _BUTTON.sub(r"button\\", text) if "button" in text else text
    found = _CODE.match(text)
    return f"{found[0]}\\{text[found.end() :]}" if found else text


def unseal_code(text: str) -> str:
    """The inverse of `seal_code`."""
    found = _SEALED_CODE.match(text)
    text = f"{found[1]}{text[found.end() :]}" if found else text
    return _SEALED_BUTTON.sub("button", text) if "button" in text else text


# --- rendered text ----------------------------------------------------------------------------------------------------
#
# Templater looks for `<%` in the file and in the rendered text.  Dataview looks for `(key:: value)` there, and renders
# the value again.  A backslash has no effect: it is removed by then, or ignored.  So a blank is inserted between the
# two marks, also in code.

_RAW = late_pattern(r"<(?=[ \\]*%)")
_SEALED_RAW = late_pattern(r"< (?=[ \\]*%)")
_COLONS = late_pattern(r":( *)(?=(\\*):)")
_SEALED_COLONS = late_pattern(r": (?= *\\*:)")
_ACTING = late_pattern(
    rf"!\\*\[|\[\\*\[|\]\\*\((?!(?i:https?://|mailto:))|\$|`\s*\\*{SPAN_START}|button\\*-|\\~~~|(?:\\`){{3}}"
)
"""Marks that plugins act on when a field's value is rendered again, even if escaped."""
_BRACKET = late_pattern(r"[(\[]")
_BLOCK_END = late_pattern(r"\n[ \t]*\n(?=[^\s>])")


def seal_rendered(text: str, before: str = "", after: str = "") -> str:
    """Split marks that plugins find in rendered text.  `before` and `after` are the text rendered next to it."""
    if "%" in text:
        text = _RAW.sub("< ", text)
    if ":" not in text or not _COLONS.search(text):
        return text
    ends = [*(found.end() for found in _BLOCK_END.finditer(text)), len(text)]
    blocks, at = list[str](), 0
    for end in ends:
        near = before if at == 0 else "", after if end == len(text) else ""
        blocks.append(_seal_colons(text[at:end], *near))
        at = end
    return "".join(blocks)


def _seal_colons(text: str, before: str, after: str) -> str:
    """Split pairs of colons between a bracket and an acting mark, since Dataview renders `(key:: value)` again."""
    opened = _BRACKET.search(text)
    first = 0 if _BRACKET.search(before) else opened.start() if opened else len(text)
    last = len(text) if _ACTING.search(after) else max((found.start() for found in _ACTING.finditer(text)), default=-1)

    def split(found: re.Match[str]) -> str:
        at, end = found.start(), found.end(2)
        is_field = not found[2] and text[end + 1 : end + 2] in {"", " ", "\t", "\n", "`"} and text[at - 1 : at].strip()
        return f": {found[1]}" if found[1] or is_field or first <= at < last else ":"

    return _COLONS.sub(split, text)


def unseal_rendered(text: str) -> str:
    """The inverse of `seal_rendered`."""
    text = _SEALED_RAW.sub("<", text) if "%" in text else text
    return _SEALED_COLONS.sub(":", text) if ": " in text else text


def code_span(text: str, form: int = FORMAT, after: str = "") -> str:
    """Render text as a one-line code span that `read_code_span` reads back exactly; a newline becomes `⏎`.

    `after` is untrusted text on the same line.
    """
    text = text.replace("\n", "⏎")
    if form >= FORMAT:
        text = seal_rendered(seal_code(text), after=after)
    fence = "`" * (1 + max((len(run) for run in _RUN.findall(text)), default=0))
    if not text.strip(" "):
        return f"{fence} {text}{fence}"  # a code span cannot be empty, so a blank is added
    if text[0] == "`" or text[-1] == "`" or text[0] == text[-1] == " ":
        return f"{fence} {text} {fence}"
    return f"{fence}{text}{fence}"


def read_code(text: str, form: int) -> str:
    """Return the original text of a code span.  `form` is the note's `format`."""
    return unseal_code(unseal_rendered(text)) if form >= FORMAT else text


def read_code_span(line: str, at: int = 0) -> tuple[str, int] | None:
    """Read the code span that opens at `at`: return its text and the offset after it, or None if there is none."""
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
    """Escape JSON, or a quoted TOON string, against plugins that find marks even in code."""
    return text.replace("<%", "<\\u0025").replace("::", ":\\u003a")
