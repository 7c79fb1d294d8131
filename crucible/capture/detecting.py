"""What of a session may be worth keeping: every candidate, in the order of its note, each with how sure that is.

Owns how the finders' finds become candidates: confidence, summary, what is told twice, and that nothing goes on that is `never` to be kept.  Structure
comes first (callouts, calls that failed and then passed, the paths of decision records), words second.  Pure: no model, no clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice

from crucible.acts.evidence import Evidence
from crucible.acts.words import answers_in, is_correction
from crucible.capture.answered import answer_to, asks_to_choose
from crucible.capture.corrected import corrected_in
from crucible.capture.decided import decided_by_agent, decided_by_user
from crucible.capture.leanings import Told, leanings, peaks
from crucible.capture.mended import Mended, mended_in
from crucible.capture.model import PROPOSED, Candidate, Kind
from crucible.capture.never import has_secret, is_chance, is_of_environment, is_story
from crucible.capture.outside_apis import api_calls_of
from crucible.capture.patterns_told import patterns_in
from crucible.capture.proved import claimed_before, is_made_for_claim, is_said_outright, proven_behind
from crucible.capture.records_of_decisions import records_of, subject_of
from crucible.capture.sentences import Sentence, content_words, one_line, sentences_of
from crucible.capture.steps import Step, steps_of
from crucible.capture.tries import idle_words, is_answer
from crucible.capture.unsettled import is_anothers, is_hypothetical, is_open
from crucible.session.model import Callout, Decision, Intervention, Outcome, Prose, Session
from crucible.transcript.private import ASKING_TOOLS

__all__ = ["detect"]

NO = Evidence()
"""Of a session without a flight recorder."""
_LONGEST = 600
"""Code points of a detail."""
_ALIKE = 0.4
"""The share of the shorter one's words that both have, where what is said is what the callout says."""
_BRIEF = 60
"""Code points within which what is done about a fault is told."""
_ADMITS = 120
"""Code points within which a mistake is owned up to, and what holds is told behind."""
_FURTHER = 60
"""Steps within which something is taken back by its words alone."""
_RECENT = 400
"""Sentences, the latest ones, that a doubtful one is compared with: each is compared with all of them."""
_NEAR, _LINES = 4, 12
"""Candidates, and lines of the note, within which one may tell again what another told."""


def detect(session: Session, evidence: Evidence = NO) -> list[Candidate]:
    """What may be worth keeping of a session, in the order of its note; nothing below `PROPOSED`.

    `evidence` is what its flight recorder knows, for code that calls outside APIs and for whole messages.
    """
    steps = steps_of(session, evidence)
    said = {step.at: found for step in steps if (found := _sentences(step))}
    mended = mended_in(steps, said)
    words = list(_words(steps, said))
    own = frozenset(
        text
        for one, is_sure in words
        if is_sure
        for text in (one.summary, one.summary.removesuffix(one.detail).rstrip())
    )
    proved = list(_evidence(steps, said, mended, own))
    causes = {one_line(each.cause) for each in mended}
    shown = {one_line(text) for _, texts in proved for text in texts}
    candidates = [
        *_records(steps),
        *_callouts(steps),
        *_failures(mended),
        *_apis(steps),
        *(one for one, _ in proved),
        *(
            one
            for one, is_sure in words
            if one.summary not in shown and (is_sure or one.summary not in causes)
        ),
    ]
    kept = [one for one in candidates if one.confidence >= PROPOSED and not _is_never(one)]
    return _each_once(sorted(kept, key=lambda one: (one.line, -one.confidence)))


def _sentences(step: Step) -> list[Sentence]:
    entry = step.entry
    if isinstance(entry, Prose):
        return sentences_of(entry.text, step.line)
    if isinstance(entry, Callout) and entry.kind in ("observation", "milestone"):
        return sentences_of(f"{entry.title}\n{entry.text}" if entry.title else entry.text, step.line)
    return []


def _is_never(one: Candidate) -> bool:
    if has_secret(one.summary, one.detail, one.error, one.resolution):
        return True
    return one.kind not in (Kind.FAILURE, Kind.ADR) and is_story(f"{one.summary} {one.detail}")


# --- structure -------------------------------------------------------------------------------------------------------


def _records(steps: Sequence[Step]) -> Iterator[Candidate]:
    """A record once, however often it was changed, where it was changed first."""
    seen: set[str] = set()
    for step in steps:
        for path in records_of(step):
            if path not in seen:
                seen.add(path)
                summary = f"Decision record: {subject_of(path)}"
                yield _candidate(Kind.ADR, 0.95, summary, step, detail=path, source="path")._replace(
                    file=path
                )


def _callouts(steps: Sequence[Step]) -> Iterator[Candidate]:
    for step in steps:
        entry = step.entry
        if not isinstance(entry, Decision) or not entry.text.strip():
            continue
        sentences = sentences_of(entry.text, step.line)
        if sentences and not _is_unsettled(sentences):
            yield _candidate(
                Kind.DECISION, 0.95, entry.text, step, detail=entry.rationale or "", source="callout"
            )


