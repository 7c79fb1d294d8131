"""Following a vault: every change told, the index kept true, and queries told that they may trust it.

Owns when to wait, when to refresh, and when there is a doubt.  Hearing of changes is `listening`'s, the handshake with
queries `vouching`'s, the index `store`'s.

A question is answered with yes only when the index was brought up to date, and saved, after all that happened before the
question.  In doubt (something may have passed unheard) it is no, until the whole index was compared with the disk once
more, with the listening begun before.  What cannot be heard at all (`Survey.unheard`) is looked for every few seconds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from crucible.errors import CrucibleError, IndexBroken, VaultError
from crucible.index import vouching
from crucible.index.listening import Heard, Listener, linked_still, mounts_of, survey, unheard_mount
from crucible.index.manifest import follows
from crucible.index.store import Index, Refreshed
from crucible.index.telling import Memory, Told
from crucible.settings import VaultSettings, load_vault_settings
from crucible.vault.files import inside

__all__ = ["Notice", "Started", "Tell", "Told", "watch"]

_LONGEST = 2.0
"""Seconds that somebody who writes all the time is waited for."""

_TICK = 0.5
"""Seconds between looks at whether the vault is still there."""

_BURST = 1000
"""Events without a pause after which the kernel may have lost some: its queue holds 16,384."""

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


def watch(root: Path, settings: VaultSettings, settle: float, tell: Tell) -> None:
    """Follow the vault until an exception ends it; `settle` seconds of quiet end a burst of changes.

    `VaultError` when another process watches the vault, and when the vault is moved away.
    """
    lock = _hold(root)
    watcher = _Watcher(root, settings, settle, tell, lock)
    try:
        watcher.run()
    finally:
        watcher.close()


def _hold(root: Path) -> vouching.Lock:
    lock = vouching.hold(str(root))
    if lock is None:
        raise VaultError(
            f"{root}: watched already by another `cru watch`", "one is enough: it serves every query"
        )
    return lock


class _Watcher:
    """One run: the listener, the notes that wait for a refresh, and what is in doubt."""

    def __init__(
        self, root: Path, settings: VaultSettings, settle: float, tell: Tell, lock: vouching.Lock
    ) -> None:
        self.root = root
        self.settle = settle
        self.tell = tell
        self.lock = lock
        self.memory = Memory()
        self.listener: Listener | None = None
        self.unheard = ""
        self._vault = os.stat(root)
        self._config: object = None
        self._place: object = None
        self._version = ""
        self._dirty: set[str] = set()
        self._folders: set[str] = set()
        self._doubt = True
        self._started = False
        self._noticed: set[str] = set()
        self._deaf = self._fault = ""
        """Why nothing can be heard, and what is wrong with the settings; mostly nothing."""
        self._linked: frozenset[str] = frozenset()
        self._count = 0
        self._first = self._last = 0.0
        self._look_again = 0.0
        self._use(settings)

    def _use(self, settings: VaultSettings) -> None:
        self.settings = settings
        self.index = Index(self.root, settings)
        self._config = self._config_stamp()

    def run(self) -> None:
        """For ever."""
        self._refresh_all()
        self._started = True
        self.tell(Started(len(self.memory), self.unheard))
        tick = 0.0
        while True:
            self._take(self._next())
            now = time.monotonic()
            if self._is_due(now):
                self._refresh()
            if now >= tick:
                self._check_place()
                tick = time.monotonic() + _TICK

    def close(self) -> None:
        """Nobody can rely on the index any more."""
        if self.listener:
            vouching.clean(self.listener.folder)
        try:
            self._stop_listening()
        finally:
            self.lock.release()

    # What is heard

    def _next(self) -> Heard | None:
        waiting = self._first
        seconds = min(self.settle, _TICK) if waiting else _TICK
        if self.listener:
            return self.listener.next(seconds)
        time.sleep(seconds)
        return None

    def _take(self, heard: Heard | None) -> None:
        now = time.monotonic()
        if heard is None:
            self._count = 0 if now - self._last > _TICK else self._count
        elif heard.question:
            self._answer(heard.question)
        else:
            self._count += 1
            self._doubt = self._doubt or heard == Heard() or self._count > _BURST
            self._dirty |= {heard.note} - {""}
            self._folders |= {heard.folder} - {""}
            self._last = now
            self._first = self._first or now

    def _is_due(self, now: float) -> bool:
        if self.unheard and now >= self._look_again:
            self._doubt = True
            return True
        return bool(self._first) and (now - self._last >= self.settle or now - self._first >= _LONGEST)

    def _answer(self, question: str) -> None:
        if not self._is_certain():
            vouching.answer(question, vouching.NO)
        elif not follows(self.index.version(), self._version):
            # Removed, built anew, or another one put in its place: what we know of it is nothing now.
            vouching.answer(question, vouching.NO)
            self._start_anew()
        elif not self._dirty and not self._folders:
            vouching.answer(question, vouching.YES)
        else:
            vouching.answer(question, vouching.WAIT)
            compare = self._read_dirty()
            vouching.answer(question, vouching.NO if self._doubt else vouching.YES)
            compare()
        if not self._doubt:
            # The question came through the kernel's queue, so that has room again.
            self._count = 0

    def _is_certain(self) -> bool:
        """Whether all that happened so far was heard."""
        self._linked = linked_still(self._linked)
        return (
            not self._doubt
            and not self.unheard
            and not self._linked
            and self.listener is not None
            and self.listener.is_sound()
            and self.lock.is_in_place()
            and self._config == self._config_stamp()
            and self._place == self._place_now()
        )

    # Refreshing

    def _refresh(self) -> None:
        self._first = 0.0
        if self._doubt or self._folders:
            # With a folder: a note that was moved into it is told as one change only when both places are looked at.
            self._refresh_all()
        else:
            self._read_dirty()()

    def _read_dirty(self) -> Callable[[], None]:
        """Look at what something happened to; gives what tells of the changes, for later."""
        notes, folders = self._dirty, self._folders
        self._dirty, self._folders, self._first = set(), set(), 0.0
        names = {self._seen_from_vault(path) for path in notes | folders}
        refreshed = self._look([self.root / name for name in names])
        if refreshed is None:
            return lambda: None
        if refreshed.unsaved or refreshed.unwalked or not self._hears(notes, folders):
            self._start_anew()
        return partial(self._tell_changes, refreshed, None if folders else names)

    def _hears(self, notes: Collection[str], folders: Collection[str]) -> bool:
        """Whether all changes to these can be heard from now on."""
        self._linked |= linked_still(notes)
        for folder in folders:
            if self.listener and os.path.isdir(folder):
                found = survey(self.listener.folder, folder)
                self._linked |= found.linked
                if found.unheard:
                    return False
        return not self._linked and not any(os.path.islink(path) for path in notes)

    def _refresh_all(self) -> None:
        """Compare everything with the disk, listening all the while."""
        self._listen()
        self._drain()
        # What is heard from now on counts anew: the refresh below may have been too early for it.
        self._doubt, self._first, self._count = False, 0.0, 0
        self._dirty.clear()
        self._folders.clear()
        began = time.monotonic()
        refreshed = self._look(None)
        if refreshed is not None:
            self._judge(refreshed)
            self._tell_changes(refreshed, None)
        self._look_again = time.monotonic() + max(_LOOK_AGAIN, 20 * (time.monotonic() - began))

    def _tell_changes(self, refreshed: Refreshed, names: Collection[str] | None) -> None:
        try:
            changes = self.memory.compare(refreshed, self.root, names)
        except IndexBroken:  # another writer replaced the files that the view was reading
            self._start_anew()
            return
        for told in changes if self._started else ():
            self.tell(told)

    def _look(self, paths: Iterable[Path] | None) -> Refreshed | None:
        """Refresh; None when that failed, which is told and tried again."""
        try:
            refreshed = self.index.refresh(paths)
        except (CrucibleError, OSError) as error:
            self._check_place()
            self._doubt = True
            self._set_unheard(_line_of(error))
            return None
        self._version = self.index.version()
        return refreshed

    def _judge(self, refreshed: Refreshed) -> None:
        """After a look at everything: whether queries may rely on what is heard from now on."""
        reasons = [self._fault, refreshed.unsaved, *refreshed.unwalked]
        if self.listener:
            found = survey(self.listener.folder)
            self._linked = linked_still(found.linked)
            links = [f"{path} has a second name, a hard link" for path in sorted(self._linked)]
            reasons += [unheard_mount(self.listener.folder), found.unheard, *links]
        else:
            reasons.append(self._deaf)
        self._set_unheard(next(filter(None, reasons), ""))

    def _set_unheard(self, reason: str) -> None:
        """Let queries ask us or not."""
        if reason and reason not in self._noticed and self._started:
            self.tell(Notice(reason))
        self._noticed.add(reason)
        self.unheard = reason
        self.lock.vouch_for(
            "" if reason or not self.listener else os.path.relpath(self.listener.folder, self.root)
        )
        if self.listener:
            self.listener.refusing = bool(reason)

    # Listening

    def _listen(self) -> None:
        """Begin to listen, or anew where that is not certain to hear all."""
        sound = self.listener and self.listener.is_sound() and not self.unheard
        if self.listener and sound and self._place == self._place_now():
            self.listener.refusing = True
            return
        self._stop_listening()
        try:
            folder = str(inside(self.root, self.root / self.settings.sessions))
            vouching.prepare(folder)
            self.listener = Listener(folder)
        except (CrucibleError, OSError) as error:
            self._deaf = _line_of(error)
        self._place = self._place_now()

    def _stop_listening(self) -> None:
        if self.listener:
            self.listener.close()
        self.listener = None

    def _drain(self) -> None:
        """What was heard before a look at everything is no news after it."""
        while self.listener and (heard := self.listener.next(0)):
            if heard.question:
                vouching.answer(heard.question, vouching.NO)

    def _seen_from_vault(self, path: str) -> str:
        folder = self.listener.folder if self.listener else ""
        return os.path.normpath(self.settings.sessions + path[len(folder) :]).replace(os.sep, "/")

    # The place

    def _place_now(self) -> object:
        """What must stay as it is while we listen: where the sessions folder lies and what is mounted there."""
        folder = os.path.realpath(self.root / self.settings.sessions)
        try:
            status = os.stat(folder)
        except OSError:
            return None
        return folder, status.st_dev, status.st_ino, mounts_of(folder)

    def _config_stamp(self) -> object:
        try:
            status = os.stat(self.root / ".crucible" / "config.toml")
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino

    def _check_place(self) -> None:
        """`VaultError` when the vault is gone; mend what can be mended."""
        if not self._is_there():
            raise VaultError(f"{self.root}: the vault was moved away or deleted")
        if not self.lock.is_in_place():
            self.lock.release()
            self.lock = _hold(self.root)
            self._start_anew()
        if self._config != self._config_stamp():
            self._read_settings()
        unsound = self.listener and not self.listener.is_sound()
        if unsound or self._linked or self._place != self._place_now():
            self._start_anew()
        elif self.listener:
            self._prepare(self.listener.folder)

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(self._vault, os.stat(self.root)) and (self.root / ".crucible").is_dir()
        except OSError:
            return False

    def _prepare(self, folder: str) -> None:
        try:
            vouching.prepare(folder)
        except OSError as error:
            self._set_unheard(_line_of(error))

    def _read_settings(self) -> None:
        """A file that is broken, or half written, is looked at again."""
        try:
            settings = load_vault_settings(self.root)
        except VaultError as error:
            self._fault = str(error)
            self._set_unheard(self._fault)
            return
        self._fault = ""
        if settings != self.settings:
            if self.listener:
                vouching.clean(self.listener.folder)
            self._start_anew()
        self._use(settings)

    def _start_anew(self) -> None:
        self._doubt = True
        self._first = self._first or time.monotonic()


def _line_of(error: CrucibleError | OSError) -> str:
    if isinstance(error, OSError):
        reason = (error.strerror or str(error)).lower()
        return f"{error.filename}: {reason}" if error.filename else reason
    return str(error)
