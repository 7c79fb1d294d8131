"""Outcomes: one for each turn that changed files or recorded work, with the commits, pull requests and checks that prove it.

Its head is the subject of a commit, the title of a pull request, or what the agent said at the end; its points are from the closing text.
A commit right after the turn that it records belongs to that turn's outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from crucible.findings.calls import Call, checks_in, is_red, red_in
from crucible.findings.sources import Pattern
from crucible.findings.story import NOTHING, Said, Turn
from crucible.findings.texts import filled, line, points, told, words_in
from crucible.patterns import late_pattern
from crucible.session.findings import Kind, Source
from crucible.session.model import Noted
from crucible.session.sentences import SUMMARY, plain

__all__ = ["Outcomes", "commits_in"]

CLOSING = Pattern("closing text after edits", Source.SUMMARY, 46, 49)
COMMIT = Pattern("commit", Source.COMMIT, 36, 36)
REQUEST = Pattern("pull request", Source.COMMIT, 8, 8)

_MOST, _CHECKS = 12, 6
_SAME, _LIKE = 0.6, 0.4
"""The share of a line's words in another for both to say the same, and of a commit's words in the outcome that it records."""
_CREATES = late_pattern(r"\b(?:gh pr|glab mr) create\b")
_TITLED = late_pattern(r"""--title[ =](["'])(.+?)\1""")
_COMMIT = late_pattern(r"^\[([^\]\n]+?) ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
_REQUEST = late_pattern(r"^https://\S+/(?:pull|merge_requests)/\d+[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Proof:
    """What was recorded in a turn: `text` is a commit's subject or a pull request's title, `name` its id or address."""

    text: str
    name: str
    row: str


@dataclass(frozen=True, slots=True)
class _Found:
    """The outcome of one turn."""

    closing: Said = NOTHING
    commits: tuple[_Proof, ...] = ()
    requests: tuple[_Proof, ...] = ()
    checks: tuple[str, ...] = ()
    head: str = ""
    """What the closing text says first."""
    points: tuple[str, ...] = ()

    @property
    def proofs(self) -> tuple[_Proof, ...]:
        return (*self.commits, *self.requests)


class Outcomes:
    """Outcomes of one session; that of the current turn is kept apart, since more may follow."""

    def __init__(self) -> None:
        self._found: list[_Found] = []
        self._now = _Found()
        self._told: set[str] = set()
        """The points of earlier turns: a summary that grows repeats them."""

    def ended(self, turn: Turn) -> None:
        """End a turn."""
        self._found = self._with(turn)
        self._now = _Found()
        if self._found:
            self._told.update(map(_key, self._found[-1].points))

    def edited(self) -> None:
        """Files changed: what passed before proves nothing."""
        self._now = replace(self._now, checks=())

    def returned(self, call: Call, text: str, row: str, turn: Turn) -> None:
        """Take the output of a shell command that succeeded."""
        now = self._now
        if turn.edits and len(now.checks) < _CHECKS and not is_red(text):
            now = replace(now, checks=tuple(dict.fromkeys((*now.checks, *checks_in(call)))))
        if "git init" not in call.script and len(now.commits) < _MOST:
            made = [
                _Proof(line(subject, SUMMARY), name[:9], row)
                for place, name, subject in commits_in(text)
                if "root-commit" not in place
            ]
            now = replace(now, commits=(*now.commits, *made))
        if _CREATES.search(call.script) and (address := _REQUEST.search(text)):
            title = _TITLED.search(call.script)
            opened = _Proof(line(title[2], SUMMARY) if title else "", address[0].strip(), row)
            now = replace(now, requests=(*now.requests, opened)[:_MOST])
        self._now = now

    def failed(self, call: Call, text: str) -> None:
        """A command failed: it does not count that it passed before."""
        red, _ = red_in(call, text)
        self._now = replace(self._now, checks=tuple(check for check in self._now.checks if check != red))

    def noted(self, turn: Turn) -> list[Noted]:
        """The outcomes so far, including that of the current turn."""
        return [_noted(each) for each in self._with(turn)]

    def _with(self, turn: Turn) -> list[_Found]:
        """The outcomes with that of the current turn."""
        now = self._of_turn(turn)
        if now is None:
            return self._found
        last = self._found[-1] if self._found else None
        if last and now.proofs and not turn.edits and not last.commits and _records(now, last):
            checks = tuple(dict.fromkeys((*last.checks, *now.checks)))
            merged = replace(
                last, commits=now.commits, requests=(*last.requests, *now.requests), checks=checks
            )
            return [*self._found[:-1], merged]
        return [*self._found, now]

    def _of_turn(self, turn: Turn) -> _Found | None:
        said = _closing(turn)
        if not said.text:
            return self._now if self._now.proofs else None
        summary = told(said.text)
        fresh = [one for one in summary.points if _key(one) not in self._told]
        head, rest = _about(turn, summary.heads, fresh)
        return replace(self._now, closing=said, head=head or line(said.text, SUMMARY), points=tuple(rest))


def _about(turn: Turn, said: Sequence[str], listed: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The head, which is as many sentences or items as fit in one line, and the items or sentences that are left.

    A first sentence that is about neither the files nor the list takes items along, since it says only that all is done and passes.
    """
    if not said:
        return filled("; ", listed)
    about = words_in(" ".join((*sorted(turn.files), *listed)))
    if listed and not words_in(" ".join(said)) & about:
        return filled("; ", (f"{said[0].rstrip('.')}: {listed[0]}", *listed[1:]))
    head, left = filled(" ", said)
    return head, listed or left


def _records(now: _Found, last: _Found) -> bool:
    """True if commits are about what an outcome says."""
    words = words_in(" ".join((last.head, *last.points)))
    return any(len(words & words_in(proof.text)) >= _LIKE * len(words_in(proof.text)) for proof in now.proofs)


def _noted(found: _Found) -> Noted:
    """An item of the block: a line that says the same as its head is left out."""
    proofs = found.proofs
    head = line(_subject(found) or found.head or proofs[0].text or f"PR {proofs[0].name}", SUMMARY)
    told = points([one for one in (found.head, *found.points) if one])
    rest = tuple(dict.fromkeys(one for one in told if not _is_same(one, head)))
    pattern = COMMIT if found.commits else REQUEST if proofs else CLOSING
    rows = (*((found.closing.row,) if found.closing.row else ()), *(proof.row for proof in proofs))
    return Noted(
        Kind.OUTCOME,
        head,
        "; ".join(_proof(found, head)) or None,
        pattern.on(*rows),
        rest,
    )


def _subject(found: _Found) -> str:
    """The subject of the commit or the title of the request that is closest to the closing text; what git itself writes is none."""
    named = [proof.text for proof in found.proofs if proof.text and not proof.text.startswith("Merge ")]
    words = words_in(" ".join((found.head, *found.points)))
    return max(named, key=lambda text: len(words_in(text) & words), default="")


def _proof(found: _Found, head: str) -> Iterator[str]:
    """Commits, pull requests, and what passed after the last edit."""
    for proof in found.commits:
        yield f"commit {proof.name}" + (f" {proof.text}" if proof.text != head else "")
    for proof in found.requests:
        if proof.name not in head:
            yield f"PR {proof.name}" + (f" {proof.text}" if proof.text and proof.text != head else "")
    if found.checks:
        yield f"passed: {', '.join(found.checks[:_CHECKS])}"


def commits_in(text: str) -> list[tuple[str, str, str]]:
    """Branch, short id and subject of each commit that `git commit` reported."""
    return _COMMIT.findall(text[-20_000:]) if "] " in text else []


def _closing(turn: Turn) -> Said:
    """The last text after the last edit; the longest one instead if the last only introduces a call."""
    last, longest = turn.closing, turn.longest
    if not turn.edits:
        return NOTHING
    weak = turn.worked or last.text.endswith(":") or len(last.text) < 150
    if weak and len(longest.text) > 2 * len(last.text):
        return longest
    return NOTHING if turn.worked and last.text.endswith(":") else last


def _key(point: str) -> str:
    """The first words of a point, by which it is known again."""
    return plain(point).casefold()[:60]


def _is_same(one: str, other: str) -> bool:
    words = words_in(one)
    return len(words & words_in(other)) >= _SAME * len(words)
