from __future__ import annotations

from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.journeys.notes import CLOCK, LIMITER, note, write
from tests.running import Cru


def _files(vault: Vault) -> dict[str, bytes]:
    return {str(p.relative_to(vault.root)): p.read_bytes() for p in vault.root.rglob("*.md")}


def test_the_file_the_id_and_every_link_follow(vault: Vault, cru: Cru) -> None:
    write(vault, "2026-11-21-limiter", LIMITER)
    write(vault, "2026-11-21-clock", CLOCK)
    other = vault.root / "Start.md"
    other.write_text("[[2026-11-21-clock]] ![[2026-11-21-clock#Look it up|see]] `[[2026-11-21-clock]]`\n")
    before = _files(vault)
    result = cru("session", "rename", "2026-11-21-clock", "2026-11-21-time")
    assert result.exit_code == 0
    assert result.stdout == f"{vault.root / 'sessions' / '2026-11-21-time.md'}\n"
    after = _files(vault)
    assert after.pop("sessions/2026-11-21-time.md") == before.pop("sessions/2026-11-21-clock.md").replace(
        b"session_id: 2026-11-21-clock", b"session_id: 2026-11-21-time"
    )
    assert after["sessions/2026-11-21-limiter.md"] == LIMITER.replace("2026-11-21-clock", "2026-11-21-time").encode()
    assert other.read_text() == "[[2026-11-21-time]] ![[2026-11-21-time#Look it up|see]] `[[2026-11-21-clock]]`\n"
    assert cru("session", "check").exit_code == 0


def test_a_note_that_does_not_name_it_keeps_every_byte(vault: Vault, cru: Cru) -> None:
    write(vault, "old", note("old"))
    odd = b"\xef\xbb\xbf---\r\ntags: [a]  # old\r\n---\r\nold [[other]] \xff"
    path = write(vault, "odd", odd)
    assert cru("session", "rename", "old", "new").exit_code == 0
    assert path.read_bytes() == odd


def test_the_lines_around_a_link_keep_every_byte(vault: Vault, cru: Cru) -> None:
    write(vault, "old", note("old"))
    path = write(vault, "odd", b"\xef\xbb\xbf---\r\nup: '[[old]]' # c\r\n---\r\nx\r\n\ta [[old|x]]  \xff\r\nend")
    cru("session", "rename", "old", "new")
    assert path.read_bytes() == b"\xef\xbb\xbf---\r\nup: '[[new]]' # c\r\n---\r\nx\r\n\ta [[new|x]]  \xff\r\nend"


def test_a_title_that_was_the_id_follows_and_one_in_words_stays(vault: Vault, cru: Cru) -> None:
    path = write(vault, "2026-01-01-old", note("2026-01-01-old"))
    cru("session", "rename", "2026-01-01-old", "2026-01-01-new")
    assert "# 2026-01-01-new\n" in (path.parent / "2026-01-01-new.md").read_text()
    write(vault, "2026-11-21-limiter", LIMITER)
    cru("session", "rename", "2026-11-21-limiter", "2026-11-21-bucket")
    assert "# Add a rate limiter\n" in (path.parent / "2026-11-21-bucket.md").read_text()


def test_a_link_that_could_be_another_note_stays_and_is_named(vault: Vault, cru: Cru) -> None:
    write(vault, "one/old", note("old"))
    (vault.root / "old.md").write_text("# Another\n")
    (vault.root / "two").mkdir()
    (vault.root / "two" / "old.md").write_text("# A third\n")
    (vault.root / "x").mkdir()
    linker = vault.root / "x" / "linker.md"
    (vault.root / "old.md").unlink()
    linker.write_text("see [[old]]\n")
    result = cru("session", "rename", "sessions/one/old.md", "new")
    assert linker.read_text() == "see [[old]]\n"
    assert result.stderr.startswith("x/linker.md:1: ambiguous-link: [[old]] was not changed")
    assert result.exit_code == 3


