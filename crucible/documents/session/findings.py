"""Read the findings of a note with `findings_of`: decisions, corrections, failures, outcomes and others.

The detector (`crucible.analysis.findings`), users and agents write them into the note.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Protocol

from crucible.core.patterns import late_pattern
from crucible.core.text import cut_at_word, split_sentences
from crucible.documents.markdown.containment import normal
from crucible.documents.markdown.source import NOWHERE, Lines
from crucible.documents.session.session import (
    Decision,
    Entry,
    Failure,
    FindingItem,
    Grounds,
    Intervention,
    Phase,
    Prose,
    Session,
    Subagent,
    ToolCalls,
)

SUMMARY = 200
"""Maximum code points of a finding's summary."""

_LINK_TEXT = late_pattern(r"!?\[([^\[\]\n]{1,300})\]\([^()\s]{1,500}\)")
_STRONG = late_pattern(r"\*\*|`|(?<!\w)__(?=\S)|(?<=\S)__(?!\w)")
_HEADING = late_pattern(r"(?m)^[ \t]*#{1,6}[ \t]+")
_MOST = 20_000


def plain(text: str) -> str:
    """Text as one line, without emphasis, code marks, links and heading marks."""
    return " ".join(_without_marks(text).split())


def _without_marks(text: str) -> str:
    bare = normal(text[:_MOST])
    bare = _LINK_TEXT.sub(r"\1", bare) if "](" in bare else bare
    bare = _HEADING.sub("", bare) if "#" in bare else bare
    return _STRONG.sub("", bare) if "__" in bare else bare.replace("**", "").replace("`", "")


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph, each as one plain line."""
    return [sentence for one in split_sentences(_without_marks(text)) if (sentence := " ".join(one.split()))]


def is_introduction(sentence: str) -> bool:
    """True if a sentence only introduces the text after it."""
    return sentence.endswith((":", "："))


def meaningful(texts: list[str], few: int = 3) -> list[str]:
    """The sentences with more than `few` words that are not introductions; all sentences if there are none."""
    return [one for one in texts if not is_introduction(one) and one.count(" ") >= few] or texts


def cut_at_sentence(text: str, limit: int = SUMMARY) -> str:
    """Text as one plain line of at most `limit` code points, cut after a sentence if possible, else after a word."""
    kept = ""
    for one in sentences(text):
        more = f"{kept} {one}".strip()
        if len(more) > limit:
            # If only a few words fit, add part of the next sentence.
            return kept if len(kept) >= limit // 3 else cut_at_word(more, limit)
        kept = more
    return kept


if TYPE_CHECKING:  # reading a note needs no events, and loading them is slow
    from crucible.clients.events import Event


class Kind(StrEnum):
    """The kind of a finding."""

    DECISION = "decision"
    INSTRUCTION = "instruction"
    """A later request from the user, with the agent's stated approach; about half of these are decisions."""
    CORRECTION = "correction"
    """The user said that something was wrong or unwanted, and what to do instead."""
    FAILURE = "failure"
    """Something went wrong and was fixed."""
    OUTCOME = "outcome"
    OPEN_END = "open_end"
    ENVIRONMENT = "environment"
    """A fact about the project or its tools that the next session needs."""
    REPORT = "report"
    """The result of a subagent."""


class Source(StrEnum):
    """How a finding was detected."""

    QUESTION = "answered question"
    PLAN = "approved plan"
    OPTION = "picked option"
    REJECTION = "rejected call"
    INTERRUPTION = "interruption"
    REPLY = "reply"
    FIX = "failing then passing call"
    EDITS = "failure then edits"
    COMMIT = "commit"
    SUMMARY = "closing text"
    STATE = "last state"
    SUBAGENT = "subagent"
    CALLOUT = "callout"
    """Written by a user, or by an agent through the recorder or MCP."""
    MODEL = "model"
    """Named by a reviewing model; the source is `model NAME on DAY`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a note.

    `id` is unique in its note and stable: the kind and the first row, or a digest of the summary.  `summary` is one
    line in the speaker's words, `details` the reason or what followed, `points` the parts of an outcome.  A decision
    has `alternatives` and `by`, a failure `cause` and `resolution`.  `evidence` is a quotation that supports the
    finding. `also` is the second kind of an item that has two; each kind gives a finding.  `phase` is a phase id, ""
    before the first phase or if a findings item names none.  `lines` are its lines in the note, `rows` the first
    characters of the transcript's row ids, empty if unknown.
    """

    kind: str
    summary: str
    details: str = ""
    alternatives: str = ""
    by: str = ""
    cause: str = ""
    resolution: str = ""
    source: str = Source.CALLOUT
    confidence: float = 1.0
    rows: tuple[str, ...] = ()
    phase: str = ""
    points: tuple[str, ...] = ()
    id: str = ""
    evidence: str = ""
    also: str = ""
    lines: Lines = field(default=NOWHERE, compare=False)


