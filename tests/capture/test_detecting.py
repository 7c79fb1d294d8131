"""What is detected of a session: by kind, what never is, and that any text has an answer soon."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible.acts.evidence import evidence_of
from crucible.capture.answered import answer_to
from crucible.capture.detecting import detect
from crucible.capture.model import PROPOSED, Candidate, Kind
from crucible.capture.outside_apis import api_calls_of
from crucible.capture.records_of_decisions import is_decision_record, subject_of
from crucible.capture.steps import steps_of
from crucible.session.model import (  # fmt: skip
    Callout,
    Decision,
    Failure,
    Intervention,
    Outcome,
    Prose,
    Session,
    ToolCall,
    ToolCalls,
)
from tests.capture.planted import generate, score
from tests.capture.telling import failed, found_in, kinds_of, passed, said, session_of, user, written


def _one(*found: Candidate) -> Candidate:
    assert len(found) == 1, found
    return found[0]


# --- records of decisions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "docs/adr/0007-use-sqlite.md", "doc/arch/ADR-12.adoc", "adr/why-grpc.md", "services/pay/ADR/0001-x.markdown", "docs/decisions/0003-keys.md",
        "docs/architecture-decisions/keys.rst", "docs/architecture/decisions/0001-record.md", "architektur/entscheidungen/004-suche.md", "docs/decision-records/a.md",
    ],
)  # fmt: skip
def test_a_record_of_a_decision_is_known_by_its_path(path: str) -> None:
    assert is_decision_record(path)


@pytest.mark.parametrize(
    "path",
    [
        "lib/decision_tree.rb", "src/address/adr_lookup.ts", "docs/adr-tool-manual.html", "docs/adr/README.md", "docs/adr/template.md", "src/adr_parser.py",
        "docs/quadrants.md", "README.md", ".github/ISSUE_TEMPLATE/bug.md",
    ],
)  # fmt: skip
def test_what_is_about_records_is_none(path: str) -> None:
    assert not is_decision_record(path)


def test_a_record_is_told_once_however_often_it_was_changed() -> None:
    path = "docs/adr/0007-use-sqlite.md"
    found = _one(*found_in(passed(f"Write {path}"), passed(f"Edit {path}"), passed(f"Bash cat {path}")))
    assert (found.kind, found.file, found.line) == (Kind.ADR, path, 1)
    assert found.confidence > 0.9
    assert "use sqlite" in found.summary
    assert subject_of(path) == "use sqlite"


def test_a_record_made_in_the_shell_counts_and_one_refused_or_read_does_not() -> None:
    assert kinds_of(passed("Bash cp docs/template.md docs/adr/0009-queues.md")) == [Kind.ADR]
    assert kinds_of(passed('Bash adr new "queues"', "docs/adr/0010-queues.md")) == [Kind.ADR]
    assert kinds_of(passed("Bash ls docs/adr", "0001-a.md"), passed("Bash cat docs/adr/0001-a.md")) == []
    refused = ToolCalls((ToolCall("Write docs/adr/0011-x.md", "", Outcome.REJECTED),))
    assert kinds_of(refused) == []


# --- decisions -------------------------------------------------------------------------------------------------------


def test_a_decision_callout_is_preselected_with_its_rationale() -> None:
    found = _one(*found_in(Decision("Use SQLite for the index.", "one file, no server")))
    assert (found.kind, found.summary, found.detail) == (
        Kind.DECISION,
        "Use SQLite for the index.",
        "one file, no server",
    )
    assert found.confidence > 0.8


@pytest.mark.parametrize(
    "text",
    [
        "I chose a token bucket over a sliding log because it needs constant memory per key.",
        "The verdict on queues: a table in Postgres; Redis is ruled out since nobody here runs it.",
        "Wir nehmen für die Suche Trigramme statt Elasticsearch, weil der Katalog klein ist.",
        "Nous optons pour un index trigramme plutôt qu'un cluster, car le catalogue est petit.",
        "Decidimos usar SQLite en lugar de Postgres porque basta un archivo.",
        "Мы решили взять SQLite вместо Postgres, потому что хватает одного файла.",
        "我们决定用 SQLite 而不是 Postgres，因为一个文件就够了。",
    ],
)
def test_a_choice_in_the_agents_words_is_prompted_for(text: str) -> None:
    found = _one(*found_in(said(text)))
    assert found.kind is Kind.DECISION
    assert 0.7 <= found.confidence < 0.8


@pytest.mark.parametrize(
    "text",
    [
        "We could go with Redis some day.",
        "Should we go with Redis?",
        "Nothing was decided about Redis yet.",
        "Neither Redis nor Postgres was chosen.",
        'Their README says: "we chose Redis over Postgres because it is fast."',
        "According to the changelog, the framework opted for Redis.",
        "The planner chose a nested loop.",
        "> We decided that orders use Redis.",
        "If we had chosen Redis, the tests would be different.",
        "I'll use grep to find the callers.",
        "Actually opening src/app.py now.",
        "`chosen_option` is a prop of the picker.",
        "We decided on pizza at the retro because the other place was closed.",
        "```\nI decided to use Redis over Postgres because it is fast\n```",
        "Wir haben uns noch nicht für Redis entschieden.",
        "On pourrait choisir Redis.",
    ],
)
def test_what_settles_nothing_is_no_decision(text: str) -> None:
    assert found_in(said(text)) == []


def test_a_choice_told_in_prose_and_in_a_callout_is_one() -> None:
    text = "I chose a token bucket over a sliding log because it needs constant memory."
    found = _one(*found_in(said(text), Decision("Token bucket, not a sliding log.", "constant memory")))
    assert found.source == "callout"


def test_a_users_word_settles_and_his_wish_for_work_does_not() -> None:
    assert kinds_of(user("Use argon2id for password hashes, not bcrypt.")) == [Kind.DECISION]
    assert kinds_of(user("My call: UTC in storage for time zones.")) == [Kind.DECISION]
    for words in ("Add a filter by date to orders.", "And the docs?", "Review app.py.", "Looks good", "What if we had chosen bcrypt?"):  # fmt: skip
        assert kinds_of(user(words)) == [], words


@pytest.mark.parametrize(
    "answer", ["the second one please", "go with 2", "b", "SQLite, it is one file", "the latter"]
)
def test_an_answer_to_a_question_names_the_option(answer: str) -> None:
    asked = "Two ways to store it:\n\n1. Postgres\n2. SQLite\n\nWhich one do you want?"
    found = _one(*found_in(said(asked), user(answer)))
    assert found.kind is Kind.DECISION
    assert "SQLite" in found.summary


@pytest.mark.parametrize(
    "asked",
    [
        "Which storage: (1) Postgres on a host of its own, (2) a SQLite file?",
        "Storage, please choose. A) Postgres; B) a SQLite file.",
        "Input needed on storage: 1 = Postgres, 2 = a SQLite file",
        "How shall it be stored? First option a Postgres server, second option a SQLite file.",
        "Rückfrage zum Speicher: 1. ein Postgres, 2. eine SQLite-Datei. Bitte wählen.",
        "Two ways:\n\n1) Postgres\n2) SQLite\n\nYour call.",
    ],
)
def test_options_may_be_counted_in_a_sentence_and_asked_for_without_a_question_mark(asked: str) -> None:
    for answer in ("2", "the second one", "a SQLite file, Postgres needs care"):
        assert "SQLite" in _one(*found_in(said(asked), user(answer))).summary, answer


@pytest.mark.parametrize(
    ("asked", "option"),
    [
        ("Should I 1) use Postgres, 2) use SQLite or 3) keep the files?", "use SQLite: 2 ("),
        ("Soll ich 1. Postgres nehmen, 2. SQLite nehmen oder 3. alles lassen?", "SQLite nehmen: 2 ("),
        ("Zwei Wege: erstens Postgres, zweitens SQLite. Was soll es sein?", "SQLite: 2 ("),
        ("Deux voies : premièrement Postgres, deuxièmement SQLite. Laquelle ?", "SQLite: 2 ("),
        ("Deux voies. 1 : Postgres ; 2 : SQLite. Laquelle ?", "SQLite: 2 ("),
        ("Option A - Postgres; option B - SQLite. Which one?", "SQLite: 2 ("),
        ("Which one: 1) a.db 2) /home/ann/b.db?", "/home/ann/b.db: 2 ("),
    ],
)
def test_a_counted_option_is_told_without_what_joins_it_and_as_a_whole(asked: str, option: str) -> None:
    assert _one(*found_in(said(asked), user("2"))).summary.startswith(option)


@pytest.mark.parametrize(
    "asked",
    [
        "Should I push to main or open a pull request?",
        "Shall we continue with 1) the lexer 2) a pull request?",
    ],
)
def test_a_question_how_to_go_on_has_options(asked: str) -> None:
    assert "a pull request: a pull request" in answer_to(asked, "a pull request")


@pytest.mark.parametrize("answer", ["not Redis", "anything but the first", "nicht Redis", "tout sauf Redis"])
def test_an_option_that_is_only_denied_is_not_chosen(answer: str) -> None:
    assert answer_to("Which one: 1) Redis 2) Postgres?", answer) == ""


@pytest.mark.parametrize("question", ["Anything else?", "Shall I commit?", "Noch etwas?", "Autre chose ?", "¿Algo más?"])  # fmt: skip
def test_a_list_before_a_question_that_only_goes_on_holds_no_options(question: str) -> None:
    asked = f"Done:\n1. Renamed the file.\n2. Ran the tests.\n\n{question}"
    for answer in ("run the tests again", "2 of them are red"):
        assert answer_to(asked, answer) == ""


@pytest.mark.parametrize(
    "asked", ["I read 1. the parser, 2. the lexer.", "Found two: a) a leak, b) a race. Fixing both."]
)
def test_what_is_counted_but_not_asked_for_is_no_question(asked: str) -> None:
    assert kinds_of(said(asked), user("2 first")) == []


@pytest.mark.parametrize(
    "answer", ["not sure yet, leave it open", "ask Anna first", "neither of them", "later"]
)
def test_an_answer_that_puts_it_off_decides_nothing(answer: str) -> None:
    asked = "Shall it be Postgres or SQLite?"
    assert kinds_of(said(asked), user(answer)) == []


# --- self-corrections ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "I was wrong about the cache: it is keyed by tenant.",
        "Correction: the column holds Berlin time, not UTC.",
        "Actually no: the lookup is quadratic. What I wrote about it was a guess.",
        "I claimed that the list is sorted, but the server guarantees no order.",
        "Ich muss mich berichtigen: die Migration löscht eine Spalte.",
        "Je me suis trompé : il dépend du locataire.",
    ],
)
def test_what_the_agent_takes_back_is_preselected(text: str) -> None:
    found = _one(*found_in(said("The cache is keyed by user."), passed("Read a.py"), said(text)))
    assert found.kind is Kind.SELF_CORRECTION
    assert found.confidence > 0.8


@pytest.mark.parametrize(
    "text",
    [
        "I might be wrong about the cache, who knows.",
        "Correction of a spelling mistake in a comment.",
        "The error page says: 'correction: this site moved'.",
        "Ich berichtige den Tippfehler im Kommentar.",
        "You're right, I was wrong about the cache: it is keyed by tenant.",
    ],
)
def test_what_takes_nothing_back_is_no_self_correction(text: str) -> None:
    assert found_in(said(text)) == []


# --- patterns --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "A rule of thumb for data repairs: snapshot, apply, compare.",
        "Worth doing every time we touch caches: copy on entry, share after that.",
        "Bewährt hat sich bei Listen: die Kennungen sammeln und in einer Abfrage laden.",
        "À refaire à chaque fois pour les écritures : contrepasser, ne jamais modifier.",
    ],
)
def test_a_way_worth_doing_again_is_prompted_for(text: str) -> None:
    for entry in (said(text), Callout("observation", "", text)):
        found = _one(*found_in(entry))
        assert found.kind is Kind.PATTERN
        assert 0.7 <= found.confidence < 0.8


@pytest.mark.parametrize(
    "text",
    [
        "The conference talk recommended the pattern of arenas.",
        "No pattern emerges from this yet.",
        "The strategy class has three subclasses.",
        "The method signature gets a parameter.",
        "Same command again.",
    ],
)
def test_what_only_names_a_pattern_is_none(text: str) -> None:
    assert found_in(said(text)) == []


def test_code_that_calls_an_outside_api_is_a_pattern_at_seven_tenths() -> None:
    call, evidence = written(
        "shop/pay.py", 'answer = httpx.post("https://api.stripe.com/v1/refunds", json=order)\n'
    )
    found = _one(*found_in(call, evidence=evidence))
    assert (found.kind, found.confidence) == (Kind.PATTERN, 0.7)
    assert "api.stripe.com" in found.summary
    assert found_in(call) == []  # without whole arguments nothing is known of it


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("shop/pay.py", '# see https://api.stripe.com/docs, requests.get("x")\n'),
        ("shop/pay.py", 'answer = httpx.get("https://example.org/a")\n'),
        ("shop/pay.py", "expected = 'https://api.stripe.com/a'\n"),
        ("README.md", 'httpx.post("https://api.stripe.com/v1/refunds")\n'),
        ("tests/test_pay.py", 'httpx.post("https://api.stripe.com/v1/refunds")\n'),
        ("shop/pay.py", 'answer = httpx.get("http://localhost:8080/a")\n'),
    ],
)
def test_an_address_is_no_call(path: str, content: str) -> None:
    call, evidence = written(path, content)
    steps = steps_of(session_of(call), evidence)
    assert [found for step in steps for found in api_calls_of(step)] == []


# --- evidence --------------------------------------------------------------------------------------------------------

_BENCH = passed("Bash python bench/scale.py 1000 1000000", "ratio per row 0.97")


def test_a_claim_that_a_run_made_for_it_bears_out_is_evidence() -> None:
    claim, proof = (
        said("I claim that decode stays linear. Let me show it."),
        said("Confirmed: decode stays linear."),
    )
    for entries in ((claim, _BENCH), (_BENCH, proof), (claim, _BENCH, proof), (_BENCH, Callout("milestone", "", proof.text))):  # fmt: skip
        found = _one(*found_in(*entries))
        assert found.kind is Kind.EVIDENCE
        assert found.confidence > 0.8
        assert "decode stays linear" in found.summary
        assert "0.97" in found.detail


def test_a_suite_that_passes_is_none() -> None:
    for command in (
        "pytest",
        "pytest tests",
        "go test ./...",
        "mvn -q test",
        "make verify",
        "npx vitest run",
    ):
        suite = passed(f"Bash {command}", "91 passed")
        assert found_in(suite, said("Confirmed: decode stays linear.")) == []
        assert found_in(suite, said("Still green after the change.")) == []


def test_a_run_of_which_nothing_is_claimed_is_none() -> None:
    assert found_in(said("Let me run the bench."), _BENCH, said("That works. Now the docs.")) == []


# --- failures --------------------------------------------------------------------------------------------------------

_RED = failed("Bash make docs", "guide.md:21: reference to unknown heading 'limits'")
_GREEN = passed("Bash make docs", "docs: 41 pages")
_EDIT = passed("Edit guide.md", "updated, +1 −1")


def test_a_failure_that_a_change_mended_is_one_with_its_cause() -> None:
    cause = said("The heading was renamed and its anchors were not.")
    found = _one(*found_in(_RED, said("Let me look."), _EDIT, _RED, cause, _EDIT, _GREEN))
    assert (found.kind, found.line) == (Kind.FAILURE, 1)
    assert found.confidence > 0.8
    assert "anchors" in found.summary
    assert "unknown heading" in found.error
    assert "renamed" in found.resolution


def test_the_same_again_without_a_change_is_chance() -> None:
    assert found_in(_RED, _GREEN) == []
    assert found_in(_RED, said("Flaky; again."), _GREEN) == []


def test_an_error_callout_with_a_resolution_is_a_failure_and_one_without_is_none() -> None:
    found = _one(*found_in(Failure("The import mangled umlauts.", "it is opened as UTF-8 now")))
    assert (found.kind, found.resolution) == (Kind.FAILURE, "it is opened as UTF-8 now")
    assert 0.7 <= found.confidence < 0.8
    assert found_in(Failure("The import mangled umlauts.")) == []


def test_an_error_callout_tells_the_failed_call_that_it_stands_behind() -> None:
    told = Failure("reference to unknown heading 'limits'", "the heading was renamed")
    assert kinds_of(_RED, told, _EDIT, _GREEN) == [Kind.FAILURE]
    assert kinds_of(_RED, _EDIT, _GREEN, told) == [Kind.FAILURE]


def test_another_command_of_the_same_program_mends_where_the_cause_is_told() -> None:
    bad, good = failed("Bash rsync -a out/ stage:x/", "rsync: mkdir: parent of x is missing"), passed("Bash rsync -a --mkpath out/ stage:x/")  # fmt: skip
    assert kinds_of(bad, said("The cause: rsync makes one level only."), good) == [Kind.FAILURE]
    assert kinds_of(bad, good) == []


def test_a_failure_that_nobody_understood_is_none() -> None:
    assert found_in(_RED, said("The cause is unknown. Going on."), _EDIT) == []


def test_a_status_that_is_an_answer_and_a_test_that_had_to_fail_are_none() -> None:
    for command in ("grep -rn old .", "diff -q a b", "git diff --quiet", "command -v ninja"):
        red, green = failed(f"Bash {command}", "exit code 1"), passed(f"Bash {command}")
        assert found_in(red, said("Because it was moved, it is gone."), _EDIT, green) == [], command
    red = failed("Bash pytest tests/test_a.py", "1 failed")
    assert found_in(red, said("It fails as it should."), _EDIT, passed("Bash pytest tests/test_a.py")) == []


# --- never -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("shellcheck a.sh", "bash: shellcheck: command not found"),
        ("tar cf /tmp/a.tar data", "tar: No space left on device"),
        ("curl https://x.example.org", "curl: (6) Could not resolve host: x.example.org"),
        ("mkdir /opt/x", "mkdir: cannot create directory '/opt/x': Permission denied"),
        ("git fetch origin", "Recv failure: Connection reset by peer"),
        ("gh pr view 1", "HTTP 429: You have exceeded a secondary rate limit"),
    ],
)
def test_faults_of_the_environment_and_of_chance_are_never_proposed(call: str, message: str) -> None:
    red, green = failed(f"Bash {call}", message), passed(f"Bash {call}")
    assert found_in(red, Failure(message, "left out, this machine cannot do it")) == []
    assert found_in(red, red, said("A hiccup, once more."), green) == []
    assert found_in(red, said("No network in this sandbox, so I decided to skip that.")) == []


def test_a_secret_is_never_proposed() -> None:
    for secret in (
        "ghp_KN5jwdoAXFdbN7UEHBzE19iZPzj0fE0Ws0ZR",
        "lniwWW!NpH8KVF5#7",
        "[REDACTED:github-token]",
    ):
        assert found_in(Decision(f"Use {secret} for the staging calls.")) == []
        assert found_in(user(f"Use {secret} instead of the old one, because it expires.")) == []
        assert found_in(Failure("The login failed.", f"DB_PASSWORD={secret}")) == []


# --- all of it -------------------------------------------------------------------------------------------------------


def test_generated_sessions_are_read_as_they_were_planted() -> None:
    generated = [generate(random.Random(f"ci:{seed}"), half=0) for seed in range(24)]
    scores = score((one, detect(one.session, evidence_of(one.records))) for one in generated)
    assert scores.never == 0
    assert scores.all.precision >= 0.96, scores.all.wrong
    assert scores.all.recall >= 0.96, scores.all.missed
    assert scores.all.in_band >= 0.9


def test_candidates_come_in_the_notes_order_and_none_below_what_is_proposed() -> None:
    found = found_in(Decision("Use SQLite."), _RED, said("It turns out that the heading was renamed."), _EDIT, _GREEN, Decision("No cache."))  # fmt: skip
    assert [one.line for one in found] == sorted(one.line for one in found)
    assert all(
        one.confidence >= PROPOSED and "\n" not in one.summary and len(one.summary) <= 200 for one in found
    )


_PARTS = [
    *"ab i:;,.?!'`>#-*\n—、。é我",
    '"',
    "decided ",
    "because ",
    "for ",
    "wrong ",
    "always ",
    "not ",
    "I ",
    "over ",
]
_WORDS = st.lists(st.sampled_from(_PARTS), max_size=60).map("".join)
_ENTRIES = st.one_of(
    _WORDS.map(Prose),
    _WORDS.map(Intervention),
    _WORDS.map(Decision),
    st.builds(Failure, _WORDS, _WORDS),
    st.builds(Callout, st.sampled_from(["observation", "milestone"]), st.just(""), _WORDS),
    st.builds(lambda call, result, end: ToolCalls((ToolCall(call, result, end),)), _WORDS, _WORDS, st.sampled_from(Outcome)),
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.lists(_ENTRIES, max_size=8))
def test_any_session_has_candidates_that_are_sane(entries: list[Prose]) -> None:
    for one in found_in(*entries):
        assert 0.6 <= one.confidence <= 1
        assert one.summary
        assert one.phase == "phase-1"
        assert one.line >= 1


def test_bytes_that_are_no_text_do_not_stop_it() -> None:
    odd = b"I was wrong: the caf\xe9 cache is not shared.".decode("utf-8", "surrogateescape")
    entries = (said(odd), user(odd), failed("Bash make x", odd), said(odd), _EDIT, passed("Bash make x"))
    assert Kind.SELF_CORRECTION in kinds_of(*entries)


@pytest.mark.parametrize(
    "text",
    ["because " * 4_000, "a" * 60_000, "let's let us " * 4_000, ("I decided on x: " * 3_000), "'" * 20_000, "`" * 20_001, "between a, " * 4_000, "> " * 20_000, "for for : " * 6_000, "not " * 12_000, "A1b!" * 12_000, "> [!x]\n" * 9_000],
)  # fmt: skip
def test_hostile_text_takes_no_time(text: str) -> None:
    began = time.process_time()
    found_in(said(text), user(text), Failure(text, text), failed("Bash make x", text), said(text), _EDIT, passed("Bash make x"))  # fmt: skip
    assert time.process_time() - began < 2.0


def test_time_grows_with_the_session_alone() -> None:
    unit = (_RED, said("The heading was renamed, because nobody looked."), _EDIT, Decision("Keep it for now."), user("ok, next file"), passed("Bash pytest"))  # fmt: skip

    def seconds(count: int) -> float:
        session: Session = session_of(*(unit * count))
        began = time.process_time()
        detect(session)
        return time.process_time() - began

    seconds(5)
    assert seconds(240) < 14 * seconds(40) + 0.2


def test_time_grows_with_what_is_taken_back_alone() -> None:
    def seconds(count: int) -> float:
        texts = [
            " ".join(f"I was wrong: w{x}a{at} w{x}b{at} w{x}c{at} is not w{x}d{at}." for at in range(count))
            for x in range(5)
        ]
        session = session_of(*(said(text) for text in texts))
        began = time.process_time()
        detect(session)
        return time.process_time() - began

    seconds(2)
    assert seconds(80) < 6 * seconds(20) + 0.02
