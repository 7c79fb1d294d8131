"""Follow a vault: keep its index up to date and report every change.

File events collect in a backlog and are processed after each burst.  If events may have been missed, the listener is
restarted and the entire index is compared with the disk.  Changes that the system may not report are polled for.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import CrucibleError, IndexBroken, VaultError
from crucible.core.files import inside, make_folders
from crucible.core.locks import hold
from crucible.core.settings.settings import UserSettings, VaultSettings, load_vault_settings
from crucible.vault.index.index import Index, Refreshed
from crucible.vault.index.index_files import follows
from crucible.vault.index.vouching import Voucher
from crucible.vault.index.watch.changed_notes import KnownNotes, NoteChange
from crucible.vault.index.watch.file_events import FileEvent, Listener, is_linked, mounts_of, unreported_reason


class WatchedVault:
    """A watched vault and its last valid settings.

    `fault` describes the error in the current settings file, or is "".
    """

    def __init__(self, root: Path, settings: VaultSettings, user: UserSettings | None = None) -> None:
        self.root = root
        self.settings = settings
        self.fault = ""
        self._user = user
        self._vault = os.stat(root)
        self._config = self._config_now()
        self._listener: Listener | None = None
        self._listen_error = ""
        """Why there is no listener, or ""."""
        self._location: object = None

    def is_there(self) -> bool:
        """Return whether the folder is still the same, and a vault."""
        try:
            return os.path.samestat(self._vault, os.stat(self.root)) and (self.root / ".crucible").is_dir()
        except OSError:
            return False

    # --- settings ----------------------------------------------------------------------------------------------------

    def has_other_settings(self) -> bool:
        """Return whether the settings file changed since it was read."""
        return self._config != self._config_now()

    def read_settings(self) -> None:
        """Read the settings again.  A broken or half-written file is retried later."""
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
        """Start listening to the sessions folder; restart if `again` is set or events may have been lost."""
        if self._listener and not again and not self.is_lost():
            return
        self.close()
        try:
            self._listener = Listener(str(inside(self.root, self.root / self.settings.sessions)))
        except (CrucibleError, OSError) as error:
            self._listen_error = line_of(error)
        self._location = self._location_now()

    def close(self) -> None:
        """Stop listening."""
        listener, self._listener = self._listener, None
        if listener:
            listener.close()

    def next(self, seconds: float) -> FileEvent | None:
        """Return the next event; None if there is none within `seconds` or no listener."""
        if self._listener:
            return self._listener.next(seconds)
        time.sleep(seconds)
        return None

    def listened_folder(self) -> str:
        """Return the real folder whose events arrive, or ""."""
        return self._listener.folder if self._listener else ""

    def is_lost(self) -> bool:
        """Return whether events may have been lost: the queue was full, or the sessions folder was moved."""
        unsound = self._listener is not None and not self._listener.is_sound()
        return unsound or self._location != self._location_now()

    def unreported_reason(self) -> str:
        """Return why changes may go unreported, or "".  Scans the entire folder."""
        return unreported_reason(self._listener.folder) if self._listener else self._listen_error

    def relative(self, path: str) -> str:
        """Return the path of a note or folder as the index stores it."""
        below = path[len(self._listener.folder) :] if self._listener else ""
        return os.path.normpath(self.settings.sessions + below).replace(os.sep, "/")

    def _location_now(self) -> object:
        """Return the location of the sessions folder and the file systems mounted there."""
        folder = os.path.realpath(self.root / self.settings.sessions)
        try:
            status = os.stat(folder)
        except OSError:
            return None
        return folder, status.st_dev, status.st_ino, mounts_of(folder)


def line_of(error: CrucibleError | OSError) -> str:
    """Describe an error in one line."""
    if isinstance(error, OSError):
        reason = (error.strerror or str(error)).lower()
        return f"{error.filename}: {reason}" if error.filename else reason
    return str(error)


_LOCK = Path(".crucible", "cache", "watch", "lock")

_TICK = 0.5
"""Seconds between checks that the vault still exists."""

_RESCAN_SECONDS = 2.0
"""Seconds between full comparisons while events may be missed; longer if a comparison takes long."""


class WatchStarted(NamedTuple):
    """The index is up to date.  `unreported` is why changes may go unreported, or ""."""

    sessions: int
    unreported: str


class WatchNotice(NamedTuple):
    """A new reason why changes may go unreported."""

    text: str


Tell = Callable[[WatchStarted | NoteChange | WatchNotice], None]

Pulse = Callable[[Index], float | None]
"""A function called twice a second with an up-to-date index, or sooner: after the seconds that it returns."""


def watch(
    root: Path,
    settings: VaultSettings,
    settle: float,
    tell: Tell,
    pulse: Pulse = lambda _index: None,
    *,
    user: UserSettings | None = None,
) -> None:
    """Follow the vault until an exception is raised.  `settle` seconds without events end a burst of changes.

    Changed settings that need acceptance apply only if `user` accepted them.  Raises `VaultError` if another process
    watches the vault, or if the vault is moved or deleted.
    """
    path = root / _LOCK
    make_folders(root, path.parent)
    with hold(path, 0) as lock:
        if lock is None:
            raise VaultError(f'{root}: another "cru watch" already watches it', "stop the other one first")
        with ExitStack() as opened:
            vault = opened.enter_context(closing(WatchedVault(root, settings, user)))
            voucher = None
            with suppress(OSError):  # queries compare all notes themselves then
                voucher = opened.enter_context(closing(Voucher(str(root))))
            _Watcher(vault, settle, tell, pulse, voucher).run()


class _Backlog:
    """File events waiting to be processed, and whether any may have been missed (`doubt`).

    `settle` seconds without events end a burst.
    """

    _LONGEST_BURST = 2.0
    _PAUSE = 0.5
    """Seconds without events after which the kernel's queue must be empty."""
    _BURST = 1000
    """Events without a pause after which the kernel may have dropped some: its queue holds 16,384."""

    def __init__(self, settle: float) -> None:
        self.doubt = True
        self._settle = settle
        self._notes: set[str] = set()
        self._first = self._last = 0.0
        """Times of the oldest and newest pending event; `_first` is 0 if none is pending."""
        self._count = 0

    def add(self, event: FileEvent) -> None:
        """Add an event.

        A folder event requires a full comparison: a moved note is reported as one change only if both places are
        examined.
        """
        self._last = time.monotonic()
        self._first = self._first or self._last
        self._count += 1
        self.doubt = self.doubt or not event.note or self._count > self._BURST
        self._notes |= {event.note} - {""}

    def request_rescan(self) -> None:
        """Request a full comparison, after the current burst."""
        self.doubt = True
        self._first = self._first or time.monotonic()

    def was_quiet(self) -> None:
        """Reset the burst's count if no event has arrived for a moment."""
        if time.monotonic() - self._last > self._PAUSE:
            self._count = 0

    def was_read(self) -> bool:
        """Reset the burst's count, since all events so far have arrived; return whether any note is pending."""
        self._count = 0
        return bool(self._notes)

    def patience(self) -> float:
        """Return how many seconds to wait for more events."""
        return min(self._settle, _TICK) if self._first else _TICK

    def is_due(self) -> bool:
        """Return whether the burst is over or has lasted too long."""
        now = time.monotonic()
        return bool(self._first) and (now - self._last >= self._settle or now - self._first >= self._LONGEST_BURST)

    def take(self) -> set[str]:
        """Return and clear the pending notes; `doubt` is kept."""
        taken, self._notes, self._first = self._notes, set(), 0.0
        return taken

    def begin_again(self) -> None:
        """Clear everything, since a full comparison starts now.  Later events count again."""
        self.take()
        self.doubt, self._count = False, 0


