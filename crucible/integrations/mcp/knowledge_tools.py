"""`recall_add`, `recall_feedback` and the resources of knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from crucible.core.errors import CrucibleError, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.documents.knowledge.items import Category, FailureCause, Item, ItemScope, ItemSource, ItemType, Origin
from crucible.documents.knowledge.novelty import Similar
from crucible.integrations.mcp.opened_vault import now, vault_of, viewer_of
from crucible.integrations.mcp.replies import Quoting, answer, checked
from crucible.integrations.mcp.server_context import ServerContext
from crucible.integrations.mcp.session_tools import load_session
from crucible.memory.knowledge.add_item import Added, AddOutcome, SimilarChoice, add_item, provenance_in
from crucible.memory.knowledge.item_status import tell_use
from crucible.memory.knowledge.knowledge_folder import ItemFilter, ItemRow, find_item, list_items, load_items

_LONGEST_TEXT, _LONGEST_LINE, _MOST_TAGS = 20_000, 400, 20
_SHOWN = 16_000
_TITLE = 160
_NEWEST = 20
_E = TypeVar("_E", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item as a client tells it; all but `type`, and a title or a text, may be empty.

    `failure` has `category`, `root_cause`, `preventable_with` and `resolution`; `choice` is what becomes of an item like another one.
    """

    type: str
    title: str = ""
    text: str = ""
    tags: Sequence[str] = ()
    scope: str = ""
    project: str = ""
    domain: str = ""
    session: str = ""
    phase: str = ""
    confidence: float | None = None
    choice: str = ""
    failure: Mapping[str, str] = field(default_factory=dict)


def add(place: ServerContext, noted: NewItem, running: str = "", similar: Similar | None = None) -> str:
    """Add an item, or say why not; `running` is the id of the session that it comes from where none is named.

    Raises `UsageError` for words that are none of ours, and `SessionNotFound`: an item links to nothing that is not there.
    """
    vault = vault_of(place)
    redact = redact_of(vault.settings.secrets)
    choice = _word("choice", noted.choice, SimilarChoice) if noted.choice.strip() else None
    made = add_item(
        vault,
        _item(place, noted, _source(place, noted, running)),
        now(),
        redact,
        choice=choice,
        similar=similar,
    )
    return _told(made, Quoting(redact))


def _source(place: ServerContext, noted: NewItem, running: str) -> ItemSource:
    named, phase = noted.session.strip(), noted.phase.strip()
    if named:
        return provenance_in(load_session(place, named)[1], phase)
    if phase:
        raise UsageError("a phase goes with a session", "say of which session, by its id")
    with suppress(CrucibleError):  # what the environment names was not the agent's word
        return ItemSource(Origin.SESSION, load_session(place, running)[1].name) if running else ItemSource()
    return ItemSource()


def _item(place: ServerContext, noted: NewItem, source: ItemSource) -> Item:
    scope, project = _meant(place, noted)
    tags = noted.tags[:_MOST_TAGS]
    failure = {name: checked(name, text, _LONGEST_TEXT) for name, text in noted.failure.items()}
    category = failure.pop("category", "").strip()
    if scope is ItemScope.DOMAIN and not noted.domain.strip():
        raise UsageError("an item of a domain needs its name", "say which domain, or take another scope")
    return Item(
        _word("type", noted.type, ItemType),
        checked("title", noted.title, _LONGEST_LINE),
        checked("text", noted.text, _LONGEST_TEXT),
        tuple(checked("a tag", tag, _LONGEST_LINE) for tag in tags),
        scope,
        project,
        checked("domain", noted.domain, _LONGEST_LINE),
        source,
        noted.confidence,
        FailureCause(_word("category", category, Category) if category else None, **failure),
    )


def _meant(place: ServerContext, noted: NewItem) -> tuple[ItemScope, str]:
    """For whom it is, by the folder only where nothing was said: as with `cru knowledge add`."""
    named = checked("project", noted.project, _LONGEST_LINE).strip()
    scope = _word("scope", noted.scope, ItemScope) if noted.scope.strip() else None
    if scope not in (None, ItemScope.PROJECT):
        return scope, named
    # A scope that was asked for is had: a folder that is no more than called something is as good as its name.
    named = named or place.viewer or (place.project if scope else "")
    if scope and not named:
        raise UsageError("an item of a project needs its name", "say which project, or take another scope")
    return (ItemScope.PROJECT if named else ItemScope.GLOBAL), named


