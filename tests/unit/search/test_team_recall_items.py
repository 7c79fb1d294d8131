"""Knowledge items on a server are visible and ranked as in the embedded engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from crucible.core.errors import ServerFailed
from crucible.core.settings.settings import KnowledgeSettings, VaultSettings
from crucible.documents.knowledge.item_notes import render_item
from crucible.documents.knowledge.item_rules import EVERYTHING, Audience
from crucible.documents.knowledge.items import Item, ItemScope, ItemStatus, ItemType, Verification
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.postgres import server_tables as postgres_schema
from crucible.search.postgres.address import Server
from crucible.search.postgres.server_tables import set_up
from crucible.search.recall import Answer, EventKind, Question
from crucible.search.team.vault_rows import VaultDocuments
from crucible.search.team_servers import open_pusher, open_team
from crucible.vault.notes.vault import Vault
from samples.postgres_server import Running, Team
from tests.cases import for_each
from tests.unit.search.vaults import NOW, session_of, vault_of

EARLIER = NOW - timedelta(days=1)


def _item(scope: str, project: str, domain: str, number: int, **more: Any) -> Item:
    """Items with similar texts and different weights."""
    changed = EARLIER - timedelta(days=20 * number)
    item = Item(ItemType.DECISION, f"Rule {'abcdefghijklmno'[number]}", "Retries want jitter.", created=changed)
    return replace(item, scope=ItemScope(scope), project=project, domain=domain, updated=changed, **more)


ITEMS = {
    "shop-own": _item("project", "shop", "", 1),
    "shop-cased": _item("project", "Shop", "", 2, type=ItemType.OBSERVATION),
    "zeus-own": _item("project", "zeus", "", 0, type=ItemType.EVIDENCE),
    "nobody-s": _item("project", "", "", 3),
    "zeus-domain": _item("domain", "zeus", "networking", 6, use_count=4, useful_count=4, last_used=EARLIER),
    "any-domain": _item("domain", "", "graphics", 4, use_count=5, useful_count=0),
    "zeus-global": _item("global", "zeus", "", 5, verification=Verification(True, "seen", "ann", EARLIER)),
    "any-global": _item("global", "", "", 13, type=ItemType.PATTERN),
    "retired": _item("global", "", "", 0),
}
VIEWERS = [
    EVERYTHING,
    Audience("project", "shop"),
    Audience("project", "SHOP", "Networking"),
    Audience("project", "zeus", "graphics"),
    Audience("project", "none"),
    Audience("domain", "", "networking"),
    Audience("global"),
]


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Vault:
    sessions = [session_of(f"2026-11-0{n}-s", "How do retries work?", "With jitter") for n in (3, 4)]
    root = vault_of(tmp_path_factory.mktemp("vaults") / "v", sessions[0], replace(sessions[1], project="zeus"))
    for name, item in ITEMS.items():
        _write(root, name, item if name != "retired" else replace(item, status=ItemStatus.RETIRED))
    return Vault(root, VaultSettings())


def _write(root: Path, name: str, item: Item) -> None:
    path = root / "knowledge" / f"{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(render_item(item))


def _push(address: str, vault: Vault, name: str = "vault") -> int:
    pusher = open_pusher(address, name)
    pushed = pusher.sync(VaultDocuments(vault.root, vault.settings, ItemShelf(vault)))
    pusher.close()
    assert not pushed.failed
    return pushed.new + pushed.replaced


@pytest.fixture(scope="module")
def address(postgres: Running, vault: Vault) -> Iterator[str]:
    admin = Server(postgres.address())
    admin.run("CREATE DATABASE items TEMPLATE pattern OWNER owner")
    address = postgres.address("owner", "items")
    assert _push(address, vault) == len(ITEMS) - 1 + 2
    yield address
    admin.run("DROP DATABASE items WITH (FORCE)")
    admin.close()


def _told(answer: Answer) -> list[tuple[str, dict[str, float]]]:
    return [
        (
            hit.event.id,
            {name: round(part, 4) for name, part in hit.parts.items() if name not in ("text", "session")},
        )
        for hit in answer.hits
    ]


@for_each("viewer", VIEWERS)
@for_each(
    "question",
    [
        Question("retries jitter", limit=20),
        Question("retries jitter", kinds=frozenset({EventKind.KNOWLEDGE}), limit=3),
        Question('"want jitter" project:zeus', limit=20),
        Question("", kinds=frozenset({EventKind.KNOWLEDGE}), limit=20),
        Question("retries -project:zeus", project="shop", limit=20),
        Question("retries", project="Shop", limit=20),
        Question("retries", project="none", limit=20),
    ],
)
def test_items_are_visible_and_ranked_as_in_the_embedded_engine(
    vault: Vault, address: str, viewer: Audience, question: Question
) -> None:
    there = open_team(address, viewer=viewer)
    theirs = there.ask(question, NOW)
    there.close()
    mine = EmbeddedRecall(vault.root, vault.settings, items=ItemShelf(vault, viewer)).ask(question, NOW)
    assert _told(theirs) == _told(mine)
    assert [one.session for one in theirs.sessions] == [one.session for one in mine.sessions]
    for one, other in zip(theirs.hits, mine.hits, strict=True):
        assert one.event == other.event
        assert one.score == pytest.approx(other.score, rel=0.1)


def test_viewers_see_different_items(vault: Vault) -> None:
    seen: set[tuple[str, ...]] = set()
    for viewer in VIEWERS:
        own = EmbeddedRecall(vault.root, vault.settings, items=ItemShelf(vault, viewer))
        hits = own.ask(Question("retries", kinds=frozenset({EventKind.KNOWLEDGE}), limit=20), NOW).hits
        seen.add(tuple(hit.event.id for hit in hits))
        assert "retired" not in {hit.event.id for hit in hits}
    assert len(seen) == len(VIEWERS)


def test_a_question_with_a_project_sees_the_items_of_that_project(vault: Vault, address: str) -> None:
    question = Question("retries", project="shop", limit=20)
    theirs = open_team(address).ask(question, NOW)
    viewer = Audience("project", "shop")
    assert _told(theirs) == _told(open_team(address, viewer=viewer).ask(question, NOW))
    assert {"zeus-global", "any-domain"} < {hit.event.id for hit in theirs.hits}
    assert "zeus-own" not in {hit.event.id for hit in theirs.hits}


def test_items_are_weighed_with_the_settings_of_the_user(address: str) -> None:
    question = Question("retries", kinds=frozenset({EventKind.KNOWLEDGE}), limit=20)
    weights = KnowledgeSettings(pattern=9.0, freshness_floor=1.0, usefulness_floor=1.0, usefulness_span=0.0)
    first = open_team(address, knowledge=weights).ask(question, NOW).hits[0]
    assert first.event.id == "any-global"
    assert {name: first.parts[name] for name in ("type", "freshness", "usefulness", "factor")} == {
        "type": 9.0,
        "freshness": 1.0,
        "usefulness": 1.0,
        "factor": 9.0,
    }


def test_a_change_of_facts_alone_is_pushed(team: Team, tmp_path: Path) -> None:
    vault = Vault(vault_of(tmp_path / "v"), VaultSettings())
    item = _item("project", "shop", "", 1)
    question = Question("retries")
    _write(vault.root, "a", item)
    assert _push(team.address(), vault) == 1
    for changed, part, value in (
        (replace(item, use_count=2, useful_count=2), "usefulness", 1.5),
        (replace(item, type=ItemType.OBSERVATION), "type", 0.5),
        (replace(item, verification=Verification(True)), "type", 1.0),
        (replace(item, use_count=1, useful_count=2**50, last_used=NOW), "usefulness", 1.5),
    ):
        _write(vault.root, "a", changed)
        assert _push(team.address(), vault) == 1
        assert open_team(team.address()).ask(question, NOW).hits[0].parts[part] == value
    _write(vault.root, "a", replace(item, scope=ItemScope.GLOBAL))
    assert _push(team.address(), vault) == 1
    assert open_team(team.address(), viewer=Audience("global")).ask(question, NOW).hits
    assert _push(team.address(), vault) == 0


def test_older_counters_of_another_copy_do_not_replace_newer_ones(team: Team, tmp_path: Path) -> None:
    item = _item("project", "shop", "", 1)
    vaults = {}
    for name, known in (("ahead", replace(item, use_count=2, last_used=EARLIER)), ("behind", item)):
        vaults[name] = Vault(vault_of(tmp_path / name), VaultSettings())
        _write(vaults[name].root, "a", known)
    ahead, behind = (
        open_pusher(team.address(), "vault", name).push(VaultDocuments(one.root, one.settings, ItemShelf(one)))
        for name, one in vaults.items()
    )
    assert (ahead.new, behind.older) == (1, ("knowledge/a.md",))


def test_an_item_is_hidden_without_read_access_whatever_its_scope(team: Team, vault: Vault) -> None:
    _push(team.address(), vault)
    team.run("SELECT crucible.grant_project('anna', 'shop')")
    for question in (Question("retries", limit=20), Question("retries", project="shop", limit=20)):
        answer = open_team(team.address("anna")).ask(question, NOW)
        assert {hit.event.id for hit in answer.hits if hit.event.kind is EventKind.KNOWLEDGE} == {"shop-own"}
    team.run("SELECT crucible.grant_project('anna', '')")
    answer = open_team(team.address("anna")).ask(Question("retries", project="shop", limit=20), NOW)
    assert {hit.event.id for hit in answer.hits} > {"any-global", "any-domain", "shop-own"}
    assert not {hit.event.id for hit in answer.hits} & {"zeus-global", "zeus-domain", "zeus-own", "nobody-s"}


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("sessions", "started"),
        ("sessions", "item_last_used"),
        ("sessions", "item_changed"),
        ("session_events", "created_at"),
    ],
)
def test_an_unrepresentable_time_is_rejected(address: str, table: str, column: str) -> None:
    """The client library rejects such times, so one row would make every question that finds it fail."""
    server = Server(address)
    given = {
        "sessions": "project, month, digest, clone, session_id, path, title, branch, tags, parent, first, last, events, event_words,"
        " event_names, words, names, whole, times",
        "session_events": "session_no, project, month, id, session_id, event_type, payload",
    }[table]
    own, value = ("vault, key", "vault, 'made up'") if table == "sessions" else ("sequence", "1000")
    for moment in ("infinity", "-infinity", "0044-03-15 BC", "20000-01-01"):
        with pytest.raises(ServerFailed, match=r"refused it \(CheckViolation"):
            server.run(
                f"INSERT INTO crucible.{table} ({given}, {own}, {column}) SELECT {given}, {value}, '{moment}' FROM crucible.{table} LIMIT 1"
            )
    server.close()


def test_migration_keeps_existing_rows(postgres: Running, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    admin = Server(postgres.address())
    admin.run("CREATE DATABASE old OWNER owner")
    address = postgres.address("owner", "old")
    server = Server(address)
    try:
        with monkeypatch.context() as before:
            before.setattr(postgres_schema, "VERSION", 1)
            before.setattr(postgres_schema, "_MIGRATIONS", postgres_schema._MIGRATIONS[:1])
            assert set_up(server)
        with pytest.raises(ServerFailed, match="tables from an older Crucible"):
            open_team(address).state()
        assert set_up(server)
        assert not set_up(server)
        assert _push(address, vault)
        Server(postgres.address(database="old")).run(
            "UPDATE crucible.sessions SET item_type = NULL, item_scope = NULL, item_verified = NULL, item_used = NULL"
        )
        hits = open_team(address).ask(Question("retries", limit=20), NOW).hits
        weights = {hit.parts["type"] for hit in hits if hit.event.kind is EventKind.KNOWLEDGE}
        assert weights == {KnowledgeSettings().observation}
    finally:
        server.close()
        admin.run("DROP DATABASE old WITH (FORCE)")
        admin.close()
