"""`cru knowledge add`, `retire` and `verify`, and `cru recall feedback`: what becomes of what is known."""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import click

from crucible.cli.door import Door
from crucible.cli.knowledge_ref import ITEM
from crucible.cli.opening import find_note, here, open_vault
from crucible.cli.options import format_option
from crucible.cli.output import say, write, write_json
from crucible.cli.recall_opening import open_here
from crucible.cli.session_ref import SESSION
from crucible.cli.surroundings import whence
from crucible.errors import CrucibleError, UsageError
from crucible.knowledge.adding import Added, Choice, Outcome, add_item
from crucible.knowledge.changing import restore_item, retire_item, tell_use, verify_item
from crucible.knowledge.items import Failure, Item, ItemType, Origin, Provenance, Scope, Verification
from crucible.knowledge.keeping import find_item
from crucible.knowledge.model import Category
from crucible.secrets.redacting import redact_of
from crucible.vault.projects import project_of
from crucible.vault.store import Vault

__all__ = ["add", "feedback", "retire", "verify"]


@click.command("add")
@click.argument("type_", metavar="TYPE", type=click.Choice([one.value for one in ItemType]))
@click.argument("title")
@click.argument("text", default="")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="May be repeated.")
@click.option(
    "--scope",
    type=click.Choice([one.value for one in Scope]),
    default=Scope.PROJECT.value,
    show_default=True,
    help="For whom it is worth knowing.",
)
@click.option("--project", metavar="NAME", help="Of which project; by default the working directory's.")
@click.option("--domain", metavar="NAME", default="", help="Of which domain.")
@click.option("--session", metavar="ID", type=SESSION, help="The session that it comes from.")
@click.option("--phase", metavar="ID", default="", help="The phase of that session, such as phase-2.")
@click.option("--confidence", type=click.FloatRange(0, 1), metavar="0..1", help="How sure you are.")
@click.option(
    "--category",
    metavar="CATEGORY",
    type=click.Choice([one.value for one in Category]),
    help=f"Of a failure: {', '.join(Category)}.",
)
@click.option("--cause", default="", metavar="TEXT", help="Of a failure: its root cause.")
@click.option("--prevent", default="", metavar="TEXT", help="Of a failure: what would have prevented it.")
@click.option("--resolution", default="", metavar="TEXT", help="Of a failure: what mended it.")
@click.option(
    "--verified-by",
    "how",
    default="",
    metavar="TEXT",
    help="How it was verified: a command, a test, a measurement.",
)
@click.option(
    "--if-alike",
    "choice",
    type=click.Choice([one.value for one in Choice]),
    help="What becomes of it when something like it is known; by default you are asked, or it is not added.",
)
@format_option("text", "json")
@click.pass_context
def add(ctx: click.Context, /, type_: str, title: str, text: str, format_: str, **given: Any) -> None:
    """Keep something worth knowing again, as a note in knowledge/.

    TEXT is Markdown; `-` reads it from standard input. What has the title of a known item is skipped and the item named; what is much like one is
    merged, kept beside it, or skipped, as you choose. There is room for so many items of a project, of a domain, and of everybody's: see
    [knowledge] in the settings. Secrets are taken out. The note's path is printed; the exit code is 1 when it was not added for want of a
    choice or of room.

    \b
      cru knowledge add decision "Retry with jitter" "At most five times."
      cru knowledge add failure "No fts5 on Alpine" --resolution "apk add sqlite"
      git log -1 | cru knowledge add evidence "A smaller index" - --tag index
    """
    door = ctx.ensure_object(Door)
    vault = open_vault(door)
    if text == "-":
        text = sys.stdin.read()
    named = given.pop("choice")
    item = _item(vault, ItemType(type_), title, text, **given)
    redact = redact_of(vault.settings.secrets)

    def added(chosen: Choice | None) -> Added:
        return add_item(
            vault, item, datetime.now(UTC), redact, choice=chosen, similar=_Similar(door), on_error=_complain
        )

    made = added(Choice(named) if named else None)
    if made.outcome is Outcome.ALIKE and format_ == "text" and sys.stdin.isatty() and door.terminal:
        _tell_alike(made)
        asked = click.prompt(
            "What is to be done", type=click.Choice([*made.choices]), default=Choice.SKIP.value, err=True
        )
        made = added(Choice(asked))
    _tell(vault, made, format_)
    ctx.exit(1 if made.outcome in (Outcome.ALIKE, Outcome.FULL) else 0)