def _is_unsettled(sentences: Sequence[Sentence]) -> bool:
    """A callout that says that nothing was decided; by its first sentence, for reasons come behind."""
    first = sentences[0]
    return (
        first.asks
        or is_open(first.plain)
        or is_anothers(first.plain)
        or (is_hypothetical(first.plain) and len(sentences) == 1)
    )


def _candidate(
    kind: Kind, sure: float, summary: str, step: Step, *, detail: str = "", source: str = "words"
) -> Candidate:
    return Candidate(kind, sure, one_line(summary), step.phase, step.line, one_line(detail, _LONGEST), source)


def _failures(mended: Sequence[Mended]) -> Iterator[Candidate]:
    for one in mended:
        command = one_line(one.first.script, 60)
        message, cause = one.message, one.resolution or one.cause
        head = f"`{command}` failed: " if command else ""
        summary = f"{head}{one_line(message, 90)} — {cause}" if cause else f"{head}{message}"
        mender = one.passed or one.changed
        fixed = cause or (f"mended by {mender.call.call}" if mender and mender.call else "")
        source = "callout" if one.told else "call"
        found = _candidate(Kind.FAILURE, _sureness(one), summary, one.first, detail=fixed, source=source)
        yield found._replace(
            phase=(one.passed or one.first).phase,
            error=one_line(message, _LONGEST),
            resolution=one_line(fixed, _LONGEST),
        )


def _sureness(one: Mended) -> float:
    if one.first.call is None:
        return 0.75
    if one.passed is None:
        return 0.75
    return 0.9 if one.resolution else 0.85 if one.cause else 0.65


def _apis(steps: Sequence[Step]) -> Iterator[Candidate]:
    seen: set[tuple[str, str]] = set()
    for step in steps:
        for call in api_calls_of(step):
            if (call.file, call.host) not in seen:
                seen.add((call.file, call.host))
                summary = f"{call.file.rpartition('/')[2]} calls {call.address}"
                yield _candidate(Kind.PATTERN, 0.7, summary, step, detail=call.code, source="code")


def _evidence(
    steps: Sequence[Step], said: dict[int, list[Sentence]], mended: Sequence[Mended], own: frozenset[str]
) -> Iterator[tuple[Candidate, tuple[str, ...]]]:
    """Each with the sentences that tell it, which tell nothing else."""
    passes = {one.passed.at for one in mended if one.passed}
    taken: set[tuple[int, str]] = set()
    for step in steps:
        if not step.script or step.at in passes or not is_made_for_claim(step):
            continue
        behind, before = (
            [
                each
                for each in _at(steps, said, step, way)
                if (one_line(each.text) not in own or is_said_outright(each))
                and (each.line, each.text) not in taken
            ]
            for way in (1, -1)
        )
        claimed = claimed_before(before, step) if before else None
        proven = proven_behind(behind, step, claimed) if behind else None
        if claimed and proven and not content_words(claimed.text) & content_words(proven.text):
            # of something else each
            proven, claimed = (proven, None) if is_said_outright(proven) else (None, claimed)
        told = proven or claimed
        if told is not None:
            detail = f"{step.script} → {step.result}"
            sure = 0.9 if proven else 0.85
            found = _candidate(Kind.EVIDENCE, sure, told.text, step, detail=detail, source="call")
            taken |= {(each.line, each.text) for each in (claimed, proven) if each}
            yield found, tuple(each.text for each in (claimed, proven) if each)


def _at(steps: Sequence[Step], said: dict[int, list[Sentence]], step: Step, way: int) -> list[Sentence]:
    """What is said right before or behind a step, in its phase."""
    at = step.at + way
    if not 0 <= at < len(steps) or steps[at].phase != step.phase:
        return []
    return said.get(at, [])


# --- words -----------------------------------------------------------------------------------------------------------


def _words(steps: Sequence[Step], said: dict[int, list[Sentence]]) -> Iterator[tuple[Candidate, bool]]:
    """What words tell, each with whether they are sure to tell that and nothing else."""
    asked: Prose | None = None
    idle = idle_words(steps)
    for step in steps:
        entry = step.entry
        if isinstance(entry, Intervention):
            yield from ((one, False) for one in _by_user(step, entry, asked))
            asked = None
        elif isinstance(entry, Prose):
            if step.at not in idle:
                yield from _by_agent(steps, step, said)
            asked = entry
        elif isinstance(entry, Callout) and step.at in said:
            yield from _by_agent(steps, step, said)
        elif step.call is not None:
            asked = None
            if step.call.tool.casefold() in ASKING_TOOLS and step.outcome is Outcome.OK:
                for answer in answers_in(step.call.call.partition(" ")[2], step.result):
                    yield _candidate(Kind.DECISION, 0.85, answer, step, source="answer"), False


