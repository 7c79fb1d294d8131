"""Corrections: the user said what was wrong or unwanted, and what holds instead.

A case has what the agent did (the refused call or its last changes), the user's words, and what it then did right.  Findings say which words are
corrections.  One whose words are not in the note, or after which the user corrected again, makes no case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from itertools import accumulate

from crucible.analysis.tools.tool_calls import CHANGES, RUNS, Moment
from crucible.commands.learn.case import Case, Correction, content_words, texts_of
from crucible.commands.learn.excerpts import SIDE, request_of, shorten_middle, shorten_turns, with_prose_before
from crucible.commands.learn.timeline import Timeline, corrections_by_moment, make_case, verification_after
from crucible.core.patterns import late_pattern
from crucible.core.text.words import overlap
from crucible.documents.markdown.containment import contain_line, cut, normal_line
from crucible.documents.markdown.wikilinks import without_links
from crucible.documents.session.findings import Finding, Kind, Source, findings_of
from crucible.documents.session.session import Intervention, Outcome, Prose, Session

_DID, _THEN = 2, 4
"""How many changes before and after are shown."""


def find_corrections(timeline: Timeline) -> Iterator[Case]:
    """The corrections of a session, in the order of its note, but not those that the user had to repeat."""
    found = corrections_by_moment(timeline)
    for at in sorted(found):
        then = _what_followed(timeline, at)
        end = then[-1].at if then else at
        is_repeated = any(at < later <= end + 1 for later in found)
        said = timeline.moments[at]
        refused = _refused(timeline, said, found[at])
        if not is_repeated and _is_taken_up(found[at], said, refused, then):
            yield _case(timeline, said, refused, then, found)


def _case(
    timeline: Timeline,
    said: Moment,
    refused: Moment | None,
    then: Sequence[Moment],
    corrections: Mapping[int, Finding],
) -> Case:
    finding, words = corrections[said.at], _words(said, corrections[said.at])
    line = refused.call.call if refused and refused.call else ""
    did = [refused] if refused else _what_was_done(timeline, said.at)
    body = Correction(
        request_of(timeline, (did[0] if did else said).at, corrections),
        shorten_turns(with_prose_before(timeline, did)),
        shorten_middle(words, SIDE // 2),
        shorten_turns(_changes(then), 3 * SIDE, 2 * SIDE),
        shorten_middle(line, SIDE // 8),
    )
    anchor = f"{words}\n{line}" if line else words
    verification = verification_after(timeline, said.at)
    return make_case(timeline, refused or said, body, anchor, finding=finding, verification=verification)


def _words(said: Moment, finding: Finding) -> str:
    return said.entry.words if isinstance(said.entry, Intervention) else finding.summary.strip('"“”')


def _refused(timeline: Timeline, said: Moment, finding: Finding) -> Moment | None:
    """The call that the user refused with these words: that of the finding's row, else the first refused one since the agent's last other call."""
    found = None
    for moment in reversed(timeline.moments[: said.at + 1]):
        if moment.outcome is Outcome.REJECTED:
            found = moment
            if moment.row and moment.row.startswith(finding.rows):
                break
        elif moment.call or (isinstance(moment.entry, Intervention) and moment is not said):
            break
    return found


def _is_taken_up(finding: Finding, said: Moment, refused: Moment | None, then: Sequence[Moment]) -> bool:
    """True if the agent then did the refused work in another way, or used new words of the user.

    Not every text at an interruption is a correction.  If the agent admitted a mistake or a person noted a correction, no proof is needed.
    """
    if finding.source not in (Source.REJECTION, Source.INTERRUPTION):
        return True
    done = [one for one in then if one.call]
    if not any(one.arguments for one in done):  # nothing was recorded
        return True
    before = [texts_of(refused.arguments or {})] if refused else []
    made, replaced = (" ".join(_texts(done, is_old=is_old)) for is_old in (False, True))
    new = _bare(made) - _bare(replaced) - _bare(" ".join(text for texts in before for text in texts))
    again = {name for one in done for name in _aims(one) if refused and one.arguments != refused.arguments}
    return bool(new & _bare(_words(said, finding))) or bool(refused and again & _aims(refused))


_SPLIT = late_pattern(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


def _bare(text: str) -> frozenset[str]:
    """The words of a text, and of the names in it."""
    return frozenset(word for part in text.split("\n") for word in content_words(_SPLIT.sub(" ", part)))


def _texts(done: Sequence[Moment], *, is_old: bool) -> Iterator[str]:
    """The texts that calls add, or those that they replace."""
    for moment in done:
        if any(act.deed in (*CHANGES, *RUNS) for act in moment.acts):
            given = (moment.arguments or {}).items()
            yield from texts_of([one for name, one in given if name.startswith("old") is is_old])


def _aims(moment: Moment) -> set[str]:
    """The files that a call changed, and the first two words of its commands."""
    changed = {act.what for act in moment.acts if act.deed in CHANGES}
    return changed | {" ".join(act.what.split()[:2]) for act in moment.acts if act.deed in RUNS}


def _what_was_done(timeline: Timeline, until: int) -> list[Moment]:
    """The agent's last changes, or its last call, since the user's previous words; its words if it only talked."""
    turn: list[Moment] = []
    for moment in reversed(timeline.moments[:until]):
        if isinstance(moment.entry, Intervention) and any(one.call for one in turn):
            break
        turn.insert(0, moment)
    changes = [one for one in turn if one.changed][-_DID:]
    calls = changes or [one for one in turn if one.call][-1:]
    said = [one for one in turn[-1:] if isinstance(one.entry, Prose)]
    return [*calls, *said]


def _what_followed(timeline: Timeline, at: int) -> list[Moment]:
    """What the agent did next, up to the user's next words or the next refused call."""
    then: list[Moment] = []
    for moment in timeline.moments[at + 1 :]:
        if isinstance(moment.entry, Intervention) or moment.outcome is Outcome.REJECTED:
            break
        then.append(moment)
    return then


