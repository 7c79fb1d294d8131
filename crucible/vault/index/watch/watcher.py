"""Follow a vault: keep its index true and report every change.

File events go to a backlog and, when a burst of them is over, into the index.  In doubt the whole index is compared with
the disk, with listening begun before.  What the system may not report is looked for every few seconds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import CrucibleError, IndexBroken, VaultError
from crucible.core.files import inside, make_folders
from crucible.core.locks import hold
from crucible.core.settings.settings import UserSettings, VaultSettings, load_vault_settings
from crucible.vault.index.index import Index, Refreshed
from crucible.vault.index.watch.changed_notes import KnownNotes, NoteChange
from crucible.vault.index.watch.file_events import FileEvent, Listener, is_linked, mounts_of, unheard


class WatchedVault:
    """A vault and the settings that were read last; `fault` is what is wrong with those on the disk, mostly nothing."""

    def __init__(self, root: Path, settings: VaultSettings, user: UserSettings | None = None) -> None:
        self.root = root
        self.settings = settings
        self.fault = ""
        self._user = user
        self._vault = os.stat(root)
        self._config = self._config_now()
        self._listener: Listener | None = None
        self._deaf = ""
        """Why there is no listener."""
        self._place: object = None

    def is_there(self) -> bool:
        """Whether this is still the same folder, and a vault."""
        try:
            return os.path.samestat(self._vault, os.stat(self.root)) and (self.root / ".crucible").is_dir()
        except OSError:
            return False

    # --- settings ----------------------------------------------------------------------------------------------------

    def has_other_settings(self) -> bool:
        """Whether the settings file is another one than was read."""
        return self._config != self._config_now()

    def read_settings(self) -> None:
        """Read the settings again.  A file that is broken, or half written, is looked at again."""
        config = self._config_now()
        try:
            self.settings = load_vault_settings(self.root, self._user)
        except VaultError as error:
            self.fault = str(error)
        else:
            self.fault, self._config = "", config

    def _config_now(self) -> object:
        try:
            status = os.stat(self.root / ".crucible" / "config.toml")
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino

    # --- events ------------------------------------------------------------------------------------------------------

    def listen(self, *, again: bool) -> None:
        """Listen to the sessions folder from now on; begin again if asked to, or if events may have been lost."""
        if self._listener and not again and not self.is_lost():
            return
        self.close()
        try:
            self._listener = Listener(str(inside(self.root, self.root / self.settings.sessions)))
        except (CrucibleError, OSError) as error:
            self._deaf = line_of(error)
        self._place = self._place_now()

    def close(self) -> None:
        """Stop listening."""
        listener, self._listener = self._listener, None
        if listener:
            listener.close()

    def next(self, seconds: float) -> FileEvent | None:
        """The next event; None if there is none within `seconds`, or there can be none."""
        if self._listener:
            return self._listener.next(seconds)
        time.sleep(seconds)
        return None

    def is_lost(self) -> bool:
        """Whether events may have been lost: the queue was full, or the sessions folder lies elsewhere now."""
        unsound = self._listener is not None and not self._listener.is_sound()
        return unsound or self._place != self._place_now()

    def unheard(self) -> str:
        """Why changes may go unreported, "" when none may; looks at the whole folder."""
        return unheard(self._listener.folder) if self._listener else self._deaf

    def relative(self, path: str) -> str:
        """The note or folder as the index names it."""
        below = path[len(self._listener.folder) :] if self._listener else ""
        return os.path.normpath(self.settings.sessions + below).replace(os.sep, "/")

    def _place_now(self) -> object:
        """Where the sessions folder lies, and what is mounted there."""
        folder = os.path.realpath(self.root / self.settings.sessions)
        try:
            status = os.stat(folder)
        except OSError:
            return None
        return folder, status.st_dev, status.st_ino, mounts_of(folder)


def line_of(error: CrucibleError | OSError) -> str:
    """What went wrong, in one line."""
    if isinstance(error, OSError):
        reason = (error.strerror or str(error)).lower()
        return f"{error.filename}: {reason}" if error.filename else reason
    return str(error)


_LOCK = Path(".crucible", "cache", "watch", "lock")

_TICK = 0.5
"""Seconds between looks at whether the vault is still there."""

_LOOK_AGAIN = 2.0
"""Seconds between looks at what is not reported; more when a look takes long."""


class WatchStarted(NamedTuple):
    """The index is true; `unheard` says why changes may go unreported, "" when none may."""

    sessions: int
    unheard: str


class WatchNotice(NamedTuple):
    """A new reason why changes may go unreported."""

    text: str


Tell = Callable[[WatchStarted | NoteChange | WatchNotice], None]

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

    Settings that change meanwhile count as far as `user` accepted them.  Raises `VaultError` when another process
    watches the vault, and when the vault is moved away.
    """
    path = root / _LOCK
    make_folders(root, path.parent)
    with hold(path, 0) as lock:
        if lock is None:
            raise VaultError(f"{root}: watched already by another `cru watch`", "one is enough: it serves every query")
        vault = WatchedVault(root, settings, user)
        try:
            _Watcher(vault, settle, tell, pulse).run()
        finally:
            vault.close()


