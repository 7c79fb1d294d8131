"""Outcomes: one for each turn that changed files or recorded work, with its commits, pull requests and checks.

The head is a commit's subject, a pull request's title or a sentence by the agent; the points are from its closing text.
A commit in the next turn, without edits, belongs to the same outcome.  Work that was later undone is not an outcome.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from crucible.analysis.findings.observed_calls import ObservedCall, base_name, checks_in, is_red, red_in
from crucible.analysis.findings.text_layout import (
    FEW,
    TextSection,
    first_line,
    join_fitting,
    labelled,
    names_code,
    sections,
)
from crucible.analysis.findings.turns import Pattern, Trace, TurnHistory
from crucible.core.patterns import late_pattern
from crucible.core.text import long_words, overlap
from crucible.documents.recording.report_lines import Part
from crucible.documents.session.findings import SUMMARY, Kind, Source, cut_at_sentence, is_introduction, plain
from crucible.documents.session.session import FindingItem

_POINT, _BRIEF = 160, 40
"""Maximum code points in a point, and in a point that needs its label."""
_TITLED_CLOSING_TEXT = late_pattern(r"\w+(?: \w+)?:\s")
_NAME = late_pattern(r"\w[\w./-]{5,}\w")
_SHORT = 5


def reported_work(
    text: str,
    files: Collection[str],
    asked: str = "",
    known: Collection[str] = (),
    *,
    written: str = "",
    goes_on: bool = False,
) -> tuple[str, Sequence[str]]:
    """Return the head and the points of a closing text about work on `files`.

    Questions, words from the prompt `asked`, and `known` points are dropped.  A sentence that names something `written`
    is about the fix, not the problem.  If the agent continued after the text (`goes_on`), the last sentence announces
    the next work and is dropped.
    """
    read = _Text(text, files, asked, written, goes_on=goes_on)
    found = [cut_at_sentence(one, _POINT) for one in read.points()]
    points = [one for one in found if point_key(one) not in known]
    read.words |= long_words(" ".join(points))
    stated = [one for one in read.first.said if _is_informative(one) and one.rstrip(".") not in plain(asked)]
    head = next(filter(read.is_about, stated), "")
    if head:
        return head, points or stated[stated.index(head) + 1 :]
    if lead := read.lead(points):
        points = [f"{lead} {points[0]}", *points[1:]] if points else [f"{lead[:-1]}."]
    if points:
        return join_fitting("; ", points)
    more = [one for section in read.sections for one in section.said]
    relevant = [*filter(read.is_written, more), *filter(read.is_about, more)]
    if not relevant and read.main.label and not read.main.is_led:
        items = read.main.points()
        return join_fitting("; ", (labelled(read.main.label, items[:1]), *items[1:]))
    head, *rest = relevant[:1] or stated or more[:1] or [""]
    return head, rest


def point_key(point: str) -> str:
    """Return the first words of a point, which identify it."""
    return plain(point).casefold()[:60]


def _is_informative(one: str) -> bool:
    return not is_introduction(one) and (one.count(" ") >= FEW or names_code(one))


class _Text:
    """A closing text: its sections, the names of the edited files, and the words in its turn."""

    def __init__(self, text: str, files: Collection[str], asked: str, written: str, *, goes_on: bool) -> None:
        found = sections(text)
        if goes_on and not found[-1].items:
            del (found if found[-1].is_led else found[-1].said)[-1:]
        self.first, *self.sections = found
        self.main = next((one for one in found if one.points()), TextSection())
        self._names = [name for path in files if len(name := base_name(path)) > FEW]
        self._written = written
        self._asked = long_words(asked) if len(asked) < SUMMARY else set[str]()
        self.words = long_words(" ".join(self._names)) | self._asked

    def is_about(self, one: str) -> bool:
        """True if a sentence names something in the code or shares words with the turn."""
        words = long_words(one)
        return names_code(one) or len(words & self.words) > 1 or any(len(word) > _SHORT for word in words & self._asked)

    def lead(self, points: Sequence[str]) -> str:
        """Return the sentence that introduces the first list, if it is about the turn or the list is too short."""
        after = next(iter(self.sections), TextSection())
        is_short = after is self.main and (after.is_of is Part.ROW or 0 < len("".join(points[:1])) < _BRIEF)
        is_lead = after.is_led and not self.first.items and (is_short or self.is_about(after.label))
        return after.label if is_lead else ""

    def points(self) -> list[str]:
        """Return the items of the main list, then one point for each other section whose label names an edited file."""
        main, is_lead = self.main, self.main.is_led and self.main is self.sections[0]
        named = [
            one
            for one in self.sections
            if self._has_file(one.label) and (one.items or (one.is_titled and one.label.count(" ") > FEW))
        ]
        if not self._is_own(main) or (main in named and len(named) > 1 and not is_lead):
            return [labelled(one.label, self._items(one)) for one in named]
        items = self._items(main)
        if not is_lead and (main.is_led or main in named):
            items[0] = labelled(main.label, items[:1])
        return [*items, *(labelled(one.label, self._items(one)) for one in named if one is not main)]

    def _items(self, section: TextSection) -> list[str]:
        """Return the items of a section.

        Of paragraphs about a problem and its fix, return only those that name something written.
        """
        items = section.points()
        if section.is_of is not Part.PROSE:
            return items
        return [one for one in items if not _TITLED_CLOSING_TEXT.match(one) or self.is_written(one)] or items

    def is_written(self, one: str) -> bool:
        """True if a sentence names an edited file or something in its new lines."""
        named = (name for name in _NAME.findall(one) if names_code(name))
        return self._has_file(one) or any(name in self._written for name in named)

    def _has_file(self, text: str) -> bool:
        return any(name in text for name in self._names)

    def _is_own(self, main: TextSection) -> bool:
        """True if the list directly follows the first sentences, and no other section may report the work."""
        if main not in self.sections or self._has_file(main.label):
            return bool(main.items)
        at = self.sections.index(main)
        above, later = self.sections[:at], self.sections[at + 1 :]
        ranks = [one.rank for one in (*above, main) if not one.is_led]
        if any(one.said for one in above) or any(a >= b for a, b in pairwise(ranks)):
            return False
        if main.is_led:
            return bool(ranks) or not (above or (main.is_apart and any(map(self.is_about, self.first.said))))
        return not any(one.label and not one.is_led for one in later) or any(
            self._has_file(item.text) for item in main.items
        )


CLOSING = Pattern("closing text after edits", Source.SUMMARY, 43, 53)
COMMIT = Pattern("commit", Source.COMMIT, 45, 45)
REQUEST = Pattern("pull request", Source.COMMIT, 8, 8)

_MOST, _CHECKS, _POINTS = 12, 6, 7
_SAME, _LIKE = 0.6, 0.4
"""Minimum share of common words for two lines to be equal, and for a commit to be part of an earlier outcome."""
_CREATES = late_pattern(r"\b(?:gh pr|glab mr) create\b")
_TITLED = late_pattern(r"""--title[ =](["'])(.+?)\1""")
_COMMIT = late_pattern(r"^\[([^\]\n]+?) ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
_REQUEST = late_pattern(r"^https://\S+/(?:pull|merge_requests)/\d+[ \t]*$", re.MULTILINE)
_LOGGED = late_pattern(r"^[*|\\/ ]{0,20}([0-9a-f]{7,40}) (?:\([^)\n]{1,200}\) )?(\S.{0,300})$", re.MULTILINE)
_AMENDS = late_pattern(r"\bgit\b[^\n|;&]{0,80}\bcommit\b[^\n|;&\"']{0,80} --amend\b")
_RESETS = late_pattern(r"\bgit\b[^\n|;&]{0,80}\breset\b[^\n|;&]{0,40} HEAD(?:~(\d{1,2})|(~|\^{1,9}))")


@dataclass(slots=True, eq=False)
class _Proof:
    """A commit or pull request from a turn.  `text` is its subject or title, `name` its id or URL."""

    pattern: Pattern
    text: str
    name: str
    row: str
    is_undone: bool = False
    """True if the commit was reset; the work may be in another commit."""
    is_lost: bool = False
    """True if the work is lost as well."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The outcome of one turn."""

    recorded: tuple[_Proof, ...] = ()
    checks: Mapping[str, str] = field(default_factory=dict)
    """Checks since the last edit: "" if the last run passed, else the script that failed and has not passed since."""
    row: str = ""
    """The row of the closing text."""
    head: str = ""
    """The first sentence of the closing text."""
    points: tuple[str, ...] = ()
    trace: Trace = field(default_factory=Trace)

    @property
    def proofs(self) -> tuple[_Proof, ...]:
        """Return the commits and pull requests that are not undone."""
        return tuple(one for one in self.recorded if not one.is_undone)

    @property
    def key(self) -> tuple[object, ...]:
        """Everything that an item is made of."""
        proofs = [(one.pattern.name, one.text, one.name, one.row) for one in self.proofs]
        return (
            self.row,
            self.head,
            self.points,
            *proofs,
            *(check for check, failed in self.checks.items() if not failed),
        )

    @property
    def words(self) -> set[str]:
        """Return the words in the closing text."""
        return long_words(" ".join((self.head, *self.points)))

    @property
    def is_reported(self) -> bool:
        """False if nothing is recorded and the edits were undone."""
        is_lost = self.trace.is_lost or any(one.is_lost for one in self.recorded)
        return bool(self.proofs or (self.head and not is_lost))


class Outcomes:
    """The outcomes of one session.  The current turn's outcome is kept apart, since it may change."""

    def __init__(self, story: TurnHistory) -> None:
        self._story = story
        self._found: list[_Found] = []
        self._items: dict[tuple[object, ...], FindingItem] = {}
        """The last items, since most of them stay the same."""
        self._now = _Found()
        self._commits: list[_Proof] = []
        self._known: set[str] = set()
        """The keys of points from earlier turns, since a growing summary repeats them."""

    def ended(self) -> None:
        """End a turn."""
        self._found = self._with()
        self._now = _Found()
        if self._found:
            self._known.update(map(point_key, self._found[-1].points))

    def edited(self) -> None:
        """Record that files were changed, so earlier checks prove nothing."""
        if self._now.checks:
            self._now = replace(self._now, checks={})

    def returned(self, call: ObservedCall, text: str, row: str) -> None:
        """Process the output of a shell command that succeeded."""
        now = self._now
        if is_red(text):
            self.failed(call, text)
            now = self._now
        elif self._story.now.edits:
            # A run of other tests does not replace the failed run.
            passed = {key: "" for key in checks_in(call) if now.checks.get(key, "") in ("", call.script)}
            now = replace(now, checks={**now.checks, **passed})
        made: list[_Proof] = []
        for address in requests_in(call.script, text):
            title = _TITLED.search(call.script)
            made.append(_Proof(REQUEST, first_line(title[2], SUMMARY) if title else "", address, row))
        # Commits after `git init` belong to another repository, such as one that a test creates.
        if "git " in call.script and "git init" not in call.script:
            commits = [
                _Proof(COMMIT, first_line(subject, SUMMARY), name[:9], row)
                for place, name, subject in commits_in(text)
                if "root-commit" not in place
            ]
            self._undo(call.script, commits)
            made += commits
        self._now = replace(now, recorded=(*now.recorded, *made)[:_MOST])
        self._rename(text)

    def _undo(self, script: str, made: list[_Proof]) -> None:
        """Mark commits as undone if a command amends, resets or reverts them."""
        reset = _RESETS.search(script)
        if made and self._commits and _AMENDS.search(script):
            self._commits.pop().is_undone = True
        elif reset:
            for _ in range(min(int(reset[1] or len(reset[2])), len(self._commits))):
                last = self._commits.pop()
                last.is_undone, last.is_lost = True, "--hard" in reset[0]
        reverted = {one.text[8:-1] for one in made if one.text.startswith('Revert "') and one.text.endswith('"')}
        for old in self._commits if reverted else ():
            if old.text in reverted:
                old.is_undone = old.is_lost = True
        self._commits += made

    def _rename(self, text: str) -> None:
        """Update commit ids from git's output, since a rebase changes them."""
        logged = _LOGGED.findall(text[-20_000:]) if self._commits else []
        if logged:
            known = {proof.text: proof for proof in self._commits}
            for name, subject in reversed(logged):
                proof = known.get(first_line(subject, SUMMARY))
                if proof and proof.text in text:
                    proof.name = name[:9]

    def failed(self, call: ObservedCall, text: str) -> None:
        """Record a failed command, so that its earlier pass no longer counts."""
        red, _ = red_in(call, text)
        self._now = replace(self._now, checks={**self._now.checks, red: call.script})

    def noted(self) -> list[FindingItem]:
        """Return the outcomes so far, including the current turn's."""
        reported = [(each.key, each) for each in self._with() if each.is_reported]
        self._items = {key: self._items.get(key) or _noted(each) for key, each in reported}
        return [self._items[key] for key, _ in reported]

    def _with(self) -> list[_Found]:
        """Return the outcomes with the current turn's."""
        turn, now = self._story.now, self._of_turn()
        last = self._found[-1] if self._found else None
        if last and not turn.edits and _records(now, last):
            checks = {**last.checks, **now.checks}
            merged = replace(last, recorded=(*last.recorded, *now.recorded), checks=checks)
            return [*self._found[:-1], merged]
        return [*self._found, now] if now.head or now.proofs else self._found

    def _of_turn(self) -> _Found:
        turn = self._story.now
        closing = turn.closing
        if not (turn.edits and closing.text):
            return self._now
        goes_on = closing.text.endswith(":") or (closing is turn.last and turn.calls_since > 0 and not turn.is_recorded)
        written = "\n".join(text for _, text in turn.trace.left)
        files, asked = self._story.edited, turn.prompt.text
        head, rest = reported_work(closing.text, files, asked, self._known, written=written, goes_on=goes_on)
        if not head and not goes_on:
            head = f"Changed {', '.join(sorted(map(base_name, turn.files))[:8])}"
        return replace(self._now, row=closing.row, head=head, points=tuple(rest[:_POINTS]), trace=turn.trace)


def _records(now: _Found, last: _Found) -> bool:
    """True if the commits in this turn record the work of the last outcome, which has no commits yet."""
    if any(proof.pattern is COMMIT for proof in last.proofs):
        return False
    shared = ((long_words(proof.text), long_words(proof.text) & last.words) for proof in now.proofs)
    return any(len(same) >= _LIKE * len(words) for words, same in shared)


def _noted(found: _Found) -> FindingItem:
    """Return an item for the findings block, without points that repeat its head."""
    proofs, words = found.proofs, found.words
    # The subject closest to the closing text is best.  Git's own merge messages carry no information.
    named = [proof.text for proof in proofs if not proof.text.startswith("Merge ")]
    subject = max(named, key=lambda text: len(long_words(text) & words), default="")
    head = first_line(subject or found.head or proofs[0].text or f"PR {proofs[0].name}", SUMMARY)
    points = [first_line(one, SUMMARY) for one in (found.head, *found.points)]
    rest = tuple(dict.fromkeys(one for one in points if not _is_same(one, head)))
    patterns = {proof.pattern for proof in proofs}
    pattern = COMMIT if COMMIT in patterns else REQUEST if proofs else CLOSING
    grounds = pattern.on(found.row, *(proof.row for proof in proofs))
    return FindingItem(Kind.OUTCOME, head, "; ".join(_proof(found, head)) or None, grounds, rest)


def _proof(found: _Found, head: str) -> Iterator[str]:
    """Yield commits, pull requests, and the checks that passed after the last edit."""
    for proof in found.proofs:
        if proof.name not in head:
            text = proof.text if proof.text != head else ""
            yield f"{'commit' if proof.pattern is COMMIT else 'PR'} {proof.name} {text}".rstrip()
    if passed := [check for check, failed in found.checks.items() if not failed]:
        yield f"passed: {', '.join(passed[:_CHECKS])}"


def commits_in(text: str) -> list[tuple[str, str, str]]:
    """Return the branch, short id and subject of each commit that `git commit` reported."""
    text = text[-20_000:]
    return _COMMIT.findall(text) if "] " in text else []


def requests_in(script: str, text: str) -> list[str]:
    """Return the URL of the pull request that a command created, if it did."""
    found = _REQUEST.search(text) if " create" in script and _CREATES.search(script) else None
    return [found[0].strip()] if found else []


def _is_same(one: str, other: str) -> bool:
    words = long_words(one)
    return not words or overlap(words, long_words(other), "first") >= _SAME
