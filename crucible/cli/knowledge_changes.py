"""`cru knowledge add`, `retire`, `merge` and `verify`, and `cru knowledge feedback`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from crucible.cli.command_agent import human_is_there
from crucible.cli.environment import cwd_and_projects
from crucible.cli.id_arguments import ITEM, SESSION
from crucible.cli.options import Door, flag, format_option, is_data, one_of
from crucible.cli.output import clean_line, counted, say, warn, write, write_data
from crucible.cli.recall_engine import similar_here
from crucible.cli.vault_access import here, load_note, open_vault, project_here
from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.core.secrets.redaction import redact_of
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
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="May be repeated.")
@click.option(
    "--scope",
    type=one_of(ItemScope),
    help="For whom it is worth knowing; by default the project's, and everybody's where there is none.",
)
@click.option("--project", metavar="NAME", help="Of which project; by default the one whose folder this is.")
@click.option("--domain", metavar="NAME", default="", help="Of which domain.")
@click.option("--session", metavar="ID", type=SESSION, help="The session that it comes from.")
@click.option("--phase", metavar="ID", default="", help="The phase of that session, such as phase-2.")
@click.option("--confidence", type=click.FloatRange(0, 1), metavar="0..1", help="How sure you are.")
@click.option(
    "--category",
    metavar="CATEGORY",
    type=one_of(Category),
    help=f"Of a failure: {', '.join(Category)}.",
)
@click.option("--cause", default="", metavar="TEXT", help="Of a failure: its root cause.")
@click.option("--prevent", default="", metavar="TEXT", help="Of a failure: what would have prevented it.")
@click.option("--resolution", default="", metavar="TEXT", help="Of a failure: what fixed it.")
@click.option(
    "--how",
    default="",
    metavar="TEXT",
    help="How it was verified: a command, a test, a measurement.",
)
@click.option(
    "--if-alike",
    "choice",
    type=one_of(SimilarChoice),
    help="What becomes of it when something like it is known; by default you are asked, or it is not added.",
)
@format_option()
@click.pass_obj
def add(door: Door, /, type_: str, title: str, text: str, format_: str, **given: Any) -> int:
    """Keep something worth knowing again, as a note in knowledge/.

    TEXT is Markdown; `-` reads it from standard input. What has the title of a known item is skipped and the item named; what is much like one is
    merged, kept beside it, or skipped, as you choose. There is room for so many items of a project, of a domain, and of everybody's: see
    [knowledge] in the settings. Secrets are taken out. The note's path is printed; the exit code is 1 when it was not added for want of a
    choice or of room.

    The project is the one that recall asks for in the same folder: as your settings name it, or its git repository. Elsewhere, and in the vault
    itself, the item is everybody's, unless --project or --scope says otherwise. It is said for whom it was kept.

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
            "What is to be done",
            type=one_of(made.choices),
            default=SimilarChoice.SKIP.value,
            err=True,
        )
        made = added(SimilarChoice(asked))
    _write_added(vault, made, format_)
    return 1 if made.outcome in (AddOutcome.ALIKE, AddOutcome.FULL) else 0


def _item(vault: Vault, type_: ItemType, title: str, text: str, **given: Any) -> Item:
    if given["phase"] and not given["session"]:
        raise UsageError("--phase goes with --session", "say of which session")
    failure = FailureCause(
        Category(given["category"]) if given["category"] else None,
        given["cause"],
        given["prevent"],
        given["resolution"],
    )
    if failure != FailureCause() and type_ is not ItemType.FAILURE:
        raise UsageError("--category, --cause, --prevent and --resolution are a failure's", "add it as a failure")
    scope, project = _scope_and_project(vault, given["scope"], given["project"], given["domain"])
    if scope is ItemScope.DOMAIN and not given["domain"]:
        raise UsageError("an item of a domain needs --domain", "name it, or use another --scope")
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
        raise UsageError("an item of a project needs --project", "name it, or use another --scope")
    if named.strip():
        return ItemScope.PROJECT, named
    return (ItemScope.DOMAIN if domain else ItemScope.GLOBAL), ""


