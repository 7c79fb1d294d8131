"""The embedded engine: what questions find, updates of the index, and damaged files."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.settings.settings import VaultSettings
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Decision,
    Failure,
    FindingItem,
    Intervention,
    Mode,
    Phase,
    Prose,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.search.embedded import index_update as refreshing
from crucible.search.embedded import segments
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.recall import Document, Event, EventKind, Question
from samples.hostile_texts import hostile_text
from tests.cases import fewer, for_each
from tests.unit.search.vaults import NOW, STARTED, ask, flat, found, recall, session_of, vault_of, write

RETRY = session_of("2026-11-02-retry", "Fix the retries", "A token bucket retries with jitter in src/limiter.py")
CACHE = session_of("2026-11-05-cache", "Why is the cache cold?", "The TokenBucket was never warmed", days=3)
INDEX = Path(".crucible", "cache", "recall")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return vault_of(tmp_path / "v", RETRY, CACHE)


# --- what is found ---------------------------------------------------------------------------------------------------


def test_a_question_finds_its_event_and_its_session(root: Path) -> None:
    answer = ask(root, "what did we say about jitter?")
    assert found(answer)[0].startswith("A token bucket")
    assert answer.sessions[0].session == RETRY.id
    hit = answer.hits[0]
    assert hit.event.session == RETRY.id
    assert (hit.event.kind, hit.event.phase, hit.event.phase_name) == (EventKind.AGENT, "phase-1", "Work")
    assert hit.event.at == STARTED
    assert [hit.snippet.text[slice(*mark)] for mark in hit.snippet.marks] == ["jitter"]
    assert [event.text for event in hit.before] == ["Fix the retries"]
    assert sum(hit.parts.values()) > 0
    note = (root / "sessions" / f"{RETRY.id}.md").read_text().split("\n")
    assert "token bucket" in note[hit.event.line - 1]


def test_a_session_without_a_hit_shows_its_best_passage_but_no_call(root: Path) -> None:
    other = session_of("2026-11-07-jitter", "Jitter", "Only jitter", "More jitter?", "No jitter", days=5)
    write(root, other)
    call = ToolCalls((ToolCall("Bash jitter", f"jitter {'and much more output ' * 99}"),))
    phase = RETRY.phases[0]
    write(root, replace(RETRY, phases=(replace(phase, entries=(*phase.entries, call)),)))
    answer = ask(root, "jitter", limit=2)
    assert {hit.event.session for hit in answer.hits} == {other.id}
    passages = {one.session: one.passage for one in answer.sessions}
    assert passages[other.id] is None
    shown = passages[RETRY.id]
    assert shown
    assert shown.event.text.startswith("A token bucket")
    assert [shown.snippet.text[slice(*mark)] for mark in shown.snippet.marks] == ["jitter"]


@for_each(
    ("question", "sessions"),
    [
        ("bucket", {RETRY.id, CACHE.id}),
        ("TokenBucket", {RETRY.id, CACHE.id}),
        ('"token bucket"', {RETRY.id, CACHE.id}),
        ('"bucket retries"', {RETRY.id}),
        ("token -jitter", {CACHE.id}),
        ("src/limiter.py", {RETRY.id}),
        ("file:limiter.py", {RETRY.id}),
        ("file:src/limiter.py token", {RETRY.id}),
        ("retried", {RETRY.id}),
        ("the token project:shop", {RETRY.id, CACHE.id}),
        ("token project:other", set()),
        ("token session:2026-11-05", {CACHE.id}),
        ("token -session:2026-11-05-cache", {RETRY.id}),
        ("phase:work type:user", {RETRY.id, CACHE.id}),
        ("agent:claude-code@2.1.197 token", {RETRY.id, CACHE.id}),
        ("agent:claude-code token", {RETRY.id, CACHE.id}),
        ("agent:codex token", set()),
        ("why is the", {RETRY.id, CACHE.id}),
        ("TÖKEN", {RETRY.id, CACHE.id}),
        ("Jittér", {RETRY.id}),
    ],
)
def test_questions_find(root: Path, question: str, sessions: set[str]) -> None:
    assert {hit.event.session for hit in ask(root, question).hits} == sessions


def test_an_exact_name_ranks_first(tmp_path: Path) -> None:
    one = session_of("one", "q", "token bucket, bucket and token, a bucket of token")
    other = session_of("two", "q", "here token_bucket stands among many other words that fill the line")
    assert ask(vault_of(tmp_path / "v", one, other), "token_bucket").hits[0].event.session == "two"


def test_a_session_is_found_by_its_date(root: Path) -> None:
    assert ask(root, "what happened on thursday 5 november 2026").sessions[0].session == CACHE.id


def test_tool_calls_are_found_but_do_not_describe_their_session(tmp_path: Path) -> None:
    calls = ToolCalls((ToolCall("Bash cat notes", "lighthouse " * 9),))
    noisy = replace(RETRY, phases=(replace(RETRY.phases[0], entries=(*RETRY.phases[0].entries, calls)),))
    said = session_of("2026-11-04-coast", "Describe the lighthouse", "The lighthouse is red and white")
    root = vault_of(tmp_path / "v", noisy, said, CACHE)
    answer = ask(root, "lighthouse", limit=20)
    assert answer.sessions[0].session == said.id
    assert {one.session: one.parts["text"] for one in answer.sessions}[RETRY.id] == 0
    assert EventKind.TOOL in {hit.event.kind for hit in answer.hits}


def test_what_follows_a_question_is_found_with_it(tmp_path: Path) -> None:
    asked = session_of("2026-11-04-coast", "What color is the lighthouse?", "Red and white.", "Fine", "Done.")
    root = vault_of(tmp_path / "v", asked, CACHE)
    answer = ask(root, "lighthouse color")
    assert found(answer)[:2] == ["What color is the lighthouse?", "Red and white."]
    assert answer.hits[1].parts["reply"] == pytest.approx(0.4 * answer.hits[0].parts["text"])
    assert len(answer.hits) == 2
    both = ask(root, "lighthouse white")
    assert both.hits[found(both).index("Red and white.")].parts.keys() >= {"reply", "text"}
    for narrowed in ({"kinds": frozenset({EventKind.USER})}, {"agent": "claude-code"}):
        assert found(ask(root, "lighthouse color", **narrowed)) == ["What color is the lighthouse?"]
    assert len(ask(root, "lighthouse color", project="shop").hits) == 2
    assert found(ask(root, "lighthouse color -red")) == ["What color is the lighthouse?"]


def test_calls_between_a_question_and_its_reply_are_skipped(tmp_path: Path) -> None:
    session = session_of("2026-11-04-coast", "What color is the lighthouse?")
    (phase,) = session.phases
    more = (*phase.entries, ToolCalls((ToolCall("Read paint.txt", "a tin"),)), Prose("Red and white."))
    root = vault_of(tmp_path / "v", replace(session, phases=(replace(phase, entries=more),)))
    assert found(ask(root, "lighthouse color")) == ["What color is the lighthouse?", "Red and white."]


def test_a_phrase_without_match_falls_back_to_its_words_with_a_remark(root: Path) -> None:
    answer = ask(root, '"jitter with a bucket"')
    assert {hit.event.session for hit in answer.hits} == {RETRY.id, CACHE.id}
    assert answer.notes


def test_filters_limit_the_hits(root: Path) -> None:
    day = timedelta(days=1)
    assert {hit.event.kind for hit in ask(root, "token cache retries", kinds=frozenset({EventKind.USER})).hits} == {
        EventKind.USER
    }
    later = ask(root, "token", since=STARTED + day)
    assert {hit.event.session for hit in later.hits} == {one.session for one in later.sessions} == {CACHE.id}
    earlier = ask(root, "token", until=STARTED)
    assert {hit.event.session for hit in earlier.hits} == {one.session for one in earlier.sessions} == {RETRY.id}
    assert {hit.event.session for hit in ask(root, "token", session=CACHE.id).hits} == {CACHE.id}
    assert not ask(root, "token", channel="ops").hits
    assert ask(root, "token", channel="dev", agent="claude-code", project="shop").hits
    assert len(ask(root, "token cache", limit=1).hits) == 1


@pytest.mark.parametrize(
    ("text", "kinds"), [("token bucket", {EventKind.DECISION}), ("token bucket type:decision", set(EventKind))]
)
def test_a_question_for_decisions_lists_only_sessions_with_one(
    text: str, kinds: set[EventKind], tmp_path: Path
) -> None:
    said = session_of("said", "token bucket", "token bucket, token bucket", title="Token bucket")
    other = Phase("Work", entries=(Prose("a token bucket"), Decision("Chose postgres")))
    decided = Phase("Work", entries=(Prose("many other words"), Decision("Chose a token bucket")))
    root = vault_of(
        tmp_path / "v",
        said,
        replace(session_of("other"), phases=(other,)),
        replace(session_of("decided"), phases=(decided,)),
    )
    answer = ask(root, text, kinds=frozenset(kinds))
    assert [hit.event.session for hit in answer.hits] == ["decided"]
    assert [one.session for one in answer.sessions] == ["decided"]
    everything = ask(root, "token bucket")
    assert {one.session for one in everything.sessions} == {"said", "other", "decided"}


def test_without_words_the_newest_matches_are_shown(root: Path) -> None:
    assert [hit.event.session for hit in ask(root, "", kinds=frozenset({EventKind.USER})).hits] == [
        CACHE.id,
        RETRY.id,
    ]
    assert ask(root, "type:agent", limit=1).hits[0].event.session == CACHE.id


@pytest.mark.parametrize("question", ["", "???", "-", '"', '""', ":::", "\x00", "\ud800", "( ) AND"])
def test_a_question_without_words_has_an_answer(root: Path, question: str) -> None:
    answer = ask(root, question)
    assert not answer.hits or "AND" in question


def test_a_question_of_100_kilobytes_has_an_answer(root: Path) -> None:
    answer = ask(root, "token " + "'; DROP TABLE events; -- " * 4000)
    assert answer.hits
    assert answer.notes


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return vault_of(tmp_path_factory.mktemp("kept") / "v", RETRY, CACHE)


@given(
    st.text()
    | hostile_text()
    | st.lists(st.sampled_from(["-", '"', ":", "type:", "token", "-token", "file:"])).map("".join)
)
def test_any_text_is_answered(kept: Path, text: str) -> None:
    ask(kept, text)


def test_every_kind_of_entry_is_an_event_with_its_text(tmp_path: Path) -> None:
    work = (Prose("inner work <div> done"), ToolCalls((ToolCall("Read inner.py", "3 lines"),)))
    entries = (
        Intervention("Do `it` [[now]]", "a note"),
        Prose("## No heading\n\n- a list\n\n```py\nx = 1\n```"),
        ToolCalls((ToolCall("Bash ls", "❌ no"), ToolCall("Bash `x`", "two  blanks"), ToolCall("Bash ls", "❌ no"))),
        Decision("Chose A", "cheap"),
        Failure("It broke\n\ntwice", "mended"),
        Subagent(AgentRef("explore"), "m", link="other", text="more", summary="found it"),
        Subagent(AgentRef("explore"), mode=Mode.INLINE, task="look", entries=work, summary="seen"),
        Callout("milestone", "Half way", "text\n\nmore"),
        Callout("observation", "", "slow"),
        Callout("decision_needed", "Who?", ""),
    )
    session = replace(session_of("all-kinds"), phases=(Phase("Work", entries=entries),), summary="The end.")
    root = vault_of(tmp_path / "v", session)
    first = recall(root).ask(Question("type:user"), NOW).hits[0].event
    events = recall(root).around(first.id, 0, 100)
    found = [(event.kind.value, event.text) for event in events]
    assert found == [
        ("user", "Do `it` [[now]]\na note"),
        ("agent", "## No heading\n\n- a list\n\n```py\nx = 1\n```"),
        ("tool", "Bash ls\n❌ no"),
        ("tool", "Bash `x`\ntwo blanks"),
        ("tool", "Bash ls\n❌ no"),
        ("decision", "Chose A\nRationale: cheap"),
        ("error", "It broke\n\ntwice\nResolution: mended"),
        ("subagent", "explore\nmore\nSummary: found it"),
        ("subagent", "explore\nlook\nSummary: seen"),
        ("agent", "inner work <div> done"),
        ("tool", "Read inner.py\n3 lines"),
        ("milestone", "Half way\ntext\n\nmore"),
        ("observation", "slow"),
        ("observation", "Who?"),
        ("observation", "The end."),
    ]
    assert len({event.id for event in events}) == len(events)
    assert recall(root).get([event.id for event in reversed(events)]) == tuple(reversed(events))


def test_an_item_without_text_is_found_by_its_title(tmp_path: Path) -> None:
    empty = replace(session_of("bare", title="Quokka census"), phases=())
    nameless = replace(session_of("said", "", title=""), phases=(Phase("Work", entries=(Prose(""),)),))
    root = vault_of(tmp_path / "v", empty, nameless)
    one = EmbeddedRecall(root, VaultSettings(), items=_Titled())
    answer = one.ask(Question("quokka"), NOW)
    assert [hit.event.title for hit in answer.hits] == ["Quokkas need shade"]
    assert [answer.hits[0].snippet.text[slice(*mark)] for mark in answer.hits[0].snippet.marks] == ["Quokkas"]
    assert [session.session for session in answer.sessions] == ["bare"]
    assert not one.ask(Question("quokka", kinds=frozenset({EventKind.AGENT})), NOW).hits
    ((identity, likeness),) = one.similar("Quokkas need shade", 5)
    assert identity == "shade"
    assert likeness == pytest.approx(1)
    assert one.ask(Question("", project="shop"), NOW).sessions


class _Titled:
    """A catalog with one item that has a title and no text."""

    def stamps(self) -> Mapping[str, str]:
        return {"knowledge/shade.md": "1"}

    def document(self, name: str) -> Document:
        event = Event("shade", "shade", EventKind.KNOWLEDGE, "", title="Quokkas need shade", at=STARTED)
        return Document("shade", name, "Quokkas need shade", (event,))

    def weigh(self, identity: str, now: datetime) -> tuple[float, Mapping[str, float]]:
        del identity, now
        return 1.0, {}


def test_around_and_get_are_empty_for_unknown_ids(root: Path) -> None:
    assert recall(root).around("nobody#00000000", 2, 2) == ()
    assert recall(root).around(f"{RETRY.id}#zz", 2, 2) == ()
    assert recall(root).get(["", "x", f"{RETRY.id}#00000000"]) == ()


# --- what recall said is not recalled --------------------------------------------------------------------------------


def test_echoes_are_not_found_but_shown_as_neighbours(tmp_path: Path) -> None:
    calls = ToolCalls(
        (
            ToolCall("mcp__crucible__recall_search jitterbug", "jitterbug in 3 sessions"),
            ToolCall("Bash cd x && cru recall jitterbug", "jitterbug"),
            ToolCall("Bash grep jitterbug", "1"),
        )
    )
    session = replace(session_of("echo"), phases=(Phase("Work", entries=(calls,)),))
    root = vault_of(tmp_path / "v", session)
    answer = ask(root, "jitterbug")
    assert found(answer) == ["Bash grep jitterbug\n1"]
    assert len(answer.hits[0].before) == 2


# --- true at each question -------------------------------------------------------------------------------------------


def test_a_new_session_is_found_without_rewriting_parts(root: Path) -> None:
    ask(root, "token")
    before = _files(root)
    write(root, session_of("2026-11-09-third", "hello", "A quokka smiled", days=7))
    assert ask(root, "quokka").hits
    after = _files(root)
    assert {name: after.get(name) for name in before} == before


def test_a_changed_note_is_found_by_its_new_text(root: Path) -> None:
    assert ask(root, "jitter").hits
    write(root, session_of(RETRY.id, "Fix the retries", "A quokka does it"))
    assert not ask(root, "jitter").hits
    assert ask(root, "quokka").hits


def test_deleted_and_renamed_notes_leave_the_index(root: Path) -> None:
    ask(root, "token")
    (root / "sessions" / f"{RETRY.id}.md").unlink()
    assert {hit.event.session for hit in ask(root, "token").hits} == {CACHE.id}
    path = root / "sessions" / f"{CACHE.id}.md"
    path.write_text(path.read_text().replace(CACHE.id, "2026-11-06-moved"))
    path.rename(root / "sessions" / "2026-11-06-moved.md")
    assert {hit.event.session for hit in ask(root, "token").hits} == {"2026-11-06-moved"}


def test_ids_stay_when_a_session_grows(root: Path) -> None:
    ids = [hit.event.id for hit in ask(root, "token jitter retries").hits]
    write(
        root,
        session_of(RETRY.id, "Fix the retries", "A token bucket retries with jitter in src/limiter.py", "more"),
    )
    assert [event.id for event in recall(root).get(ids)] == ids


@fewer(4)
@given(st.randoms(use_true_random=False))
def test_an_updated_index_answers_like_a_rebuilt_one(tmp_path_factory: pytest.TempPathFactory, random: Random) -> None:
    root = vault_of(tmp_path_factory.mktemp("follow") / "v")
    words = ["alpha", "beta", "gamma", "retry", "bucket", "limiter"]
    for _ in range(random.randint(2, 5)):
        for _ in range(random.randint(1, 3)):
            name = f"s{random.randint(0, 5)}"
            texts = [" ".join(random.choices(words, k=random.randint(1, 8))) for _ in range(random.randint(1, 5))]
            path = write(root, session_of(name, *texts, days=random.randint(0, 9)))
            if random.random() < 0.2:
                path.unlink()
        ask(root, "alpha")
    followed = _all_of(root, words)
    shutil.rmtree(root / INDEX, ignore_errors=True)
    assert followed == _all_of(root, words)


def _all_of(root: Path, words: list[str]) -> list[list[tuple[str, str, float]]]:
    one = recall(root)
    return [flat(one.ask(Question(word, limit=20), NOW)) for word in words]


def test_many_small_updates_are_joined_into_few_parts(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "v")
    one = recall(root)
    for number in range(40):
        write(root, session_of(f"s{number % 25}", f"question {number}", f"word{number} alpha"))
        one.refresh()
    manifest = one._store.load()
    assert len(manifest.parts) < 20
    followed = [flat(ask(root, text, limit=20)) for text in ("alpha", "word39", "word3", "question")]
    assert ask(root, "word24").hits
    assert not ask(root, "word3").hits
    shutil.rmtree(root / INDEX)
    built = [flat(ask(root, text, limit=20)) for text in ("alpha", "word39", "word3", "question")]
    assert [[row[:2] for row in rows if row[0] == "event"] for rows in followed[1:3]] == [
        [row[:2] for row in rows if row[0] == "event"] for rows in built[1:3]
    ]


# --- damage ----------------------------------------------------------------------------------------------------------


def _files(root: Path) -> dict[str, tuple[int, int, int]]:
    folder = root / INDEX
    stats = {path.relative_to(folder).as_posix(): path.stat() for path in folder.rglob("*") if path.is_file()}
    return {
        name: (one.st_ino, one.st_mtime_ns, one.st_size)
        for name, one in stats.items()
        if not name.endswith(".json") and "lock" not in name
    }


def _put(path: Path, data: bytes) -> None:
    """Write a new file: a thread of tantivy may still map the old one, and truncating that would kill the process."""
    new = path.with_name("new")
    new.write_bytes(data)
    new.replace(path)


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for at in range(0, len(data), max(len(data) // 7, 1)):
        data[at] ^= 0x55
    _put(path, bytes(data))


def _flip_unseen(path: Path) -> None:
    before = path.stat()
    _flip(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _truncate(path: Path) -> None:
    _put(path, path.read_bytes()[: path.stat().st_size // 2])


def _as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("harm", [_flip, _flip_unseen, _truncate, Path.unlink, _as_folder])
def test_any_damaged_file_leaves_answers_unchanged(root: Path, harm: object) -> None:
    expected = flat(ask(root, "token cache"))
    names = sorted(path.relative_to(root / INDEX) for path in (root / INDEX).rglob("*") if path.is_file())
    assert len(names) > 10
    suffixes: dict[str, Path] = {}
    for name in names:
        suffixes.setdefault(f"{name.parent}/{name.suffix or name.name}", name)
    for kind in sorted(suffixes):
        found_now = {
            f"{name.parent}/{name.suffix or name.name}": name
            for name in sorted(path.relative_to(root / INDEX) for path in (root / INDEX).rglob("*") if path.is_file())
        }
        if kind in found_now:
            harm(root / INDEX / found_now[kind])  # type: ignore[operator]
        assert flat(ask(root, "token cache")) == expected, kind


def test_a_manifest_of_another_folder_or_schema_is_ignored(root: Path, tmp_path: Path) -> None:
    expected = flat(ask(root, "token"))
    shutil.copytree(root, tmp_path / "copy")
    assert flat(ask(tmp_path / "copy", "token")) == expected
    path = root / INDEX / "index.json"
    path.write_text(json.dumps([999]))
    assert flat(ask(root, "token")) == expected


def test_a_symlinked_folder_is_not_written(root: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir()
    (root / INDEX).parent.mkdir(parents=True, exist_ok=True)
    (root / INDEX).symlink_to(target)
    answer = ask(root, "token")
    assert answer.hits
    assert "could not be saved" in answer.notes[0]
    assert not list(target.iterdir())


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_read_only_vault_is_searched(root: Path) -> None:
    cache = root / ".crucible" / "cache"
    cache.mkdir(exist_ok=True)
    cache.chmod(0o500)
    assert ask(root, "token").hits


def test_on_a_full_disk_the_answer_is_the_same_with_a_remark(root: Path) -> None:
    write_part, calls = segments.write_part, []

    def full_once(*given: object) -> object:
        calls.append(given)
        if len(calls) == 1:
            raise ValueError("No space left on device")
        return write_part(*given)  # type: ignore[arg-type]

    with mock.patch.object(refreshing, "write_part", full_once):
        answer = ask(root, "token")
    assert answer.hits
    assert "no space left" in answer.notes[0]
    assert not ask(root, "token").notes


# --- items beside sessions -------------------------------------------------------------------------------------------


class _Items:
    """A catalog that can change."""

    def __init__(self) -> None:
        self.texts = {"knowledge/limits.md": "token buckets need constant memory"}
        self.factor = 1.0

    def stamps(self) -> Mapping[str, str]:
        return {name: str(hash(text)) for name, text in self.texts.items()}

    def document(self, name: str) -> Document | None:
        event = Event("limits", "limits", EventKind.KNOWLEDGE, self.texts[name], title="Limits", at=STARTED)
        return Document("limits", name, "Limits", (event,))

    def weigh(self, identity: str, now: datetime) -> tuple[float, Mapping[str, float]]:
        assert identity == "limits"
        assert now == NOW
        return self.factor, {"type": self.factor}


def test_items_are_found_together_with_sessions_and_weighted(root: Path) -> None:
    items = _Items()
    one = EmbeddedRecall(root, VaultSettings(), items=items)
    answer = one.ask(Question("constant memory token"), NOW)
    (hit,) = [hit for hit in answer.hits if hit.event.kind is EventKind.KNOWLEDGE]
    assert answer.hits[0] == hit
    assert (hit.event.id, hit.event.title, hit.event.text) == (
        "limits",
        "Limits",
        items.texts["knowledge/limits.md"],
    )
    assert {found.session for found in answer.sessions} == {RETRY.id, CACHE.id}
    items.factor = 0.01
    weighed = one.ask(Question("constant memory token"), NOW).hits[-1]
    assert weighed.event.id == "limits"
    assert weighed.score == pytest.approx(hit.score / 100)
    assert weighed.parts["type"] == 0.01
    assert one.get(["limits"])[0].text == items.texts["knowledge/limits.md"]
    ((identity, likeness),) = one.similar('Limits: "token buckets" need -constant memory', 5)
    assert identity == "limits"
    assert likeness == pytest.approx(1)
    assert one.similar("memory of an elephant in type:user words", 5)[0][1] < 0.5
    assert one.similar("", 5) == one.similar("zzz", 5) == []
    items.texts["knowledge/limits.md"] = "quokka"
    assert one.ask(Question("quokka"), NOW).hits
    only = one.ask(Question("quokka", kinds=frozenset({EventKind.KNOWLEDGE})), NOW)
    assert [hit.event.id for hit in only.hits] == ["limits"]
    assert not only.sessions
    items.texts.clear()
    assert not one.ask(Question("quokka"), NOW).hits


def test_a_hit_in_the_findings_block_has_no_neighbours(tmp_path: Path) -> None:
    listed = (
        FindingItem("outcome", "The backoff is capped"),
        FindingItem("correction", "never sleep in a test"),
        FindingItem("open_end", "Asked, no answer: which clock?"),
    )
    root = vault_of(tmp_path / "v", replace(RETRY, findings=listed))
    hit = next(one for one in ask(root, "never sleep").hits if one.event.kind is EventKind.CORRECTION)
    assert (hit.before, hit.after) == ((), ())
