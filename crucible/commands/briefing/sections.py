"""The sections of a briefing: which facts each shows, and how.

A fact is shown if its confidence is high enough and it makes sense outside its session (`is_useful`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import chain, zip_longest

from crucible.commands.briefing.briefing_parts import Item, Quoter, Rank, Section, stems, whole_words
from crucible.commands.briefing.facts import Fact, ProjectFacts
from crucible.core.patterns import late_pattern
from crucible.core.text import WORD, counted, day_words, overlap, stop_words
from crucible.documents.session.findings import Kind, Source, is_from_model
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.memory.pending_questions import PendingItem as Waiting
from crucible.memory.summary.brief_text import ShownTexts as Shown
from crucible.memory.tasks.overview import Overview, shown_tasks
from crucible.memory.tasks.readiness import ListedTask, TasksStatus
from crucible.memory.tasks.task import OpenTask, Ref
from crucible.memory.tasks.task_pickup import RecallCounts
from crucible.search.recall import EventKind, Hit, Question, Recall
from crucible.vault.index.schema import Row
from crucible.vault.index.time_filters import begun, time_of

_CONVENTIONS, _DECISIONS, _OPEN, _WAITING, _SESSIONS = 8, 6, 8, 5, 5
_PER_SESSION, _COMPLETED = 2, 3
"""Maximum decisions per session, and maximum completed tasks, to show."""
_FOLLOWED = 1
"""Number of later sessions after which open ends found by an agent, such as uncommitted work, are mostly settled."""
_TITLE, _OUTCOME, _WHY, _TASK = 100, 160, 160, 160
_MIN_CONFIDENCE = 65
"""Minimum confidence of a finding, in percent."""
_FEWEST_WORDS = 5
_CUT = ("…", "...")
_REFERENCE = late_pattern(
    r"(?i)\b(?:this|that|these|those|it|its|they|them|here|there|above|below|now|again|yet|first)\b|https?://"
)
"""Matches words that refer to something outside the sentence."""
_NAME = late_pattern(r"[`/\\_]|\w\.\w|[a-z][A-Z]|[A-Za-z]-?\d|\s--?\w")
"""Matches a path, identifier, option, version or ticket; a question without one is not specific."""


# --- the rule --------------------------------------------------------------------------------------------------------


def is_useful(one: Fact) -> bool:
    """True if a finding makes sense outside its session.

    It must have enough confidence and be a full sentence that refers to nothing outside; a decision also needs a
    reason. Findings that were recorded explicitly are always useful.
    """
    text = one.text.strip().strip("\"'“”")
    if one.source in _WRITTEN:
        return bool(text)
    return (
        one.confidence >= _MIN_CONFIDENCE
        and len(WORD.findall(text)) >= _FEWEST_WORDS
        and not text.startswith(_CUT)
        and not text.endswith(":")
        and not _REFERENCE.search(text)
        and (one.kind != Kind.DECISION or bool(one.why))
    )


_WRITTEN = (Source.CALLOUT, "history", "task", "question", "")
"""Sources of findings that were recorded explicitly."""


def conventions_of(known: ProjectFacts) -> list[tuple[Fact, int]]:
    """Return the project's conventions with the number of sessions that mention each.

    The most frequent come first, then the newest. A correction counts if it was recorded explicitly or made in several
    sessions: a single one may be a special case.
    """
    groups: list[tuple[Fact, frozenset[str], set[str]]] = []
    for one in known.of(Kind.CORRECTION, Kind.ENVIRONMENT):
        words = stems(one.text)
        same = next((group for group in groups if _are_alike(words, group[1])), None)
        if same:
            same[2].add(one.session)
        elif one.confidence >= _MIN_CONFIDENCE:
            groups.append((one, words, {one.session}))
    found = [
        (one, len(names))
        for one, _, names in groups
        if len(names) > 1 or (is_useful(one) and (one.kind == Kind.ENVIRONMENT or one.source in _WRITTEN))
    ]
    return sorted(found, key=lambda pair: -pair[1])


def lessons_of(known: ProjectFacts) -> list[Fact]:
    """Return failures that were recorded with their cause. Test failures are left out, since the code has the fix."""
    return [one for one in known.of(Kind.FAILURE) if one.why and one.source in _WRITTEN and is_useful(one)]


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """True if the two sets share at least two thirds of the smaller one."""
    return min(len(one), len(other)) > 1 and overlap(one, other) >= 2 / 3


def decisions_of(known: ProjectFacts) -> list[Fact]:
    """Return decisions with a reason, newest first, with choices before replies.

    If a session has more than `_PER_SESSION`, the others come last.
    """
    count, found = Counter[str](), list[tuple[bool, bool, Fact]]()
    for one in filter(is_useful, known.of(Kind.DECISION)):
        if one.source != Source.PLAN:
            count[one.session] += 1
            found.append((count[one.session] > _PER_SESSION, one.source == Source.REPLY, one))
    return [one for *_, one in sorted(found, key=lambda each: each[:2])]


def open_ends_of(known: ProjectFacts) -> list[Fact]:
    """Return open ends of live sessions, except settled ones and unspecific questions."""
    found = (
        one
        for one in known.of(Kind.OPEN_END)
        if one.session in known.alive
        and is_useful(one)
        and not (is_from_model(one.source) and known.after(one.session).sessions > _FOLLOWED)
    )
    return [
        one
        for one in found
        if (one.source in _WRITTEN or not one.text.endswith("?") or _NAME.search(one.text.partition(": ")[2]))
        and not known.after(one.session).settles(one.text)
    ]


def _weight(outcome: Fact) -> tuple[bool, bool, bool]:
    return is_from_model(outcome.source), outcome.source == Source.COMMIT, is_useful(outcome)


def is_new(shown: Shown, text: str) -> bool:
    """Record text as shown; False if its content was shown before."""
    return not shown.is_in(text) and shown.add(text)


# --- the sections ----------------------------------------------------------------------------------------------------


class SectionBuilder:
    """Builds the sections, in order; each skips facts that an earlier one shows."""

    def __init__(self, known: ProjectFacts, quoter: Quoter, now: datetime) -> None:
        self._known, self._quoter, self._now = known, quoter, now
        self._shown = Shown()

    def conventions(self) -> Section:
        """Return the section of conventions."""
        items = list[Item]()
        for one, count in conventions_of(self._known):
            often = f", and {count - 1} more" if count > 1 else ""
            refused = one.why.partition(". Then: ")[0] if one.why.startswith("refused: ") else ""
            items += self._item(one, Rank.LESSON, f"{one.session}{often}", refused)
        return _cut("conventions", "Conventions of this project", items, _CONVENTIONS)

    def decisions(self) -> Section:
        """Return the section of decisions with their reasons."""
        found = decisions_of(self._known)
        items = [item for one in found for item in self._item(one, Rank.DECISION, one.session, one.why)]
        return _cut("decisions", "Decisions", items, _DECISIONS)

    def open_ends(self) -> Section:
        """Return the section of open ends."""
        found = open_ends_of(self._known)
        items = [item for one in found for item in self._item(one, Rank.TODO, self._with_later(one.session))]
        return _cut("open", "Left open at the end of a session", items, _OPEN)

    def _with_later(self, session: str) -> str:
        """Return the session's id with the number of later sessions, which may have settled its open ends."""
        count = self._known.after(session).sessions
        return f"{session}; {counted(count, 'later session')}" if count else session

    def sessions(self, depth: int) -> Section:
        """Return the section of the newest sessions that have an outcome or are still open."""
        outcomes: dict[str, list[Fact]] = {}
        for one in sorted(self._known.of(Kind.OUTCOME), key=_weight, reverse=True):
            outcomes.setdefault(one.session, []).append(one)
        rows = [row for row in self._known.sessions if row["id"] in outcomes or row["status"] in ("active", "paused")]
        most = max(depth, _SESSIONS)
        items = [self._session(row, outcomes.get(str(row["id"]), ())) for row in rows[:most]]
        return Section("sessions", "Recent sessions", tuple(items))

    def _session(self, row: Row, outcomes: Sequence[Fact]) -> Item:
        """Return a session's item, with the first outcome that is not already in the title."""
        line, about_title = self._quoter.line, whole_words(row["title"])
        began = time_of(begun(row))
        about = ", ".join(filter(None, (day_words(began, self._now) if began else "", str(row["status"] or ""))))
        text = f"{line(str(row['id']), 130)} ({line(about, 60)})"
        if title := line(about_title, _TITLE):
            text = f"{text}: {title}"
        outcome = next((one for one in outcomes if not _are_alike(stems(about_title), stems(one.text))), None)
        if outcome:
            text = f"{text} → {line(outcome.text, _OUTCOME)}"
        return Item(text, Rank.LESSON, finding=next((one.finding for one in (outcome, *outcomes) if one), ""))

    def tasks(self, found: Overview | None, *, counts: bool) -> Section:
        """Return the section of tasks: in progress, ready, blocked, completed.

        `counts` adds the number of recall items to each task.
        """
        title = "Current tasks"
        if found is None:
            return Section("tasks", title)
        status = found.status
        items = [*self._tasks(status, found.recall if counts else {})]
        if status.in_progress_count:
            text = f"{status.completed} completed, {status.in_progress_count} in progress, {status.pending} pending"
            items.insert(0, Item(text, Rank.TODO))
        if more := status.left_out:
            items.append(Item(f"{counted(more, 'more open task')}: cru task list", Rank.TODO))
        for circle in status.circles[:3]:
            names = " → ".join(self._quoter.line(task.ref.id, 40) for task in circle[:8])
            items.append(Item(f"these tasks depend on each other: {names}", Rank.TODO))
        for task in shown_tasks(status):
            self._shown.add(task.content)
        return Section("tasks", title, tuple(items))

    def waiting(self, items: Sequence[Waiting]) -> Section:
        """Return the section of inbox items that wait for the user."""
        lines = []
        for one in items[:_WAITING]:
            content = ": ".join(filter(None, (one.title, one.text)))
            self._shown.add(content)
            name = self._quoter.line(one.id, 150)
            lines.append(Item(f"{one.kind.value.replace('_', ' ')}: {self._quoter.line(content)} ({name})", Rank.TODO))
        return Section("inbox", "Waiting for you", tuple(lines), max(0, len(items) - _WAITING))

    def _item(self, one: Fact, rank: Rank, name: str, why: str = "") -> Iterator[Item]:
        """Yield the item of a fact, unless its content was shown before."""
        shown = self._quoter.line(one.text)
        if shown and is_new(self._shown, one.text):
            reason = self._quoter.line(why.lstrip("-* "), _WHY)
            because = f" ({'' if rank is Rank.LESSON else 'why: '}{reason})" if reason else ""
            yield Item(f"{shown}{because} ({self._quoter.line(name, 150)})", rank, finding=one.finding)

    def _tasks(self, status: TasksStatus, counts: Mapping[Ref, RecallCounts]) -> Iterator[Item]:
        for label, tasks in (
            ("in progress", status.in_progress),
            ("ready to start", status.ready),
            ("blocked", status.blocked),
        ):
            yield from (
                Item(self._listed(one, counts), Rank.TODO, label)
                for one in tasks
                if not self._known.after(one.task.ref.session).settles(one.task.content)
            )
        newest = str(self._known.sessions[0]["id"]) if self._known.sessions else ""
        recent = [task for task in status.recent if task.ref.session == newest]
        yield from (Item(self._task(task), Rank.LESSON, "recently completed") for task in recent[:_COMPLETED])

    def _listed(self, one: ListedTask, counts: Mapping[Ref, RecallCounts]) -> str:
        parts = [self._task(one.task)]
        if one.waits_for:
            ids = [self._quoter.line(task.ref.id, 40) for task in one.waits_for[:4]]
            more = len(one.waits_for) - len(ids)
            parts.append(f"waits for {', '.join(ids)}{f' and {more} more' if more > 0 else ''}")
        found = counts.get(one.task.ref, RecallCounts())
        named = found._asdict().items()
        recalled = [f"{number} {what if number > 1 else what[:-1]}" for what, number in named if number]
        if recalled:
            parts.append(f"recall: {', '.join(recalled)}; load them with `cru task pick`")
        return "; ".join(parts)

    def _task(self, task: OpenTask) -> str:
        return f"{self._quoter.line(str(task.ref), 180)}: {self._quoter.line(whole_words(task.content), _TASK)}"


