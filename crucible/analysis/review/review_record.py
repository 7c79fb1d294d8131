"""The record of a session that is shown to an agent: numbered lines within a budget.

Each line knows its rows of the transcript, so an answer can refer to them by the line's number.
"""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import heapify, heappop, heappush

from crucible.core.tokens import Counter
from crucible.documents.markdown.quoting import hang


class Tag(StrEnum):
    """What a line shows."""

    PROMPT = "U"
    STEERING = "U(mid-turn)"
    COMMAND = "U(command)"
    SHELL = "U(shell)"
    CLOSING = "A"
    TEXT = "a"
    AFTER_FAIL = "after-fail"
    FAIL = "FAIL"
    MEND = "MEND"
    PASSES = "PASSES"
    REFUSED = "REFUSED"
    INTERRUPTED = "INTERRUPTED"
    REWOUND = "REWOUND"
    ANSWER = "Q&A"
    PLAN = "PLAN"
    APPROVED = "PLAN APPROVED"
    LEFT = "PLAN LEFT"
    PROPOSED = "PLAN PROPOSED"
    SUBAGENT = "SUBAGENT"
    COMMIT = "COMMIT"
    REQUEST = "PR"
    EDITED = "EDITED"
    NOTED = "NOTED"
    COMPACTED = "--"
    PHASE = "PHASE"
    END = "END"


SAID = "the user said: "
"""Comes before the user's words in a refusal."""
_SETTLES = frozenset(
    (
        Tag.STEERING,
        Tag.REFUSED,
        Tag.ANSWER,
        Tag.PLAN,
        Tag.APPROVED,
        Tag.LEFT,
        Tag.COMMIT,
        Tag.REQUEST,
        Tag.EDITED,
        Tag.MEND,
        Tag.NOTED,
    )
)
"""Tags of lines that settle something by themselves, such as an answer, an approval, an edit or a commit."""


@dataclass(slots=True, eq=False)
class Line:
    """One line.  Its text is cut to `caps[level]` code points; 0 leaves the line out.

    `worth` is from 0 to 100; lines with the lowest are cut first.  `rows` are row ids of the transcript, `phase` is the id of a phase of the note.
    `settles` is true if the line can prove a decision.  `edits` has the rows of each file's edits, if the line lists files.
    """

    tag: Tag
    text: str
    rows: tuple[str, ...] = ()
    worth: int = 50
    caps: Sequence[int] = (400,)
    turn: int = 0
    phase: str = ""
    settles: bool = False
    level: int = 0
    edits: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.settles = self.settles or self.tag in _SETTLES

    @property
    def has_words(self) -> bool:
        """False for a refusal without a comment."""
        return self.tag is not Tag.REFUSED or SAID in self.text

    @property
    def shown(self) -> str:
        """The text at its current length.  Its further lines are indented, so that none looks like a line of the record."""
        cap = self.caps[self.level]
        if not cap or len(self.text) <= cap:
            return hang(self.text) if cap else ""
        head = cap * 5 // 8
        return hang(f"{self.text[:head].rstrip()} […] {self.text[len(self.text) - cap + head :].lstrip()}")


@dataclass(frozen=True, slots=True)
class Record:
    """The whole text, and the lines shown by their numbers."""

    text: str
    lines: Mapping[int, Line] = field(default_factory=dict)


def fit(lines: Iterable[Line], budget: int, counter: Counter, show: Callable[[str], str] = str) -> Record:
    """Cut the lines, the least important first, until they have at most `budget` tokens.  `show` is applied to each text before.

    As a last resort the oldest lines are left out.
    """
    live = [line for line in lines if line.text.strip()]
    for line in live:
        line.text = show(line.text)
    live = [line for line in live if line.shown]
    whole = _Whole([_size(line, counter) for line in live], [line.turn for line in live])
    heap = [(_next(line), -whole.sizes[at], at) for at, line in enumerate(live)]
    heapify(heap)
    while whole.tokens > budget and heap:
        at = heappop(heap)[2]
        line = live[at]
        if line.level + 1 >= len(line.caps):
            continue
        line.level += 1
        whole.resize(at, _size(line, counter))
        heappush(heap, (_next(line), -whole.sizes[at], at))
    first = 0
    while whole.tokens > budget and first < len(live):
        whole.resize(first, 0)
        first += 1
    return _rendered([line for line in live[first:] if line.shown], is_cut=first > 0)


class _Whole:
    """How many tokens lines have together, with headings of the turns that are shown, a note on the cut and the third digit of a number."""

    def __init__(self, sizes: list[int], turns: Sequence[int]) -> None:
        self.sizes = sizes
        self._turns, self._left = turns, Counts(turns)
        self._total, self._shown = sum(sizes), len(sizes)

    @property
    def tokens(self) -> int:
        return self._total + _TURN * (2 + len(self._left)) + max(0, self._shown - _TWO_DIGITS)

    def resize(self, at: int, size: int) -> None:
        """A line has this size now; 0 if it is shown no more."""
        self._total += size - self.sizes[at]
        if self.sizes[at] and not size:
            self._shown -= 1
            turn = self._turns[at]
            self._left[turn] -= 1
            if not self._left[turn]:
                del self._left[turn]
        self.sizes[at] = size


_TURN, _TWO_DIGITS = 4, 99
"""Tokens of a turn's heading."""
_STEP = 9
"""Added to the worth of a line for each cut, so that other lines are cut before it is cut again."""


def _next(line: Line) -> int:
    return line.worth + _STEP * line.level


def _size(line: Line, counter: Counter) -> int:
    """The tokens of a line with its tag and a number."""
    return counter.count(f"[99] {line.tag}: {line.shown}\n") if line.shown else 0


def _rendered(lines: Sequence[Line], *, is_cut: bool) -> Record:
    told, turn = (["[…] earlier lines were cut"] if is_cut else []), -1
    for number, line in enumerate(lines, 1):
        if line.turn != turn:
            turn = line.turn
            told.append(f"turn {turn}")
        told.append(f"[{number}] {line.tag}: {line.shown}")
    return Record("\n".join(told), dict(enumerate(lines, 1)))