class FindingDetector(Protocol):
    """Detects findings in events; implemented by `crucible.analysis.findings`."""

    def add(self, event: Event) -> Sequence[Decision | Failure]:
        """Process the next event; return the callouts to write directly after it."""

    def noted(self) -> tuple[FindingItem, ...]:
        """The items of the findings block so far."""


_TOLD = Grounds(Source.CALLOUT)


def findings_of(session: Session) -> tuple[Finding, ...]:
    """Return all findings of a note: callouts in order (also in inline subagents), then the findings block."""
    block = (one for item in session.findings for one in _of_block(item))
    return tuple(_numbered((*_of_callouts(session), *block)))


def _numbered(found: Iterable[Finding]) -> Iterator[Finding]:
    """Give each finding its id; a second finding with the same kind and row ends in `-2`."""
    seen: Counter[str] = Counter()
    for one in found:
        mark = one.rows[0] if one.rows else sha256(bare_words(one.summary).encode()).hexdigest()[:8]
        name = f"{one.kind}-{mark}"
        seen[name] += 1
        yield replace(one, id=name if seen[name] == 1 else f"{name}-{seen[name]}")


def is_from_model(source: str) -> bool:
    """True if a reviewing model is the source."""
    return source.startswith(f"{Source.MODEL} ")


def without_guesses(findings: Iterable[Finding]) -> list[Finding]:
    """Drop findings guessed from structure where a reviewing model named findings.

    A closing text is dropped if the model named an outcome; an instruction, if it named any finding.
    """
    found = [*findings]
    named = {one.kind for one in found if is_from_model(one.source)}

    def is_guess(one: Finding) -> bool:
        if one.kind == Kind.OUTCOME and one.source == Source.SUMMARY:
            return Kind.OUTCOME in named
        return one.kind == Kind.INSTRUCTION and bool(named) and not is_from_model(one.source)

    return [one for one in found if not is_guess(one)]


_TELLING = 20
"""Minimum letters of a summary that may match anywhere in a text; a shorter one must match at its start."""


def quotes_words(finding: Finding, words: str) -> bool:
    """True if a finding's summary quotes `words`, in full or shortened."""
    return quotes(bare_words(finding.summary), bare_words(words))


_NO_WORD = late_pattern(r"[\W_]+")
_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())


def bare_words(text: str) -> str:
    """Only the letters and digits, casefolded, since a summary drops marks and spaces."""
    if text.isascii():  # ten times as fast
        return text.encode().translate(None, _SIGNS).decode().lower()
    return _NO_WORD.sub("", text).casefold()


def quotes(quotation: str, words: str) -> bool:
    """True if a text contains a quotation, or starts with a short one; both are `bare_words`."""
    return bool(quotation) and (words.startswith(quotation) or (len(quotation) >= _TELLING and quotation in words))


def findings_by_phase(session: Session, everything: Sequence[Finding] | None = None) -> Mapping[str, Sequence[Finding]]:
    """Return the findings by phase id; `everything` is the result of `findings_of`, if known.

    A findings item without a phase belongs to the first phase that contains its summary, the summary's last sentence
    (after a label) or one of its points; to "" if no phase does.
    """
    found: dict[str, list[Finding]] = {}
    everything = findings_of(session) if everything is None else everything
    callouts = len(everything) - sum(1 + bool(item.also) for item in session.findings)
    for finding in everything[:callouts]:
        found.setdefault(finding.phase, []).append(finding)
    for finding, phase in _placed_items(session, everything[callouts:]):
        found.setdefault(phase, []).append(finding)
    return found


def item_places(session: Session) -> dict[tuple[str, str], str]:
    """Return the phase id of each item of the findings block, by kind and summary."""
    items = [one for item in session.findings for one in _of_block(item)]
    return {(one.kind, one.summary): phase for one, phase in _placed_items(session, items)}


def _placed_items(session: Session, items: Iterable[Finding]) -> Iterator[tuple[Finding, str]]:
    """Yield items of the findings block with their phases."""
    ids, above = {phase.id for phase in session.all_phases()}, dict(session.above.places)
    quoted = _QuotedPhases(session)
    for one in items:
        place = one.phase if one.phase in ids else above.get((one.kind, one.summary))
        yield one, quoted.phase_of(one) if place is None else place


