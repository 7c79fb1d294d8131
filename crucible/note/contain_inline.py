r"""Code spans, and the escapes that stand inside a line.

Owns where a line's code spans are, which of them every reader of Markdown takes for code, and the rules for the text
outside them.  The start of a line, fences and the normal form are `contain`'s.

Most escapes read "k backslashes before the mark become k+1": such a rule is its own inverse, whatever the text held.
`<` and the backtick take 2k+1, because k+1 would turn `\<b>` into `\\<b>`, which is live HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from crucible.patterns import late_pattern

__all__ = [
    "FIELDS",
    "Pass",
    "Rule",
    "code_span",
    "inline_passes",
    "read_code_span",
    "seal_inline",
    "unseal_inline",
]

FIELDS = ("started", "ended", "tokens")
"""The keys of a phase's inline fields."""

Pass = tuple[Callable[[str], str], Callable[[str], str]]
"""What writes an escape over a whole text, and what takes it away again."""


class Rule(NamedTuple):
    r"""One mark that must not be read as structure: a backslash goes between `before` and `mark`, both patterns.

    `when` narrows which marks are escaped that have no backslash yet.  A mark that has some always gets one more, so
    reading back needs no context.  Lines begin after `\n`.  `hint` is plain text without which there is nothing to
    do: all of `before`, or else the beginning of every mark.
    """

    name: str
    before: str
    mark: str
    hint: str = ""
    when: str = ""

    def compiled(self) -> Pass:
        """The rule as a pass over a text."""
        seal = rf"(?:{self.before})(?=\\++(?:{self.mark})|(?:{self.when or self.mark}))"
        unseal = rf"((?:{self.before})(?=\\++(?:{self.mark})))\\"
        if self.before == re.escape(self.hint):
            # A constant replacement costs a tenth of one that refers to a group.
            escaped = self.hint + "\\"
            return _pass(seal, escaped + "\\", self.hint), _pass(unseal, self.hint, escaped)
        return _pass(seal, r"\g<0>\\", self.hint), _pass(unseal, r"\1", "\\" + self.hint)


def _pass(pattern: str, template: str, hint: str) -> Callable[[str], str]:
    compiled = late_pattern(pattern, re.MULTILINE)
    return lambda text: compiled.sub(template, text) if hint in text else text


# A link whose tail is plain stays.  Any other could end inside what we take for a code span, even some lines further
# on, and every backtick after it would then open where we think it closes.
_PLAIN = r"[^\s()\\`<>\[\]\0]"
_PLAIN_TAIL = rf"\((?>(?:{_PLAIN}|\({_PLAIN}*+\))*)\)"

INLINE_RULES: tuple[Rule, ...] = (
    Rule("wikilink", r"\[", r"\[", "["),
    Rule("image", "!", r"\[", "!"),
    Rule("comment", "%", "%", "%"),
    Rule("math", r"\$", r"\$", "$"),
    # A link definition vanishes from the page and gives every `[label]` of the note a meaning; its label may have
    # begun on the line above, so the colon is the only sure sign.
    Rule("definition", r"\]", ":", "]"),
    Rule("link-tail", r"\]", r"\(", "]", when=rf"(?!{_PLAIN_TAIL})\("),
)

_BARE_HTML = late_pattern(r"<(?<!\\<)(?=[A-Za-z/!?])")
_HTML_RUN = late_pattern(r"\\(?<!\\\\)\\*+<")
_URL = late_pattern(r"://\S*")
_ESCAPED_URL = late_pattern(r":(?=\\++//)")
_URL_ESCAPE = late_pattern(r":\\(?=\\*+//)")


def _double(match: re.Match[str]) -> str:
    """A run of k backslashes before a mark of one character to 2k+1."""
    run = match[0]
    return run[:-1] + "\\" + run


