"""What becomes of an item: it is used, verified, retired, or active again.

Owns which lines of a note each of these touches; every other byte stays, and what a human writes meanwhile is read first.  Each is one turn
under the note's lock, so that no count is lost.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from crucible.core import files
from crucible.core.errors import EditRefused, UsageError
from crucible.core.secrets.scanner import Redact
from crucible.documents.knowledge.item_notes import read_item
from crucible.documents.knowledge.items import Item, Status, Verification
from crucible.documents.markdown.source import Edit, Problem
from crucible.documents.session.properties import format_time
from crucible.memory.knowledge.merging_items import change_edits
from crucible.vault.notes.vault import Note, Vault

_COUNTERS = ("use_count", "useful_count")


def tell_use(vault: Vault, path: Path, now: datetime, *, useful: bool) -> Item:
    """Count a use, and whether it helped: the lines of `use_count`, `useful_count` and `last_used` alone.  The item as it is then.

    `EditRefused`, with the line, where a counter holds no number.
    """

    def used(item: Item) -> Item:
        count = item.useful_count + 1 if useful else item.useful_count
        return replace(item, use_count=item.use_count + 1, useful_count=count, last_used=now)

    return _changed(vault, path, used, _COUNTERS)


def verify_item(vault: Vault, path: Path, now: datetime, verification: Verification, redact: Redact) -> Item:
    """Note that the item was looked at: how, by whom, when (`now` where it tells no time), and whether it held.

    One that held is as fresh as a new one; that one did not stays in the note, whatever is found later.
    """
    how, by = redact(verification.how)[0], redact(verification.by)[0]
    shown = Verification(verification.passed, how, by, verification.at or now)

    def verified(item: Item) -> Item:
        if shown.passed:
            return replace(item, verification=shown, updated=now)
        return replace(item, verification=shown, failed_checks=(*item.failed_checks, _failed(shown)))

    return _changed(vault, path, verified)


def _failed(shown: Verification) -> str:
    """When, by whom and how, as a line; the words of the reader's own go last."""
    when = format_time(shown.at) if shown.at else ""
    told = " by ".join(filter(None, (when, shown.by)))
    return ": ".join(filter(None, (told, shown.how)))


def retire_item(vault: Vault, path: Path, now: datetime, because: str = "", redact: Redact | None = None) -> Item:
    """Take the item out of recall; its note stays, and says since when and why."""
    told = redact(because)[0] if redact else because

    def retired(item: Item) -> Item:
        return replace(item, status=Status.RETIRED, retired=now, retired_because=told) if item.active else item

    return _changed(vault, path, retired)


def restore_item(vault: Vault, path: Path) -> Item:
    """Bring a retired item back into recall."""
    return _changed(vault, path, lambda item: replace(item, status=Status.ACTIVE, retired=None, retired_because=""))


def _changed(vault: Vault, path: Path, change: Callable[[Item], Item], numbers: tuple[str, ...] = ()) -> Item:
    """The item after its change; `numbers` are properties that must not hold anything else."""
    after: Item | None = None

    def edits(note: Note) -> list[Edit]:
        nonlocal after
        item, problems = read_item(note.source, note.name)
        if item is None:
            raise _no_item(note, problems)
        wrong = next((one for one in problems if one.message.partition(":")[0] in numbers), None)
        if wrong:
            raise EditRefused(f"{path}:{wrong.line}: {wrong.message}", "mend the note in an editor first")
        after = change(item)
        return change_edits(note.source, item, after)

    vault.update(path, edits)
    assert after is not None  # noqa: S101  `update` asked
    return after


def _no_item(note: Note, problems: tuple[Problem, ...]) -> UsageError:
    line, why = (problems[-1].line, problems[-1].message) if problems else (1, "its type is none of ours")
    return UsageError(f"{note.path}:{line}: no item of knowledge: {why}", "mend the note in an editor")


# --- asking ----------------------------------------------------------------------------------------------------------


def asks(vault: Vault, one_in: int) -> bool:
    """Whether this use asks whether it helped: each `one_in`-th of the vault, counted in its cache; never for 0."""
    if one_in <= 0:
        return False
    folder = files.make_folders(vault.root, vault.root / ".crucible" / "cache")
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(folder / "knowledge-uses", flags, 0o666)
    except OSError:
        return False  # nobody is asked too often
    try:
        os.write(descriptor, b".")
        # Behind our own byte, whoever else writes.
        return os.lseek(descriptor, 0, os.SEEK_CUR) % one_in == 0
    except OSError:
        return False
    finally:
        os.close(descriptor)
