r"""Escapes within a line, by the rules of formats 1 and 2, and the code spans that need no escape.

Most rules turn k backslashes before a mark into k+1, so reading removes one, whatever the text was.  For marks of one
character it is 2k+1, because k+1 would turn `\<b>` into `\\<b>`, which is live HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import chain, zip_longest

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT, seal_code, unseal_code

# Everything that Obsidian and its plugins act on; tests check contained text against all of it.
_TAG_END = r"\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s\0"
TAG = rf"(?!\d+(?:[{_TAG_END}]|\Z))[^{_TAG_END}]"
"""The first character of a tag after its `#`; only digits are not a tag."""
BLOCK_ID = r"[A-Za-z0-9-]+[^\S\n]*$"
ENTITY = r"(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
SCHEME = r"(?i:\b(?:javascript|vbscript|data|file|obsidian))"
"""Schemes of URLs that run or open something when clicked, even without `//`."""
DATED = "[➕🛫⏳⌛📅📆🗓✅❌]\ufe0f?[ \t]*[0-9]{4}"
"""The start of a date in a task."""

FIELDS = ("started", "ended", "tokens")
"""The keys of a phase's inline fields."""

Pass = tuple[Callable[[str], str], Callable[[str], str]]
"""A function that adds an escape to text, and its inverse."""


class Rule(NamedTuple):
    r"""A mark that must not be read as structure: a backslash goes between the patterns `before` and `mark`.

    `when` limits which marks without a backslash are escaped.  A mark that already has backslashes always gets one
    more, so reading back needs no context.  In patterns, `^` matches only at the start and after `\n`.  `hint` is
    plain text that every match contains: all of `before`, or else the start of each mark.  `sign` is a pattern that
    is found fast, and in every text with a mark to escape.
    """

    name: str
    before: str
    mark: str
    hint: str = ""
    when: str = ""
    sign: str = ""

    def compiled(self) -> Pass:
        """Compile the rule into a pair of functions."""
        seal = rf"(?:{self.before})(?=\\++(?:{self.mark})|(?:{self.when or self.mark}))"
        unseal = rf"((?:{self.before})(?=\\++(?:{self.mark})))\\"
        if self.before == re.escape(self.hint):
            # A constant replacement costs a tenth of one with a group reference.
            escaped = self.hint + "\\"
            return _pass(seal, escaped + "\\", self.hint, self.sign), _pass(unseal, self.hint, escaped)
        return _pass(seal, r"\g<0>\\", self.hint, self.sign), _pass(unseal, r"\1", "\\" + self.hint)

    def bare(self) -> Callable[[str], str]:
        """Return a function that escapes only marks without a backslash."""
        return _pass(rf"(?:{self.before})(?=(?:{self.when or self.mark}))", r"\g<0>\\", self.hint)


def _pass(pattern: str, template: str, hint: str, sign: str = "") -> Callable[[str], str]:
    compiled, found = late_pattern(pattern, re.MULTILINE), late_pattern(sign, re.MULTILINE)
    return lambda text: compiled.sub(template, text) if hint in text and (not sign or found.search(text)) else text


def _single(char: str, bare: str, marked: str) -> Pass:
    """Return a pass for a mark of one character: k backslashes before it become 2k+1.

    `bare` and `marked` match the text after a mark without and with backslashes; `bare` may also look behind.
    """
    live = late_pattern(rf"{re.escape(char)}(?<!\\{re.escape(char)}){bare}", re.MULTILINE)
    run = late_pattern(rf"\\(?<!\\\\)\\*+{re.escape(char)}{marked}", re.MULTILINE)
    escaped = "\\" + char

    def seal(text: str) -> str:
        if escaped in text:
            text = run.sub(_double, text)
        return live.sub(r"\\\g<0>", text) if char in text else text

    return seal, lambda text: run.sub(_halve, text) if escaped in text else text


def _double(match: re.Match[str]) -> str:
    """Turn k backslashes before a mark of one character into 2k+1."""
    run = match[0]
    return run[:-1] + "\\" + run


