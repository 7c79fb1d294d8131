"""The vault that the questions are asked of: the example vault, real clients' sessions, and this folder's notes.

Real clients played the scenarios of `tests/data/transcripts` with the scripted model; the same two scenarios were played by each of
them, so an answer to a question about one of them stands in several notes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from crucible.clients.registry import DIALECTS
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.imports import import_transcripts
from crucible.core.settings.settings import VaultSettings
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.embedded.documents import place_note
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.recall import Document
from crucible.vault.notes.vault import Vault

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CLIENTS = ("claude-code", "codex", "opencode", "gemini")


def build_vault(root: Path) -> Vault:
    """Build the whole vault in an empty folder."""
    # Its knowledge items are for readers, and come and go: those that are asked for here stand beside this.
    left_out = shutil.ignore_patterns("cache", "index", "flight-recorder", "knowledge", "*rate-limiter*", "*retry-bug*")
    shutil.copytree(ROOT / "vault-example", root, ignore=left_out)
    for folder in ("sessions", "knowledge"):
        shutil.copytree(HERE / folder, root / folder, dirs_exist_ok=True)
    vault = Vault(root)
    transcripts = ROOT / "tests" / "data" / "transcripts"
    for client in CLIENTS:
        options = ImportOptions(datetime.now(UTC))
        import_transcripts(vault, DIALECTS[client], _sessions(transcripts / client), options=options)
    return vault


def _sessions(folder: Path) -> Iterator[Path]:
    """What a client left: the scenarios, and no table of what to expect of them."""
    yield from (one for one in sorted(folder.iterdir()) if one.is_dir() and one.name != "golden")


def open_recall(vault: Vault, near: str = "") -> EmbeddedRecall:
    """As `cru recall` opens it; `near` is a folder of word vectors, or ""."""
    return EmbeddedRecall(vault.root, VaultSettings(), items=ItemShelf(vault), near=near)


def documents(vault: Vault) -> Iterator[Document]:
    """Every session and every item, as they are searched."""
    for path in sorted((vault.root / "sessions").rglob("*.md")):
        name = path.relative_to(vault.root).as_posix()
        yield place_note(str(vault.root), name, path.read_bytes())[0]
    shelf = ItemShelf(vault)
    for name in shelf.stamps():
        if document := shelf.document(name):
            yield document
