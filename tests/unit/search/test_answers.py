"""Answers fold one topic over sessions and say if nothing is certain, in both engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crucible.core.settings.settings import VaultSettings
from crucible.search.recall import Question, Recall
from crucible.search.team.vault_rows import VaultDocuments
from crucible.search.team_servers import open_pusher, open_team
from samples.postgres_server import Team
from tests.cases import for_each
from tests.unit.search.vaults import NOW, recall, session_of, vault_of

_PLAN = "Implement the plan: move the token bucket into the gateway and test it"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sessions = [
        session_of("first", _PLAN, "I stopped after the first test.", days=1),
        session_of("second", f"{_PLAN}.", "All tests pass and it is merged.", days=9),
        session_of("third", f"{_PLAN}!", "There was a merge conflict.", days=4),
        session_of("other", "Draw a bucket for the landing page", "It is blue, with a token on it."),
    ]
    return vault_of(tmp_path_factory.mktemp("answers") / "v", *sessions)


@pytest.fixture(params=["embedded", "server"])
def engine(request: pytest.FixtureRequest, root: Path) -> Iterator[Recall]:
    if request.param == "embedded":
        yield recall(root)
        return
    team: Team = request.getfixturevalue("team")
    pusher = open_pusher(team.address(), "vault")
    assert not pusher.push(VaultDocuments(root, VaultSettings())).failed
    pusher.close()
    opened = open_team(team.address())
    yield opened
    opened.close()


def test_one_topic_over_sessions_is_one_hit_of_the_newest(engine: Recall) -> None:
    hits = engine.ask(Question("move the token bucket into the gateway"), NOW).hits
    assert hits[0].event.session == "second"
    assert [event.session for event in hits[0].also] == ["third", "first"]
    assert all(not hit.also for hit in hits[1:])


def test_the_sessions_of_an_answer_are_not_folded(engine: Recall) -> None:
    found = engine.ask(Question("move the token bucket into the gateway"), NOW).sessions
    assert {one.session for one in found} >= {"first", "second", "third"}


def test_folded_hits_leave_room_for_others(engine: Recall) -> None:
    hits = engine.ask(Question("token bucket", limit=2, context=0), NOW).hits
    assert [hit.event.session for hit in hits] == ["second", "other"]


@for_each(
    ("text", "uncertain"),
    [
        ("who moved the token bucket?", False),
        ("bucket", False),
        ("tokne bukcet", False),
        ("how are daylight saving rules kept in the gateway of our payroll exports?", True),
        ("which colour did marketing want for summer newsletters and page headers?", True),
        ('"token bucket" of the gateway in payroll exports of daylight saving rules', False),
        ("type:user", False),
        ("qwertz", False),
    ],
)
def test_an_answer_says_if_nothing_is_certain(engine: Recall, text: str, *, uncertain: bool) -> None:
    answer = engine.ask(Question(text), NOW)
    assert answer.uncertain is uncertain
    assert bool(answer.hits) or text == "qwertz"
