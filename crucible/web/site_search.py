"""The search of an exported site: an index of words in small files, which `static/search.js` loads one by one.

Browsers let a page that was opened as a file load scripts, but neither other files nor WebAssembly.  So each file is a
script that passes JSON to one function.  Text from notes is only in this JSON.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

import orjson

from crucible.core.patterns import late_pattern

FOLDER = "search"
_WORD = late_pattern(r"[^\W_]+")
_LONGEST = 24
"""Maximum length of a word; longer ones are hashes and encoded data."""
_LABEL = 100
_MANY = 200
_CHUNK = 20
"""Pages per file: a search loads only the files with its results."""


class Part(NamedTuple):
    """A part of a page that can be found: its id on the page, its name, and its words without repetitions."""

    anchor: str
    label: str
    words: str


class Entry(NamedTuple):
    """A page that can be found: its address, its title, a line of facts, and its parts.  The first is its head."""

    path: str
    title: str
    facts: str
    parts: Sequence[Part]


def part_of(texts: Iterable[str], anchor: str = "", label: str = "") -> Part:
    """Return a part with the words of texts."""
    text = " ".join(texts)
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    found = {word for word in _WORD.findall(plain.lower()) if len(word) <= _LONGEST}
    words = (word for word in found if len(word) > 1 or not word.isascii())
    return Part(anchor, " ".join(label.split())[:_LABEL], " ".join(sorted(words)))


def depth_of(pages: int) -> int:
    """Return how many first characters of a word determine its file: one or two, so that a small site has few files."""
    return 1 if pages < _MANY else 2


def index_files(entries: Sequence[Entry]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the index, by their paths in the site.  Pages are numbered in the given order."""
    depth = depth_of(len(entries))
    shards: dict[str, dict[str, list[int]]] = {}
    for number, entry in enumerate(entries):
        for at, part in enumerate(entry.parts):
            for word in part.words.split():
                shards.setdefault(_shard_of(word, depth), {}).setdefault(word, []).extend((number, at))
    for name, words in sorted(shards.items()):
        yield _file(f"words-{name}", dict(sorted(words.items())))
    for start in range(0, len(entries), _CHUNK):
        pages = [
            (quote(entry.path), entry.title, entry.facts, [part[:2] for part in entry.parts])
            for entry in entries[start : start + _CHUNK]
        ]
        yield _file(f"pages-{start // _CHUNK}", pages)


def _shard_of(word: str, depth: int) -> str:
    """Return the name of a word's file: its first characters, if they are plain."""
    first, second = word[0], word[1:depth]
    if not _is_plain(first):
        return f"u{ord(first) >> 8:x}"
    return first + (second if _is_plain(second) else "_")


def _is_plain(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _file(name: str, data: object) -> tuple[str, bytes]:
    text = orjson.dumps(data)
    return f"{FOLDER}/{name}.js", b'cruData("%s",%s)\n' % (name.encode(), text)
