"""A briefing from all its sources.

Owns which source is asked with what, in which order its sections stand, and that one that fails is named and left out: the others are told all
the same.  Where the work stands, what is recalled and which client keeps tasks is the doors' to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

from crucible.briefing.aims import aimed, explain
from crucible.briefing.budget import fit
from crucible.briefing.digest import digest_items
from crucible.briefing.entries import open_questions, recent_entries
from crucible.briefing.included import included_section
from crucible.briefing.knowledge import Type, keywords, knowledge_section
from crucible.briefing.likeness import Aim
from crucible.briefing.memory import load_held
from crucible.briefing.model import Briefing, Item, Rank, Section, Source
from crucible.briefing.profile import load_profile, profile_section
from crucible.briefing.quoting import Quoter
from crucible.briefing.reasons import with_reasons
from crucible.briefing.recent import NEXT, UNRESOLVED, questions_section, sessions_section
from crucible.briefing.rows import Known, find_rows, since
from crucible.briefing.telling import Frame, find_template
from crucible.briefing.working import tasks_section
from crucible.errors import CrucibleError, IndexBroken, reason_of
from crucible.history.model import Entry
from crucible.inbox.model import Item as Waiting
from crucible.inbox.reading import waiting
from crucible.index.moments import utc
from crucible.index.schema import shard_of
from crucible.index.view import View
from crucible.note.fencing import quote_span
from crucible.patterns import late_pattern
from crucible.recall.model import Recall
from crucible.tasks.annotations import Shelf
from crucible.tasks.gathering import Scope
from crucible.tasks.overview import Client, Overview, overview, shown_tasks
from crucible.vault.store import Vault

__all__ = ["Counter", "Supply", "Wish", "brief"]

T = TypeVar("T")

_NOTHING = Known()
_WAITING = 5
"""Items of the inbox that are told."""
_REMEMBERED = 6
"""Of memory, of each rank."""


class Counter(Protocol):
    """Counts tokens, or whatever a budget is in."""

    def count(self, text: str) -> int:
        """Of a text, 0 for an empty one."""
        ...


@dataclass(frozen=True, slots=True)
class Supply:
    """What the doors hand in.

    `view` is the index's, None where it cannot be read, and then `broken` says why.  `recall` opens what searches and says the type of a hit's item;
    None asks nobody.  `client_folder` is where Claude Code keeps its tasks.
    """

    view: View | None = None
    broken: str = ""
    recall: Callable[[], tuple[Recall, Type]] | None = None
    client_folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """For which project ("" for all) and workflow a briefing is, when, seen from which folder, and how long it may be.

    `position` makes the text on where the work stands of what the index knows.  `workflow` is the name of what is about to run, with its `aim`.
    """

    project: str
    now: datetime
    budget: int
    folder: Path | None = None
    position: Callable[[Known], str] = lambda _: ""
    workflow: str = ""
    aim: Aim | None = None


def brief(
    vault: Vault,
    wish: Wish,
    supply: Supply,
    *,
    quoter: Quoter,
    counter: Counter,
    on_error: Callable[[str], None],
    early: Callable[[Briefing], object] | None = None,
) -> Briefing:
    """The briefing; `on_error` is told, in a line, of a template with an error, `early` gets what there is before recall is asked.

    Raises `IndexBroken` where a file of the index that `supply.view` looks into was replaced, so that it is asked again.
    """
    gathered = _Gathered(vault, wish, supply, quoter)
    sections = gathered.sections()
    template = find_template(vault.settings, on_error)

    def made() -> Briefing:
        told, explained = sections, ""
        if wish.aim:
            told = aimed(told, wish.aim)
            explained = explain(wish.aim, quote_span(wish.workflow, 80))
        frame = Frame(
            template,
            on_error,
            project=wish.project,
            position=gathered.position,
            explained=explained,
            failed=gathered.failed,
        )
        fitted = fit(told, frame.render, counter.count, wish.budget)
        failed = tuple(gathered.failed)
        return Briefing(
            wish.project,
            fitted.text,
            fitted.size,
            gathered.position,
            fitted.sections,
            failed,
            fitted.left_out,
            explained,
        )

    if gathered.asks_recall():
        if early:
            early(made())
        sections = gathered.with_recall(sections)
    return made()


class _Gathered:
    """What was found, source by source."""

    def __init__(self, vault: Vault, wish: Wish, supply: Supply, quoter: Quoter) -> None:
        self._vault, self._wish, self._supply, self._quoter = vault, wish, supply, quoter
        self._chosen = vault.settings.briefing
        self.failed: list[Source] = []
        self._queries: list[str] = []
        self._told: set[str] = set()
        self.position = ""

    def sections(self) -> list[Section]:
        """Those that have anything, in the order in which they stand, but for what recall finds."""
        wanted = self._chosen.sources
        if self._supply.broken:
            self._fails("sessions", self._supply.broken)
        known = self._try("sessions", self._known, _NOTHING)
        self.position = self._try("position", lambda: self._wish.position(known), "")
        entries: list[Entry] = []
        if wanted.history:
            entries = self._try("history", lambda: self._entries(known), entries)
        tasks = self._try("tasks", self._tasks, None) if wanted.tasks else None
        told = self._try("sessions", lambda: self._reasoned(known, entries), known)
        told = told if wanted.sessions else known._replace(events=())
        found = [
            self._section("tasks", lambda: self._working(tasks)),
            self._section("inbox", self._waiting) if wanted.inbox else None,
            self._section("history", lambda: self._questions(entries, known)),
            self._section("sessions", lambda: self._sessions(told, entries)),
            self._section("memory", self._memory) if wanted.memory else None,
            self._section("profile", self._profile) if wanted.profile else None,
            self._section("include_files", self._files),
        ]
        if wanted.recall:
            self._queries = self._try("recall", lambda: self._asked(told, entries, tasks), [])
        depth = self._chosen.history_depth
        self._told = {str(one.row["id"]) for one in told.events} | {one.session_id for one in entries[:depth]}
        return _once([section for section in found if section and section.items])

    def asks_recall(self) -> bool:
        """Whether there is anything to ask, and anybody."""
        return bool(self._supply.recall and self._queries)

    def with_recall(self, sections: Sequence[Section]) -> list[Section]:
        """The same with what recall finds, before what is about the project in general."""
        found = self._section("recall", self._recalled)
        at = next((n for n, one in enumerate(sections) if one.name in ("profile", "files")), len(sections))
        return [*sections[:at], *([found] if found and found.items else []), *sections[at:]]

    def _try(self, name: str, work: Callable[[], T], otherwise: T) -> T:
        try:
            return work()
        except (MemoryError, IndexBroken):
            raise
        except Exception as error:  # noqa: BLE001  one source that fails must not take the others with it
            self._fails(name, _reason(error))
            return otherwise

    def _fails(self, name: str, reason: str) -> None:
        if all(one.name != name for one in self.failed):
            self.failed.append(Source(name, quote_span(self._quoter.line(reason, 160)) or "no reason told"))

    def _section(self, name: str, work: Callable[[], Section]) -> Section | None:
        return self._try(name, work, None)

    def _known(self) -> Known:
        view, wish = self._supply.view, self._wish
        return find_rows(view, wish.project, wish.now, self._chosen) if view else _NOTHING

    def _tasks(self) -> Overview | None:
        view, settings = self._supply.view, self._vault.settings.tasks
        if view is None or not settings.show_task_status:
            return None
        scope = Scope(self._wish.project, since=self._oldest())
        shelf = Shelf(self._vault.root, settings.annotations_dir)
        client = Client(self._supply.client_folder, ())
        found = overview(view, scope, shelf, client, settings.max_tasks_shown)
        if found.troubles:  # what else there is is told
            more = f", and {len(found.troubles) - 1} more" if len(found.troubles) > 1 else ""
            self._fails("tasks", f"{found.troubles[0]}{more}")
        return found

    def _oldest(self) -> datetime:
        return since(self._wish.now, max(self._chosen.event_days, self._chosen.history_days))

    def _working(self, tasks: Overview | None) -> Section:
        if tasks is None:
            return Section("tasks", "Current tasks")
        return tasks_section(tasks, self._quoter, counts=self._vault.settings.tasks.show_recall_summary)

    def _entries(self, known: Known) -> list[Entry]:
        chosen, wish = self._chosen, self._wish
        oldest = since(wish.now, chosen.history_days)
        return recent_entries(self._vault, known, wish.project, oldest, chosen.history_depth)

    def _reasoned(self, known: Known, entries: Sequence[Entry]) -> Known:
        """With the reasons of decisions that no history tells."""
        told = {one.session_id for one in entries}
        return known._replace(
            events=tuple(
                one if str(one.row["id"]) in told else with_reasons(self._vault, one) for one in known.events
            )
        )

    def _sessions(self, known: Known, entries: Sequence[Entry]) -> Section:
        depth = self._chosen.history_depth
        return sessions_section(known, entries, now=self._wish.now, depth=depth, quoter=self._quoter)

    def _questions(self, entries: Sequence[Entry], known: Known) -> Section:
        return questions_section([*open_questions(entries, known.answered)], self._quoter)

    def _waiting(self) -> Section:
        view = self._supply.view
        # What is older is in `cru inbox list`: to look through every month takes longer than all else.
        recent = view.since(shard_of(utc(self._oldest()))) if view else None
        project = self._wish.project
        items = waiting(self._vault, recent, project=project, limit=_WAITING + 1) if recent else ()
        told = [Item(self._waits(one), Rank.TODO) for one in items[:_WAITING]]
        if len(items) > _WAITING:
            told.append(Item("and more: cru inbox list", Rank.TODO))
        return Section("inbox", "Waits for a human", tuple(told))

    def _waits(self, one: Waiting) -> str:
        said = ": ".join(filter(None, (one.title, one.text)))
        return f"{one.kind.value.replace('_', ' ')}: {self._quoter.line(said)} ({self._quoter.line(one.id, 150)})"

    def _memory(self) -> Section:
        """Without conventions, which the project's note tells, and what is said already."""
        held = load_held(self._vault.root, self._wish.project)
        items = digest_items(held, (), self._quoter, aim=self._wish.aim, most=_REMEMBERED)
        return Section("memory", "Remembered", tuple(items))

    def _asked(self, known: Known, entries: Sequence[Entry], tasks: Overview | None) -> list[str]:
        queries = list(self._chosen.recall_queries)
        if self._chosen.recall_auto_query:
            queries.insert(0, keywords(_recent_words(known, entries, tasks, self._wish)))
        return [query for query in queries if query.strip()]

    def _recalled(self) -> Section:
        wish = self._wish
        if self._supply.recall is None:
            return Section("recall", "Relevant knowledge")
        try:
            recall, type_of = self._supply.recall()
            return knowledge_section(
                recall,
                self._queries,
                project=wish.project,
                now=wish.now,
                type_of=type_of,
                told=self._told,
                quoter=self._quoter,
            )
        except IndexBroken as error:  # its own, which asking again does not mend
            raise CrucibleError(str(error), error.hint) from error

    def _profile(self) -> Section:
        if not self._wish.project:
            return Section("profile", "Project")
        profile = load_profile(self._vault.root, self._wish.project, self._quoter.whole)
        return profile_section(profile, self._quoter)

    def _files(self) -> Section:
        return included_section(self._wish.folder, self._chosen.include_files, self._quoter)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return ": ".join(filter(None, (str(error.filename or ""), reason_of(error))))
    return str(error) if isinstance(error, CrucibleError) else f"{type(error).__name__}: {error}"