@pytest.mark.parametrize("new", ["taken", "TAKEN", "../out", "a b", ".hidden", "", "a/b"])
def test_a_name_that_is_taken_or_no_id_changes_nothing(vault: Vault, cru: Cru, new: str) -> None:
    write(vault, "old", note("old", "[[old]]\n"))
    write(vault, "taken", note("taken"))
    before = _files(vault)
    result = cru("session", "rename", "old", new)
    assert result.exit_code in {1, 2}
    assert result.stderr.startswith("error: ")
    assert _files(vault) == before


def test_whole_events_go_along(vault: Vault, cru: Cru) -> None:
    write(vault, "old", note("old"))
    flight = vault.root / ".crucible" / "flight"
    (flight / "old").mkdir(parents=True)
    (flight / "old" / "events.jsonl").write_text("{}\n")
    cru("session", "rename", "old", "new")
    assert (flight / "new" / "events.jsonl").read_text() == "{}\n"
    assert not (flight / "old").exists()


def test_a_note_that_cannot_be_written_is_named_and_the_others_go_on(
    vault: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(vault, "old", note("old"))
    locked, fine = (
        write(vault, "a-locked", note("a-locked", "[[old]]\n")),
        write(vault, "b", note("b", "[[old]]\n")),
    )
    from crucible.core.errors import LockTimeout
    from crucible.vault.notes.vault import Note

    update = Vault.update

    def refuse(self: Vault, path: Path, intention: object) -> Note:
        if path == locked:
            raise LockTimeout(f"{path}: held")
        return update(self, path, intention)  # type: ignore[arg-type]

    monkeypatch.setattr(Vault, "update", refuse)
    result = cru("session", "rename", "old", "new")
    assert result.exit_code == 3
    assert "sessions/a-locked.md:1: not-written:" in result.stderr
    assert "[[new]]" in fine.read_text()


def test_a_note_that_changes_meanwhile_is_planned_anew(vault: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    write(vault, "old", note("old"))
    busy = write(vault, "busy", note("busy", "[[old]]\n"))
    from crucible.vault.notes.vault import Note

    move = Vault.rename

    def then_edit(self: Vault, one: Note, new_id: str) -> Path:
        moved = move(self, one, new_id)
        busy.write_text(note("busy", "An editor was here. [[old]] [[old|again]]\n"))
        return moved

    monkeypatch.setattr(Vault, "rename", then_edit)
    assert cru("session", "rename", "old", "new").exit_code == 0
    assert "An editor was here. [[new]] [[new|again]]\n" in busy.read_text()


def test_its_history_goes_along_with_what_a_human_wrote_there(vault: Vault, cru: Cru) -> None:
    write(vault, "2026-11-21-limiter", LIMITER)
    cru("session", "end", "2026-11-21-limiter")
    history = vault.root / "history"
    old, new = history / "2026-11-21-limiter-history.md", history / "2026-11-21-bucket-history.md"
    old.write_text(old.read_text().replace("\n<!-- crucible", "\n- Mine\n\n<!-- crucible"))
    other = vault.root / "shop.md"
    other.write_text("[[2026-11-21-limiter]] [[history/2026-11-21-limiter-history|h]]\n")
    assert cru("session", "rename", "2026-11-21-limiter", "2026-11-21-bucket").exit_code == 0
    assert other.read_text() == "[[2026-11-21-bucket]] [[history/2026-11-21-bucket-history|h]]\n"
    assert not old.exists()
    text = new.read_text()
    assert "session_id: 2026-11-21-bucket\n" in text
    assert "From [[sessions/2026-11-21-bucket|2026-11-21-bucket]].\n" in text
    assert cru("session", "end", "2026-11-21-bucket").exit_code == 0
    assert new.read_text() == text
    assert "\n- Mine\n" in text


def test_a_history_whose_place_is_taken_stays_and_is_named(vault: Vault, cru: Cru) -> None:
    write(vault, "2026-11-21-limiter", LIMITER)
    cru("session", "end", "2026-11-21-limiter")
    taken = vault.root / "history" / "2026-11-21-bucket-history.md"
    taken.write_text("Mine.\n")
    done = cru("session", "rename", "2026-11-21-limiter", "2026-11-21-bucket")
    assert (done.exit_code, "history-not-moved" in done.stderr) == (3, True)
    assert taken.read_text() == "Mine.\n"
    assert taken.with_name("2026-11-21-limiter-history.md").is_file()