class _Backlog:
    """Notes that wait to be read; `doubt` when everything must be.  `settle` seconds of quiet end a burst."""

    _LONGEST_BURST = 2.0
    _PAUSE = 0.5
    """Seconds without an event after which the kernel's queue is empty."""
    _BURST = 1000
    """Events without a pause after which the kernel may have lost some: its queue holds 16,384."""

    def __init__(self, settle: float) -> None:
        self.doubt = True
        self._settle = settle
        self._notes: set[str] = set()
        self._first = self._last = 0.0
        """When the oldest and the newest event came; `_first` is 0 when nothing is to be done."""
        self._count = 0

    def add(self, event: FileEvent) -> None:
        """Take in an event.

        A folder needs a look at everything: a note that was moved into it is one change only when both places are seen.
        """
        self._last = time.monotonic()
        self._first = self._first or self._last
        self._count += 1
        self.doubt = self.doubt or not event.note or self._count > self._BURST
        self._notes |= {event.note} - {""}

    def look_at_everything(self) -> None:
        """As soon as it is quiet."""
        self.doubt = True
        self._first = self._first or time.monotonic()

    def was_quiet(self) -> None:
        """No event came for a moment."""
        if time.monotonic() - self._last > self._PAUSE:
            self._count = 0

    def patience(self) -> float:
        """Seconds to wait for more events."""
        return min(self._settle, _TICK) if self._first else _TICK

    def is_due(self) -> bool:
        """Whether the burst is over, or has lasted too long."""
        now = time.monotonic()
        return bool(self._first) and (now - self._last >= self._settle or now - self._first >= self._LONGEST_BURST)

    def take(self) -> set[str]:
        """The notes, which no longer wait; a doubt stays."""
        taken, self._notes, self._first = self._notes, set(), 0.0
        return taken

    def begin_again(self) -> None:
        """Everything is looked at now; what comes from here on counts."""
        self.take()
        self.doubt, self._count = False, 0


class _Watcher:
    def __init__(self, vault: WatchedVault, settle: float, tell: Tell, pulse: Pulse) -> None:
        self.vault = vault
        self.tell = tell
        self.pulse = pulse
        self.backlog = _Backlog(settle)
        self.known = KnownNotes()
        self.index = Index(vault.root, vault.settings)
        self.reason = ""
        """Why changes may go unreported."""
        self._reasons = {""}
        self._started = False
        self._look_again = 0.0

    def run(self) -> None:
        """For ever."""
        self._read_all()
        self._started = True
        self.tell(WatchStarted(len(self.known), self.reason))
        tick = 0.0
        while True:
            event = self.vault.next(self.backlog.patience())
            if event:
                self.backlog.add(event)
            else:
                self.backlog.was_quiet()
            if self.reason and time.monotonic() >= self._look_again:
                self._read_all()
            elif self.backlog.is_due():
                self._read()
            if time.monotonic() >= tick:
                self._check_vault()
                self.pulse(self.index)
                tick = time.monotonic() + _TICK

    def _read(self) -> None:
        if self.backlog.doubt:
            self._read_all()
            return
        notes = self.backlog.take()
        names = {self.vault.relative(path) for path in notes}
        refreshed = self._refresh([self.vault.root / name for name in names])
        if refreshed is None:
            return
        if refreshed.unsaved or refreshed.unwalked or any(map(is_linked, notes)):
            self.backlog.look_at_everything()
        self._report(refreshed, names)

    def _read_all(self) -> None:
        """Compare everything with the disk, listening all the while."""
        self._check_is_there()
        self.vault.listen(again=bool(self.reason))
        while self.vault.next(0):
            pass
        # The look below may be too early for what comes from now on.
        self.backlog.begin_again()
        began = time.monotonic()
        refreshed = self._refresh(None)
        if refreshed is not None:
            reasons = [self.vault.fault, refreshed.unsaved, *refreshed.unwalked, self.vault.unheard()]
            self._set_reason(next(filter(None, reasons), ""))
            self._report(refreshed, None)
        self._look_again = time.monotonic() + max(_LOOK_AGAIN, 20 * (time.monotonic() - began))

    def _refresh(self, paths: Iterable[Path] | None) -> Refreshed | None:
        """Bring the index up to date; None when that failed, which is reported and tried again."""
        try:
            return self.index.refresh(paths)
        except (CrucibleError, OSError) as error:
            self._check_vault()
            self.backlog.doubt = True
            self._set_reason(line_of(error))
            return None

    def _report(self, refreshed: Refreshed, names: set[str] | None) -> None:
        try:
            changes = self.known.compare(refreshed, self.vault.root, names)
        except IndexBroken:  # another writer replaced the files that the view was reading
            self.backlog.look_at_everything()
            return
        for change in changes if self._started else ():
            self.tell(change)

    def _set_reason(self, reason: str) -> None:
        self.reason = reason
        if reason not in self._reasons:
            self._reasons.add(reason)
            if self._started:  # the first line has the reason of the beginning
                self.tell(WatchNotice(reason))

    def _check_vault(self) -> None:
        """`VaultError` when the vault is gone."""
        self._check_is_there()
        if self.vault.has_other_settings():
            self.vault.read_settings()
            if self.vault.fault:
                self._set_reason(self.vault.fault)
            else:
                self.index = Index(self.vault.root, self.vault.settings)
                self.backlog.look_at_everything()
        if self.vault.is_lost():
            self.backlog.look_at_everything()

    def _check_is_there(self) -> None:
        if not self.vault.is_there():
            root = self.vault.root
            raise VaultError(f"{root}: the vault was moved away or deleted", "run `cru watch` again where it is now")
