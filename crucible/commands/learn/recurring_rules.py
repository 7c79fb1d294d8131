"""Corrections that recur over sessions, as rules for a project's AGENTS.md or CLAUDE.md.

A rule is one line of the user's words.  Corrections are the same if they share most of what they say; a rule that the file already
has is not proposed again.  Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff

from crucible.commands.learn.case import content_words
from crucible.core.text.words import overlap
from crucible.documents.markdown.containment import contain_line, cut, normal_line
from crucible.documents.markdown.wikilinks import without_links
from crucible.documents.session.findings import Finding, Kind, findings_of
from crucible.documents.session.session import Session

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


def rules_of(sessions: Iterable[Session], redact: Callable[[str], tuple[str, object]]) -> list[RecurringRule]:
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


def diff_of(name: str, old: str, new: str) -> str:
    """A unified diff that `git apply` and `patch` take."""
    before = f"a/{name}" if old else "/dev/null"
    parts = unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), before, f"b/{name}")
    return "".join(part if part.endswith("\n") else f"{part}\n\\ No newline at end of file\n" for part in parts)
