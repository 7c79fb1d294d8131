"""The tools `recall_add` and `recall_feedback`, and the resources of knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from crucible.core.errors import CrucibleError, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.documents.knowledge.item_rules import Similar
from crucible.documents.knowledge.items import Category, FailureCause, Item, ItemScope, ItemSource, ItemType, Origin
from crucible.integrations.mcp.opened_vault import now, vault_of, viewer_of
from crucible.integrations.mcp.replies import Quoting, answer, checked
from crucible.integrations.mcp.server_context import ServerContext
from crucible.integrations.mcp.session_tools import load_session
from crucible.memory.knowledge.add_item import Added, AddOutcome, SimilarChoice, add_item, provenance_in
from crucible.memory.knowledge.item_status import count_use
from crucible.memory.knowledge.knowledge_folder import ItemFilter, ItemRow, find_item, list_items, load_items

_LONGEST_TEXT, _LONGEST_LINE, _MOST_TAGS = 20_000, 400, 20
_SHOWN = 16_000
_TITLE = 160
_NEWEST = 20
_E = TypeVar("_E", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class NewItem:
    """A client's arguments for a new item; only `type`, and a title or text, are required.

    `failure` may have `category`, `root_cause`, `preventable_with` and `resolution`.  `choice` says what to do if a
    similar item exists.
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


def add(context: ServerContext, new_item: NewItem, running: str = "", similar: Similar | None = None) -> str:
    """Add an item and return the answer; `running` is the item's session if the arguments name none.

    Raises `UsageError` for invalid arguments, and `SessionNotFound` if the item would link to a missing session.
    """
    vault = vault_of(context)
    redact = redact_of(vault.settings.secrets)
    choice = _word("choice", new_item.choice, SimilarChoice) if new_item.choice.strip() else None
    made = add_item(
        vault,
        _item(context, new_item, _source(context, new_item, running)),
        now(),
        redact,
        choice=choice,
        similar=similar,
    )
    return _result_text(made, Quoting(redact))


def _source(context: ServerContext, new_item: NewItem, running: str) -> ItemSource:
    named, phase = new_item.session.strip(), new_item.phase.strip()
    if named:
        return provenance_in(load_session(context, named)[1], phase)
    if phase:
        raise UsageError("a phase needs a session", "give the session's id")
    with suppress(CrucibleError):  # the agent did not choose this session, so it may be missing
        return ItemSource(Origin.SESSION, load_session(context, running)[1].name) if running else ItemSource()
    return ItemSource()


def _item(context: ServerContext, new_item: NewItem, source: ItemSource) -> Item:
    scope, project = _scope_of(context, new_item)
    tags = new_item.tags[:_MOST_TAGS]
    failure = {name: checked(name, text, _LONGEST_TEXT) for name, text in new_item.failure.items()}
    category = failure.pop("category", "").strip()
    if scope is ItemScope.DOMAIN and not new_item.domain.strip():
        raise UsageError(
            "an item with the scope domain needs the domain's name", "give the domain, or choose another scope"
        )
    return Item(
        _word("type", new_item.type, ItemType),
        checked("title", new_item.title, _LONGEST_LINE),
        checked("text", new_item.text, _LONGEST_TEXT),
        tuple(checked("a tag", tag, _LONGEST_LINE) for tag in tags),
        scope,
        project,
        checked("domain", new_item.domain, _LONGEST_LINE),
        source,
        new_item.confidence,
        FailureCause(_word("category", category, Category) if category else None, **failure),
    )


def _scope_of(context: ServerContext, new_item: NewItem) -> tuple[ItemScope, str]:
    """Return the scope and project; without arguments they depend on the folder, as in `cru knowledge add`."""
    named = checked("project", new_item.project, _LONGEST_LINE).strip()
    scope = _word("scope", new_item.scope, ItemScope) if new_item.scope.strip() else None
    if scope not in (None, ItemScope.PROJECT):
        return scope, named
    # If the scope is explicit, the folder's name is good enough as the project.
    named = named or context.viewer or (context.project if scope else "")
    if scope and not named:
        raise UsageError(
            "an item with the scope project needs the project's name", "give the project, or choose another scope"
        )
    return (ItemScope.PROJECT if named else ItemScope.GLOBAL), named


