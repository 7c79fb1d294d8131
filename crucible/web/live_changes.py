"""Notify open pages of changes: a thread with a watcher, and streams of server-sent events."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from crucible.core.errors import CrucibleError
from crucible.core.settings.settings import UserSettings, VaultSettings
from crucible.vault.index.index import Index
from crucible.vault.index.watch.changed_notes import NoteChange
from crucible.vault.index.watch.watcher import WatchNotice, WatchStarted, watch
from crucible.vault.notes.walk import note_name

_SETTLE = 0.2
_POLL = 1.0
"""Seconds between checks of a note while another process watches the vault."""
_KEEP_ALIVE = 15.0


class _Stopped(Exception):
    """Raised in the watcher's thread to end it."""


class LiveChanges:
    """Follows a vault in a thread, and passes each change to the streams that asked for it."""

    def __init__(self, root: Path, settings: VaultSettings, user: UserSettings, on_change: Callable[[], None]) -> None:
        self._watched = (root, settings, user)
        self._on_change = on_change
        self._streams: dict[asyncio.Queue[str], asyncio.AbstractEventLoop] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self.started = threading.Event()
        """Set once the watcher has compared all notes and listens."""
        self._is_watching = False

    def start(self) -> None:
        """Start following the vault."""
        self._thread.start()

    def end_streams(self) -> None:
        """End all streams, and ask the watcher to end."""
        self._stop.set()
        for queue, loop in list(self._streams.items()):
            loop.call_soon_threadsafe(queue.put_nowait, "")

    def stop(self) -> None:
        """End all streams and the watcher."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(2)

    def _run(self) -> None:
        root, settings, user = self._watched
        try:
            watch(root, settings, _SETTLE, self._tell, self._check, user=user)
        except (_Stopped, CrucibleError, OSError):
            # With "cru watch" in another process, or without file events, streams check the note themselves.
            self._is_watching = False

    def _check(self, _index: Index) -> None:
        if self._stop.is_set():
            raise _Stopped

    def _tell(self, news: WatchStarted | NoteChange | WatchNotice) -> None:
        if isinstance(news, WatchStarted):
            self._is_watching = True
            self.started.set()
        if isinstance(news, NoteChange):
            self._on_change()
            name = note_name(Path(news.path).name)
            for queue, loop in list(self._streams.items()):
                loop.call_soon_threadsafe(queue.put_nowait, name)

    async def stream(self, name: str, path: Path) -> AsyncIterator[str]:
        """Yield an event each time the note with this name changes."""
        queue: asyncio.Queue[str] = asyncio.Queue()
        self._streams[queue] = asyncio.get_running_loop()
        seen = _stamp(path)
        try:
            yield "retry: 2000\n\n"
            while not self._stop.is_set():
                try:
                    changed = await asyncio.wait_for(queue.get(), _KEEP_ALIVE if self._is_watching else _POLL)
                except TimeoutError:
                    changed = ""
                now = _stamp(path)
                if changed == name or now != seen:
                    yield "event: changed\ndata: \n\n"
                elif self._is_watching:
                    yield ": \n\n"
                seen = now
        finally:
            del self._streams[queue]


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino
