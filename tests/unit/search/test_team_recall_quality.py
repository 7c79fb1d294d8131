"""The quality of a server on the questions of `samples/recall_eval` is within 0.02 of the embedded engine."""

from __future__ import annotations

from crucible.documents.knowledge.item_rules import EVERYTHING
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.team.vault_rows import VaultDocuments
from crucible.search.team_servers import open_pusher, open_team
from crucible.vault.notes.vault import Vault
from samples.postgres_server import Team
from samples.recall_eval.measuring import figures_by, put_all
from samples.recall_eval.questions import grade_all, read_questions
from samples.recall_eval.vault import documents, open_recall

_APART = 0.02


def test_a_server_answers_the_evaluation_as_well_as_the_embedded_engine(evaluation: Vault, team: Team) -> None:
    vault = evaluation
    pusher = open_pusher(team.address(), "vault")
    assert not pusher.sync(VaultDocuments(vault.root, vault.settings, ItemShelf(vault))).failed
    pusher.close()
    server = open_team(team.address(), viewer=EVERYTHING)
    # Every fourth question, to save time; questions are ordered by kind, so this includes all kinds.
    questions = grade_all(read_questions(), documents(vault))[::4]
    found = {name: put_all(questions, ask) for name, ask in (("here", open_recall(vault).ask), ("there", server.ask))}
    server.close()
    for side in ("sessions", "events"):
        here, there = (figures_by(found[name], side, lambda _: "each")["all"].means for name in ("here", "there"))
        told = [round(getattr(there, name) - getattr(here, name), 4) for name in ("r5", "r10", "mrr")]
        assert all(abs(one) <= _APART for one in told), f"{side}: {told}"
