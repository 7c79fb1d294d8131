"""Questions to a server: answers equal those of the embedded engine, and any text is a valid question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.settings.settings import VaultSettings
from crucible.documents.session.session import (
    AgentRef,
    Decision,
    Failure,
    Intervention,
    Phase,
    Prose,
    Session,
    ToolCall,
    ToolCalls,
)
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.postgres.address import Server
from crucible.search.postgres.server_tables import set_up
from crucible.search.recall import EventKind, Question
from crucible.search.team.team_recall import TeamRecall as Recall
from crucible.search.team.terms import event_of
from crucible.search.team.vault_rows import VaultDocuments
from crucible.search.team_servers import open_pusher, open_team
from samples.hostile_texts import hostile_text
from samples.postgres_server import Running, Team
from samples.pushed_documents import Held, document
from tests.cases import for_each
from tests.unit.search.vaults import NOW, STARTED, recall, session_of, vault_of

_TOPICS = [
    "retry",
    "bucket",
    "limiter",
    "cache",
    "index",
    "queue",
    "socket",
    "parser",
    "token",
    "vault",
    "merge",
    "deploy",
    "schema",
    "timeout",
    "cursor",
    "thread",
]
_COMMON = "we should look at how this works now because it was slow and then decide what to do about it again".split()  # noqa: SIM905


def _text(random: Random, topic: str) -> str:
    words = (
        random.choices(_COMMON, k=random.randint(5, 25)) + random.choices(_TOPICS, k=3) + [topic] * random.randint(0, 2)
    )
    random.shuffle(words)
    return " ".join(words)


def _session(number: int) -> Session:
    random = Random(number)
    topic = f"{random.choice(_TOPICS)} {random.choice(_TOPICS)}Case"
    session = session_of(
        f"2026-11-{1 + number % 20:02d}-s{number}",
        *(_text(random, topic) for _ in range(8)),
        days=number % 20,
    )
    extra = (
        Decision(f"Use {topic} number{number}", rationale=_text(random, topic)),
        Failure(f"{topic} broke", resolution="pinned it"),
        ToolCalls((ToolCall(f"Read src/{topic.partition(' ')[0]}_{number % 7}.py", "done"),)),
        Intervention(_text(random, topic)),
        Prose(f'It is decided: "{topic}" stays in src/part{number % 5}/limiter.py'),
        Intervention(f"Who paints lighthouse{number}?"),
        ToolCalls((ToolCall("Read paint.txt", "a tin"),)),
        Prose("Nobody does."),
    )
    phase = Phase("More", AgentRef("codex", "0.46"), "prod", STARTED, entries=extra)
    return replace(session, phases=(*session.phases, phase))


@pytest.fixture(scope="module")
def both(postgres: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EmbeddedRecall, Recall]]:
    """Both engines, over the same vault."""
    root = vault_of(tmp_path_factory.mktemp("vaults") / "v", *(_session(number) for number in range(60)))
    admin = Server(postgres.address())
    admin.run("CREATE DATABASE same OWNER owner")
    address = postgres.address("owner", "same")
    set_up(Server(address))
    assert open_pusher(address, "vault").push(VaultDocuments(root, VaultSettings())).new == 60
    team = open_team(address)
    yield recall(root), team
    team.close()
    admin.run("DROP DATABASE same WITH (FORCE)")


QUESTIONS = [
    "why does the quuee wait",
    "tokan bukcet -parsr",
    "why did the deploi fail, and what did we decide?",
    "schemma on 5 November 2026",
    "what broke in the paser on Thursday in November",
    "what did we decide about the retry bucket?",
    "why was the deploy slow",
    "limiterCase",
    "src/part3/limiter.py",
    "file:src/part3/limiter.py stays",
    "file:limiter.py",
    '"pinned it"',
    '"it is decided" cache',
    "cache -retry",
    'cache -"pinned it"',
    "bucket type:decision",
    "bucket -type:decision",
    "agent:codex thread",
    "agent:codex@0.46 thread",
    "channel:prod queue",
    "session:2026-11-05-s4 vault",
    "session:2026-11-05 vault",
    "project:shop schema",
    "phase:more parser",
    "type:error",
    "number17",
    "the and of",
    "nothingofthekindanywhere",
    "retries limiters caches indices",
]


@for_each("text", QUESTIONS)
def test_a_question_finds_what_the_embedded_engine_finds(both: tuple[EmbeddedRecall, Recall], text: str) -> None:
    here, there = (one.ask(Question(text, limit=10), NOW) for one in both)
    assert there.notes == here.notes
    assert bool(there.hits) == bool(here.hits)
    assert bool(there.sessions) == bool(here.sessions)
    mine, theirs = ({one.session: one.score for one in answer.sessions} for answer in (there, here))
    if text == "type:error":
        return  # all have equal scores, and each engine orders them differently
    assert len(mine.keys() & theirs.keys()) >= 0.8 * len(theirs)
    for session in mine.keys() & theirs.keys():
        assert mine[session] == pytest.approx(theirs[session], rel=0.1)


@for_each(
    "narrow",
    [
        {"kinds": frozenset({EventKind.DECISION})},
        {"kinds": frozenset({EventKind.USER, EventKind.ERROR})},
        {"agent": "codex"},
        {"agent": "Codex@0.46"},
        {"channel": "dev"},
        {"project": "Shop"},
        {"project": "none"},
        {"session": "2026-11-03-s2"},
        {"since": datetime(2026, 11, 12, tzinfo=UTC)},
        {"until": datetime(2026, 11, 5, 9, tzinfo=UTC)},
        {"since": datetime(2026, 11, 5, tzinfo=UTC), "until": datetime(2026, 11, 8, tzinfo=UTC)},
    ],
)
@for_each("text", ["cache bucket", ""])
def test_filters_work_as_in_the_embedded_engine(
    both: tuple[EmbeddedRecall, Recall], text: str, narrow: dict[str, object]
) -> None:
    here, there = (one.ask(Question(text, limit=20, **narrow), NOW) for one in both)  # type: ignore[arg-type]
    if text:
        assert {hit.event.id for hit in there.hits[:5]} <= {hit.event.id for hit in here.hits}
    assert [hit.event.at for hit in there.hits if not text] == [hit.event.at for hit in here.hits if not text]
    assert len(there.hits) == len(here.hits)
    assert len(there.sessions) == len(here.sessions)


def test_hits_equal_those_of_the_embedded_engine(both: tuple[EmbeddedRecall, Recall]) -> None:
    here, there = (one.ask(Question("number17", context=2), NOW).hits[0] for one in both)
    assert there.event == here.event
    assert there.snippet == here.snippet
    assert (there.before, there.after) == (here.before, here.after)
    assert there.parts.keys() == here.parts.keys()


def test_passages_of_sessions_equal_those_of_the_embedded_engine(both: tuple[EmbeddedRecall, Recall]) -> None:
    here, there = (one.ask(Question("retry queue", limit=3), NOW).sessions for one in both)
    texts = [[one.passage and one.passage.snippet.text for one in some] for some in (here, there)]
    assert texts[0] == texts[1]
    assert any(texts[0])


def test_what_follows_a_question_is_found_as_in_the_embedded_engine(both: tuple[EmbeddedRecall, Recall]) -> None:
    here, there = (one.ask(Question("who paints lighthouse23"), NOW).hits for one in both)
    assert [hit.event.text for hit in there[:2]] == ["Who paints lighthouse23?", "Nobody does."]
    assert [hit.event.id for hit in there[:2]] == [hit.event.id for hit in here[:2]]
    assert there[1].parts.keys() == here[1].parts.keys() >= {"reply"}


def test_get_and_around_equal_those_of_the_embedded_engine(both: tuple[EmbeddedRecall, Recall]) -> None:
    here, there = both
    ids = [hit.event.id for hit in here.ask(Question("cache", limit=20), NOW).hits]
    asked = [*ids, "nothing#00000000", "", "\0", ids[0]]
    assert there.get(asked) == here.get(asked)
    for identity in ids[:4]:
        assert there.around(identity, 2, 3) == here.around(identity, 2, 3)
    assert there.around("nothing#00000000", 1, 1) == ()
    assert there.around(ids[0], -1, 10**12) == here.around(ids[0], -1, 10**12)


def test_session_quality_is_within_two_hundredths_of_the_embedded_engine(
    both: tuple[EmbeddedRecall, Recall],
) -> None:
    random, found = Random(8), [0, 0]
    for number in range(60):
        text = Random(number)
        topic = f"{text.choice(_TOPICS)} {text.choice(_TOPICS)}Case"
        question = Question(" ".join([*random.sample(_COMMON, 6), topic, random.choice(_TOPICS)]), limit=10)
        engines: list[EmbeddedRecall | Recall] = [*both]
        for at, one in enumerate(engines):
            wanted = f"2026-11-{1 + number % 20:02d}-s{number}"
            found[at] += wanted in [hit.session for hit in one.ask(question, NOW).sessions]
    assert found[0] > 30, "the questions are not for nothing"
    assert abs(found[0] - found[1]) <= 0.02 * 60 + 0.5


HOSTILE = [
    "'; DROP TABLE crucible.sessions; --",
    '"; DELETE FROM crucible.postings; --',
    "%s %(terms)s {where} {} %% \\",
    "') OR true --",
    "type:x' OR '1'='1",
    "session:' session:% session:_ session:\\",
    "file:'); -- ",
    "-- /* */ $$ $1 :name ?",
    "\0\x01\x02\x1b[31m",
    "\ud800 \udfff lone",
    '- - - " " -"" :: ()[]{}^~*',
    "-not",
    '-"not this"',
    "word " * 20_000,
    "'" * 100_000,
    "x" * 100_000,
    "🤔 ¿què? 設計 тест",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_sql_in_a_question_is_only_text(both: tuple[EmbeddedRecall, Recall], text: str) -> None:
    _, there = both
    for more in ({}, {"session": text, "agent": text, "project": text, "channel": text}):
        there.ask(Question(text, **more), NOW)  # type: ignore[arg-type]
    there.get([text])
    there.around(text, 1, 1)
    assert there.state().sessions == 60


@given(hostile_text(), st.sampled_from(["", "-", '"', "file:", "session:", "type:decision "]))
def test_no_question_is_an_error(both: tuple[EmbeddedRecall, Recall], text: str, before: str) -> None:
    both[1].ask(Question(before + text), NOW)


def test_a_name_is_found_in_an_event_without_words(team: Team) -> None:
    open_pusher(team.address(), "vault").push(Held([document(1, said="--no-verify"), document(2)]))
    answer = open_team(team.address()).ask(Question("--no-verify"), NOW)
    assert [one.session for one in answer.sessions] == ["s-00001"]


def test_an_empty_server_gives_an_empty_answer(team: Team) -> None:
    asked = open_team(team.address())
    assert asked.ask(Question("anything"), NOW).hits == ()
    assert asked.ask(Question("", kinds=frozenset({EventKind.USER})), NOW).hits == ()


@pytest.mark.parametrize("payload", [None, [], "text", 7, {"text": 3, "line": "x", "title": {}, "phase": None}])
def test_a_malformed_payload_is_read_as_far_as_possible(payload: object) -> None:
    event = event_of(("i", "s", "nonsense", payload, None, None))
    assert (event.kind, event.text, event.line, event.title) == (EventKind.OBSERVATION, "", 0, "")


def test_an_id_in_two_vaults_gives_both_events(team: Team) -> None:
    one = document(1, events=3, said="first")
    other = one._replace(
        title="Other",
        events=tuple(event._replace(text=f"other {event.id}") for event in one.events),
    )
    open_pusher(team.address(), "one").push(Held([one]))
    open_pusher(team.address(), "other").push(Held([other]))
    recall = open_team(team.address())
    wanted = one.events[1].id
    texts = [event.text for event in recall.get([wanted])]
    assert texts == [one.events[1].text, other.events[1].text]
    around = [event.text for event in recall.around(wanted, 1, 1)]
    assert around == [event.text for event in (*one.events, *other.events)]


def test_an_event_has_the_project_of_its_session_whatever_its_payload_says(team: Team) -> None:
    said = document(1, project="zeus", events=2, said="thunder")
    claimed = tuple(event._replace(project="apollo") for event in said.events)
    open_pusher(team.address(), "vault").push(Held([said._replace(events=claimed)]))
    recall = open_team(team.address())
    (hit, _) = recall.ask(Question("thunder"), NOW).hits
    told = (
        hit.event,
        *hit.before,
        *hit.after,
        *recall.get([hit.event.id]),
        *recall.around(hit.event.id, 1, 1),
    )
    assert {event.project for event in told} == {"zeus"}