def _cut(name: str, title: str, items: Sequence[Item], most: int) -> Section:
    return Section(name, title, tuple(items[:most]), max(0, len(items) - most))


MOST_WORDS, MOST_ITEMS = 10, 5
_KEYWORD = late_pattern(r"[^\W\d_][\w-]{2,40}")
_SHOWN_TYPES = frozenset({"decision", "evidence", "pattern"})
"""Types of knowledge items to show."""
_TEXT = 220

Type = Callable[[Hit], str]
"""Returns the type of a hit's knowledge item, "" if unknown."""


def keywords(texts: Iterable[str], most: int = MOST_WORDS) -> str:
    """Return the most frequent words of these texts, in order of appearance."""
    count: Counter[str] = Counter()
    for text in texts:
        count.update([*dict.fromkeys(word.casefold() for word in _KEYWORD.findall(text[:2000]))])
    words = [word for word in count if word not in stop_words("briefing") and not word.startswith("cru-")]
    chosen = set(sorted(words, key=lambda word: -count[word])[:most])
    return " ".join(word for word in words if word in chosen)


def knowledge_section(
    recall: Recall,
    questions: Iterable[Question],
    now: datetime,
    *,
    type_of: Type,
    shown: Collection[str],
    quoter: Quoter,
) -> Section:
    """Return a section with the best hits of each question in turn.

    There are no duplicates, and no hits from the sessions `shown`.
    """
    answers = (recall.ask(question, now).hits for question in questions)
    items: dict[str, Item] = {}
    for hit in filter(None, chain.from_iterable(zip_longest(*answers))):
        event = hit.event
        type_ = "decision" if event.kind is EventKind.DECISION else type_of(hit)
        if event.kind is EventKind.DECISION and not is_useful(Fact(type_, event.text, event.session, why=event.text)):
            continue
        if len(items) < MOST_ITEMS and event.session not in shown and (not type_ or type_ in _SHOWN_TYPES):
            title = f"{quoter.line(event.title, 120)}: " if event.title else ""
            text = f"{type_ or 'knowledge'}: {title}{quoter.line(event.text, _TEXT)} ({quoter.line(event.id, 150)})"
            rank = Rank.DECISION if type_ == "decision" else Rank.LESSON
            items.setdefault(event.id, Item(text, rank))
    return Section("recall", "Relevant knowledge", tuple(items.values()))


def question_of(query: str, project: str) -> Question:
    """Return the question to ask recall."""
    kinds = frozenset((EventKind.KNOWLEDGE, EventKind.DECISION))
    return Question(query, kinds=kinds, project=project, limit=2 * MOST_ITEMS, context=0)


def types_on(shelf: ItemShelf) -> Type:
    """Return a function that looks up a hit's item type. The types are loaded at the first hit."""

    @cache
    def known() -> dict[str, str]:
        return {path: facts.type for path, (_, facts) in shelf.facts().items()}

    def type_of(hit: Hit) -> str:
        return known().get(hit.path, "")

    return type_of
