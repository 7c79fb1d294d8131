"""Find the ranges that hide inline syntax: fences, indented code, code spans, `%%` comments, `$$` math and HTML.

The mark that opens first wins.  Blocks follow CommonMark, including quotes and lists.  The time is linear in the length
of the text, since closers are found in advance and nesting has a maximum depth.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Literal

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.source import Span

HiddenKind = Literal["fence", "indented", "code", "comment", "html", "math"]


class Hidden(NamedTuple):
    """A range whose marks have no effect, including its opener and closer."""

    kind: HiddenKind
    span: Span


class Scan(NamedTuple):
    """The hidden ranges, in order and without overlaps, and those that were not closed.

    An unclosed fence or HTML block hides the rest of its container, as in CommonMark, so it is in both.  An unclosed
    `%%` hides nothing; its span is only the mark.
    """

    hidden: tuple[Hidden, ...]
    unclosed: tuple[Hidden, ...]


def hidden_ranges(text: str, start: int = 0) -> list[Span]:
    """Return the ranges in which tags, links, block ids and footnotes are ignored."""
    return [found.span for found in scan(text, start).hidden]


def hidden_near(text: str, start: int, needle: re.Pattern[str]) -> list[Span]:
    """Return the hidden ranges near the matches of `needle`.  For speed, the rest of the note is not scanned.

    If nothing in the note can hide text across a blank line, paragraphs can be scanned separately.
    """
    if any(text.find(mark, start) >= 0 for mark in _FAR_REACHING):
        last = max((hit.end() for hit in needle.finditer(text, start)), default=-1)
        scanner = _Scanner(text, start)
        scanner.run(text.find("\n", last) if last >= 0 else start)
        return [one.span for one in scanner.hidden]
    found: list[Span] = []
    end = start
    for hit in needle.finditer(text, start):
        if hit.start() >= end:
            begin = _stretch_start(text, end, hit.start())
            end = text.find("\n\n", hit.start())
            end = len(text) if end < 0 else end
            if text.find("`", begin, end) >= 0:
                # Copying all text before it would take quadratic time.
                found += (Span(begin + one.start, begin + one.end) for one in hidden_ranges(text[begin:end]))
    return found


def _stretch_start(text: str, first: int, at: int) -> int:
    """The offset after the last blank line before `at` that precedes an unindented line; both end lists and quotes."""
    while (blank := text.rfind("\n\n", first, at)) >= 0:
        if text[blank + 2] not in " \n":
            return blank + 2
        at = blank + 1
    return first


def scan(text: str, start: int = 0) -> Scan:
    """Find all hidden ranges from offset `start`, the start of the body.  Never raises."""
    scanner = _Scanner(text, start)
    scanner.run()
    return Scan(tuple(scanner.hidden), tuple(scanner.unclosed))


_FAR_REACHING = ("%%", "$$", "<", "```", "~~~", "    ", "\t", "\r", "\f", "\v")
"""Signs of comments, math, HTML, fences and indented code: only these hide text across a blank line."""
_LINE_END = late_pattern(r"\r\n?|\n")
_BLANK_LINE = late_pattern(r"(?:\r\n?+|\n)[ \t>]*+(?=[\r\n])")
_COMMENT = late_pattern(r"(?<!%)%%(?!%)")  # exactly two, as in Obsidian since 1.13
_HTML_END = late_pattern(r"-->")
_MATH = late_pattern(r"\$\$")
_TICKS = late_pattern(r"`++")
_INLINE = late_pattern(r"\\[\s\S]|`++|(?<!%)%%(?!%)|\$\$|<!--")
_BLANKS = late_pattern(r"[ \t]*+")
_FENCE = late_pattern(r"(`{3,}+)[^`]*+$|(~{3,}+)")
_HEADING = late_pattern(r"#{1,6}+(?=[ \t]|$)")
_RULE = late_pattern(r"([-*_])(?>(?:[ \t]*+\1){2,})[ \t]*+$")
_UNDERLINE = late_pattern(r"(?:-++|=++)[ \t]*+$")
_ITEM = late_pattern(r"(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)")
_FIRST_ITEM = late_pattern(r"(?:[-+*]|1[.)])[ \t]++[^ \t]")
_TAGS_OF_BLOCKS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    "track|ul"
)
# Omits CommonMark's seventh kind, an inline tag on its own line, which would hide the links on the lines below.
_HTML_BLOCKS = [
    (late_pattern(opener, re.IGNORECASE), late_pattern(closer, re.IGNORECASE) if closer else None)
    for opener, closer in (
        (r"<!--", r"-->"),
        (r"<(?:script|pre|style|textarea)(?=[\s>]|$)", r"</(?:script|pre|style|textarea)>"),
        (r"<\?", r"\?>"),
        (r"<!\[CDATA\[", r"\]\]>"),
        (r"<![a-z]", r">"),
        (rf"</?(?:{_TAGS_OF_BLOCKS})(?=[\s>]|/>|$)", ""),
    )
]
_STARTS = frozenset(" \t#>-+*_=`~<0123456789")
"""First characters of lines that may be more than plain text."""

_QUOTE = -1
_MAX_NESTING = 100  # bounds the cost of a blank line, which is checked against all open lists


class _Open(NamedTuple):
    """An open fence or HTML block.  If `closer` is None, it ends at the next blank line."""

    kind: HiddenKind
    start: int
    depth: int
    closer: re.Pattern[str] | None


class _Scanner:
    """Scan the lines once.  A container is the content column of a list item, or `_QUOTE`."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.hidden: list[Hidden] = []
        self.unclosed: list[Hidden] = []
        self.containers: list[int] = []
        self.block: _Open | None = None
        self.empty_item = False  # the innermost container is a list item that is still empty
        self.paragraph = -1  # the start of the open paragraph
        self.done = start  # the end of the scanned text, as a comment may span many lines
        self.comments = [found.start() for found in _COMMENT.finditer(text, start)]
        self.maths = [found.start() for found in _MATH.finditer(text, start)]
        self.html_ends = [found.start() for found in _HTML_END.finditer(text, start)]
        self.blanks = [found.start() for found in _BLANK_LINE.finditer(text, start)] if self.maths else []

    def run(self, stop: int = -1) -> None:
        """Scan all lines, or only as far as needed for what begins before `stop`."""
        begin = self.done
        last_end = begin
        for found in _LINE_END.finditer(self.text, begin):
            if 0 <= stop < begin and self.paragraph < 0 and not self.block and self.done <= begin:
                return
            self.line(begin, found.start(), last_end)
            begin, last_end = found.end(), found.start()
        self.line(begin, len(self.text), last_end)
        self.end_paragraph(len(self.text))
        if self.block:
            self.close_block(self.block, len(self.text), closed=self.block.closer is None)

    def line(self, begin: int, end: int, last_end: int) -> None:
        """Scan a line: continue or close open blocks, open new containers, then classify the rest of the line."""
        if self.done > begin:
            self.rest_of_line(end)
            return
        if begin < end and self.text[begin] not in _STARTS and not self.containers and not self.block:
            self.paragraph = begin if self.paragraph < 0 else self.paragraph
            return
        matched, at, column, base = self.match_containers(begin, end)
        if self.empty_item and at >= end:
            self.containers.pop()  # a list item may begin with at most one blank line
            matched = min(matched, len(self.containers))
        self.empty_item = False
        if self.block and matched < self.block.depth:  # the block ends with its quote or list item
            self.close_block(self.block, last_end, closed=self.block.closer is None)
        if self.block:
            self.inside_block(self.block, at, end, column - base)
            return
        if self.is_underline(at, end, column - base, matched):
            self.end_paragraph(end)
            return
        if self.ends_paragraph(at, end, column - base, matched):
            self.end_paragraph(begin)
            if self.done > begin:
                self.rest_of_line(end)
                return
            del self.containers[matched:]
        if self.paragraph < 0 and at < end:
            del self.containers[matched:]
            at, column, base = self.open_containers(at, end, column, base)
            if at < end:
                self.open_leaf(at, end, column - base)

    def rest_of_line(self, end: int) -> None:
        """Treat the rest of a line, after a comment that began on an earlier line, as running text."""
        if self.done < end and self.paragraph < 0:
            self.paragraph = self.done

    def match_containers(self, begin: int, end: int) -> tuple[int, int, int, int]:
        """Return the number of containers around a line, the offset and column of its first non-blank, and the base."""
        at, column = self.skip_blanks(begin, end, 0)
        base = matched = 0
        for container in self.containers:
            if container == _QUOTE:
                if at >= end or self.text[at] != ">" or column - base > 3:
                    break
                at, column, base = self.enter_quote(at, end, column)
            elif at < end and column < container:
                break
            else:
                base = container
            matched += 1
        return matched, at, column, base

    def skip_blanks(self, at: int, end: int, column: int) -> tuple[int, int]:
        found = _BLANKS.match(self.text, at, end)
        stop = found.end() if found else at
        blanks = self.text[at:stop]
        if "\t" not in blanks:
            return stop, column + stop - at
        for blank in blanks:
            column += 4 - column % 4 if blank == "\t" else 1
        return stop, column

    def enter_quote(self, at: int, end: int, column: int) -> tuple[int, int, int]:
        base = column + (2 if self.text[at + 1 : at + 2] in (" ", "\t") else 1)
        at, column = self.skip_blanks(at + 1, end, column + 1)
        return at, column, min(base, column)

    def is_underline(self, at: int, end: int, indent: int, matched: int) -> bool:
        """True for a setext underline.  Without a paragraph directly above, such a line is a break, an item or text."""
        here = self.paragraph >= 0 and indent < 4 and matched == len(self.containers)
        return here and _UNDERLINE.match(self.text, at, end) is not None

    def ends_paragraph(self, at: int, end: int, indent: int, matched: int) -> bool:
        """True if a line is blank or starts a block.  Other lines continue the paragraph above."""
        if at >= end:
            return True
        if self.paragraph < 0 or indent > 3:
            return False
        text = self.text
        if text[at] not in "#>-+*_`~<1" and not (matched < len(self.containers) and text[at].isdigit()):
            return False
        items = _ITEM if matched < len(self.containers) else _FIRST_ITEM
        if text[at] == ">" or self.html_at(at, end):
            return True
        return any(block.match(text, at, end) for block in (_HEADING, _RULE, _FENCE, items))

    def html_at(self, at: int, end: int) -> tuple[int, re.Pattern[str] | None] | None:
        """The end of the opener, and the closer, of an HTML block that starts here; None if there is none."""
        if self.text[at] == "<":
            for opener, closer in _HTML_BLOCKS:
                if found := opener.match(self.text, at, end):
                    return found.end(), closer
        return None

    def open_containers(self, at: int, end: int, column: int, base: int) -> tuple[int, int, int]:
        text = self.text
        while at < end and column - base < 4 and len(self.containers) < _MAX_NESTING:
            if text[at] == ">":
                self.containers.append(_QUOTE)
                at, column, base = self.enter_quote(at, end, column)
            elif (item := _ITEM.match(text, at, end)) and not _RULE.match(text, at, end):
                after = column + item.end() - at
                at, column = self.skip_blanks(item.end(), end, after)
                # Of five or more blanks after the marker, one belongs to the marker and the rest to indented code.
                base = column if at < end and column - after < 5 else after + 1
                self.containers.append(base)
                self.empty_item = at >= end
            else:
                break
        return at, column, base

    def open_leaf(self, at: int, end: int, indent: int) -> None:
        """Open the block that the line starts within its containers."""
        text = self.text
        if indent > 3:
            self.hide_indented(at, end)
        elif fence := _FENCE.match(text, at, end):
            mark = fence.group(1) or fence.group(2)
            closer = re.compile(rf"{mark[0]}{{{len(mark)},}}+[ \t]*+$")
            self.block = _Open("fence", at, len(self.containers), closer)
        elif html := self.html_at(at, end):
            self.block = _Open("html", at, len(self.containers), html[1])
            self.inside_block(self.block, html[0], end, 0)
        elif not _RULE.match(text, at, end):
            self.paragraph = at
            if _HEADING.match(text, at, end):
                self.end_paragraph(end)

    def hide_indented(self, at: int, end: int) -> None:
        last = self.hidden[-1] if self.hidden else None
        if last and last.kind == "indented" and not self.text[last.span.end : at].strip(" \t\r\n>"):
            self.hidden[-1] = Hidden("indented", Span(last.span.start, end))
        else:
            self.hidden.append(Hidden("indented", Span(at, end)))

    def inside_block(self, block: _Open, at: int, end: int, indent: int) -> None:
        if block.closer is None:
            if at >= end:
                self.close_block(block, at, closed=True)
        elif block.kind == "fence":
            if indent < 4 and block.closer.match(self.text, at, end):
                self.close_block(block, end, closed=True)
        elif found := block.closer.search(self.text, at, end):
            self.close_block(block, found.end(), closed=True)
            self.done = found.end()
            self.rest_of_line(end)

    def close_block(self, block: _Open, end: int, *, closed: bool) -> None:
        found = Hidden(block.kind, Span(block.start, end))
        self.hidden.append(found)
        if not closed:
            self.unclosed.append(found)
        self.block = None

    def end_paragraph(self, end: int) -> None:
        """Scan the inline marks of a paragraph.  If a comment extends beyond the paragraph, so does `done`."""
        if self.paragraph < 0:
            return
        at, self.paragraph = self.paragraph, -1
        runs: dict[int, list[int]] | None = None
        while found := _INLINE.search(self.text, at, end):
            mark = found.group()
            at = found.end()
            if mark[0] == "`":
                runs = self.tick_runs(at, end) if runs is None else runs
                at = self.code_span(found.start(), at, runs)
            elif mark[0] != "\\":
                at = self.pair(mark, found.start(), at, end)
        self.done = max(self.done, at)

    def tick_runs(self, at: int, end: int) -> dict[int, list[int]]:
        runs: dict[int, list[int]] = {}
        for found in _TICKS.finditer(self.text, at, end):
            runs.setdefault(found.end() - found.start(), []).append(found.start())
        return runs

    def code_span(self, start: int, at: int, runs: dict[int, list[int]]) -> int:
        """Hide a code span, which ends at the next run of as many backticks; without one, the backticks are text."""
        closer = _first_from(runs.get(at - start, []), at)
        return self.hide("code", start, closer + at - start) if closer >= 0 else at

    def pair(self, mark: str, start: int, at: int, end: int) -> int:
        """Hide a comment, math or an HTML comment from its opener; return the offset from which to continue."""
        if mark == "%%":
            closer = _first_from(self.comments, at)
            if closer >= 0 and _QUOTE in self.containers and _LINE_END.search(self.text, at, closer):
                closer = -1  # in a quote it must close on its own line, since it would otherwise extend past the quote
            if closer < 0:
                self.unclosed.append(Hidden("comment", Span(start, at)))
            return self.hide("comment", start, closer + 2) if closer >= 0 else at
        if mark == "$$":
            closer, blank = _first_from(self.maths, at), _first_from(self.blanks, start)
            # `$$` is also the process id in shells, so math never spans a blank line.
            return self.hide("math", start, closer + 2) if closer >= 0 and not 0 <= blank < closer else at
        closer = _first_from(self.html_ends, at)
        return self.hide("html", start, closer + 3) if 0 <= closer < end else at

    def hide(self, kind: HiddenKind, start: int, end: int) -> int:
        self.hidden.append(Hidden(kind, Span(start, end)))
        return end


def _first_from(places: list[int], at: int) -> int:
    """The first of the sorted offsets at or after `at`; -1 if there is none."""
    index = bisect_left(places, at)
    return places[index] if index < len(places) else -1
