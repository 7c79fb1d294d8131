"""Vaults to index, and whole indexes to compare."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from crucible.core.settings.settings import VaultSettings
from crucible.vault.index.index import Index, Refreshed
from crucible.vault.index.index_files import IndexFolder
from crucible.vault.index.schema import TABLES, Row

Tables = dict[tuple[str, str], list[Row]]
"""Every row of an index, in order, by shard and table."""

SETTINGS = VaultSettings(fsync=False)


def new_vault(root: Path) -> Path:
    """A vault as bare as can be; its real path."""
    (root / ".crucible").mkdir(parents=True)
    (root / "sessions").mkdir()
    return Path(os.path.realpath(root))


def note(title: str = "A title", started: str | None = "2026-11-21T20:26:47Z", more: str = "") -> str:
    """A session note that has a row in every table."""
    date = f"started: {started}\n" if started else ""
    return (
        f"---\ntype: session\n{date}status: completed\nparticipants:\n  - claude-code@2.1\n{more}---\n\n"
        f"# {title}\n\n## Do it @codex #dev\n\n> [!decision] Take it\n> Because of [[another]].\n\n"
        "**Tool calls:**\n- `Bash ls` → ok\n"
    )


def write(root: Path, path: str, text: str | bytes | None = None) -> Path:
    """A note at a path seen from the vault, its folders made."""
    whole = root / path
    whole.parent.mkdir(parents=True, exist_ok=True)
    data = note(path) if text is None else text
    whole.write_bytes(data if isinstance(data, bytes) else data.encode())
    return whole


def refreshed(root: Path, settings: VaultSettings = SETTINGS) -> Refreshed:
    """What a new process would see."""
    return Index(root, settings).refresh()


def tables_of(found: Refreshed) -> Tables:
    """All of it."""
    view = found.view
    return {(shard, name): list(view.rows(name, [shard])) for shard in view.shards for name in TABLES}


def paths_of(found: Refreshed) -> list[str]:
    """The paths of the table of sessions, sorted."""
    return sorted(str(row["path"]) for row in found.view.rows("sessions"))


def rebuilt(root: Path, settings: VaultSettings = SETTINGS) -> Tables:
    """The same notes, read into an index that has just been made in another place."""
    with tempfile.TemporaryDirectory() as place:
        index = Index(root, settings)
        index._folder = IndexFolder(os.path.realpath(place))
        found = index.refresh()
        assert found.unsaved == ""
        return tables_of(found)


def same_as_rebuilt(root: Path, settings: VaultSettings = SETTINGS) -> Refreshed:
    """Refresh, and hold every row against a rebuild; what the refresh found."""
    index = Index(root, settings)
    tables, found = index.ask(lambda view: tables_of(Refreshed(view)))
    assert tables == rebuilt(root, settings)
    return found


def writes_the_index(path: str) -> bool:
    """True for the modules that write, or say when: a death between two calls of others changes nothing on disk."""
    return _INDEX in path and path.endswith(("index.py", "index_draft.py", "index_files.py"))


_INDEX = f"{os.sep}crucible{os.sep}vault{os.sep}index{os.sep}"
