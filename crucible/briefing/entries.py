"""The histories that a briefing tells: which notes are read, and which of their questions are open still.

Owns that few are: those of the newest sessions of the project, and of sessions whose own notes are gone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from crucible.briefing.rows import Known, begun
from crucible.errors import CrucibleError
from crucible.history.keeping import HISTORY, EntryNote, load_entry
from crucible.history.model import Entry, Line
from crucible.patterns import late_pattern
from crucible.session.identity import check_session_id
from crucible.vault.store import Vault
from crucible.vault.walk import is_markdown, note_name

__all__ = ["Question", "open_questions", "recent_entries"]

ASKED = 10
"""Histories that are read for their questions; no fewer than are told."""
_TRIED = 40
"""Notes that are looked at until so many of the project are found."""
_ANSWERED = late_pattern(r"(?i)(?:^|[\s(>*_~])answer(?:ed)?:\s*\S|~~.+~~\s*\Z|^\[x\]\s")
_WORD = late_pattern(r"[^\W_]{4,}")
_SHARED = 3
"""Words of a question that a later decision has too, at least, and two thirds of them: then it is an answer."""


class Question(NamedTuple):
    """What nobody answered yet, and the session that asks."""

    text: str
    session: str


def recent_entries(vault: Vault, known: Known, project: str, oldest: datetime, depth: int) -> list[Entry]:
    """The histories that are not older, newest first: `depth` of them, or `ASKED` where that is more."""
    names = _names(vault, known)
    found: list[Entry] = []
    for name in names[:_TRIED]:
        note = _load(vault, name)
        entry = note.entry if note else None
        if note is None or entry is None or note.at < oldest:
            continue
        if not project or entry.project.casefold() == project.casefold():
            found.append(entry)
        if len(found) >= max(depth, ASKED):
            break
    return found


def _load(vault: Vault, name: str) -> EntryNote | None:
    """None for one that went meanwhile or cannot be read: `cru history list` says so."""
    with suppress(CrucibleError):
        return load_entry(vault, vault.root / HISTORY / name)
    return None


def _names(vault: Vault, known: Known) -> list[str]:
    """The notes of the folder that may be of the project, newest first."""
    times: Mapping[str, str] = {str(row["id"]): begun(row) for row in known.newest}
    dated: list[tuple[str, str]] = []
    with suppress(FileNotFoundError):
        for name in os.listdir(vault.root / HISTORY):
            ident = note_name(name)
            if is_markdown(name) and not name.startswith(".") and ident not in known.others:
                dated.append((times.get(ident, ident[:10]), name))
    return [name for _, name in sorted(dated, reverse=True)]


# --- questions -------------------------------------------------------------------------------------------------------


def open_questions(entries: Sequence[Entry], answered: Mapping[str, Sequence[str]]) -> Iterator[Question]:
    """Questions of the histories, newest first, that no human and no later history answered; each once.

    `answered` has by session the texts of what waits no more in its note.
    """
    said: set[str] = set()
    later: list[frozenset[str]] = []
    for entry in entries:
        settled = [_key(text) for text in answered.get(entry.session_id, ())]
        for line in entry.questions:
            key = _key(line.text)
            if key in said or _ANSWERED.search(line.text) or any(one.startswith(key) for one in settled):
                continue
            if not _is_answered(line, later):
                said.add(key)
                yield Question(line.text, _legal(entry.session_id))
        later += [_words(one.text, one.why) for one in (*entry.decisions, *entry.done)]


def _key(text: str) -> str:
    """The same for a question in a history and the callout that asks it."""
    said = text.removeprefix("Unresolved: ")[:400].casefold()
    return "".join(letter for letter in said if letter.isalnum())[:80]


def _is_answered(question: Line, later: Iterable[frozenset[str]]) -> bool:
    """Whether what was decided or done later speaks of the same."""
    if _ANSWERED.search(question.why):
        return True
    words = _words(question.text)
    wanted = max(_SHARED, -(-len(words) * 2 // 3))
    return any(len(words & said) >= wanted for said in later)


def _words(*texts: str) -> frozenset[str]:
    return frozenset(found[0].casefold() for text in texts for found in _WORD.finditer(text[:2000]))


def _legal(name: str) -> str:
    """The id; "" for what can be none."""
    with suppress(CrucibleError):
        return check_session_id(name)
    return ""
