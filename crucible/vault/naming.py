"""Titles and prompts to names that are legal everywhere: session ids, slugs, phase names.

Owns what a new name looks like.  Which id is allowed at all is `session.identity`'s, told again here; which names are
taken is asked of the caller.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import unicodedata
from collections.abc import Callable
from datetime import date

from crucible.session.identity import LONGEST_ID, check_session_id

__all__ = ["LONGEST_ID", "check_session_id", "new_session_id", "phase_name", "slugify"]

_WINDOWS_NAMES = {"con", "prn", "aux", "nul"} | {f"{n}{i}" for n in ("com", "lpt") for i in range(10)}
_NOT_FOLDED = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i", "'": "", "\u2019": ""}
)
"""Latin letters without a decomposition, and apostrophes: `don't` gives `dont`."""

_READ_OF_PROMPT = 20_000
"""Code points of a prompt that are looked at for a name."""


def new_session_id(title: str, day: date, taken: Callable[[str], bool]) -> str:
    """`YYYY-MM-DD-<slug>`, with `-2`, `-3` … when that is taken."""
    wanted = f"{day.year:04}-{day.month:02}-{day.day:02}-{slugify(title)}"
    if not taken(wanted):
        return wanted
    return next(name for n in itertools.count(2) if not taken(name := f"{wanted}-{n}"))


def slugify(title: str, longest: int = 60) -> str:
    """Small ASCII letters, digits and hyphens, cut between words; never empty, never a device name of Windows.

    Accents are folded.  A title in which nothing Latin is left gives `session-` and six hex digits of its hash, so that
    different titles give different slugs and the same title the same one.
    """
    folded = unicodedata.normalize("NFKD", title.casefold().translate(_NOT_FOLDED))
    ascii_only = "".join(c for c in folded if not unicodedata.combining(c))
    slug = _cut_words(re.sub(r"[^a-z0-9]+", "-", ascii_only).strip("-"), longest)
    if not slug:
        return _hashed(title)
    return f"{slug}-session" if slug in _WINDOWS_NAMES else slug


def _cut_words(slug: str, longest: int) -> str:
    if len(slug) <= longest:
        return slug
    head, hyphen, _ = slug[: longest + 1].rpartition("-")
    # A first word that is too long by itself (a hash, an address) is cut where it must be.
    return head if hyphen and len(head) >= longest // 2 else slug[:longest].rstrip("-")


def _hashed(title: str) -> str:
    said = " ".join(title.split())
    if not any(c.isalnum() for c in said):
        return "session"
    return "session-" + hashlib.blake2s(said.encode("utf-8", "surrogatepass")).hexdigest()[:6]


def phase_name(prompt: str, longest: int = 60) -> str:
    """A short heading for what a human asked: the first telling sentence, without Markdown and courtesies.

    `/command args` and `!command` are kept as they were typed.  One line, never empty: `Untitled`.
    """
    text = _visible(prompt[:_READ_OF_PROMPT])
    line = next((cleaned for line in _telling_lines(text) if (cleaned := _plain(line))), "")
    if not line.startswith(("/", "!")):
        line = _without_courtesy(_first_sentence(line))
    return _cut_line(line, longest) or "Untitled"


def _visible(text: str) -> str:
    """Newlines are LF; no control characters, lone surrogates, colour codes or HTML comments."""
    text = re.sub(r"\r\n?", "\n", text)
    text = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]|<!--.*?(?:-->|\Z)", " ", text, flags=re.DOTALL)
    return "".join(c if c == "\n" or unicodedata.category(c) not in ("Cc", "Cs") else " " for c in text)


def _telling_lines(text: str) -> list[str]:
    """Lines outside code fences, then those inside, in case there is nothing else."""
    outside, inside, fence = [], [], ""
    for line in text.split("\n"):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if fence:
            closed = mark and mark[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closed else fence
            inside += [] if closed else [line]
        elif mark:
            fence = mark[1]
        else:
            outside.append(line)
    return outside + inside


def _plain(line: str) -> str:
    """The words of a Markdown line; empty when it has no letter or digit."""
    line = re.sub(r"^(?:\s|>|#{1,6}\s|[-*+]\s|\d{1,3}[.)]\s|\[[ xX]\]\s|\[!\w+\][+-]?)+", "", line)
    line = re.sub(r"</?[A-Za-z][^<>]*>", " ", line)
    line = re.sub(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]", r"\1", line)
    line = re.sub(r"!?\[([^\[\]]*)\]\([^()\s]*\)", r"\1", line)
    line = re.sub(r"\*\*|~~|`+|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)", "", line)
    line = " ".join(line.split())
    return line if any(c.isalnum() for c in line) else ""


_COURTESY = re.compile(
    r"(?:(?:hi|hello|hey)(?:\s+(?:there|claude))?\s*[,!.]\s*|(?:please|pls)\s*,?\s+"
    r"|(?:can|could|would|will)\s+you\s+(?:please\s+)?)+",
    re.IGNORECASE,
)


def _first_sentence(line: str) -> str:
    """The first sentence of two words or more (`Thanks! Now mend the test.`), or the whole line."""
    # A single letter before the stop is no end of a sentence: e.g., i.e., J. Doe.
    sentences = re.split(r"(?<=(?<!\b\w)[.!?])\s+(?=\W*\w)|(?<=[。！？])", line)
    telling = (s for s in sentences if " " in s.strip() or re.search(r"[。！？]$", s))
    return next((s for s in telling if not _COURTESY.fullmatch(s)), line)


def _without_courtesy(line: str) -> str:
    found = _COURTESY.match(line)
    rest = line[found.end() :] if found else line
    rest = rest.rstrip("?") if found and found.group().strip().lower().endswith(("you", "please")) else rest
    rest = rest if rest.strip() else line
    # `print(1)`, `v1.2`, `iOS` and addresses are names, not words.
    first = rest.split(" ", 1)[0].rstrip(",.:;!?").replace("'", "")
    capital = rest[:1].upper()
    return capital + rest[1:] if first.isalpha() and first.islower() and len(capital) == 1 else rest


def _cut_line(line: str, longest: int) -> str:
    line = line.strip().rstrip(".,:;。").rstrip()
    if len(line) <= longest:
        return line
    head, blank, _ = line[:longest].rpartition(" ")
    kept = head if blank and len(head) >= longest // 2 else line[: longest - 1]
    return kept.rstrip(" .,:;-") + "…"
