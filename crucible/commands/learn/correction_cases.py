"""Corrections: cases of work that the user corrected, and corrections that recur across sessions.

Recurring corrections become rules for a project's AGENTS.md or CLAUDE.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from itertools import accumulate

from crucible.analysis.tools.tool_calls import CHANGES, RUNS, Moment
from crucible.commands.learn.case import Case, Correction, content_words, texts_of
from crucible.commands.learn.excerpts import SIDE, Requests, shorten_middle, shorten_turns, with_prose_before
from crucible.commands.learn.timeline import Timeline, first_after, last_before, make_case, places_of_rows, within
from crucible.core.patterns import late_pattern
from crucible.core.text import overlap
from crucible.documents.markdown.containment import contain_line, cut, normal_line
from crucible.documents.markdown.wikilinks import escape_links
from crucible.documents.session.findings import Finding, Kind, Source, findings_of
from crucible.documents.session.session import Intervention, Outcome, Prose, Session

_DID, _THEN = 2, 4
"""Maximum changes that a case shows before the correction, and after it."""


def find_corrections(timeline: Timeline) -> Iterator[Case]:
    """Yield the corrections of a session in note order, except those that the user had to repeat."""
    found, requests = timeline.corrections, Requests(timeline, timeline.corrections)
    places = sorted(found)
    for at in places:
        then = _work_after(timeline, at)
        end = then[-1].at if then else at
        is_repeated = bool(within(places, range(at + 1, end + 2)))
        message = timeline.moments[at]
        refused = _refused(timeline, message, found[at])
        if not is_repeated and _is_followed(found[at], message, refused, then):
            yield _case(timeline, requests, message, refused, then)


def _case(
    timeline: Timeline,
    requests: Requests,
    message: Moment,
    refused: Moment | None,
    then: Sequence[Moment],
) -> Case:
    finding = timeline.corrections[message.at]
    words = _words(message, finding)
    line = refused.call.call if refused and refused.call else ""
    did = [refused] if refused else _work_before(timeline, message.at)
    body = Correction(
        requests.at((did[0] if did else message).at),
        shorten_turns(with_prose_before(timeline, did)),
        shorten_middle(words, SIDE // 2),
        shorten_turns(_changes(then), 3 * SIDE, 2 * SIDE),
        shorten_middle(line, SIDE // 8),
    )
    anchor = f"{words}\n{line}" if line else words
    verification = timeline.verifications[message.at]
    return make_case(timeline, refused or message, body, anchor, finding=finding, verification=verification)


def _words(message: Moment, finding: Finding) -> str:
    return message.entry.words if isinstance(message.entry, Intervention) else finding.summary.strip('"“”')


def _refused(timeline: Timeline, message: Moment, finding: Finding) -> Moment | None:
    """Return the call that the user rejected with this message.

    It is the call in the finding's row, else the first one rejected since the last other call or user message.
    """
    since = max(last_before(places, message.at) for places in (timeline.prompts, timeline.settled))
    near = range(since + 1, message.at + 1)
    own = (
        at for at in places_of_rows(timeline, near, finding.rows) if timeline.moments[at].outcome is Outcome.REJECTED
    )
    found = max(own, default=next(iter(within(timeline.rejected, near)), None))
    return None if found is None else timeline.moments[found]


def _is_followed(finding: Finding, message: Moment, refused: Moment | None, then: Sequence[Moment]) -> bool:
    """True if the agent then did the rejected work differently, or used new words from the user's message.

    This is only checked for rejections and interruptions, whose messages are not always corrections.
    """
    if finding.source not in (Source.REJECTION, Source.INTERRUPTION):
        return True
    done = [one for one in then if one.call]
    if not any(one.arguments for one in done):  # no arguments were recorded
        return True
    before = [texts_of(refused.arguments or {})] if refused else []
    made, replaced = (" ".join(_texts(done, is_old=is_old)) for is_old in (False, True))
    new = _bare(made) - _bare(replaced) - _bare(" ".join(text for texts in before for text in texts))
    again = {name for one in done for name in _aims(one) if refused and one.arguments != refused.arguments}
    return bool(new & _bare(_words(message, finding))) or bool(refused and again & _aims(refused))


_SPLIT = late_pattern(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


def _bare(text: str) -> frozenset[str]:
    """Return the stems of a text's words, splitting identifiers into words."""
    return frozenset(word for part in text.split("\n") for word in content_words(_SPLIT.sub(" ", part)))


