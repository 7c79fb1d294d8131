"""The card of an exported data set: what is in it, where it comes from, how to load it and train on it.

Owns the counts, and the `README.md` beside the files, whose head the Hugging Face hub reads.  Names from sessions stand in it as code, so
that none of them becomes structure.  It tells no time: the same rows give the same card.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from crucible.cases.chat import Row
from crucible.cases.shapes import Provenance, Shape
from crucible.patterns import late_pattern
from crucible.templates import render_template

__all__ = ["CARD_MARK", "CardFile", "Tally", "render_card"]

CARD_MARK = "<!-- written by cru session learn -->"
"""What tells a card of ours from a README of somebody else's."""

_COUNTED = ("type", "split", "agent", "model", "difficulty", "project", "fault", "category", "review")
_MOST = 40
"""Rows of a table; the rest is told as a number."""


@dataclass(slots=True)
class Tally:
    """Counts of the rows that were written: by each column to filter by; of what gave none, by its type; of what was taken out of them, by rule."""

    rows: int = 0
    tokens: int = 0
    verified: int = 0
    partial: int = 0
    troubled: int = 0
    by: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in _COUNTED})
    sessions: set[str] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    redactions: Counter[str] = field(default_factory=Counter)

    def add(self, metadata: Row) -> None:
        """Count a row."""
        self.rows += 1
        self.tokens += int(str(metadata["tokens"]))
        self.verified += bool(metadata["verified"])
        self.partial += not metadata["complete"]
        self.troubled += bool(metadata["problems"])
        self.sessions.add(str(metadata["session"]))
        for name, counts in self.by.items():
            counts[str(metadata[name])] += 1

    def merge(self, other: Tally) -> None:
        """Count what another one counted."""
        self.rows += other.rows
        self.tokens += other.tokens
        self.verified += other.verified
        self.partial += other.partial
        self.troubled += other.troubled
        self.sessions |= other.sessions
        self.left_out.update(other.left_out)
        self.redactions.update(other.redactions)
        for name, counts in self.by.items():
            counts.update(other.by[name])


@dataclass(frozen=True, slots=True)
class CardFile:
    """A file of the set by its name beside the card, its split, and how many rows it has."""

    name: str
    split: str
    rows: int


def render_card(
    shape: Shape,
    tally: Tally,
    files: Sequence[CardFile],
    provenance: Provenance,
) -> str:
    """The card's text."""
    tables = [
        (name.capitalize(), _table(tally.by[name])) for name in _COUNTED if tally.by[name].keys() - {""}
    ]
    return render_template(
        "dataset-card.md.j2",
        mark=CARD_MARK,
        shape=shape.value,
        licence=_licence(provenance.licence),
        licence_name=_code(provenance.licence),
        source=_code(provenance.source),
        size=_size(tally.rows),
        files=[(_yaml(one.name), _yaml(one.split or "train"), _code(one.name), one.rows) for one in files],
        data_files=_json({one.split or "train": one.name for one in files}),
        has_test=len(files) > 1,
        first=_yaml(files[0].split or "train") if files else '"train"',
        tally=tally,
        tables=tables,
        left_out=_table(tally.left_out),
        redactions=_table(tally.redactions),
    )


def _table(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The most frequent ones first, and what the rest comes to."""
    found = sorted(
        ((name, count) for name, count in counts.items() if count), key=lambda one: (-one[1], one[0])
    )
    rows = [(_code(name), count) for name, count in found[:_MOST]]
    rest = sum(count for _, count in found[_MOST:])
    return [*rows, (f"{len(found) - _MOST} others", rest)] if rest else rows


_UNSAFE = late_pattern(r"[`|\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def _code(text: str) -> str:
    """A name as code in one line of a table; what would end either is a blank."""
    clean = _UNSAFE.sub(" ", text).strip()[:120]
    return f"`{clean}`" if clean else "(none)"


_UNREADABLE = late_pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_KNOWN = late_pattern(r"[a-z0-9][a-z0-9.+-]{1,40}")


def _licence(licence: str) -> list[tuple[str, str]]:
    """The hub's fields: an identifier as it is, any other wording by name."""
    wanted = licence.lower()
    if wanted == "unspecified":
        return [("license", "unknown")]
    if _KNOWN.fullmatch(wanted):
        return [("license", _yaml(wanted))]
    return [("license", "other"), ("license_name", _yaml(licence))]


def _size(rows: int) -> str:
    sizes: Iterable[tuple[int, str]] = [
        (1_000, "n<1K"),
        (10_000, "1K<n<10K"),
        (100_000, "10K<n<100K"),
        (1_000_000, "100K<n<1M"),
    ]
    return next((name for most, name in sizes if rows < most), "1M<n<10M")


def _yaml(text: str) -> str:
    """A text as YAML's double quotes hold it, which are JSON's; what no YAML may hold is a blank."""
    return _json(_UNREADABLE.sub(" ", text))


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