def _by_user(step: Step, entry: Intervention, asked: Prose | None) -> Iterator[Candidate]:
    if asked is not None and (answer := answer_to(asked.text, entry.words)):
        yield _candidate(Kind.DECISION, 0.85, answer, step, detail=entry.words, source="answer")
        return
    told = decided_by_user(leanings(sentences_of(entry.words, step.line), by_user=True))
    if told is not None:
        said = told.sentence.text
        yield _candidate(Kind.DECISION, told.confidence, said, step, detail=told.behind, source="user")


def _by_agent(
    steps: Sequence[Step], step: Step, said: dict[int, list[Sentence]]
) -> Iterator[tuple[Candidate, bool]]:
    line = None if isinstance(step.entry, Prose) else step.line
    sentences = said.get(step.at, [])
    leaned = leanings(sentences)
    earlier = cache(lambda: [*islice(_before(said, step.at), _RECENT)])
    corrected = [one for one in corrected_in(leaned, earlier) if not _is_led(one, steps, step)]
    leaning = peaks(leaned)
    is_asking = any(asks_to_choose(one) for one in sentences[-2:])
    patterns = list(patterns_in(leaning))
    is_led = bool(step.at) and steps[step.at - 1].outcome is Outcome.FAILED
    is_vain = is_led and _is_machines(steps[step.at - 1].result)
    decided = [
        one
        for one in decided_by_agent(leaning, is_doubtful=is_led or is_asking)
        if not (is_led and is_chance(one.sentence.plain))
        and not (is_vain and len(one.sentence.plain) < _BRIEF)
    ]
    surely = _places([one for one in decided if one.is_sure], 0)
    patterns = [one for one in patterns if not surely & _places([one], 0)]
    backs = _places(corrected, 1)
    patterns = [one for one in patterns if not backs & _places([one], 0)]
    taken = backs | _places(patterns, 1)
    decided = [one for one in decided if not taken & _places([one], 0)]
    for kind, found in (
        (Kind.SELF_CORRECTION, corrected),
        (Kind.PATTERN, patterns),
        (Kind.DECISION, decided),
    ):
        yield from ((_told(kind, one, step, line), one.is_sure) for one in found)


def _before(said: dict[int, list[Sentence]], at: int) -> Iterator[frozenset[str]]:
    """The content words of what was said in the steps before one, the latest first."""
    places = range(at - 1, max(0, at - _FURTHER) - 1, -1)
    return (content_words(one.plain) for place in places for one in reversed(said.get(place, ())))


def _is_machines(message: str) -> bool:
    """Whether a call failed by chance, or because the machine lacks something: what is said right behind it in brief is only what is done about that."""
    return is_of_environment(message[-3000:]) or is_chance(message[-3000:])


def _places(found: Sequence[Told], further: int) -> set[tuple[int, int]]:
    """Where finds stand, as paragraph and sentence, and the sentences right behind them."""
    return {(one.sentence.paragraph, one.sentence.at + by) for one in found for by in range(further + 1)}


def _told(kind: Kind, one: Told, step: Step, line: int | None) -> Candidate:
    text = one.sentence.text
    whole = (
        f"{text} {one.behind}"
        if one.behind and len(text) < (_ADMITS if kind is Kind.SELF_CORRECTION else _BRIEF)
        else text
    )
    source = "callout" if isinstance(step.entry, Callout) else "words"
    found = _candidate(kind, one.confidence, whole, step, detail=one.behind, source=source)
    return found._replace(line=line or one.sentence.line)


def _is_led(one: Told, steps: Sequence[Step], step: Step) -> bool:
    """Whether a failed call, or a user's correction, made an agent take back what it takes back."""
    before = steps[step.at - 1] if step.at else None
    if before is None:
        return False
    about = content_words(one.sentence.text)
    if isinstance(before.entry, Intervention):
        return is_correction(before.entry.words) and bool(about & content_words(before.entry.words))
    is_failed = before.outcome is Outcome.FAILED and not is_answer(before)
    return is_failed and bool(about & content_words(f"{before.script} {before.result}"))


def _each_once(candidates: Sequence[Candidate]) -> list[Candidate]:
    """What is told twice near by, in prose and as a callout, is one: the surer."""
    kept: list[Candidate] = []
    for one in candidates:
        near = range(len(kept) - 1, max(-1, len(kept) - 1 - _NEAR), -1)
        twin = next((place for place in near if _is_same(kept[place], one)), None)
        if twin is None:
            kept.append(one)
        elif one.confidence > kept[twin].confidence:
            kept[twin] = one
    return kept


def _is_same(one: Candidate, other: Candidate) -> bool:
    is_twice = one.source != other.source and "callout" in (one.source, other.source)
    if (
        one.kind is not other.kind
        or one.kind is Kind.FAILURE
        or not is_twice
        or abs(one.line - other.line) > _LINES
    ):
        return False
    first, second = (content_words(f"{each.summary} {each.detail}") for each in (one, other))
    return len(first & second) >= _ALIKE * min(len(first), len(second)) and bool(first & second)
