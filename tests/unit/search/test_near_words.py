"""Near words: questions in other words than the sessions', with word vectors on this machine."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from crucible.core.errors import CrucibleError
from crucible.core.settings.settings import VaultSettings
from crucible.documents.knowledge.item_rules import EVERYTHING
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.memory.recall_update import update_index
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.near_words import HEAD, NearTable, near_table_path
from crucible.search.recall import Question
from crucible.search.team.vault_rows import VaultDocuments
from crucible.search.team_servers import open_pusher, open_team
from crucible.vault.notes.vault import Vault
from samples.postgres_server import Team
from tests.unit.search.near_vectors import write_vectors
from tests.unit.search.vaults import NOW, session_of, vault_of, write

pytest.importorskip("numpy", reason="the extra near is not installed")

VECTORS = {
    "[UNK]": (0.0, 0.0, 1.0),
    "dismissed": (1.0, 0.1, 0.0),
    "fired": (1.0, 0.0, 0.0),
    "clerk": (0.0, 1.0, 0.0),
    "worker": (0.2, 1.0, 0.0),
    "queue": (0.0, 0.0, -1.0),
}
FIRED = session_of("staff", "The clerk was fired and stayed signed in.")
QUEUE = session_of("queue", "The queue is full.")


def _recall(root: Path, near: Path | str) -> EmbeddedRecall:
    return EmbeddedRecall(root, VaultSettings(), near=str(near))


def _sessions(engine: EmbeddedRecall, text: str) -> list[str]:
    return [hit.event.session for hit in engine.ask(Question(text), NOW).hits]


def test_a_question_in_other_words_finds_the_answer_only_with_near_words(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "vault", FIRED, QUEUE)
    assert not _sessions(_recall(root, ""), "dismissed worker")
    engine = _recall(root, write_vectors(tmp_path / "vectors", VECTORS))
    answer = engine.ask(Question("dismissed worker"), NOW)
    assert [hit.event.session for hit in answer.hits] == ["staff"]
    text, marks = answer.hits[0].snippet.text, answer.hits[0].snippet.marks
    assert [text[first:end] for first, end in marks] == ["clerk", "fired"]


def test_a_word_counts_more_than_its_near_words_and_only_the_best_of_them_counts(tmp_path: Path) -> None:
    both = session_of("both", "fired and dismissed")
    root = vault_of(tmp_path / "vault", both, session_of("one", "dismissed at once"), session_of("other", "fired soon"))
    engine = _recall(root, write_vectors(tmp_path / "vectors", VECTORS))
    scores = {hit.event.session: hit.parts["text"] for hit in engine.ask(Question("dismissed"), NOW).hits}
    assert scores["one"] > scores["other"]
    assert scores["both"] == pytest.approx(scores["one"], rel=0.01)


def test_a_server_finds_near_words_as_the_own_index_does(tmp_path: Path, team: Team) -> None:
    root = vault_of(tmp_path / "vault", FIRED, QUEUE, session_of("both", "fired and dismissed"))
    engine = _recall(root, write_vectors(tmp_path / "vectors", VECTORS))
    here = engine.ask(Question("dismissed worker"), NOW)
    pusher = open_pusher(team.address(), "vault")
    pusher.sync(VaultDocuments(root, VaultSettings(), ItemShelf(Vault(root))))
    pusher.close()
    server = open_team(team.address(), viewer=EVERYTHING, near=NearTable(near_table_path(str(root))).near)
    there = server.ask(Question("dismissed worker"), NOW)
    server.close()
    assert [hit.event.id for hit in here.hits] == [hit.event.id for hit in there.hits]
    assert [one.session for one in here.sessions] == [one.session for one in there.sessions]
    assert len(here.hits) == 2


def test_the_table_is_made_again_for_other_vectors_and_after_many_changes(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "vault", FIRED)
    vectors = write_vectors(tmp_path / "vectors", VECTORS)
    update_index(Vault(root), str(vectors))
    table = NearTable(near_table_path(str(root)))
    first = table.head()
    assert table.near("dismiss") == {"fire": pytest.approx(1.0, abs=0.01)}
    update_index(Vault(root), str(vectors))
    table.forget()
    assert table.head() == first
    write(root, QUEUE)
    update_index(Vault(root), str(vectors))
    table.forget()
    assert table.head() != first


def test_a_model_may_share_rows_and_weigh_tokens(tmp_path: Path) -> None:
    rows, weights = struct.pack("<6q", 0, 1, 1, 3, 4, 5), struct.pack("<6f", 1, 2, 1, 1, 1, 1)
    more = {"mapping": ("I64", [6], rows), "weights": ("F32", [6], weights)}
    root = vault_of(tmp_path / "vault", FIRED)
    engine = _recall(root, write_vectors(tmp_path / "vectors", VECTORS, **more))
    assert _sessions(engine, "dismissed") == ["staff"]


@pytest.mark.parametrize("broken", ["tokenizer.json", "model.safetensors"])
def test_vectors_that_cannot_be_read_are_named_and_the_question_is_answered(tmp_path: Path, broken: str) -> None:
    root = vault_of(tmp_path / "vault", FIRED)
    vectors = write_vectors(tmp_path / "vectors", VECTORS)
    (vectors / broken).write_bytes(b"no")
    answer = _recall(root, vectors).ask(Question("clerk"), NOW)
    assert answer.hits
    assert any(str(vectors) in note for note in answer.notes)
    with pytest.raises(CrucibleError, match="word vectors cannot be read"):
        update_index(Vault(root), str(vectors))


def test_a_folder_without_vectors_is_named(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "vault", FIRED)
    (note,) = _recall(root, tmp_path).ask(Question("clerk"), NOW).notes
    assert f"{tmp_path}: no word vectors" in note


def test_each_line_of_a_table_is_found_and_a_broken_one_has_no_words(tmp_path: Path) -> None:
    lines = {HEAD: "made of", **{f"w{at:03}": f"x{at}:0.5" for at in range(100)}, "z": "what"}
    path = tmp_path / "near.txt"
    path.write_text("".join(f"{stem}\t{values}\n" for stem, values in sorted(lines.items())))
    table = NearTable(path)
    assert all(table.near(f"w{at:03}") == {f"x{at}": 0.5} for at in range(100))
    assert not any(map(table.near, ("z", "w", "w1000", "", HEAD, "é", "\n")))
    assert table.head() == ("made of",)
