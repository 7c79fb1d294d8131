"""Links in a freshly imported vault: each has a folder and leads to exactly one note."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.wikilinks import find_links, find_property_links
from crucible.vault.notes.links import LinkTable
from crucible.vault.notes.vault import Vault
from tests.running import Cru

TRANSCRIPTS = Path(__file__).resolve().parents[1] / "data" / "transcripts"


@pytest.mark.parametrize("project", [False, True])
def test_no_link_of_a_new_vault_is_ambiguous_or_dangling(cru: Cru, vault: Vault, project: bool) -> None:
    if project:
        (vault.root / "projects").mkdir()
        (vault.root / "projects" / "project.md").write_text("# project\n")
    for client in ("claude-code", "codex", "gemini"):
        folders = sorted(path for path in (TRANSCRIPTS / client).iterdir() if path.is_dir() and path.name != "golden")
        cru("import", client, *map(str, folders))
    ids = [path.stem for path in vault.session_paths() if vault.read(path).session.parent is None]
    for name in ids[:4]:
        assert cru("session", "end", name, "--no-model").exit_code == 0
    cru("session", "learn", "--all", "--export", "markdown")
    cru("session", "codify", ids[0])
    table = LinkTable(map(vault.relative, vault.note_paths()))
    count = 0
    for path in vault.note_paths():
        source, at = vault.read(path).source, vault.relative(path)
        links = [*find_links(source), *find_property_links(source, find_frontmatter(source).span)]
        for link in links:
            found = table.resolve(link.target, at) if link.target else None
            assert found is None or (found.path and not found.ambiguous and "/" in link.target), (at, link.target)
            count += found is not None
        assert ("[[projects/" in source.text) <= project
    assert count > 20