def _halve(match: re.Match[str]) -> str:
    """Turn 2k+1 backslashes back into k.  An even number is not ours and is kept."""
    run = match[0]
    return run[len(run) // 2 :] if len(run) % 2 == 0 else run


# A link with a plain tail is kept.  Any other link could end within a code span, even on a later line, and swap opening
# and closing backticks after it.
_PLAIN = r"[^\s()\\`<>\[\]\0]"
_PLAIN_TAIL = rf"\((?>(?:{_PLAIN}|\({_PLAIN}*+\))*)\)"
_WEB_TAIL = rf"(?=\((?i:https?://|mailto:)){_PLAIN_TAIL}"

_SHARED: tuple[Rule, ...] = (
    Rule("wikilink", r"\[", r"\[", "["),
    Rule("image", "!", r"\[", "!"),
    Rule("comment", "%", "%", "%"),
    # A link definition is not rendered, and makes every `[label]` of the note a link.  Its label may begin on the line
    # above, so only the colon is certain.
    Rule("definition", r"\]", ":", "]"),
)
# Links in untrusted text may lead only to the web.
_LINK = Rule("link", r"\]", r"\(", "]", when=rf"(?!{_WEB_TAIL})\(")
INLINE_RULES = (*_SHARED, _LINK)

MORE_RULES: tuple[Rule, ...] = (
    Rule("scheme", SCHEME, ":(?=[A-Za-z0-9%/])", ":", sign=r":(?<=[aentAENT\\]:)[A-Za-z0-9%/]"),
    Rule("date", DATED, "-", "-"),
    Rule("dice", r"dice[\w+-]*", ":", ":", sign="dice"),
    # Dataview ignores an escape before `::`, so the backslash goes between the colons.
    Rule("field", ":", ":", ":", sign=r":\\*:"),
)
"""Additional escapes in format 2: a backslash between two marks."""

HTML_PASS: Pass = _single("<", "(?=[A-Za-z/!?])", "")
SINGLES: dict[str, Pass] = {
    "entity": _single("&", rf"(?={ENTITY})", rf"(?={ENTITY})"),
    # In Obsidian, math begins at a `$` before a non-blank and ends at one after a non-blank; a lone price is not math.
    "math": _single("$", r"(?:(?<=\S\$)|(?=[^\s\d]))", ""),
    "caret": _single("^", rf"(?:(?=\[)|(?<!\w\^)(?={BLOCK_ID}))", rf"(?=\[|{BLOCK_ID})"),
}
"""Additional escapes in format 2: backslashes before a mark of one character."""


def _seal_tags(text: str) -> str:
    return _LIVE_TAG.sub(lambda found: found["at"] or rf"\{found[0]}", text)


_WEB_TO_TAG = r"(?i:https?)://[\w/.:%&=?~+,;@-]*#"
_LIVE_TAG = late_pattern(rf"(?P<at>{_WEB_TO_TAG})|#(?<![\\\w]#)(?={TAG})")
_TAG_RUN = _single("#", rf"(?={TAG})(?!)", rf"(?={TAG})")
# A `#` directly after an escape or a code span is also a tag, so this pass comes last.
TAG_PASS: Pass = (
    lambda text: _seal_tags(_TAG_RUN[0](text)) if "#" in text else text,
    _TAG_RUN[1],
)

_WORD_END = late_pattern(r"\s|\Z")
_WEB = late_pattern(r"(?i)(?<![a-z0-9+.-])https?\Z")
_ESCAPED_URL = late_pattern(r":(?=\\++//)")
_URL_ESCAPE = late_pattern(r":\\(?=\\*+//)")


def _seal_urls(text: str, *, all_schemes: bool) -> str:
    """Escape URLs other than web URLs, since they open programs.

    A URL that extends up to a `<` or a backtick is also escaped: it would include the backslash before that mark.
    """
    parts, done, end, last_mark = list[str](), 0, 0, -1
    at = text.find("://")
    while at >= 0:
        if at >= end:
            end = _WORD_END.search(text, at).start()  # type: ignore[union-attr]  # the text's end at the latest
            last_mark = max(text.rfind(mark, at, end) for mark in "<`\0")
        if last_mark > at or (all_schemes and not _WEB.search(text, max(0, at - 8), at)):
            parts.append(f"{text[done : at + 1]}\\")
            done = at + 1
        at = text.find("://", at + 3)
    return "".join([*parts, text[done:]])


def _url_pass(*, all_schemes: bool) -> Pass:
    def seal(text: str) -> str:
        return _seal_urls(_ESCAPED_URL.sub(r":\\", text), all_schemes=all_schemes) if "//" in text else text

    return seal, lambda text: _URL_ESCAPE.sub(":", text) if "//" in text else text


URL_PASS = _url_pass(all_schemes=True)

# --- the rules of format 1 -------------------------------------------------------------------------------------------

_OLD_MATH = Rule("math", r"\$", r"\$", "$")
# The regex engine is fast at finding one of a set of final letters.
_OLD_FIELD = Rule(
    "field",
    r"[dsDS](?:(?<=(?<![^\W_])(?i:started))|(?<=(?<![^\W_])(?i:ended))|(?<=(?<![^\W_])(?i:tokens)))[ \t*_]*+",
    "::",
    "::",
)
_OLD_LINK = Rule("link-tail", r"\]", r"\(", "]", when=rf"(?!{_PLAIN_TAIL})\(")
OLD_RULES = (*_SHARED, _OLD_MATH, _OLD_LINK, _OLD_FIELD)


@lru_cache(maxsize=2)
def inline_passes(form: int) -> tuple[Pass, ...]:
    """All passes for text outside code spans, in the order in which they are applied."""
    if form < FORMAT:
        return (HTML_PASS, _url_pass(all_schemes=False), *(rule.compiled() for rule in OLD_RULES))
    rules = (rule.compiled() for rule in (*INLINE_RULES, *MORE_RULES))
    return (HTML_PASS, URL_PASS, *rules, *SINGLES.values(), TAG_PASS)


# Built on import, which takes 20 µs, since reading a note already recurses deeply.
for _form in (1, FORMAT):
    inline_passes(_form)


def seal_inline(text: str, form: int) -> str:
    """Escape text, except for trusted code spans."""
    masked, spans, filler = _mask(text, _seal_ticks, writing=True)
    for seal, _ in inline_passes(form):
        masked = seal(masked)
    return _unmask(masked, spans if form < FORMAT else [*map(seal_code, spans)], filler)


def unseal_inline(text: str, form: int) -> str:
    """The inverse of `seal_inline`."""
    if "\\" not in text:
        return text
    masked, spans, filler = _mask(text, _unseal_ticks)
    for _, unseal in reversed(inline_passes(form)):
        masked = unseal(masked)
    return _unmask(masked, spans if form < FORMAT else [*map(unseal_code, spans)], filler)


def convert_inline(text: str) -> str:
    """Convert escapes from format 1 to format 2.  Escapes that are the same in both are kept."""
    masked, spans, filler = _mask(text, str)
    for rule in (_OLD_FIELD, _OLD_MATH):
        masked = rule.compiled()[1](masked)
    masked = _LINK.bare()(_seal_urls(masked, all_schemes=True))
    for seal, _ in (*(rule.compiled() for rule in MORE_RULES), *SINGLES.values(), TAG_PASS):
        masked = seal(masked)
    return _unmask(masked, [*map(seal_code, spans)], filler)


# --- code spans ------------------------------------------------------------------------------------------------

_RUN = late_pattern(r"`+")
_TICK = late_pattern(r"(?<!\\)\\*+`")
_TICK_RUN = late_pattern(r"\\(?<!\\\\)\\*+`")
_LABEL_END = late_pattern(r"(?>(?:[^\[\]\\]|\\.)*)\]:")
_BARE_PIPE = late_pattern(r"(?<!\\)\|")
_TABLE_RULE = late_pattern(r"\n(?=[^\n|:]*+[|:])[-:| \t>]++$", re.MULTILINE)


def _mask(text: str, untrusted: Callable[[str], str], *, writing: bool = False) -> tuple[str, list[str], str]:
    """Replace each trusted code span with a filler; return the text, the spans and the filler.

    The spans of a line are trusted only if all its backticks pair up within the line.  Other lines with backticks go
    through `untrusted`, so a span over several lines is never code; this once let a `[[` through.
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
                lines[at] = untrusted(line)
            else:
                lines[at] = _cut_out(line, found, spans, filler)
    return "\n".join(lines), spans, filler


def _unmask(masked: str, spans: list[str], filler: str) -> str:
    if not spans:
        return masked
    return "".join(chain.from_iterable(zip_longest(masked.split(filler), spans, fillvalue="")))


def _absent(text: str) -> str:
    """A character that is not in the text.  Normalized text has no NUL, but a user's note may contain anything."""
    held = set(text)
    return next(chr(code) for code in range(0x10FFFF, 0, -1) if chr(code) not in held)


def _seal_ticks(line: str) -> str:
    return _TICK.sub(_double, line) if "\\`" in line else line.replace("`", "\\`")


def _unseal_ticks(line: str) -> str:
    return _TICK_RUN.sub(_halve, line)


def _cut_out(line: str, found: list[tuple[int, int]], spans: list[str], filler: str) -> str:
    parts, at = [], 0
    for start, end in found:
        parts.append(line[at:start])
        spans.append(line[start:end])
        at = end
    parts.append(line[at:])
    return filler.join(parts)


def _spans(line: str) -> list[tuple[int, int]] | None:
    """The code spans of a line, or None if a backtick is not part of any span."""
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
    """True if every Markdown parser reads these spans as code.

    An autolink (`<1`, `www.`) directly before a backtick includes the backtick, and so may the label of a link
    definition. Table cells end at a bare `|`, even within code.
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
