"""The card of an exported data set: what is in it, where it comes from, how to load it and train on it.

Owns the counts, and the `README.md` beside the files, whose head the Hugging Face hub reads.  Names from sessions stand in it as code, so
that none of them becomes structure.  It tells no time: the same rows give the same card.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from crucible.commands.learn.chat import Row
from crucible.commands.learn.shapes import Provenance, Shape
from crucible.core.patterns import late_pattern
from crucible.core.templates import render_template

__all__ = ["CARD_MARK", "Tally", "Written", "render_card"]

CARD_MARK = "<!-- written by cru session learn -->"
"""What tells a card of ours from a README of somebody else's."""

_TABLES = ("type", "split", "agent", "model", "difficulty", "project", "fault", "category", "review")
_MOST = 40
"""Rows of a table; the rest is told as a number."""
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass(slots=True)
class Tally:
    """Counts of the rows that were written, by what their metadata say; of what gave none, by its type; of what was taken out of them, by rule."""

    rows: int = 0
    tokens: int = 0
    by: defaultdict[str, Counter[object]] = field(default_factory=lambda: defaultdict(Counter))
    left_out: Counter[str] = field(default_factory=Counter)
    redactions: Counter[str] = field(default_factory=Counter)

    def add(self, metadata: Row) -> None:
        """Count a row."""
        self.rows += 1
        self.tokens += int(str(metadata["tokens"]))
        for name in (*_TABLES, "session", "verified", "complete", "problems"):
            self.by[name][metadata[name]] += 1


class Written(NamedTuple):
    """A file of the set that was written beside the card, with its split."""

    path: Path
    split: str
    rows: int
    size: int


def render_card(shape: Shape, tally: Tally, files: Sequence[Written], provenance: Provenance) -> str:
    """The card's text."""
    return render_template(
        "dataset-card.md.j2",
        mark=CARD_MARK,
        shape=shape.value,
        licence=_licence(provenance.licence),
        licence_name=_code(provenance.licence),
        source=_code(provenance.source),
        size=next((name for most, name in _SIZES if tally.rows < most), "1M<n<10M"),
        files=[(_yaml(one.path.name), _yaml(one.split or "train"), _code(one.path.name), one.rows) for one in files],
        tally=tally,
        tables=[(name.capitalize(), _table(tally.by[name])) for name in _TABLES if tally.by[name].keys() - {""}],
        left_out=_table(tally.left_out),
        redactions=_table(tally.redactions),
    )


def _table(counts: Counter[Any]) -> list[tuple[str, int]]:
    """The most frequent ones first, and what the rest comes to."""
    found = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
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


def _yaml(text: str) -> str:
    """A text as YAML's double quotes hold it, which are JSON's; what no YAML may hold is a blank."""
    return orjson.dumps(_UNREADABLE.sub(" ", text)).decode()
