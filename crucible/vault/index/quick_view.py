"""A look at the tables by who cannot wait: nothing is written, nobody is waited for, and only so much is read.

Owns what is left out then.  A hook answers while a human waits for the client to start, so a vault in which much has changed
is seen as it was when the index was last kept.  Whoever asks like this must look at a note before it believes its row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from crucible.core.errors import IndexBroken
from crucible.vault.index.freshness import Suspects, compare_folders
from crucible.vault.index.index_draft import Draft
from crucible.vault.index.index_files import IndexFolder
from crucible.vault.index.index_manifest import EMPTY, Manifest
from crucible.vault.index.note_reader import Asked, read_notes
from crucible.vault.index.scan import look
from crucible.vault.index.view import View

Answer = TypeVar("Answer")

_MOST, _MOST_BYTES = 100, 1_000_000
"""Notes, and what they hold together, that are read anew; the newest first, and one whatever its size."""


def glance(root: str, sessions: str, question: Callable[[View], Answer], vouched: Callable[[str], bool]) -> Answer:
    """The answer to a question about the tables; `root` must be real.

    Of a vault with many notes and no index it is about none.  `vouched` says whether a watcher vouches for the index.
    """
    folder = IndexFolder(root)
    for _ in range(2):  # a writer replaced what we read, or it is damaged
        try:
            return question(_view(root, sessions, folder, folder.load(), vouched))
        except IndexBroken:
            continue
    return question(_view(root, sessions, folder, EMPTY, vouched))


def _view(root: str, sessions: str, folder: IndexFolder, manifest: Manifest, vouched: Callable[[str], bool]) -> View:
    if manifest.whole and vouched(root):
        draft = Draft(folder, folder.load())
        return View(draft.shards(), draft.read)
    seen = look(root, sessions, None)
    suspects = compare_folders(folder, manifest, seen.scans, seen.within)
    draft = Draft(folder, manifest, suspects, "not asked to")
    asked = _newest(suspects)
    if manifest.whole or len(asked) == len(suspects.look):
        draft.apply(read_notes(root, asked), suspects.gone, 0)
    return View(draft.shards(), draft.read)


def _newest(suspects: Suspects) -> list[Asked]:
    newest = sorted(suspects.look.items(), key=lambda one: one[1][1], reverse=True)[:_MOST]
    found: list[Asked] = []
    room = _MOST_BYTES
    for path, (size, *_) in newest:
        room -= size
        if room < 0 and found:
            break
        found.append(Asked(path, suspects.sha_of(path)))
    return found