def _texts(done: Sequence[Moment], *, is_old: bool) -> Iterator[str]:
    """Yield the text that calls add or, with `is_old`, the text that they replace."""
    for moment in done:
        if any(act.deed in (*CHANGES, *RUNS) for act in moment.acts):
            given = (moment.arguments or {}).items()
            yield from texts_of([one for name, one in given if name.startswith("old") is is_old])


def _aims(moment: Moment) -> set[str]:
    """Return the files that a call changed, and the first two words of its commands."""
    changed = {act.what for act in moment.acts if act.deed in CHANGES}
    return changed | {" ".join(act.what.split()[:2]) for act in moment.acts if act.deed in RUNS}


def _work_before(timeline: Timeline, until: int) -> list[Moment]:
    """Return the agent's last changes, or the last call, since the user's previous message, and the closing prose."""
    turn = range(last_before(timeline.prompts, last_before(timeline.calls, until)) + 1, until)
    done = within(timeline.changes, turn)[-_DID:] or within(timeline.calls, turn)[-1:]
    prose = [at for at in turn[-1:] if isinstance(timeline.moments[at].entry, Prose)]
    return [timeline.moments[at] for at in (*done, *prose)]


def _work_after(timeline: Timeline, at: int) -> Sequence[Moment]:
    """Return what the agent did next, until the user's next message or the next rejected call."""
    ends = (first_after(places, at) for places in (timeline.prompts, timeline.rejected))
    return timeline.moments[at + 1 : min((end for end in ends if end is not None), default=None)]


def _changes(then: Sequence[Moment]) -> list[Moment]:
    """Return the agent's first prose, the first successful changes or commands, and the last prose."""
    runs = [one for one in then if one.passed and one.commands]
    done = [one for one in then if one.changed] or runs
    sizes = accumulate(len(str(one.arguments)) for one in done)
    done = [one for one, size in zip(done, sizes, strict=True) if size <= 2 * SIDE]  # no call is cut
    prose = [one for one in then if isinstance(one.entry, Prose)]
    shown = {one.at: one for one in (*prose[:1], *done[:_THEN], *prose[-1:])}
    return [shown[at] for at in sorted(shown)]


HEADING = "## Corrections from past sessions"
_LONGEST = 200
_ALIKE, _LEAST = 0.6, 2
"""Minimum overlap of equal corrections: as a share of the shorter text's words, and as a number of words."""
_RECURS = 2
_SHOWN = 5
"""Maximum sessions to name for a rule in the file."""


@dataclass(slots=True)
class RecurringRule:
    """A correction in the user's latest words, with its sessions, oldest first, and the ids of its findings."""

    text: str
    words: frozenset[str]
    sessions: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)

    @property
    def recurs(self) -> bool:
        """True if the correction occurs in several sessions."""
        return len(self.sessions) >= _RECURS


def recurring_corrections(
    sessions: Iterable[Session], redact: Callable[[str], tuple[str, object]]
) -> list[RecurringRule]:
    """Group the corrections in sessions (given oldest first); returns the most frequent correction first."""
    rules: list[RecurringRule] = []
    for session in sessions:
        for finding in findings_of(session):
            if finding.kind == Kind.CORRECTION:
                _add_rule(rules, session.id, finding, redact)
    return sorted(rules, key=lambda rule: -len(rule.sessions))


def _add_rule(
    rules: list[RecurringRule], session: str, finding: Finding, redact: Callable[[str], tuple[str, object]]
) -> None:
    text = _line(redact(finding.summary)[0])
    words = content_words(text)
    if len(words) < _LEAST:
        return
    rule = next((one for one in rules if _is_same(one.words, words)), None)
    if rule is None:
        rule = RecurringRule(text, words)
        rules.append(rule)
    rule.text, rule.words = text, words
    rule.findings.append(finding.id)
    if session not in rule.sessions:
        rule.sessions.append(session)


def _line(text: str) -> str:
    """Return the text as one line without Markdown syntax."""
    bare = normal_line(text).strip().strip('"“”').replace("<", "‹").replace(">", "›")
    return contain_line(escape_links(cut(bare, _LONGEST)))


def _is_same(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _LEAST and overlap(one, other) >= _ALIKE and overlap(one, other, "larger") >= 0.5


def with_rules(text: str, rules: Sequence[RecurringRule]) -> str:
    """Add the recurring rules that the file's text does not contain, in a separate section."""
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
    """Return a unified diff that `git apply` and `patch` accept."""
    before = f"a/{name}" if old else "/dev/null"
    parts = unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), before, f"b/{name}")
    return "".join(part if part.endswith("\n") else f"{part}\n\\ No newline at end of file\n" for part in parts)