class _Watcher:
    def __init__(self, vault: WatchedVault, settle: float, tell: Tell, pulse: Pulse, voucher: Voucher | None) -> None:
        self.vault = vault
        self.voucher = voucher
        self.tell = tell
        self.pulse = pulse
        self.backlog = _Backlog(settle)
        self.known = KnownNotes()
        self.index = Index(vault.root, vault.settings, asks=False)
        self.reason = ""
        """Why changes may go unreported, or ""."""
        self._reasons = {""}
        self._token = ""
        """Token of the index after the last refresh."""
        self._started = False
        self._look_again = 0.0

    def run(self) -> None:
        """Run until an exception is raised."""
        self._read_all()
        self._started = True
        self._offer()
        tick = time.monotonic() + (self.pulse(self.index) or _TICK)
        self.tell(WatchStarted(len(self.known), self.reason))
        while True:
            event = self.vault.next(max(0.0, min(self.backlog.patience(), tick - time.monotonic())))
            if event and event.cookie:
                self._answer(event.cookie)
            elif event:
                self.backlog.add(event)
            else:
                self.backlog.was_quiet()
            self._offer()
            if self.reason and time.monotonic() >= self._look_again:
                self._read_all()
            elif self.backlog.is_due():
                self._read()
            if time.monotonic() >= tick:
                self._check_vault()
                tick = time.monotonic() + (self.pulse(self.index) or _TICK)

    def _offer(self) -> None:
        """Let queries ask while nothing can be missed."""
        if self.voucher and self._is_certain():
            self.voucher.folder = self.vault.listened_folder()
        elif self.voucher:
            self.voucher.refuse_all()

    def _answer(self, cookie: str) -> None:
        """Answer a question: every event of an earlier change has arrived."""
        self._check_vault()
        if self._is_certain() and self.backlog.was_read():
            self._read()
        if self.voucher:
            token = self._token if self._is_certain() else ""
            self.voucher.answer(cookie, token, self.vault.settings.sessions)

    def _is_certain(self) -> bool:
        return not (self.reason or self.backlog.doubt)

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
            self.backlog.request_rescan()
        self._report(refreshed, names)

    def _read_all(self) -> None:
        """Compare everything with the disk, while listening."""
        self._check_is_there()
        if self.voucher:
            self.voucher.refuse_all()
        self.vault.listen(again=bool(self.reason))
        while self.vault.next(0):
            pass
        # Events from now on may be for changes that the comparison below misses.
        self.backlog.begin_again()
        began = time.monotonic()
        refreshed = self._refresh(None)
        if refreshed is not None:
            reasons = [self.vault.fault, refreshed.unsaved, *refreshed.unwalked, self.vault.unreported_reason()]
            self._set_reason(next(filter(None, reasons), ""))
            self._report(refreshed, None)
        self._look_again = time.monotonic() + max(_RESCAN_SECONDS, 20 * (time.monotonic() - began))

    def _refresh(self, paths: Iterable[Path] | None) -> Refreshed | None:
        """Update the index; None if that fails, which is reported and retried.

        An index that was put in the place of ours is compared with all notes.  Where the vault was, none is made.
        """
        self._check_vault()
        try:
            is_ours = follows(self.index.token(), self._token)
            refreshed = self.index.refresh(paths if is_ours else None)
        except (CrucibleError, OSError) as error:
            self._check_vault()
            self.backlog.doubt = True
            self._set_reason(line_of(error))
            return None
        self._token = self.index.used
        return refreshed

    def _report(self, refreshed: Refreshed, names: set[str] | None) -> None:
        try:
            changes = self.known.compare(refreshed, self.vault.root, names)
        except IndexBroken:  # another writer replaced the files that the view was reading
            self.backlog.request_rescan()
            return
        for change in changes if self._started else ():
            self.tell(change)

    def _set_reason(self, reason: str) -> None:
        self.reason = reason
        if reason not in self._reasons:
            self._reasons.add(reason)
            if self._started:  # the first line already shows the initial reason
                self.tell(WatchNotice(reason))

    def _check_vault(self) -> None:
        """Raise `VaultError` if the vault is gone, and apply changed settings."""
        self._check_is_there()
        if self.vault.has_other_settings():
            self.vault.read_settings()
            if self.vault.fault:
                self._set_reason(self.vault.fault)
            else:
                self.index = Index(self.vault.root, self.vault.settings, asks=False)
                self.backlog.request_rescan()
        if self.vault.is_lost():
            self.backlog.request_rescan()

    def _check_is_there(self) -> None:
        if not self.vault.is_there():
            root = self.vault.root
            raise VaultError(f"{root}: the vault was moved away or deleted", 'run "cru watch" again in its new place')
