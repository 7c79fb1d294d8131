"""The record of a session in a review's prompt: numbered lines, shortened to a token budget.

Each line has the ids of its rows in the transcript, so that an answer can refer to rows by line number.
"""

from __future__ import annotations

import re
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import heapify, heappop, heappush

from crucible.analysis.findings.observed_calls import ObservedCall, changes_in
from crucible.clients.events import ToolUsed
from crucible.core.patterns import late_pattern
from crucible.core.tokens import Counter
from crucible.documents.markdown.containment import hang
from crucible.documents.recording.call_lines import call_line
from crucible.documents.recording.report_lines import Part, blocks_of
from crucible.documents.session.findings import cut_at_sentence, plain


class Tag(StrEnum):
    """The kind of a line, as written in the record."""

    PROMPT = "U"
    STEERING = "U(mid-turn)"
    COMMAND = "U(command)"
    SHELL = "U(shell)"
    CLOSING = "A"
    TEXT = "a"
    AFTER_FAIL = "after-fail"
    FAIL = "FAIL"
    FIX = "FIX"
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
"""The text before the user's words in a refusal."""
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
        Tag.FIX,
        Tag.NOTED,
    )
)
"""Tags of lines that settle something on their own, such as an answer, an approval, an edit or a commit."""


@dataclass(slots=True, eq=False)
class RecordLine:
    """One line.  Its text is cut to `caps[level]` code points; 0 omits the line.

    `worth` is from 0 to 100; lines with the lowest worth are cut first.  `rows` are row ids in the transcript, `phase`
    is the id of a phase in the note.  `settles` is True if the line can prove a decision.  If the line lists files,
    `edits` has the rows of each file's edits.
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
        """True unless the line is a refusal without a comment."""
        return self.tag is not Tag.REFUSED or SAID in self.text

    @property
    def shown(self) -> str:
        """Return the text at its current length. Indents later lines, so none looks like a line of the record."""
        cap = self.caps[self.level]
        if not cap or len(self.text) <= cap:
            return hang(self.text) if cap else ""
        head = cap * 5 // 8
        return hang(f"{self.text[:head].rstrip()} […] {self.text[len(self.text) - cap + head :].lstrip()}")


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """The text of a record, and its lines by number."""

    text: str
    lines: Mapping[int, RecordLine] = field(default_factory=dict)


def fit(lines: Iterable[RecordLine], budget: int, counter: Counter, show: Callable[[str], str] = str) -> ReviewRecord:
    """Cut the lines, the least important first, to at most `budget` tokens; then drop the oldest lines.

    `show` is first applied to each text.
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
    """Counts the tokens of all lines, turn headings, the note on omitted lines, and the third digit of line numbers."""

    def __init__(self, sizes: list[int], turns: Sequence[int]) -> None:
        self.sizes = sizes
        self._turns, self._left = turns, Counts(turns)
        self._total, self._shown = sum(sizes), len(sizes)

    @property
    def tokens(self) -> int:
        return self._total + _TURN * (2 + len(self._left)) + max(0, self._shown - _TWO_DIGITS)

    def resize(self, at: int, size: int) -> None:
        """Set the size of a line; 0 omits it."""
        self._total += size - self.sizes[at]
        if self.sizes[at] and not size:
            self._shown -= 1
            turn = self._turns[at]
            self._left[turn] -= 1
            if not self._left[turn]:
                del self._left[turn]
        self.sizes[at] = size


_TURN, _TWO_DIGITS = 4, 99
"""Tokens of a turn's heading, and the highest line number with two digits."""
_STEP = 9
"""Added to a line's worth for each cut, so that other lines are cut before the same line is cut again."""


def _next(line: RecordLine) -> int:
    return line.worth + _STEP * line.level


def _size(line: RecordLine, counter: Counter) -> int:
    """Return the tokens of a line with its tag and a number."""
    return counter.count(f"[99] {line.tag}: {line.shown}\n") if line.shown else 0


def _rendered(lines: Sequence[RecordLine], *, is_cut: bool) -> ReviewRecord:
    text, turn = (["[…] earlier lines were cut"] if is_cut else []), -1
    for number, line in enumerate(lines, 1):
        if line.turn != turn:
            turn = line.turn
            text.append(f"turn {turn}")
        text.append(f"[{number}] {line.tag}: {line.shown}")
    return ReviewRecord("\n".join(text), dict(enumerate(lines, 1)))


_CODE = late_pattern(r"^([ \t]*)(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\2[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_RULER = late_pattern(r"^[ \t|:-]+$", re.MULTILINE)
_SPACES = late_pattern(r"[ \t]+")
_EMPTY = late_pattern(r"\n\s*\n+")
_REMINDER = late_pattern(r"<(system-reminder|ide_\w+)>.*?(?:</\1>|\Z)", re.DOTALL)
_READ = 30_000
"""Maximum code points read from a text."""


def tidy(text: str, code: int) -> str:
    """Return a text without blank lines and table rulers, and with at most `code` lines of each code block."""
    text = text if len(text) <= _READ else f"{text[: _READ * 2 // 3]}\n…\n{text[-_READ // 3 :]}"
    text = _CODE.sub(lambda found: _code(found[3], code), _REMINDER.sub("", text))
    return _EMPTY.sub("\n", _SPACES.sub(" ", _RULER.sub("", text))).strip()


def _code(inner: str, most: int) -> str:
    lines = inner.strip("\n").split("\n")
    return "\n".join(lines[:most]) + (f" …({len(lines)} lines)" if len(lines) > most else "") + "\n"


def outline(plan: str) -> str:
    """Return the headings, items and first sentences of a plan."""
    lines = []
    for block in blocks_of(plan[:_READ]):
        if block.kind is Part.HEADING:
            lines.append(f"# {plain(block.text)}")
        elif block.is_text:
            lines.append(cut_at_sentence(block.text, 160))
    return "\n".join(lines)


_FEW_LINES = 3


def gist(report: str) -> str:
    """Return the headings, items and last paragraphs of a report, or all of it if it is only prose."""
    blocks = [block for block in blocks_of(report[:_READ]) if block.kind not in (Part.RULE, Part.QUOTE)]
    last = len(blocks) - _FEW_LINES
    marked = [block for at, block in enumerate(blocks) if block.kind is not Part.PROSE or at >= last]
    return "\n".join(cut_at_sentence(block.text, 200) for block in (marked if len(marked) > _FEW_LINES else blocks))


def described(used: ToolUsed, call: ObservedCall, roots: Sequence[str]) -> str:
    """Return a call as one line; for an edit, with the beginning of its new text."""
    line = cut_at_sentence(call_line(used.name, used.arguments, roots[0] if roots else ""), 200)
    new = next((new for _, _, new in changes_in(used.arguments) if new.strip()), "") if call.files else ""
    return f"{line}: {cut_at_sentence(new, 220)}" if new else line


def change(used: ToolUsed) -> str:
    """Return the first lines that an edit removes and adds."""
    for _, old, new in changes_in(used.arguments):
        before, after = old.split("\n"), new.split("\n")
        gone = [line.strip() for line in before if line not in after and len(line.strip()) > 3]
        come = [line.strip() for line in after if line not in before and len(line.strip()) > 3]
        if gone or come:
            return " ".join([*(f"-{one[:90]}" for one in gone[:2]), *(f"+{one[:110]}" for one in come[:3])])
    return ""


_HERE = late_pattern(r"<<-?\s*'?\"?(\w+)'?\"?\n(.*?)(?:\n[ \t]*\1|\Z)", re.DOTALL)
_TRAILER = late_pattern(r"^[\w-]+: \S.*$", re.MULTILINE)


def body_of(script: str) -> str:
    """Return the body of the commit message in a command, without trailers; "" if there is none."""
    found = _HERE.search(script)
    body = _TRAILER.sub("", found[2].partition("\n")[2]) if found else ""
    return f" :: {cut_at_sentence(body, 500)}" if body.strip() else ""
