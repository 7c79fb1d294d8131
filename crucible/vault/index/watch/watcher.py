"""Following a vault: every change told, the index kept true, and queries told that they may trust it.

Owns when to read what, and what is answered to a query.  `hearing` hears of changes, `backlog` knows when a burst of
them is over, `place` whether the vault is still the same, `warrant` lets queries ask or not, `telling` knows what is
news; the index is `store`'s, the handshake with queries `vouching`'s.

A question is answered with yes only when the index was brought up to date, and saved, after all that happened before the
question.  In doubt (something may have passed unheard) it is no, until the whole index was compared with the disk once
more, with the listening begun before.  What cannot be heard at all (`Hearing.gaps`) is looked for every few seconds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import CrucibleError, IndexBroken, VaultError
from crucible.core.settings.settings import UserSettings, VaultSettings
from crucible.vault.index.index import Index, Refreshed
from crucible.vault.index.index_manifest import follows
from crucible.vault.index.watch import vouching
from crucible.vault.index.watch.backlog import Backlog
from crucible.vault.index.watch.changed_notes import Memory, Told
from crucible.vault.index.watch.file_events import Heard
from crucible.vault.index.watch.listener import Hearing
from crucible.vault.index.watch.watched_vault import Place, line_of


class Warrant:
    """The right to watch the vault at `root`.  `VaultError` when another process has it.

    `reason` is why queries may not ask, "" when they may; every new one goes to `say`.
    """

    def __init__(self, root: Path, say: Callable[[str], None]) -> None:
        self.reason = ""
        self._root = root
        self._say = say
        self._said = {""}
        self._lock = _hold(root)

    def is_in_place(self) -> bool:
        """Whether the lock is still where queries look for it."""
        return self._lock.is_in_place()

    def renew(self) -> None:
        """Take the lock again, after somebody removed it."""
        before, self._lock = self._lock, _hold(self._root)
        before.release()

    def settle(self, reason: str, folder: str) -> None:
        """Let queries ask in that sessions folder; in none, with a reason or without a folder."""
        self.reason = reason
        if reason not in self._said:
            self._said.add(reason)
            self._say(reason)
        vouched = "" if reason or not folder else os.path.relpath(folder, self._root)
        self._lock.vouch_for(vouched)

    def release(self) -> None:
        """Leave the vault to other watchers."""
        self._lock.release()


def _hold(root: Path) -> vouching.Lock:
    lock = vouching.hold(str(root))
    if lock is None:
        raise VaultError(f"{root}: watched already by another `cru watch`", "one is enough: it serves every query")
    return lock


_TICK = 0.5
"""Seconds between looks at whether the vault is still there."""

_LOOK_AGAIN = 2.0
"""Seconds between looks at what cannot be heard; more when a look takes long."""


class Started(NamedTuple):
    """The index is true; `unheard` says why queries cannot rely on it without a look of their own, "" when they can."""

    sessions: int
    unheard: str


class Notice(NamedTuple):
    """Something that a human should know, in one line."""

    text: str


Tell = Callable[[Started | Told | Notice], None]


Pulse = Callable[[Index], object]
"""Called twice a second with an index that is true."""


def watch(
    root: Path,
    settings: VaultSettings,
    settle: float,
    tell: Tell,
    pulse: Pulse = lambda _index: None,
    *,
    user: UserSettings | None = None,
) -> None:
    """Follow the vault until an exception ends it; `settle` seconds of quiet end a burst of changes.

    Settings that change meanwhile count as far as `user` accepted them.

    `VaultError` when another process watches the vault, and when the vault is moved away.
    """
    watcher = _Watcher(Place(root, settings, user), settle, tell, pulse)
    try:
        watcher.run()
    finally:
        watcher.close()


class _Look(NamedTuple):
    """The index after a look at what changed; `names` are the notes that were looked at, None for all."""

    refreshed: Refreshed
    names: Collection[str] | None


class _Watcher:
    """One run: what is heard goes to the backlog, and from there into the index."""

    def __init__(self, place: Place, settle: float, tell: Tell, pulse: Pulse) -> None:
        self.tell = tell
        self.pulse = pulse
        self.place = place
        self.hearing = Hearing(self.place)
        self.backlog = Backlog(settle)
        self.memory = Memory()
        self.index = Index(place.root, place.settings)
        self._version = ""
        """Of the index as we left it."""
        self._started = False
        self._look_again = 0.0
        self.warrant = Warrant(place.root, self._notice)

    def run(self) -> None:
        """For ever."""
        self._read_all()
        self._started = True
        self.tell(Started(len(self.memory), self.warrant.reason))
        tick = 0.0
        while True:
            self._take(self._next())
            if self._is_due():
                self._read()
            if time.monotonic() >= tick:
                self._check_place()
                self.pulse(self.index)
                tick = time.monotonic() + _TICK

    def close(self) -> None:
        """Nobody can rely on the index any more."""
        try:
            self.warrant.settle(self.warrant.reason, "")
            self.hearing.end()
        finally:
            self.warrant.release()

    # What is heard

    def _next(self) -> Heard | None:
        seconds = self.backlog.patience(_TICK)
        if self.hearing.can():
            return self.hearing.next(seconds)
        time.sleep(seconds)
        return None

    def _take(self, heard: Heard | None) -> None:
        if heard is None:
            self.backlog.was_quiet()
        elif heard.question:
            self._answer(heard.question)
            self.backlog.was_asked()
        else:
            self.backlog.add(heard)

    def _is_due(self) -> bool:
        if self.warrant.reason and time.monotonic() >= self._look_again:
            self.backlog.doubt = True
            return True
        return self.backlog.is_due()

    # Vouching

    def _answer(self, question: str) -> None:
        if not self._is_certain():
            vouching.answer(question, vouching.NO)
        elif not follows(self.index.version(), self._version):
            # Removed, built anew, or another one put in its place: what we know of it is nothing now.
            vouching.answer(question, vouching.NO)
            self.backlog.look_at_everything()
        elif not self.backlog.has_notes():
            vouching.answer(question, vouching.YES)
        else:
            vouching.answer(question, vouching.WAIT)
            look = self._look_at_backlog()
            vouching.answer(question, vouching.NO if self.backlog.doubt else vouching.YES)
            self._tell_changes(look)

    def _is_certain(self) -> bool:
        """Whether all that happened so far was heard, and of the folder that the settings name."""
        return (
            not self.backlog.doubt
            and not self.warrant.reason
            and self.warrant.is_in_place()
            and self.place.has_its_settings()
            and self.hearing.is_certain()
        )

    def _judge(self, refreshed: Refreshed) -> None:
        """After a look at everything: whether queries may rely on what is heard from now on."""
        reasons = [self.place.fault, refreshed.unsaved, *refreshed.unwalked, *self.hearing.gaps()]
        self._settle(next(filter(None, reasons), ""))

    def _settle(self, reason: str) -> None:
        """Let queries ask us, or not."""
        self.warrant.settle(reason, self.hearing.folder)
        self.hearing.refuse(all_questions=bool(reason))

    def _notice(self, reason: str) -> None:
        # The first line tells the reason of the beginning.
        if self._started:
            self.tell(Notice(reason))

    # Reading

    def _read(self) -> None:
        if self.backlog.needs_all():
            self._read_all()
        else:
            self._tell_changes(self._look_at_backlog())

    def _look_at_backlog(self) -> _Look | None:
        """Look at what something happened to; None when that failed."""
        notes, folders = self.backlog.take()
        names = {self.hearing.seen_from_vault(path) for path in notes | folders}
        refreshed = self._refresh([self.place.root / name for name in names])
        if refreshed is None:
            return None
        if refreshed.unsaved or refreshed.unwalked or not self.hearing.hears(notes, folders):
            self.backlog.look_at_everything()
        return _Look(refreshed, None if folders else names)

    def _read_all(self) -> None:
        """Compare everything with the disk, listening all the while."""
        self._check_is_there()
        self.hearing.begin(anew=bool(self.warrant.reason))
        self.hearing.drain()
        # What is heard from now on counts anew: the refresh below may have been too early for it.
        self.backlog.begin_anew()
        began = time.monotonic()
        refreshed = self._refresh(None)
        if refreshed is not None:
            self._judge(refreshed)
            self._tell_changes(_Look(refreshed, None))
        self._look_again = time.monotonic() + max(_LOOK_AGAIN, 20 * (time.monotonic() - began))

    def _refresh(self, paths: Iterable[Path] | None) -> Refreshed | None:
        """Bring the index up to date; None when that failed, which is told and tried again."""
        try:
            refreshed = self.index.refresh(paths)
        except (CrucibleError, OSError) as error:
            self._check_place()
            self.backlog.doubt = True
            self._settle(line_of(error))
            return None
        self._version = self.index.version()
        return refreshed

    def _tell_changes(self, look: _Look | None) -> None:
        if look is None:
            return
        try:
            changes = self.memory.compare(look.refreshed, self.place.root, look.names)
        except IndexBroken:  # another writer replaced the files that the view was reading
            self.backlog.look_at_everything()
            return
        for told in changes if self._started else ():
            self.tell(told)

    # The place

    def _check_place(self) -> None:
        """`VaultError` when the vault is gone; mend what can be mended."""
        self._check_is_there()
        if not self.warrant.is_in_place():
            self.warrant.renew()
            self.backlog.look_at_everything()
        if not self.place.has_its_settings():
            self._read_settings()
        if self.hearing.needs_new_look():
            self.backlog.look_at_everything()
        elif reason := self.hearing.prepare():
            self._settle(reason)

    def _check_is_there(self) -> None:
        if not self.place.is_there():
            raise VaultError(
                f"{self.place.root}: the vault was moved away or deleted",
                "run `cru watch` again where it is now",
            )

    def _read_settings(self) -> None:
        if self.place.read_settings():
            self.hearing.clean()
            self.backlog.look_at_everything()
        if self.place.fault:
            self._settle(self.place.fault)
        else:
            self.index = Index(self.place.root, self.place.settings)