def _word(name: str, text: str, words: type[_E]) -> _E:
    try:
        return words(text.strip().lower())
    except ValueError:
        raise UsageError(f"{name} {text[:40]!r}: unknown", "one of " + ", ".join(words)) from None


def _result_text(made: Added, quoting: Quoting) -> str:
    headline = {
        AddOutcome.ADDED: f"Added as {made.id}, {_audience_text(made.item)}.",
        AddOutcome.MERGED: "Merged into the note with this id.",
        AddOutcome.SKIPPED: "Not added: already known.",
        AddOutcome.ALIKE: f"Not added yet: similar items exist. Call again with choice={' or '.join(made.choices)}.",
        AddOutcome.FULL: "Not added: the limit of items is reached.",
    }[made.outcome]
    secret_count = sum(made.redactions.values())
    secrets = f"{secret_count} secrets were redacted." if secret_count else ""
    # The id of an existing note is untrusted text; the id of a new one is ours.
    merged = made.id if made.outcome is AddOutcome.MERGED else ""
    lines = [quoting.labelled([f"id {merged}"] if merged else ["why"], made.why, 300) if merged or not made.id else ""]
    lines += [quoting.labelled([f"id {one.id}", one.why], one.title, _TITLE) for one in made.alike]
    lines += [quoting.labelled([f"could be retired: {id_}"], "", _TITLE) for id_ in made.to_retire]
    lines += [quoting.labelled(["warning"], text, 300) for text in made.warnings]
    return answer([headline, secrets], [line for line in lines if line])


def _audience_text(item: Item) -> str:
    return {
        ItemScope.PROJECT: "for its project",
        ItemScope.DOMAIN: "for its domain",
        ItemScope.GLOBAL: "for every project",
    }[item.scope]


def feedback(context: ServerContext, ref: str, *, useful: bool) -> str:
    """Record that an item was used and whether it helped."""
    if "#" in ref:
        raise UsageError("events of sessions take no feedback", "give the id of a knowledge item; it contains no #")
    vault = vault_of(context)
    item = count_use(vault, find_item(vault, _plain_id(ref)), now(), useful=useful)
    return f"Recorded. Uses: {item.use_count}, useful: {item.useful_count}."


# --- reading ---------------------------------------------------------------------------------------------------------


def items(context: ServerContext, limit: int = _NEWEST) -> list[ItemRow]:
    """Return the visible items with the highest weights."""
    vault, query = vault_of(context), ItemFilter(viewer=viewer_of(context))
    return list_items(vault, load_items(vault), query, now(), vault.settings.knowledge)[:limit]


def list_of_items(context: ServerContext) -> str:
    """List the items that `items` returns, one per line."""
    quoting = Quoting(redact_of(vault_of(context).settings.secrets))
    lines = [
        quoting.labelled(
            [f"id {row.id}", row.item.type, row.item.scope, f"weight {row.weight.total:.2f}"],
            row.item.title,
            _TITLE,
        )
        for row in items(context)
    ]
    headline = f"{len(lines)} knowledge items, highest weight first" if lines else "No knowledge items."
    return answer([headline], lines, ["To find others: recall_search(event_types=['knowledge'])."])


def show_item(context: ServerContext, ref: str) -> str:
    """Return one item's note."""
    vault = vault_of(context)
    note = vault.read(find_item(vault, _plain_id(ref)))
    quoting = Quoting(redact_of(vault.settings.secrets))
    label = quoting.labelled([f"id {note.name}"], "", _TITLE)
    more = "The rest: recall_get(ids, offset)." if len(note.source.text) > _SHOWN else ""
    return answer([], [label, quoting.block(note.source.text, _SHOWN)], [more])


def _plain_id(ref: str) -> str:
    """Return an item's id; paths are rejected, so that clients can read nothing else."""
    name = checked("id", ref.strip(), _LONGEST_LINE)
    if not name or "/" in name or "\\" in name or "\0" in name:
        raise UsageError(
            f"{name[:60]!r} is not the id of a knowledge item", "recall_search(event_types=['knowledge']) lists ids"
        )
    return name.removesuffix(".md")