def _changes(then: Sequence[Moment]) -> list[Moment]:
    """What the agent said at once, the first changes or commands that succeeded, and its last words."""
    runs = [one for one in then if one.passed and one.commands]
    done = [one for one in then if one.changed] or runs
    sizes = accumulate(len(str(one.arguments)) for one in done)
    done = [one for one, size in zip(done, sizes, strict=True) if size <= 2 * SIDE]  # a call is shown whole
    said = [one for one in then if isinstance(one.entry, Prose)]
    shown = {one.at: one for one in (*said[:1], *done[:_THEN], *said[-1:])}
    return [shown[at] for at in sorted(shown)]


HEADING = "## Corrections from past sessions"
_LONGEST = 200
_ALIKE, _LEAST = 0.6, 2
"""The share of the shorter one's words that two corrections have in common, and how many words that is at least."""
_RECURS = 2
_SHOWN = 5
"""Sessions that a rule names."""


@dataclass(slots=True)
class RecurringRule:
    """A correction in the user's latest words, with its sessions, the oldest first, and the ids of its findings."""

    text: str
    words: frozenset[str]
    sessions: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)

    @property
    def recurs(self) -> bool:
        """True if several sessions had it."""
        return len(self.sessions) >= _RECURS


def recurring_corrections(
    sessions: Iterable[Session], redact: Callable[[str], tuple[str, object]]
) -> list[RecurringRule]:
    """The corrections of some sessions, the oldest first; the most frequent come first."""
    rules: list[RecurringRule] = []
    for session in sessions:
        for finding in findings_of(session):
            if finding.kind == Kind.CORRECTION:
                _take(rules, session.id, finding, redact)
    return sorted(rules, key=lambda rule: -len(rule.sessions))


def _take(
    rules: list[RecurringRule], session: str, finding: Finding, redact: Callable[[str], tuple[str, object]]
) -> None:
    text = _line(redact(finding.summary)[0])
    words = content_words(text)
    if len(words) < _LEAST:
        return
    rule = next((one for one in rules if _is_like(one.words, words)), None)
    if rule is None:
        rule = RecurringRule(text, words)
        rules.append(rule)
    rule.text, rule.words = text, words
    rule.findings.append(finding.id)
    if session not in rule.sessions:
        rule.sessions.append(session)


def _line(text: str) -> str:
    """One line of text that makes no structure wherever it is put."""
    bare = normal_line(text).strip().strip('"“”').replace("<", "‹").replace(">", "›")
    return contain_line(without_links(cut(bare, _LONGEST)))


def _is_like(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _LEAST and overlap(one, other) >= _ALIKE and overlap(one, other, "larger") >= 0.5


def with_rules(text: str, rules: Sequence[RecurringRule]) -> str:
    """The file with the rules that recur and that it does not have, in a section of their own."""
    known = [content_words(line) for line in text.split("\n")]
    new = [rule for rule in rules if rule.recurs and not any(rule.words <= words for words in known)]
    if not new:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    items = [f"- {rule.text} <!-- {', '.join(rule.sessions[-_SHOWN:])} -->" for rule in new]
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n") if text.strip() else []
    if HEADING in lines:
        at = lines.index(HEADING) + 1
        while at < len(lines) and not lines[at].startswith("#"):
            at += 1
        while not lines[at - 1].strip():
            at -= 1
        lines[at:at] = items if lines[at - 1] != HEADING else ["", *items]
    else:
        lines += ["", HEADING, "", *items] if lines else [HEADING, "", *items]
    return end.join([*lines, ""])


def unified_diff_of(name: str, old: str, new: str) -> str:
    """A unified diff that `git apply` and `patch` take."""
    before = f"a/{name}" if old else "/dev/null"
    parts = unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), before, f"b/{name}")
    return "".join(part if part.endswith("\n") else f"{part}\n\\ No newline at end of file\n" for part in parts)