class QuotedTexts:
    """Texts as one string without marks and spaces, to find those with a quotation."""

    def __init__(self, texts: Iterable[str]) -> None:
        parts = [f"\n{bare_words(text)}" for text in texts]  # a line end begins each text
        self._text = "".join(parts)
        self._starts = [0, *accumulate(map(len, parts))]

    def matching(self, quotation: str, first: int = 0) -> Iterator[int]:
        """Yield the numbers, from `first` on, of the texts that contain a quotation, or start with a short one."""
        bare = bare_words(quotation)
        sought = bare if len(bare) >= _TELLING else f"\n{bare}"
        place = self._text.find(sought, self._starts[first]) if bare else -1
        while place >= 0:
            nth = bisect_right(self._starts, place) - 1
            yield nth
            place = self._text.find(sought, self._starts[nth + 1])


class _QuotedPhases:
    """The texts of all phases, to find the first phase with a quotation."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @cached_property
    def _texts(self) -> tuple[QuotedTexts, list[str]]:
        """The texts, and the id of the phase of each."""
        texts = [(text, phase.id) for phase in self._session.all_phases() for text in _texts_of(phase)]
        return QuotedTexts(text for text, _ in texts), [phase for _, phase in texts]

    def phase_of(self, finding: Finding) -> str:
        """Return the first phase that contains a finding's summary or a part of it, "" if none does."""
        summary = finding.summary
        parts = (summary, *sentences(summary)[-1:], summary.partition(": ")[2], *finding.points)
        texts, phases = self._texts
        return next((phases[nth] for part in parts for nth in islice(texts.matching(part), 1)), "")


def _texts_of(phase: Phase) -> Iterator[str]:
    for entry in phase.entries:
        if isinstance(entry, Prose):
            yield entry.text
        elif isinstance(entry, Intervention):
            yield entry.words
        elif isinstance(entry, ToolCalls):
            yield from (call.result for call in entry.calls)


def _of_callouts(session: Session) -> Iterator[Finding]:
    yield from _of_entries(session.preamble, "")
    for phase in session.all_phases():
        yield from _of_entries(phase.entries, phase.id)


def _of_entries(entries: Sequence[Entry], phase: str) -> Iterator[Finding]:
    for entry in entries:
        found = _of_entry(entry, phase)
        if found:
            yield found
        if isinstance(entry, Subagent):
            yield from _of_entries(entry.entries, phase)


def _of_entry(entry: Entry, phase: str) -> Finding | None:
    """The finding of a callout, or None.  A failure needs a resolution, a subagent needs a report."""
    match entry:
        case Decision(text, why, others, who):
            return Finding(
                Kind.DECISION,
                alternatives=others or "",
                by=who or "",
                phase=phase,
                lines=entry.lines,
                **_grounded(text, why or "", entry.grounds),
            )
        case Failure(text, str(fixed), cause) if fixed.strip():
            return Finding(
                Kind.FAILURE,
                cause=cause or "",
                resolution=fixed,
                phase=phase,
                lines=entry.lines,
                **_grounded(text, "", entry.grounds),
            )
        case Subagent(summary=str(summary)) if summary.strip():
            grounded = _grounded(summary, "", Grounds(Source.SUBAGENT))
            return Finding(Kind.REPORT, by=str(entry.agent), phase=phase, lines=entry.lines, **grounded)
        case _:
            return None


def _of_block(item: FindingItem) -> Iterator[Finding]:
    """The finding of an item, or both of an item with two kinds."""
    for kind in filter(None, (item.kind, item.also)):
        grounded = _grounded(item.text, item.details or "", item.grounds)
        if kind == Kind.FAILURE:
            grounded["cause"] = grounded.pop("details")
        yield Finding(
            kind,
            phase=item.grounds.phase if item.grounds else "",
            points=item.points,
            evidence=item.evidence or "",
            also=item.kind if kind == item.also else item.also,
            lines=item.lines,
            **grounded,
        )


def _grounded(text: str, details: str, grounds: Grounds | None) -> dict[str, Any]:
    """Return the fields from the grounds, and the text as a one-line summary; the details keep a longer text."""
    known = grounds or _TOLD
    summary = plain(text)
    short = summary if len(summary) <= SUMMARY else cut_at_sentence(text)
    if short != summary:
        details = f"{text}\n\n{details}".rstrip()
    return {
        "summary": short,
        "details": details,
        "source": known.source,
        "confidence": known.confidence,
        "rows": known.rows,
    }
