"""`cru knowledge add`, `retire`, `merge` and `verify`, and `cru knowledge feedback`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from crucible.cli.environment import cwd_and_projects, human_is_there
from crucible.cli.id_arguments import ITEM, SESSION
from crucible.cli.options import Door, flag, format_option, is_data, one_of
from crucible.cli.output import clean_line, say, times, warn, write, write_data
from crucible.cli.recall_engine import similar_here
from crucible.cli.vault_access import here, load_note, open_vault, project_here
from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.core.secrets.redaction import redact_of
from crucible.core.text import counted
from crucible.documents.knowledge.item_rules import Audience
from crucible.documents.knowledge.items import (
    Category,
    FailureCause,
    Item,
    ItemScope,
    ItemSource,
    ItemType,
    Origin,
    Verification,
)
from crucible.memory.knowledge.add_item import Added, AddOutcome, SimilarChoice, add_item, merge_items, provenance_in
from crucible.memory.knowledge.item_status import count_use, restore_item, retire_item, verify_item
from crucible.memory.knowledge.knowledge_folder import find_item, load_item
from crucible.vault.notes.projects import project_of
from crucible.vault.notes.vault import Vault

_EVENT = late_pattern(r"#[0-9a-f]{8}\Z")
"""The suffix of an event id."""


@click.command("add")
@click.argument("type_", metavar="TYPE", type=one_of(ItemType))
@click.argument("title")
@click.argument("text", default="")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag; repeatable.")
@click.option(
    "--scope",
    type=one_of(ItemScope),
    help="Where it applies; by default the project, or global without one.",
)
@click.option("--project", metavar="NAME", help="The project; by default this folder's.")
@click.option("--domain", metavar="NAME", default="", help="The domain.")
@click.option("--session", metavar="ID", type=SESSION, help="The source session.")
@click.option("--phase", metavar="ID", default="", help="The phase of that session, such as phase-2.")
@click.option("--confidence", type=click.FloatRange(0, 1), metavar="0..1", help="Your confidence, from 0 to 1.")
@click.option(
    "--category",
    metavar="CATEGORY",
    type=one_of(Category),
    help=f"For a failure: {', '.join(Category)}.",
)
@click.option("--cause", default="", metavar="TEXT", help="For a failure: its root cause.")
@click.option("--prevent", default="", metavar="TEXT", help="For a failure: what would have prevented it.")
@click.option("--resolution", default="", metavar="TEXT", help="For a failure: its fix.")
@click.option(
    "--how",
    default="",
    metavar="TEXT",
    help="How it was verified: a command, a test or a measurement.",
)
@click.option(
    "--if-alike",
    "choice",
    type=one_of(SimilarChoice),
    help="How to handle a similar item; by default you are asked, or it is not added.",
)
@format_option()
@click.pass_obj
def add(door: Door, /, type_: str, title: str, text: str, format_: str, **given: Any) -> int:
    """Add a knowledge item, as a note in knowledge/.

    \b
    - TEXT is Markdown; - reads it from stdin. Secrets are redacted.
    - An item with a known title is skipped. For a similar item, you choose:
      merge, keep both or skip.
    - The number of items is limited per project, per domain and for global
      items; see [knowledge] in the settings.
    - The item belongs to the project of this folder, or is global outside a
      project. --project and --scope override this.
    - The note's path is printed.

    Exit code: 1 if it was not added: a choice is needed, or the limit is reached.

    \b
      cru knowledge add decision "Retry with jitter" "At most five times."
      cru knowledge add failure "No fts5 on Alpine" --resolution "apk add sqlite"
      git log -1 | cru knowledge add evidence "A smaller index" - --tag index
    """
    vault = open_vault(door)
    if text == "-":
        text = sys.stdin.read()
    named = given.pop("choice")
    item = _item(vault, ItemType(type_), title, text, **given)
    redact = redact_of(vault.settings.secrets)

    def added(chosen: SimilarChoice | None) -> Added:
        return add_item(
            vault,
            item,
            datetime.now(UTC),
            redact,
            choice=chosen,
            similar=similar_here(vault),
            on_error=warn,
        )

    made = added(SimilarChoice(named) if named else None)
    if made.outcome is AddOutcome.ALIKE and format_ == "text" and sys.stdin.isatty() and door.terminal:
        _say_alike(made)
        asked = click.prompt(
            "What should be done?",
            type=one_of(made.choices),
            default=SimilarChoice.SKIP.value,
            err=True,
        )
        made = added(SimilarChoice(asked))
    _write_added(vault, made, format_)
    return 1 if made.outcome in (AddOutcome.ALIKE, AddOutcome.FULL) else 0


def _item(vault: Vault, type_: ItemType, title: str, text: str, **given: Any) -> Item:
    if given["phase"] and not given["session"]:
        raise UsageError("--phase requires --session", "give the session")
    failure = FailureCause(
        Category(given["category"]) if given["category"] else None,
        given["cause"],
        given["prevent"],
        given["resolution"],
    )
    if failure != FailureCause() and type_ is not ItemType.FAILURE:
        raise UsageError("--category, --cause, --prevent and --resolution are for failures", "use the type failure")
    scope, project = _scope_and_project(vault, given["scope"], given["project"], given["domain"])
    if scope is ItemScope.DOMAIN and not given["domain"]:
        raise UsageError("the scope domain needs --domain", "give it, or choose another --scope")
    how = given["how"]
    origin = Origin.VERIFIED if how else None
    return Item(
        type_,
        title,
        text,
        given["tags"],
        scope,
        project,
        given["domain"],
        _provenance(vault, given["session"], given["phase"], origin),
        given["confidence"],
        failure,
        Verification(passed=True, how=how, at=datetime.now(UTC)) if how else Verification(),
    )


def _provenance(vault: Vault, session: str | None, phase: str, origin: Origin | None) -> ItemSource:
    if not session:
        return ItemSource(origin or Origin.MANUAL)
    return provenance_in(load_note(vault, session), phase, origin or Origin.SESSION)


def _scope_and_project(vault: Vault, scope: str | None, project: str | None, domain: str) -> tuple[ItemScope, str]:
    """Return the item's scope and project; by default, the working directory's project."""
    if scope not in (None, ItemScope.PROJECT.value):
        return ItemScope(scope), project or ""
    named = project_here(vault.root) if project is None else project
    if scope and not named:
        # The user asked for project scope, so the bare name of the folder is good enough.
        named = project_of(*cwd_and_projects(vault.root))
    if scope and not named.strip():
        raise UsageError("the scope project needs --project", "give it, or choose another --scope")
    if named.strip():
        return ItemScope.PROJECT, named
    return (ItemScope.DOMAIN if domain else ItemScope.GLOBAL), ""


def _say_alike(made: Added) -> None:
    say("similar items:")
    for one in made.alike:
        say(f"  {one.id}  {one.title}: {one.why}")


def _write_added(vault: Vault, made: Added, format_: str) -> None:
    if is_data(format_):
        write_data(
            {
                "outcome": made.outcome.value,
                "id": made.id or None,
                "path": vault.relative(made.path) if made.path else None,
                "scope": made.item.scope.value,
                "project": made.item.project or None,
                "domain": made.item.domain or None,
                "why": made.why or None,
                "alike": [one._asdict() for one in made.alike],
                "choices": [one.value for one in made.choices],
                "to_retire": list(made.to_retire),
                "warnings": list(made.warnings),
                "redactions": dict(made.redactions),
            },
            format_,
        )
        return
    if made.outcome in (AddOutcome.ADDED, AddOutcome.MERGED) and made.path:
        write(str(made.path))
    if made.outcome is AddOutcome.ALIKE:
        _say_alike(made)
        say(f"not added; choose with --if-alike {'|'.join(made.choices)}")
    elif made.outcome is AddOutcome.ADDED:
        place = Audience.of(made.item)
        say(f"scope: {'global' if place.scope == ItemScope.GLOBAL.value else f'{place.scope} {place.name}'}")
    else:
        say(made.why if made.outcome is AddOutcome.MERGED else f"not added: {made.why}")
    for id_ in made.to_retire:
        say(f"  to make room: cru knowledge retire {id_}")
    warn(*made.warnings)
    if taken := sum(made.redactions.values()):
        say(f"{counted(taken, 'secret')} redacted")


@click.command("retire")
@click.argument("items", metavar="ID...", type=ITEM, nargs=-1, required=True)
@click.option("--reason", default="", metavar="TEXT", help="The reason, stored in the note.")
@flag("--undo", "Restore the items.")
@click.pass_obj
def retire(door: Door, /, items: tuple[str, ...], reason: str, *, undo: bool) -> None:
    """Retire items: recall no longer finds them. Their notes stay.

    \b
      cru knowledge retire retry-with-jitter --reason "the client does it"
      cru knowledge retire retry-with-jitter --undo
    """
    if reason and undo:
        raise UsageError("--reason and --undo cannot be used together", "remove one of them")
    vault = open_vault(door)
    redact = redact_of(vault.settings.secrets)
    for path in dict.fromkeys(find_item(vault, ref, here()) for ref in items):
        if undo:
            restore_item(vault, path)
        else:
            retire_item(vault, path, datetime.now(UTC), reason, redact)
        say(f"{path.stem}: {'active' if undo else 'retired'}")


@click.command("merge")
@click.argument("into", metavar="ID", type=ITEM)
@click.argument("other", metavar="OTHER", type=ITEM)
@click.pass_obj
def merge(door: Door, /, into: str, other: str) -> None:
    """Merge two items: add OTHER to ID, and retire OTHER with a link to ID.

    Counters are added; texts and tags are combined. No line of ID's note is lost.

    \b
      cru knowledge merge retry-with-jitter wait-a-little-longer-each-time
    """
    vault = open_vault(door)
    kept, gone = (load_item(vault, find_item(vault, ref, here())) for ref in (into, other))
    say(merge_items(vault, kept, gone, datetime.now(UTC)))


@click.command("verify")
@click.argument("item", metavar="ID", type=ITEM)
@click.option("--how", default="", metavar="TEXT", help="How it was verified: a command, a test or a review.")
@click.option("--agent", default="", metavar="NAME", help="The agent or person who verified it.")
@flag("--failed", "The item is no longer true.")
@click.pass_obj
def verify(door: Door, /, item: str, how: str, agent: str, *, failed: bool) -> None:
    """Record that you checked an item; it then counts as fresh.

    With --failed, "cru knowledge list --to-verify" lists the item until it is verified, and the failure is added to
    its note.

    \b
      cru knowledge verify retry-with-jitter --how "pytest tests/test_retry.py"
      cru knowledge verify retry-with-jitter --failed --how "it is 50 ms"
    """
    vault = open_vault(door)
    path = find_item(vault, item, here())
    redact = redact_of(vault.settings.secrets)
    verify_item(vault, path, datetime.now(UTC), Verification(passed=not failed, how=how, by=agent), redact)
    say(f"{path.stem}: {'failed verification; correct or retire it' if failed else 'verified'}")


@click.command("feedback")
@click.argument("item", metavar="ID", type=ITEM)
@click.option("--useful/--not-useful", default=None, help="Whether the item helped; by default a terminal asks.")
@click.pass_obj
def feedback(door: Door, /, item: str, *, useful: bool | None) -> None:
    """Record that an item was used, and whether it helped. Recall weighs items by this.

    \b
      cru knowledge feedback retry-with-jitter --useful
    """
    if _EVENT.search(item):
        raise UsageError(
            "events of sessions take no feedback",
            'give the id of a knowledge item; "cru knowledge list" shows them',
        )
    if useful is None and not human_is_there(door):
        raise UsageError("neither --useful nor --not-useful was given", "add one of them")
    vault = open_vault(door)
    path = find_item(vault, item, here())
    if useful is None:
        useful = click.confirm(f"Did “{clean_line(_title_of(vault, path))}” help?", err=True)
    after = count_use(vault, path, datetime.now(UTC), useful=useful)
    say(f"{path.stem}: used {times(after.use_count)}, useful {times(after.useful_count)}")


def _title_of(vault: Vault, path: Path) -> str:
    item = load_item(vault, path).item
    return item.title if item else path.stem
