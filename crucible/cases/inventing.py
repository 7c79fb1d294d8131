"""That a text which a model wrote holds nothing that it made up: every exact thing in it stands in what it was made of.

Owns what is exact and must be there to the letter, but for blanks: what is quoted (in any marks, in code spans, fences, indented lines, block
quotes), and each word that is more than a plain one (a path, an address, a number, an option, a name of code, a name).  Of plain words most must
be there in some form, so that a text about something else is none.  Structure of a note is refused unless it stood there before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator

from crucible.cases.wordlike import content_words
from crucible.note.contain import FORMAT, normal, normal_line, uncontain
from crucible.patterns import UNSEEN, late_pattern

__all__ = ["Known", "invented", "stems", "turned", "visible"]

_BLANKS = late_pattern(r"\s+")
_PREFIX = late_pattern(r"(?m)^[ \t]*(?:>[ \t]?)+")
_WINDOW = 3500
"""Code points that are parted into words at a time."""


def visible(text: str) -> str:
    """The text in normal form, without what nobody sees."""
    return normal(UNSEEN.sub("", text))


class Known:
    """What texts there are, and whether something stands in one of them."""

    def __init__(self, texts: Iterable[str]) -> None:
        flat = dict.fromkeys(form for text in texts for form in _forms(text))
        self._text = "\n".join(flat)
        self._folded = self._text.casefold()
        self._stems: frozenset[str] | None = None
        self._found: dict[tuple[str, bool], bool] = {}

    def has(self, piece: str) -> bool:
        """Whether a text holds the piece from a word's beginning to a word's end, whatever its blanks."""
        flat = _flat(piece)
        return not flat or _stands(flat, self._text, _is_parted)

    def has_word(self, word: str, *, folded: bool = False) -> bool:
        """Whether a text holds it, and not only as part of another word, name, number or path; `folded` whatever its case."""
        word = word.casefold() if folded else word
        key = word, folded
        if key not in self._found:
            self._found[key] = _stands(word, self._folded if folded else self._text, _is_whole)
        return self._found[key]

    @property
    def stems(self) -> frozenset[str]:
        """Of all words that say something."""
        if self._stems is None:
            self._stems = stems(self._text)
        return self._stems


def _forms(text: str) -> Iterator[str]:
    """A text as it is, and as it was before it stood in a callout of a note."""
    seen = visible(text)
    yield _flat(seen)
    if ">" in seen or "\\" in seen or "`" in seen:
        unquoted = _PREFIX.sub("", seen)
        yield from (_flat(uncontain(unquoted, form=form)) for form in (1, FORMAT))


def _flat(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()


def stems(text: str) -> frozenset[str]:
    """Of all words of a text that say something."""
    pieces = (text[at : at + _WINDOW] for at in range(0, len(text), _WINDOW - 100))
    return frozenset().union(*map(content_words, pieces))


_INSIDE = frozenset("./\\~-_@:$")
"""What before a word that begins with a mark makes it the end of a longer one."""


def _stands(word: str, text: str, is_there: Callable[[str, int, int], bool]) -> bool:
    at = text.find(word) if word else -1
    while at >= 0:
        if is_there(text, at, at + len(word)):
            return True
        at = text.find(word, at + 1)
    return False


def _is_whole(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if _is_letter(text[start]):
        if _is_letter(before[-1:]) or (
            text[start].isdigit() and before[-1:] in {".", ","} and before[:-1].isdigit()
        ):
            return False
    elif _is_letter(before[-1:]) or (before and before[-1] in _INSIDE):
        return False
    if not _is_letter(text[end - 1]):
        return True
    joins = after[:1] in {".", ","} if text[end - 1].isdigit() else after[:1] in {".", "@"}
    return not _is_letter(after[:1]) and not (joins and _is_letter(after[1:]))


def _is_parted(text: str, start: int, end: int) -> bool:
    """Whether no letter stands on both sides of an end of it."""
    return not any(
        _is_letter(text[at - 1 : at]) and _is_letter(text[at : at + 1])
        for at in (start, end)
        if 0 < at < len(text)
    )


def _is_letter(char: str) -> bool:
    return char.isalnum() or char == "_"


# --- what is wrong with a text ---------------------------------------------------------------------------------------


def invented(text: str, old: str, known: Known, whole: Known) -> Iterator[str]:
    """A line for each thing in a text, which is to stand for `old`, that it may not hold; nothing for one that holds nothing made up.

    Exact things are to stand in what is `known`, plain words somewhere in the `whole`.
    """
    yield from (
        f"“{_shown(line)}” makes structure: keep to plain sentences" for line in _structure(text, old)
    )
    rest = yield from _quotes(text, known)
    yield from _words(rest, known)
    mine = stems(rest)
    strange = mine - whole.stems
    if len(strange) * 5 > len(mine):
        yield f"too many of its words are not the session's: {_shown(', '.join(sorted(strange)))}"


_KEPT = 2
"""Words that say something which a text keeps of the old one at least."""
_DENIES = late_pattern(
    r"\b(?:not|never|no|none|nothing|nobody|nowhere|neither|nor|without|cannot|\w+n['’]t|nicht|kein\w*|nie|niemals|ohne|jamais|sans|pas|nunca|sin)\b",
    re.IGNORECASE,
)


def turned(text: str, old: str) -> Iterator[str]:
    """A line for what makes a text say something else than the old one: too little of it is left, or it denies and the other does not."""
    before = stems(old)
    if len(before & stems(text)) < min(_KEPT, len(before)) or not any(map(str.isalnum, text)):
        yield "too little is left of what it said"
    denied, denies = _DENIES.search(old), _DENIES.search(text)
    if denied and not denies:
        yield f"its “{denied[0]}” is gone: keep what is denied"
    elif denies and not denied:
        yield f"it said no “{denies[0]}” before"


_STRUCTURE = late_pattern(
    r"[ \t]*(?:#{1,6}(?:[ \t]|$)|(?:=+|-+|\*{3,}|_{3,})[ \t]*$|>[ \t]*\[!|[-*+][ \t]+\[.\][ \t]|\[[^\]]*\]:|\|.*\||\^\w|\w[\w ]*::"
    r"|\d+[.)][ \t]*$|[-*+][ \t]*$|[-*+][ \t]+\*\*[^*]*:\*\*)"
)
_LIVE = late_pattern(r"!?\[\[|!\[|\]\(|%%|\$\$|<[A-Za-z/!?]|\{\{|\{%|^\^|[ \t]\^[\w-]+$|\[\w+::")


def _structure(text: str, old: str) -> Iterator[str]:
    before = {_flat(line) for line in old.split("\n")}
    for line in text.split("\n"):
        if _flat(line) not in before and (_STRUCTURE.match(line) or _LIVE.search(line)):
            yield line


_FENCE = late_pattern(r"(?ms)^[ \t]*(`{3,}|~{3,})([^\n]*)\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)")
_QUOTED_LINES = late_pattern(r"(?m)(?:^[ \t]*>[^\n]*(?:\n|\Z))+")
_INDENTED = late_pattern(r"(?m)(?:^(?: {4}|\t)[^\n]*(?:\n|\Z))+")
_SPAN = late_pattern(r"(?s)(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_MARKS = (
    late_pattern(r'(?s)"([^"]*)"'),
    late_pattern(r"(?s)[“„]([^“”„]*)[”“]"),
    late_pattern(r"(?s)«([^«»]*)»"),
    late_pattern(r"(?s)»([^«»]*)«"),
    late_pattern(r"(?s)‹([^‹›]*)›"),
    late_pattern(r"(?s)「([^「」]*)」"),
    late_pattern(r"(?s)『([^『』]*)』"),
    late_pattern(r"(?s)(?<!\w)['‘‚](?=\S)(.+?)(?<=\S)['’‘](?!\w)"),
)
_PLACE, _PLACE_AT_END = " -, ", " -. "
"""What stands for a quoted piece afterwards: with a stop where a sentence or a line ended in it."""
_ENDS_IN_IT = late_pattern(r"[.!?\n]\W*$")
_LEFT_OVER = frozenset('"“”„«»‹›「」『』`‘')


def _quotes(text: str, known: Known) -> Generator[str, None, str]:
    """Complaints of quoted pieces; what is left of the text without them is returned."""
    for pattern, group in (
        (_FENCE, 3),
        (_QUOTED_LINES, 0),
        (_INDENTED, 0),
        (_SPAN, 2),
        *((one, 1) for one in _MARKS),
    ):
        for found in pattern.finditer(text):
            piece = _PREFIX.sub("", found[group]) if pattern is _QUOTED_LINES else found[group]
            if not known.has(piece):
                yield f"“{_shown(piece)}” is quoted, and stands nowhere in the session: quote to the letter"
            if pattern is _FENCE and found[2].strip() and not known.has_word(found[2].strip()):
                yield f"“{_shown(found[2])}” makes structure: keep to plain sentences"
        text = pattern.sub(_place_of, text)
    if any(char in _LEFT_OVER for char in text):
        yield "its quotation marks do not pair: close each where the quoted words end"
    return text


def _place_of(found: re.Match[str]) -> str:
    return _PLACE_AT_END if _ENDS_IN_IT.search(found[0][-4:]) else _PLACE


def _shown(text: str) -> str:
    return normal_line(text)[:80]


_SPLIT = late_pattern(r"[\s–—…]+|\.{2,}")
_AROUND = ".,;:!?()[]{}'\"’*"
_PLAIN = late_pattern(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_SENTENCE_ENDS = late_pattern(r"[.!?:;][\"'’)\]*]*$")
_NUMBERS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11",
    "twelve": "12", "twice": "2", "dozen": "12", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "hundred": "100",
    "thousand": "1000", "million": "1000000", "billion": "1000000000",
}  # fmt: skip


def _words(text: str, known: Known) -> Iterator[str]:
    """Complaints of words that are more than plain ones and stand nowhere."""
    for line in text.split("\n"):
        begins = True
        for whole in _SPLIT.split(line):
            word = whole.strip(_AROUND)
            if word and word not in _ITEMS and not _may_stand(word, known, begins=begins):
                yield f"“{_shown(word)}” stands nowhere in the session: make up no name, number, path or command"
            if word not in _ITEMS or len(whole) > 1:
                begins = bool(_SENTENCE_ENDS.search(whole)) or (begins and not word)


_ITEMS = frozenset(("", "-", "+", "→"))
_PROGRAM_NAMES = (
    "apt apt-get awk aws bash brew bun bundle chmod chown conda cp curl dd deno docker dotnet eslint exec ffmpeg gcc gcloud gh git "
    "gradle grep gunzip gzip helm java javac journalctl kill killall kubectl ln ls mkdir mkfs mvn mypy mysql nc netcat nginx node npm "
    "npx nslookup openssl perl pip pipx pkill pnpm podman poetry powershell psql pwsh pytest python redis-cli rg rm rmdir rsync ruff "
    "rustc scp sed sh ssh sudo systemctl tar terraform tmux tsc uv uvx vim wget xargs yarn zsh"
)
_PROGRAMS = frozenset(_PROGRAM_NAMES.split())
"""Commands whose names are no words of a sentence."""


def _may_stand(word: str, known: Known, *, begins: bool) -> bool:
    if not _PLAIN.fullmatch(word):
        return known.has_word(word)
    number = _NUMBERS.get(word.casefold())
    if number:
        return known.has_word(word, folded=True) or known.has_word(number)
    if _is_name(word) or word.casefold() in _PROGRAMS:
        return known.has_word(word)
    if begins or word[0] == word[0].casefold() or word in {"I", "I'm", "I've", "I'll", "I’m", "I’ve", "I’ll"}:
        return True
    return known.has_word(word, folded=True)


def _is_name(word: str) -> bool:
    """Whether it has a capital behind its first letter, as names of code have, and is not two such words."""
    return any(
        part[1:] != part[1:].casefold() for part in word.replace("’", "-").replace("'", "-").split("-")
    )
