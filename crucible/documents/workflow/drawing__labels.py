"""A foreign name as a label of a drawing: text in the drawing's own language, which can become nothing else there.

Mermaid: a label stands in double quotes, and what is neither a letter, a digit nor plainly harmless is written as an entity code
(`#34;`), which is Mermaid's own way to write any character (its documentation, "Entity codes to escape characters").  That leaves
no quote to end the label, no backtick to end the fence round it or to begin a Markdown string, no `<`, `%%{`, `fa:` or `$$`, and
no colon, for Mermaid drops a `;` behind `style…:…#`; and no blank behind `direction`, for a line that holds `direction LR` anywhere,
be it in quotes, is nothing else to it (so versions 10.9 and 11.17, tried with their own parsers).  Labels are read as Markdown, of which it says `Unsupported markdown: list`
where a name begins with `1.`, so points and dashes stay only between letters and digits.

DOT: a label stands in double quotes, where a quote ends it, a backslash begins an escape and `&` an entity; the rest is text.
"""

from __future__ import annotations

import re
import unicodedata

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import cut, normal_line

__all__ = ["dot_text", "mermaid_text", "shown"]

_LONGEST = 80
_LINE_ENDS = dict.fromkeys(map(ord, "\u2028\u2029"), " ")
_JOINER = "\u200d"
_NOTHING = "#160;"
_FIRST_SIGN = 0x2000
"""Signs from here on are drawings (arrows, emoji); the few below, such as the degree, are marks that Mermaid uses for itself."""


def shown(text: str, longest: int = _LONGEST) -> str:
    """One line without controls, cut."""
    return cut(normal_line(text.translate(_LINE_ENDS)), longest)


def mermaid_text(text: str, longest: int = _LONGEST) -> str:
    """What stands between the quotes of a Mermaid label; never nothing, which it cannot read."""
    line = f" {shown(text, longest)} "
    return _DOUBTFUL.sub(_coded, line)[1:-1] or _NOTHING


_DOUBTFUL = late_pattern(r"(?<!\A)[^A-Za-z0-9,](?!\Z)")
"""What has to be looked at, of a line with a blank before and behind it, which stay."""


def _coded(found: re.Match[str]) -> str:
    return found[0] if _is_harmless(found.string, found.start()) else f"#{ord(found[0])};"


def _is_harmless(line: str, at: int) -> bool:
    char = line[at]
    if char.isascii():
        if char in ".-_/+":
            return line[at - 1].isalnum() and line[at + 1].isalnum() and line[max(at - 3, 0) : at].lower() != "www"
        if char == " ":
            return line[max(at - 9, 0) : at].lower() != "direction"
        return char.isalnum() or char == ","
    kind = unicodedata.category(char)
    return kind[0] in "LMN" or char == _JOINER or (kind == "So" and ord(char) >= _FIRST_SIGN)


def dot_text(text: str, longest: int = _LONGEST) -> str:
    """What stands between the quotes of a DOT label."""
    return shown(text, longest).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