def _word(name: str, told: str, words: type[_E]) -> _E:
    try:
        return words(told.strip().lower())
    except ValueError:
        raise UsageError(f"{name} {told[:40]!r}: unknown", "one of " + ", ".join(words)) from None


def _told(made: Added, quoting: Quoting) -> str:
    said = {
        AddOutcome.ADDED: f"Added as {made.id}, a note of the vault, {_whom(made.item)}.",
        AddOutcome.MERGED: "Merged: the note of this id says it now.",
        AddOutcome.SKIPPED: "Not added: it is known already.",
        AddOutcome.ALIKE: f"Not added yet: like what is known. Call again with choice={' or '.join(made.choices)}.",
        AddOutcome.FULL: "Not added: there is no room.",
    }[made.outcome]
    taken = sum(made.redactions.values())
    secrets = f"{taken} secrets were taken out." if taken else ""
    # The name of a note that was there is anybody's word, unlike one that was made now.
    merged = made.id if made.outcome is AddOutcome.MERGED else ""
    lines = [quoting.labelled([f"id {merged}"] if merged else ["why"], made.why, 300) if merged or not made.id else ""]
    lines += [quoting.labelled([f"id {one.id}", one.why], one.title, _TITLE) for one in made.alike]
    lines += [quoting.labelled([f"could be retired: {id_}"], "", _TITLE) for id_ in made.to_retire]
    lines += [quoting.labelled(["warning"], text, 300) for text in made.warnings]
    return answer([said, secrets], [line for line in lines if line])


def _whom(item: Item) -> str:
    return {
        ItemScope.PROJECT: "for its project",
        ItemScope.DOMAIN: "for its domain",
        ItemScope.GLOBAL: "for every project",
    }[item.scope]


def feedback(place: ServerContext, ref: str, *, useful: bool) -> str:
    """Count that an item was used, and whether it helped."""
    if "#" in ref:
        raise UsageError("an event of a session takes no feedback", "it is for items of knowledge, whose ids have no #")
    vault = vault_of(place)
    item = tell_use(vault, find_item(vault, _plain_id(ref)), now(), useful=useful)
    return f"Noted: used {item.use_count} times, {item.useful_count} of them useful."


# --- reading ---------------------------------------------------------------------------------------------------------


def items(place: ServerContext, limit: int = _NEWEST) -> list[ItemRow]:
    """The items of most weight, of those that are seen from where the client works."""
    vault, wish = vault_of(place), ItemFilter(viewer=viewer_of(place))
    return list_items(vault, load_items(vault), wish, now(), vault.settings.knowledge)[:limit]


def list_of_items(place: ServerContext) -> str:
    """A line for each of them."""
    quoting = Quoting(redact_of(vault_of(place).settings.secrets))
    lines = [
        quoting.labelled(
            [f"id {row.id}", row.item.type, row.item.scope, f"weight {row.weight.total:.2f}"],
            row.item.title,
            _TITLE,
        )
        for row in items(place)
    ]
    told = f"{len(lines)} items of knowledge, those of most weight first" if lines else "No items of knowledge."
    return answer([told], lines, ["Others: recall_search(event_types=['knowledge'])."])


def show_item(place: ServerContext, ref: str) -> str:
    """One item's note."""
    vault = vault_of(place)
    note = vault.read(find_item(vault, _plain_id(ref)))
    quoting = Quoting(redact_of(vault.settings.secrets))
    label = quoting.labelled([f"id {note.name}"], "", _TITLE)
    more = "The rest: recall_get(ids, offset)." if len(note.source.text) > _SHOWN else ""
    return answer([], [label, quoting.block(note.source.text, _SHOWN)], [more])


def _plain_id(ref: str) -> str:
    """An id and no path: a client names nothing but items."""
    name = checked("id", ref.strip(), _LONGEST_LINE)
    if not name or "/" in name or "\\" in name or "\0" in name:
        raise UsageError(f"{name[:60]!r} is no item's id", "recall_search(event_types=['knowledge']) tells them")
    return name.removesuffix(".md")