def _once(sections: Sequence[Section]) -> list[Section]:
    """Without what a section before has told: of questions, of memory, of errors, and of what comes next."""
    said: set[str] = set()
    found = []
    for section in sections:
        items = [
            item for item in section.items if not (_may_repeat(section, item) and _key(section, item) in said)
        ]
        said.update(_key(section, item) for item in items)
        if items:
            found.append(section._replace(items=tuple(items)))
    return found


def _may_repeat(section: Section, item: Item) -> bool:
    return section.name in ("memory", "questions") or item.text.startswith((UNRESOLVED, NEXT))


_LEADS = late_pattern(
    r"\A(?:Decided|Corrected|Reached|Done|Known|Unresolved error|error|decision needed|approval required|task complete|Next: [A-Z][a-z ]+|Next): "
)
_BEHIND = late_pattern(
    r" (?:Why: |\(why: |→ )| \(inferred\)| \(task [^()]*\)\Z| \(\d{4}-\d\d-\d\d[^\s()]*\)\Z| \([^\s()]+\.[0-9a-f]{6}(?:-\d+)?\)\Z|; (?:waits for|recall:) "
)


def _key(section: Section, item: Item) -> str:
    """What an item says, without our word or the task's id before it and the reason, or the id, behind it."""
    text = item.text.partition(": ")[2] if section.name == "tasks" else _LEADS.sub("", item.text)
    text = _BEHIND.split(text, maxsplit=1)[0]
    return "".join(letter for letter in text.casefold() if letter.isalnum())[:80]


def _recent_words(known: Known, entries: Sequence[Entry], tasks: Overview | None, wish: Wish) -> list[str]:
    """Texts of the recent work: what is about to run, tasks that are open, titles, and what was decided."""
    texts = [wish.workflow]
    texts += [task.content for task in shown_tasks(tasks.status)[:10]] if tasks else []
    texts += [str(one.row["title"] or "") for one in known.events]
    texts += [event.text for one in known.events for event in one.events if event.kind == "decision"][:10]
    texts += [line.text for entry in entries[:3] for line in (*entry.decisions[:4], *entry.further[:4])]
    return texts
