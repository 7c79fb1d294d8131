"""Prose as the sentences that stand in it, each with its line, ready to be asked what it says.

Owns what is said by somebody else and so is left out: code, block quotes, tables, headings; and the plain form of a sentence, in which what is
quoted is only a place holder.  What a sentence means is for who asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crucible.acts.needled import lowered
from crucible.patterns import late_pattern

__all__ = ["Sentence", "content_words", "one_line", "sentences_of"]

_READ = 20_000
"""Code points of a text that are looked at."""
_LONGEST = 700
"""Code points of a sentence that are looked at: patterns may look far ahead within one."""
_SHOWN = 200
_NEAR = 300
"""Code points within which a quote that goes on is closed."""

_ITEM = late_pattern(r"[ \t]*(?:[-*+•]|[0-9]{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_LEFT_OUT = late_pattern(r"[ \t]*(?:>|\||#{1,6} |<!--|(?:[-*_][ \t]*){3,}$)")
_FENCE = late_pattern(r"[ \t]*(`{3,}|~{3,})")
_END = late_pattern(r"(?:(?<=[.!…])|(?<=\?)(?!  ?[a-z]))[\"'”’»)\]*_]{0,3}[ \t]+(?=\S)|(?<=[。！？])(?=\S)")
_CODE = late_pattern(r"`{1,3}[^`\n]{1,400}`{1,3}")
_QUOTED = late_pattern(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»|「[^」\n]{1,400}」|(?<![\w'])'[^'\n]{2,400}'(?!\w)"
)
_WORD = late_pattern(r"[^\W_][\w-]{3,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}")
_OPENS = late_pattern(
    r"^(?:(?:so|well|ok|okay|right|alright|all right|now|now then|hm+|good|great|fine|yes|and|but|then|na dann|gut|also|nun|ja|tja|bon|bien|eh bien|alors|donc|bueno|pues|allora|bene|então|goed|dobrze|хорошо|итак|好的?|では|じゃあ|자)(?:[,.:!]| -)+ ?){1,2}"
)
"""Interjections that say nothing, before a sentence."""
_MARKS = str.maketrans({"’": "'", "‘": "'", "\u00a0": " ", "\u202f": " ", "*": None, "—": "-", "–": "-", "：": ":", "，": ",", "；": ";"})  # fmt: skip
_SMALL = frozenset(
    [
        "this",
        "that",
        "with",
        "from",
        "have",
        "does",
        "each",
        "only",
        "once",
        "every",
        "over",
        "into",
        "they",
        "them",
        "then",
        "than",
        "there",
        "when",
        "what",
        "which",
        "will",
        "would",
        "their",
        "after",
        "before",
        "same",
        "first",
        "last",
        "more",
        "most",
        "less",
        "must",
        "many",
        "never",
        "always",
        "both",
        "between",
        "until",
        "while",
        "where",
        "whole",
        "without",
        "also",
        "been",
        "because",
        "since",
        "make",
        "makes",
        "made",
        "used",
        "uses",
        "using",
        "instead",
        "rather",
        "take",
        "takes",
        "need",
        "needs",
        "eine",
        "einen",
        "einer",
        "sind",
        "wird",
        "werden",
        "jede",
        "dass",
        "sonst",
        "denn",
        "statt",
        "nicht",
        "dans",
        "avec",
        "plus",
        "sont",
        "pour",
        "elle",
        "mais",
        "plutôt",
    ]
)


class Sentence(NamedTuple):
    """What was said: `text` as it stands, `plain` in small letters without what is quoted, `line` of the note, from 1.

    `paragraph` and `at` count from 0: which paragraph or list item of its text, which sentence of that.
    """

    text: str
    plain: str
    line: int
    paragraph: int = 0
    at: int = 0

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return self.plain.rstrip(" \"')»”").endswith(("?", "？"))


def sentences_of(text: str, line: int) -> list[Sentence]:
    """The sentences of a text whose first line is the note's `line`."""
    return [
        Sentence(said, plain, line + row, number, at)
        for number, (row, paragraph) in enumerate(_paragraphs(text[:_READ]))
        for at, (said, row, plain) in enumerate(_sentences(paragraph, row))
    ]


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Each paragraph or list item with the number of its first line."""
    kept: list[str] = []
    first, fence = 0, ""
    for row, line in enumerate(text.split("\n")):
        opened = _FENCE.match(line)
        if opened:
            fence = "" if fence and opened[1].startswith(fence) else fence or opened[1]
        item = None if fence or opened else _ITEM.match(line)
        is_gap = bool(fence or opened or not line.strip() or _LEFT_OUT.match(line))
        if (is_gap or item) and kept:
            yield first, "\n".join(kept)
            kept = []
        if not is_gap:
            first = first if kept else row
            kept.append(line[item.end() :] if item else line)
    if kept:
        yield first, "\n".join(kept)


def _sentences(paragraph: str, row: int) -> Iterator[tuple[str, int, str]]:
    start = 0
    joined = paragraph.replace("\n", " ")
    for end in [*(found.end() for found in _END.finditer(joined)), len(joined)]:
        if end < len(joined) and _is_quoting(joined, start, end):
            continue
        said = joined[start:end].strip()
        if said:
            skipped = paragraph[:start].count("\n") if "\n" in paragraph else 0
            yield said[:_LONGEST], row + skipped, _plain(said[:_LONGEST])
        start = end


def _is_quoting(joined: str, start: int, end: int) -> bool:
    """Whether a sentence would end within what is quoted, which goes on near by."""
    if '"' in joined:
        return joined.count('"', start, end) % 2 == 1 and '"' in joined[end : end + _NEAR]
    if "„" in joined or "“" in joined or "«" in joined:
        opened, closed = (sum(joined.count(mark, start, end) for mark in marks) for marks in ("„«", "“”»"))
        if "„" not in joined and "“" in joined:
            opened, closed = joined.count("“", start, end), joined.count("”", start, end)
        return opened > closed and any(mark in joined[end : end + _NEAR] for mark in "“”»")
    return False


def _plain(said: str) -> str:
    text = said.translate(_MARKS)
    if "`" in text:
        text = _CODE.sub("code", text)
    if any(mark in text for mark in "\"“„«「'"):
        text = _QUOTED.sub("quoted", text)
    return _OPENS.sub("", lowered(text).strip(" -#"))


def content_words(text: str) -> frozenset[str]:
    """The words that say what a text is about, in small letters."""
    return frozenset(_WORD.findall(text[:4000].casefold())) - _SMALL


def one_line(text: str, limit: int = _SHOWN) -> str:
    """A text in one line of at most `limit` code points, cut at a word."""
    line = " ".join(text[: 8 * limit].split())
    if len(line) <= limit:
        return line
    kept = line[: limit - 1].rpartition(" ")[0]
    return f"{kept if len(kept) > limit // 2 else line[: limit - 1]}…"
