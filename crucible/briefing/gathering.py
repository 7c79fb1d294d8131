"""A briefing from all its sources.  A source that fails is named and left out; the others are shown all the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from crucible.briefing.budget import fit
from crucible.briefing.facts import Known, begun, find_known, time_of, with_histories
from crucible.briefing.files import included_section
from crucible.briefing.knowledge import Type, keywords, knowledge_section
from crucible.briefing.likeness import Aim, aimed, explain
from crucible.briefing.model import Briefing, Section, Source
from crucible.briefing.place import find_position, position_lines
from crucible.briefing.profile import load_profile, profile_section
from crucible.briefing.quoting import Quoter
from crucible.briefing.sections import Told
from crucible.briefing.telling import Frame, find_template
from crucible.errors import CrucibleError, IndexBroken, reason_of
from crucible.inbox.model import Item as Waiting
from crucible.inbox.reading import places, read_items
from crucible.index.schema import shard_of
from crucible.index.view import View
from crucible.note.fencing import fence, quote_span
from crucible.recall.model import Recall
from crucible.session.findings import Kind
from crucible.tasks.annotations import Shelf
from crucible.tasks.gathering import Scope
from crucible.tasks.overview import Client, Overview, overview, shown_tasks
from crucible.vault.store import Vault

__all__ = ["Counter", "Supply", "Wish", "brief"]

T = TypeVar("T")


class Counter(Protocol):
    """Counts tokens, or whatever a budget is in."""

    def count(self, text: str) -> int:
        """The size of a text, 0 for an empty one."""
        ...


@dataclass(frozen=True, slots=True)
class Supply:
    """What callers provide.

    `view` is the index's, None if it cannot be read; `broken` says why.  `recall` opens what searches and gives the type of a hit's item;
    None searches nothing.  `client_folder` is where Claude Code keeps its tasks.
    """

    view: View | None = None
    broken: str = ""
    recall: Callable[[], tuple[Recall, Type]] | None = None
    client_folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """For which project ("" for all) and workflow a briefing is, when, seen from which folder, and how long it may be.

    `notice` is what is said of a paused session in place of the position.  Without `tells_paused` paused sessions are no position.
    `workflow` is the name of what is about to run, with its `aim`.
    """

    project: str
    now: datetime
    budget: int
    folder: Path | None = None
    notice: str = ""
    tells_paused: bool = True
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
    """The briefing; `on_error` gets a line on a template with an error, `early` what there is before recall is asked.

    Raises `IndexBroken` if a file of the index was replaced meanwhile; ask again then.
    """
    gathered = _Gathered(vault, wish, supply, quoter)
    sections = gathered.sections()
    template = find_template(vault.settings, on_error)

    def made() -> Briefing:
        shown, explained = sections, ""
        if wish.aim:
            shown = aimed(shown, wish.aim)
            explained = explain(wish.aim, quote_span(wish.workflow, 80))
        position, failed = gathered.position, gathered.failed
        values = {"project": quote_span(wish.project, 80), "explained": explained, "position": position}
        fitted = fit(
            shown,
            Frame(template, on_error, {**values, "failed": tuple(failed)}).render,
            counter.count,
            wish.budget,
        )
        return Briefing(
            wish.project,
            fitted.text,
            fitted.size,
            position,
            fitted.sections,
            tuple(failed),
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
        self._known = Known()
        self._queries: list[str] = []
        self.failed: list[Source] = []
        self.position = ""

    def sections(self) -> list[Section]:
        """All sections that have anything, in order, except what recall finds."""
        chosen, wanted = self._chosen, self._chosen.sources
        if self._supply.broken:
            self._fails("sessions", self._supply.broken)
        known = self._try("sessions", self._find, Known())
        if wanted.history:
            known = self._try(
                "history", lambda: with_histories(self._vault, known, self._wish.project), known
            )
        self._known = known
        self.position = self._try("position", self._position, "")
        tasks = self._try("tasks", self._tasks, None) if wanted.tasks else None
        told = Told(known, self._quoter, self._wish.now)
        counts = self._vault.settings.tasks.show_recall_summary
        rules = self._section("memory", told.conventions) if wanted.memory else None
        # What is open is told as that, not as a decision.
        open_work = [
            self._section("tasks", partial(told.tasks, tasks, counts=counts)),
            self._section("inbox", lambda: told.waiting(self._waiting())) if wanted.inbox else None,
            self._section("history", told.open_ends) if wanted.history else None,
        ]
        found = [
            rules,
            self._section("sessions", told.decisions) if wanted.sessions else None,
            *open_work,
            self._section("sessions", lambda: told.sessions(chosen.history_depth))
            if wanted.sessions
            else None,
            self._section("profile", self._profile) if wanted.profile else None,
            self._section("include_files", self._files),
        ]
        if wanted.recall:
            self._queries = self._try("recall", lambda: self._asked(tasks), [])
        return [section for section in found if section and section.items]

    def asks_recall(self) -> bool:
        """True if there is something to ask, and somebody to ask."""
        return bool(self._supply.recall and self._queries)

    def with_recall(self, sections: Sequence[Section]) -> list[Section]:
        """The sections with what recall finds, before those about the project in general."""
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

    def _find(self) -> Known:
        wish, memory = self._wish, self._chosen.sources.memory
        return find_known(self._vault, self._supply.view, wish.project, wish.now, memory=memory)

    def _position(self) -> str:
        wish, view = self._wish, self._supply.view
        if wish.notice or view is None:
            return wish.notice
        found = find_position(view, self._vault.root, wish.project, paused=wish.tells_paused)
        return fence(position_lines(found, wish.project, wish.now, self._quoter)) if found else ""

    def _tasks(self) -> Overview | None:
        view, settings = self._supply.view, self._vault.settings.tasks
        if view is None or not settings.show_task_status:
            return None
        shelf = Shelf(self._vault.root, settings.annotations_dir)
        client = Client(self._supply.client_folder, ())
        alive = self._known.alive
        days = [at for row in self._known.sessions if row["id"] in alive and (at := time_of(begun(row)))]
        scope = Scope(self._wish.project, since=min(days, default=self._wish.now))
        found = overview(view, scope, shelf, client, settings.max_tasks_shown, alive=alive)
        if found.troubles:  # the rest is shown
            more = f", and {len(found.troubles) - 1} more" if len(found.troubles) > 1 else ""
            self._fails("tasks", f"{found.troubles[0]}{more}")
        return found

    def _waiting(self) -> list[Waiting]:
        view, alive = (
            self._supply.view,
            {row["path"] for row in self._known.sessions if row["id"] in self._known.alive},
        )
        if view is None or not alive:
            return []
        recent = view.since(min(shard_of(str(row["started"] or "")) for row in self._known.sessions))
        found = [place for place in places(recent, self._wish.project) if place.path in alive]
        return [item for item in read_items(self._vault, found, lambda _: None) if not item.answered]

    def _asked(self, tasks: Overview | None) -> list[str]:
        queries = list(self._chosen.recall_queries)
        if self._chosen.recall_auto_query:
            queries.insert(0, keywords(self._recent_words(tasks)))
        return [query for query in queries if query.strip()]

    def _recent_words(self, tasks: Overview | None) -> list[str]:
        """Texts of the recent work: what is about to run, open tasks, titles, and what was decided."""
        texts = [self._wish.workflow]
        texts += [task.content for task in shown_tasks(tasks.status)[:10]] if tasks else []
        texts += [str(row["title"] or "") for row in self._known.sessions[:3]]
        texts += [one.text for one in self._known.of(Kind.DECISION)[:10]]
        return texts

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
                told={str(row["id"]) for row in self._known.sessions},
                quoter=self._quoter,
            )
        except IndexBroken as error:  # its own, which asking again does not fix
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
