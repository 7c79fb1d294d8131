"""`cru recall` as a user meets it."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from rich.cells import cell_len

from crucible.vault.notes.vault import Vault
from tests.journeys.notes import LIMITER, note, write
from tests.journeys.terminals import on_a_terminal
from tests.paths import ROOT
from tests.running import Cru, CruProcess


@pytest.fixture
def told(vault: Vault) -> Vault:
    write(vault, "2026-11-21-limiter", LIMITER)
    write(vault, "2026-11-20-other", note("2026-11-20-other"))
    return vault


def found(cru: Cru, *args: str) -> dict[str, Any]:
    result = cru("recall", *args, "--format", "json")
    assert result.exit_code == 0, result.stderr
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_a_question_is_answered_with_places_and_links(told: Vault, cru: Cru) -> None:
    answer = found(cru, "who", "writes", "the", "bucket?")
    assert answer["query"] == "who writes the bucket?"
    hit = answer["hits"][0]
    assert hit["session"] == "2026-11-21-limiter"
    assert hit["path"] == "sessions/2026-11-21-limiter.md"
    lines = (told.root / hit["path"]).read_text(encoding="utf-8").split("\n")
    assert lines[hit["line"] - 1].strip()
    assert "parts" not in hit
    link = parse_qs(urlsplit(hit["link"]).query)
    assert link["vault"] == [told.root.name]
    assert link["file"][0].startswith("sessions/2026-11-21-limiter#")
    marked = [hit["snippet"]["text"][first:last].lower() for first, last in hit["snippet"]["marks"]]
    assert any("bucket" in word for word in marked)
    assert answer["sessions"][0]["session"] == "2026-11-21-limiter"


def test_a_reader_sees_the_neighbours_and_in_colour_the_words_marked(told: Vault, cru: Cru, bare_cru: Cru) -> None:
    shown = cru("recall", "bucket").stdout
    assert "bucket" in shown.lower()
    assert "**bucket**" not in shown.lower()
    assert "\x1b[32m\x1b[1mbucket" in bare_cru("--vault", told.root, "--color", "recall", "bucket").stdout.lower()
    assert "Sessions" in shown
    bare = cru("recall", "bucket", "--context", "0").stdout
    assert len(bare.splitlines()) < len(shown.splitlines())
    assert "text " in cru("recall", "bucket", "--explain").stdout


def test_a_session_without_a_hit_shows_its_best_passage(vault: Vault, cru: Cru) -> None:
    write(vault, "s", note("s") + "\n## Work @codex\n\nA lamp.\n\nThe lamp, a lamp.\n")
    write(vault, "t", note("t") + "\n## Work @codex\n\nWhen the tide came in, the lamp of the pier went dark.\n")
    passages = {one["session"]: one["passage"] for one in found(cru, "lamp", "-n", "2")["sessions"]}
    assert passages["s"] is None
    assert passages["t"]["type"] == "agent"
    assert passages["t"]["id"].startswith("t#")
    last = cru("recall", "lamp", "-n", "2").stdout.splitlines()[-1]
    assert last == "      agent codex: When the tide came in, the lamp of the pier went dark."


def test_an_events_id_shows_all_of_it_and_what_stands_around_it(vault: Vault, cru: Cru) -> None:
    write(vault, "s", note("s") + "\n## Work @a\n\nBefore.\n\n```sh\nmake\n\n\tmake test\n```\n\nAfter.\n")
    (hit,) = found(cru, "make", "-n", "1")["hits"]
    whole = cru("recall", hit["id"], "--context", "1")
    assert "\n   Before.\n\n   ```sh\n   make\n\n   \tmake test\n   ```\n   agent: After.\n" in whole.stdout, (
        whole.stdout
    )
    again = found(cru, hit["id"])
    assert [(one["text"], one["path"], one["line"]) for one in again["hits"]] == [
        (hit["text"], "sessions/s.md", hit["line"])
    ]
    assert again["sessions"] == []


def test_a_hit_names_its_speaker_date_and_phase(vault: Vault, cru: Cru) -> None:
    head = note("s") + "\n## Phase 1: Work @claude-code@2.1.197\n\nThe parser was rewritten.\n\n"
    write(vault, "s", head + "> [!subagent] @Explore\n> Task: Find the lexer\n>\n> Found it.\n")
    hits = {hit["type"]: hit for hit in found(cru, "parser lexer")["hits"]}
    assert hits["agent"]["agent"] == "claude-code@2.1.197"
    shown = cru("recall", "parser lexer").stdout
    day = hits["agent"]["at"][:10]
    assert f"{day}  agent claude-code  s › Phase 1: Work" in shown, shown
    assert "  subagent Explore  s › Phase 1: Work" in shown
    (after,) = hits["agent"]["after"]
    assert (after["type"], after["agent"], after["at"][:10]) == ("subagent", "Explore", day)


def test_a_link_leads_to_the_phase_and_not_to_what_stands_in_code(vault: Vault, cru: Cru) -> None:
    write(vault, "s", note("s") + "\n## Work @a\n\n```md\n## no phase\n`````\n\nSunflowers.\n")
    (hit,) = found(cru, "sunflowers", "-n", "1")["hits"]
    assert hit["link"].endswith("s%23Work%20%40a")


def test_a_session_that_is_not_there_is_named(told: Vault, cru: Cru) -> None:
    result = cru("recall", "bucket", "--session", "2031")
    assert (result.exit_code, result.stdout) == (1, "")
    assert 'no session matches "2031"' in result.stderr


def test_an_id_that_no_event_has_any_more_is_said(told: Vault, cru: Cru) -> None:
    gone = cru("recall", "2026-11-21-limiter#00000000")
    assert (gone.exit_code, gone.stdout) == (1, "")
    assert 'no event matches "2026-11-21-limiter#00000000"' in gone.stderr


def test_filters_narrow(told: Vault, cru: Cru) -> None:
    every = found(cru, "bucket")["hits"]
    assert {hit["type"] for hit in found(cru, "bucket", "--type", "decision")["hits"]} <= {"decision"}
    assert found(cru, "bucket", "--since", "2030-01-01")["hits"] == []
    assert found(cru, "bucket", "--until", "2020-01-01")["hits"] == []
    assert found(cru, "bucket", "--project", "nothing-of-the-kind")["hits"] == []
    assert found(cru, "bucket", "--session", "2026-11-21")["hits"] == every
    assert len(found(cru, "bucket", "--limit", "1")["hits"]) == 1


def test_paths_and_toon(told: Vault, cru: Cru) -> None:
    assert cru("recall", "bucket", "--format", "paths").stdout.splitlines()[0].endswith("2026-11-21-limiter.md")
    assert cru("recall", "bucket", "--format", "toon").stdout.startswith("schema: 1\nhits[")
    assert cru("recall", "zzzqqq", "--format", "toon").stdout.startswith("schema: 1\nhits[0]{id,")


def test_nothing_found_is_said_and_is_no_failure(told: Vault, cru: Cru) -> None:
    result = cru("recall", "zzzqqq")
    assert result.exit_code == 0
    assert "nothing found" in result.stderr


def test_what_nobody_says_is_not_said_to_have_been_found(told: Vault, cru: Cru) -> None:
    nothing = cru("recall", '"zzz qqq"')
    assert "nothing found" in nothing.stderr
    assert "these have" not in nothing.stderr
    some = cru("recall", '"zzz bucket"')
    assert "no exact match; these match some of its words" in some.stderr


def test_a_word_to_be_left_out_is_quoted_with_the_others(told: Vault, cru: Cru) -> None:
    told_apart = cru("recall", "bucket", "-sliding")
    assert told_apart.exit_code == 2
    assert "cru recall 'retry -jitter'" in told_apart.stderr
    assert cru("recall", "bucket -sliding").exit_code == 0
    assert "quotes" not in cru("recall", "bucket", "--sliding").stderr


@pytest.mark.parametrize(
    "query",
    ["", "   ", "-", '"', "the of and", "'; DROP TABLE x; --", "\x1b[31m", "a" * 100_000, "NOT AND OR ()"],
)
def test_no_question_is_an_error(query: str, told: Vault, cru: Cru) -> None:
    result = cru("recall", "--format", "json", "--", query)
    assert result.exit_code == 0, result.stderr
    assert isinstance(json.loads(result.stdout)["hits"], list)


def test_recall_alone_says_how_to_ask(told: Vault, cru: Cru) -> None:
    alone = cru("recall")
    assert (alone.exit_code, alone.stdout) == (2, "")
    assert "--type decision" in alone.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("--type", "user"),
        ("--since", "2020-01-01"),
        ("--until", "2100-01-01"),
        ("--session", "2026-11"),
        ("--agent", "claude-code"),
    ],
)
def test_without_a_word_the_newest_of_what_is_narrowed_to_is_shown(
    args: tuple[str, ...], told: Vault, cru: Cru
) -> None:
    hits = found(cru, *args)["hits"]
    assert hits
    times = [hit["at"] for hit in hits]
    assert times == sorted(times, reverse=True)
    assert "  0.00" not in cru("recall", *args).stdout


@pytest.mark.parametrize("args", [(), ("-n", "3"), ("--explain",), ("--all-projects",), ("--format", "json")])
def test_with_neither_words_nor_filters_it_is_said_what_to_do(args: tuple[str, ...], told: Vault, cru: Cru) -> None:
    refused = cru("recall", *args)
    assert refused.exit_code == 2
    assert "no query" in refused.stderr
    assert "--type" in refused.stderr


def test_nothing_found_has_the_exit_code_and_the_silence_of_a_list(told: Vault, cru: Cru) -> None:
    for format_ in ("paths", "json", "toon"):
        nothing = cru("recall", "zzzqqq", "--format", format_)
        listed = cru("session", "list", "--where", "id = zzz", "--format", format_)
        assert (nothing.exit_code, nothing.stderr) == (listed.exit_code, listed.stderr) == (0, "")
    assert cru("recall", "zzzqqq", "--format", "paths").stdout == ""


@pytest.mark.parametrize("columns", [20, 40])
def test_a_narrow_terminal_breaks_no_word_and_no_link(
    columns: int, told: Vault, cru: Cru, cru_process: CruProcess
) -> None:
    cru("knowledge", "add", "pattern", "東京 buckets", "桶 " * 60 + "bucket", "--scope", "global")
    lines = on_a_terminal(cru_process, told, columns, "recall", "bucket", "--explain")
    broad = [line for line in lines if cell_len(line) > columns]
    assert all(len(line.split()) == 1 for line in broad), broad  # a word that is longer than a line
    assert any("bucket" in line.lower() for line in lines)
    assert not [line for line in lines if line and not line.strip()]
    assert any(line.strip().startswith("obsidian://") for line in lines)


def test_a_note_that_changes_is_found_by_its_new_words(told: Vault, cru: Cru) -> None:
    assert found(cru, "xylophone")["hits"] == []
    path = told.root / "sessions" / "2026-11-21-limiter.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nA xylophone was mentioned.\n", encoding="utf-8")
    assert found(cru, "xylophone")["hits"][0]["session"] == "2026-11-21-limiter"
    path.unlink()
    assert found(cru, "xylophone")["hits"] == []


def test_text_of_notes_does_not_steer_a_terminal(vault: Vault, cru: Cru) -> None:
    write(vault, "2026-11-21-limiter", LIMITER.replace("What it is for.", "What it is for."))
    path = vault.root / "sessions" / "2026-11-21-limiter.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nA gong \x1b]0;owned\x07\x1b[2J sounds.\n", encoding="utf-8")
    assert "\x1b" not in cru("recall", "gong").stdout
    assert "\x07" not in cru("recall", "gong").stdout


def test_no_model_and_no_network_is_asked(told: Vault, cru_process: CruProcess) -> None:
    # Whatever opens a socket fails.
    blocked = "import socket\ndef no(*_, **__): raise OSError('no network')\nsocket.socket.connect = no\n"
    (told.root.parent / "sitecustomize.py").write_text(blocked, encoding="utf-8")
    env = {"PYTHONPATH": f"{told.root.parent}:{ROOT}"}
    done = cru_process("--vault", told.root, "recall", "bucket", "--format", "json", env=env)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hits"]


def test_older_sessions_on_the_same_topic_are_folded_into_one_line(vault: Vault, cru: Cru) -> None:
    for day in ("19", "20", "21"):
        name = f"2026-11-{day}-quotas"
        body = f"## Work\n\nstarted:: 2026-11-{day}T10:00:00Z\n\nThe rate limiter counts requests of each customer.\n"
        write(vault, name, note(name, body, started=f"2026-11-{day}T10:00:00Z"))
    hit = found(cru, "rate limiter")["hits"][0]
    folded = [one["session"] for one in hit["also"]]
    assert (hit["session"], folded) == ("2026-11-21-quotas", ["2026-11-20-quotas", "2026-11-19-quotas"])
    shown = cru("recall", "rate", "limiter", "--limit", "1").stdout
    told = " ".join(shown.split())
    assert "also in 2 older sessions: 2026-11-20-quotas (2026-11-20), 2026-11-19-quotas (2026-11-19)" in told


def test_an_uncertain_answer_says_so_first(told: Vault, cru: Cru) -> None:
    question = ["which", "bucket", "do", "marketing", "newsletters", "want", "for", "summer", "headers?"]
    assert found(cru, *question)["uncertain"] is True
    shown = cru("recall", *question).stdout
    assert shown.startswith("Nothing certain: no event has enough of the query's rare words\n\n1. ")
    assert found(cru, "bucket")["uncertain"] is False
    assert "Nothing certain" not in cru("recall", "bucket").stdout


def test_words_in_the_title_of_an_item_make_an_answer_certain(told: Vault, cru: Cru) -> None:
    cru("knowledge", "add", "decision", "Retry with jitter", "At most five times.", "--scope", "global")
    assert found(cru, "jitter", "--type", "knowledge")["uncertain"] is False
