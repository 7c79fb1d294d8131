"""What the header of a shown session tells, and how an embed names a phase."""

from __future__ import annotations

from crucible.vault.notes.vault import Vault
from tests.running import Cru

HEAD = "---\ntype: session\nsession_id: {id}\nstarted: 2026-11-21T20:26:47Z\nstatus: completed\n{more}---\n\n# {id}\n\n"


def test_bookkeeping_is_left_out_of_the_header(vault: Vault, cru: Cru) -> None:
    more = 'sources:\n  - claude-code:abcdef\nsynced_to:\n  - claude-code:123\nbranch: "main"\n'
    vault.create("a", HEAD.format(id="a", more=more))
    shown = cru("session", "show", "a").stdout
    assert "branch" in shown
    assert "synced_to" not in shown
    assert "claude-code:abcdef" not in shown


def test_an_embed_of_a_phase_as_obsidian_writes_it_shows_that_phase_alone(vault: Vault, cru: Cru) -> None:
    body = "## First @general-purpose #dev\n\none\n\n## Second\n\ntwo\n"
    vault.create("child", HEAD.format(id="child", more='parent: "[[p]]"\n') + body)
    callout = "> [!subagent] @general-purpose\n> mode: embed\n> ![[child#First @general-purpose dev]]\n"
    vault.create("p", HEAD.format(id="p", more="") + f"## A\n\n{callout}")
    shown = cru("session", "show", "p").stdout
    assert "one" in shown
    assert "two" not in shown