def _item(vault: Vault, type_: ItemType, title: str, text: str, **given: Any) -> Item:
    session = find_note(vault, given["session"]).stem if given["session"] else ""
    if given["phase"] and not session:
        raise UsageError("--phase goes with --session", "say of which session")
    told = Failure(
        Category(given["category"]) if given["category"] else None,
        given["cause"],
        given["prevent"],
        given["resolution"],
    )
    if told != Failure() and type_ is not ItemType.FAILURE:
        raise UsageError(
            "--category, --cause, --prevent and --resolution are a failure's", "add it as a failure"
        )
    scope = Scope(given["scope"])
    project = given["project"]
    if project is None:
        project = project_of(*whence()) if scope is Scope.PROJECT else ""
    if scope is Scope.DOMAIN and not given["domain"]:
        raise UsageError("an item of a domain needs --domain", "name it, or use another --scope")
    how = given["how"]
    return Item(
        type_,
        title,
        text,
        given["tags"],
        scope,
        project,
        given["domain"],
        Provenance(
            Origin.VERIFIED if how else Origin.SESSION if session else Origin.MANUAL, session, given["phase"]
        ),
        given["confidence"],
        told,
        Verification(passed=True, how=how, at=datetime.now(UTC)) if how else Verification(),
    )


class _Similar:
    """What recall finds alike; nothing where it cannot be asked."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def similar(self, text: str, limit: int) -> list[tuple[str, float]]:
        with suppress(CrucibleError):
            return list(open_here(self._door)[1].similar(text, limit))
        return []


def _complain(error: CrucibleError) -> None:
    say(f"cru: {error}", style="yellow")


def _tell_alike(made: Added) -> None:
    say(made.why)
    for one in made.alike:
        say(f"  {one.id}  {one.title}: {one.why}")


def _tell(vault: Vault, made: Added, format_: str) -> None:
    if format_ == "json":
        write_json(
            {
                "outcome": made.outcome.value,
                "id": made.id or None,
                "path": vault.relative(made.path) if made.path else None,
                "why": made.why or None,
                "alike": [one._asdict() for one in made.alike],
                "choices": [one.value for one in made.choices],
                "to_retire": list(made.to_retire),
                "warnings": list(made.warnings),
                "redactions": dict(made.redactions),
            }
        )
        return
    if made.outcome in (Outcome.ADDED, Outcome.MERGED) and made.path:
        write(str(made.path))
    if made.outcome is Outcome.ALIKE:
        _tell_alike(made)
        say(f"say what is to be done: --if-alike {'|'.join(made.choices)}")
    elif made.why:
        say(made.why)
    for id_ in made.to_retire:
        say(f"  could go: cru knowledge retire {id_}")
    for warning in made.warnings:
        say(f"cru: {warning}", style="yellow")
    taken = sum(made.redactions.values())
    if taken:
        say(f"{taken} secret{'' if taken == 1 else 's'} taken out")


@click.command("retire")
@click.argument("items", metavar="ID...", type=ITEM, nargs=-1, required=True)
@click.option("--because", default="", metavar="TEXT", help="Why; it stands in the note.")
@click.option("--undo", is_flag=True, help="Bring it back into recall.")
@click.pass_context
def retire(ctx: click.Context, /, items: tuple[str, ...], because: str, *, undo: bool) -> None:
    """Take items out of recall; their notes stay.

    \b
      cru knowledge retire retry-with-jitter --because "the client does it"
      cru knowledge retire retry-with-jitter --undo
    """
    if because and undo:
        raise UsageError("--because and --undo exclude each other", "leave one of them out")
    vault = open_vault(ctx.ensure_object(Door))
    redact = redact_of(vault.settings.secrets)
    for path in dict.fromkeys(find_item(vault, ref, here()) for ref in items):
        if undo:
            restore_item(vault, path)
        else:
            retire_item(vault, path, datetime.now(UTC), because, redact)
        say(f"{path.stem}: {'active' if undo else 'retired'}")


@click.command("verify")
@click.argument("item", metavar="ID", type=ITEM)
@click.option("--how", default="", metavar="TEXT", help="How it was verified: a command, a test, a look.")
@click.option("--by", default="", metavar="NAME", help="Who did.")
@click.option("--failed", is_flag=True, help="It did not hold.")
@click.pass_context
def verify(ctx: click.Context, /, item: str, how: str, by: str, *, failed: bool) -> None:
    """Note that an item was looked at and holds; it is as fresh as a new one then.

    \b
      cru knowledge verify retry-with-jitter --how "pytest tests/test_retry.py"
      cru knowledge verify retry-with-jitter --failed --how "it is 50 ms"
    """
    vault = open_vault(ctx.ensure_object(Door))
    path = find_item(vault, item, here())
    redact = redact_of(vault.settings.secrets)
    verify_item(vault, path, datetime.now(UTC), Verification(passed=not failed, how=how, by=by), redact)
    say(
        f"{path.stem}: {'did not hold; correct its note, or `cru knowledge retire` it' if failed else 'verified'}"
    )


@click.command("feedback")
@click.argument("item", metavar="ID", type=ITEM)
@click.option("--useful/--not-useful", required=True, help="Whether it helped.")
@click.pass_context
def feedback(ctx: click.Context, /, item: str, *, useful: bool) -> None:
    """Tell that an item of knowledge was used, and whether it helped: its note counts that, and recall weighs it.

    \b
      cru recall feedback retry-with-jitter --useful
    """
    vault = open_vault(ctx.ensure_object(Door))
    path = find_item(vault, item, here())
    after = tell_use(vault, path, datetime.now(UTC), useful=useful)
    say(f"{path.stem}: used {after.use_count} times, {after.useful_count} of them useful")