def _say_alike(made: Added) -> None:
    say("like what is known:")
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
        say(f"not added; say what is to be done: --if-alike {'|'.join(made.choices)}")
    elif made.outcome is AddOutcome.ADDED:
        place = Audience.of(made.item)
        say(f"kept for {'everybody' if place.scope == ItemScope.GLOBAL.value else f'{place.scope} {place.name}'}")
    else:
        say(made.why if made.outcome is AddOutcome.MERGED else f"not added: {made.why}")
    for id_ in made.to_retire:
        say(f"  could go: cru knowledge retire {id_}")
    warn(*made.warnings)
    if taken := sum(made.redactions.values()):
        say(f"{counted(taken, 'secret')} taken out")


@click.command("retire")
@click.argument("items", metavar="ID...", type=ITEM, nargs=-1, required=True)
@click.option("--reason", default="", metavar="TEXT", help="Why; the note keeps it.")
@flag("--undo", "Bring it back into recall.")
@click.pass_obj
def retire(door: Door, /, items: tuple[str, ...], reason: str, *, undo: bool) -> None:
    """Take items out of recall; their notes stay.

    \b
      cru knowledge retire retry-with-jitter --reason "the client does it"
      cru knowledge retire retry-with-jitter --undo
    """
    if reason and undo:
        raise UsageError("--reason and --undo exclude each other", "leave one of them out")
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
    """Make one of two items: ID says what both said, and OTHER is retired with a link to it.

    Counters add up, texts and tags come together, and no line of ID's note is lost.

    \b
      cru knowledge merge retry-with-jitter wait-a-little-longer-each-time
    """
    vault = open_vault(door)
    kept, gone = (load_item(vault, find_item(vault, ref, here())) for ref in (into, other))
    say(merge_items(vault, kept, gone, datetime.now(UTC)))


@click.command("verify")
@click.argument("item", metavar="ID", type=ITEM)
@click.option("--how", default="", metavar="TEXT", help="How it was verified: a command, a test, a look.")
@click.option("--agent", default="", metavar="NAME", help="The agent or person who verified it.")
@flag("--failed", "It did not hold.")
@click.pass_obj
def verify(door: Door, /, item: str, how: str, agent: str, *, failed: bool) -> None:
    """Note that an item was looked at and holds; it is as fresh as a new one then.

    One that did not hold is listed by `cru knowledge list --to-verify` until it does, and each time stays as a line of `failed_checks` in its note.

    \b
      cru knowledge verify retry-with-jitter --how "pytest tests/test_retry.py"
      cru knowledge verify retry-with-jitter --failed --how "it is 50 ms"
    """
    vault = open_vault(door)
    path = find_item(vault, item, here())
    redact = redact_of(vault.settings.secrets)
    verify_item(vault, path, datetime.now(UTC), Verification(passed=not failed, how=how, by=agent), redact)
    say(
        f"{path.stem}: {'did not hold, as its note says now; correct it, or `cru knowledge retire` it' if failed else 'verified'}"
    )


@click.command("feedback")
@click.argument("item", metavar="ID", type=ITEM)
@click.option("--useful/--not-useful", default=None, help="Whether it helped; without one, a terminal asks.")
@click.pass_obj
def feedback(door: Door, /, item: str, *, useful: bool | None) -> None:
    """Tell that an item of knowledge was used, and whether it helped: its note counts that, and recall weighs it.

    \b
      cru knowledge feedback retry-with-jitter --useful
    """
    if _EVENT.search(item):
        raise UsageError(
            "events of sessions take no feedback",
            "give the id of a knowledge item; `cru knowledge list` shows them",
        )
    if useful is None and not human_is_there(door):
        raise UsageError("neither --useful nor --not-useful was given", "Say whether the item helped.")
    vault = open_vault(door)
    path = find_item(vault, item, here())
    if useful is None:
        useful = click.confirm(f"Did “{clean_line(_title_of(vault, path))}” help?", err=True)
    after = count_use(vault, path, datetime.now(UTC), useful=useful)
    times = "once" if after.use_count == 1 else f"{after.use_count} times"
    say(f"{path.stem}: used {times}, {after.useful_count} of them useful")


def _title_of(vault: Vault, path: Path) -> str:
    item = load_item(vault, path).item
    return item.title if item else path.stem