def _halve(match: re.Match[str]) -> str:
    """A run of 2k+1 backslashes back to k; an even number was never ours."""
    run = match[0]
    return run[len(run) // 2 :] if len(run) % 2 == 0 else run


def _seal_url(match: re.Match[str]) -> str:
    """An address swallows the backslash that should disarm a `<` or a backtick behind it, so it may be none."""
    tail = match[0]
    return tail.replace("://", ":\\//") if any(mark in tail for mark in "<`\0") else tail


def _seal_html(text: str) -> str:
    if "\\<" in text:
        text = _HTML_RUN.sub(_double, text)
    return _BARE_HTML.sub(r"\\<", text) if "<" in text else text


HTML_PASS: Pass = (
    _seal_html,
    lambda text: _HTML_RUN.sub(_halve, text) if "\\<" in text else text,
)
URL_PASS: Pass = (
    lambda text: _URL.sub(_seal_url, _ESCAPED_URL.sub(r":\\", text)) if "//" in text else text,
    lambda text: _URL_ESCAPE.sub(":", text) if "//" in text else text,
)


def inline_passes(fields: Sequence[str]) -> tuple[Pass, ...]:
    """Everything done outside code spans, in the order of writing."""
    rules = (*INLINE_RULES, _field_rule(fields)) if fields else INLINE_RULES
    return (HTML_PASS, URL_PASS, *(rule.compiled() for rule in rules))


def _field_rule(keys: Sequence[str]) -> Rule:
    """Dataview reads keys in any case, and through emphasis (`_key_::`).  A set of last letters is what the pattern engine finds fast."""
    ends = re.escape(
        "".join(sorted({letter for key in keys for letter in key[-1].lower() + key[-1].upper()}))
    )
    words = "|".join(rf"(?<=(?<![^\W_])(?i:{re.escape(key)}))" for key in keys)
    return Rule("field", rf"[{ends}](?:{words})[ \t*_]*+", "::", "::")


def seal_inline(text: str, passes: Sequence[Pass]) -> str:
    """Escape what is not inside a trusted code span."""
    masked, spans, filler = _mask(text, writing=True)
    for seal, _ in passes:
        masked = seal(masked)
    return _unmask(masked, spans, filler)


def unseal_inline(text: str, passes: Sequence[Pass]) -> str:
    """The inverse of `seal_inline`."""
    if "\\" not in text:
        return text
    masked, spans, filler = _mask(text, writing=False)
    for _, unseal in reversed(passes):
        masked = unseal(masked)
    return _unmask(masked, spans, filler)


# --- code spans ------------------------------------------------------------------------------------------------

_RUN = late_pattern(r"`+")
_TICK = late_pattern(r"(?<!\\)\\*+`")
_TICK_RUN = late_pattern(r"\\(?<!\\\\)\\*+`")
_LABEL_END = late_pattern(r"(?>(?:[^\[\]\\]|\\.)*)\]:")
_BARE_PIPE = late_pattern(r"(?<!\\)\|")
_TABLE_RULE = late_pattern(r"\n(?=[^\n|:]*+[|:])[-:| \t>]++$", re.MULTILINE)


def _mask(text: str, *, writing: bool) -> tuple[str, list[str], str]:
    """The text with each trusted code span as one filler, the spans, and the filler.

    A line keeps its spans only when all its backticks pair on it; otherwise all of them are escaped (or, reading, get
    their escapes taken away).  A span over several lines is therefore never code: trusting one let a `[[` through.
    """
    if "`" not in text:
        return text, [], ""
    filler = "\0" if "\0" not in text else _absent(text)
    tabular = writing and "|" in text and _TABLE_RULE.search("\n" + text) is not None
    lines, spans = text.split("\n"), list[str]()
    for at, line in enumerate(lines):
        if "`" in line:
            found = _spans(line)
            if found is None or (writing and not _trusted(line, found, tabular)):
                lines[at] = _seal_ticks(line) if writing else _TICK_RUN.sub(_halve, line)
            else:
                lines[at] = _cut_out(line, found, spans, filler)
    return "\n".join(lines), spans, filler


def _unmask(masked: str, spans: list[str], filler: str) -> str:
    if not spans:
        return masked
    return "".join(chain.from_iterable(zip_longest(masked.split(filler), spans, fillvalue="")))


def _absent(text: str) -> str:
    """A code point the text does not hold.  NUL is no part of a normal form, but people's notes may hold anything."""
    held = set(text)
    return next(chr(code) for code in range(0x10FFFF, 0, -1) if chr(code) not in held)


def _seal_ticks(line: str) -> str:
    return _TICK.sub(_double, line) if "\\`" in line else line.replace("`", "\\`")


def _cut_out(line: str, found: list[tuple[int, int]], spans: list[str], filler: str) -> str:
    parts, at = [], 0
    for start, end in found:
        parts.append(line[at:start])
        spans.append(line[start:end])
        at = end
    parts.append(line[at:])
    return filler.join(parts)


def _spans(line: str) -> list[tuple[int, int]] | None:
    """The code spans of a line, or None when a backtick of it is in none."""
    if _odd_backslashes(line, line.index("`")):
        return None
    runs = [match.span() for match in _RUN.finditer(line)]
    closers: list[int] = [0] * len(runs)
    nearest: dict[int, int] = {}
    for at in range(len(runs) - 1, -1, -1):
        length = runs[at][1] - runs[at][0]
        closers[at] = nearest.get(length, -1)
        nearest[length] = at
    found, at = [], 0
    while at < len(runs):
        start = runs[at][0]
        if closers[at] < 0 or _odd_backslashes(line, start):
            return None
        found.append((start, runs[closers[at]][1]))
        at = closers[at] + 1
    return found


def _odd_backslashes(line: str, at: int) -> bool:
    first = at
    while first and line[first - 1] == "\\":
        first -= 1
    return (at - first) % 2 == 1


def _trusted(line: str, found: list[tuple[int, int]], tabular: bool) -> bool:
    """Whether every reader takes these spans for code.

    An autolink (`<1`, `www.`) that runs into a backtick swallows it; so does the label of a link definition.  A
    table's cells end at a bare `|`, code or not.
    """
    at = 0
    for start, end in found:
        word = line[line.rfind(" ", at, start) + 1 or at : start]
        if "<" in word or "www." in word or _LABEL_END.match(line, start, end):
            return False
        if tabular and _BARE_PIPE.search(line, start, end):
            return False
        at = end
    return True


def code_span(text: str) -> str:
    """Text of one line as a code span that `read_code_span` gives back exactly; a newline becomes `⏎`."""
    text = text.replace("\n", "⏎")
    fence = "`" * (1 + max((len(run) for run in _RUN.findall(text)), default=0))
    if not text.strip(" "):
        return f"{fence} {text}{fence}"  # there is no empty code span, so blanks are written one longer
    if text[0] == "`" or text[-1] == "`" or text[0] == text[-1] == " ":
        return f"{fence} {text} {fence}"
    return f"{fence}{text}{fence}"


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
