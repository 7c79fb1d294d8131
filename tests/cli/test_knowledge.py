"""`cru knowledge` as a user meets it, and feedback on what recall found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crucible.vault.store import Vault
from tests.cli.notes import LIMITER, note, write
from tests.running import Cru


@pytest.fixture
def known(vault: Vault, cru: Cru) -> Vault:
    write(vault, "2026-11-21-limiter", LIMITER)
    cru("knowledge", "add", "decision", "Retry with jitter", "At most five times.", "--project", "shop")
    cru("knowledge", "add", "pattern", "Locks around caches", "Two threads meet.", "--scope", "global")
    return vault


def item(vault: Vault, name: str) -> Path:
    return vault.root / "knowledge" / f"{name}.md"


def test_an_item_is_a_note_whose_path_is_printed(vault: Vault, cru: Cru) -> None:
    write(vault, "2026-11-21-limiter", LIMITER)
    result = cru(
        "knowledge", "add", "failure", "fts5 is missing", "No such module.", "--session", "2026-11-21-lim", "--phase", "phase-1",
        "--category", "knowledge_gap", "--resolution", "apk add sqlite", "--tag", "#sqlite", "--confidence", "0.8", "--project", "shop",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    path = Path(result.stdout.strip())
    assert path == item(vault, "fts5-is-missing")
    text = path.read_text(encoding="utf-8")
    for line in (
        "type: failure",
        'session: "[[2026-11-21-limiter]]"',
        "category: knowledge_gap",
        "confidence: 0.8",
    ):
        assert line in text
    assert (vault.root / "Knowledge.base").is_file()
    assert cru("knowledge", "check").exit_code == 0


def test_what_is_known_is_skipped_and_named(known: Vault, cru: Cru) -> None:
    again = cru("knowledge", "add", "decision", "retry with JITTER.", "other words", "--project", "shop")
    assert again.exit_code == 0
    assert "retry-with-jitter" in again.stderr
    assert len(list((known.root / "knowledge").glob("*.md"))) == 2


def test_what_is_alike_waits_for_a_choice(known: Vault, cru: Cru) -> None:
    args = (
        "knowledge",
        "add",
        "decision",
        "Jittered retry",
        "Retry with jitter at most five times.",
        "--project",
        "shop",
    )
    waits = cru(*args)
    assert waits.exit_code == 1
    assert "--if-alike" in waits.stderr
    told = json.loads(cru(*args, "--format", "json").stdout)
    assert told["outcome"] == "alike"
    assert told["alike"][0]["id"] == "retry-with-jitter"
    assert cru(*args, "--if-alike", "skip").exit_code == 0
    assert len(list((known.root / "knowledge").glob("*.md"))) == 2
    assert cru(*args, "--if-alike", "keep_both").exit_code == 0
    assert len(list((known.root / "knowledge").glob("*.md"))) == 3


def test_lists_are_as_somebody_sees_them(known: Vault, cru: Cru) -> None:
    def ids(*args: str) -> list[str]:
        return [row["id"] for row in json.loads(cru("knowledge", "list", "--format", "json", *args).stdout)]

    assert ids() == ["retry-with-jitter", "locks-around-caches"]
    assert ids("--project", "shop") == ids()
    assert ids("--project", "site") == ids("--global") == ["locks-around-caches"]
    assert ids("--type", "pattern") == ["locks-around-caches"]
    assert (
        cru("knowledge", "list", "--format", "paths").stdout.splitlines()[0].endswith("retry-with-jitter.md")
    )


def test_recall_finds_knowledge_by_weight_and_feedback_counts(known: Vault, cru: Cru) -> None:
    def score() -> float:
        answer = json.loads(
            cru(
                "recall",
                "jitter",
                "--kind",
                "knowledge",
                "--project",
                "shop",
                "--explain",
                "--format",
                "json",
            ).stdout
        )
        (hit,) = answer["hits"]
        assert hit["id"] == "retry-with-jitter"
        assert {"type", "freshness", "usefulness"} <= hit["parts"].keys()
        return float(hit["score"])

    before = score()
    bytes_before = item(known, "retry-with-jitter").read_text(encoding="utf-8").split("\n")
    assert cru("recall", "feedback", "retry-with", "--not-useful").exit_code == 0
    after = item(known, "retry-with-jitter").read_text(encoding="utf-8").split("\n")
    changed = {line.partition(":")[0] for line in {*after} ^ {*bytes_before}}
    assert changed <= {"use_count", "useful_count", "last_used"}
    assert score() < before
    cru("recall", "feedback", "retry-with", "--useful")
    told = json.loads(cru("knowledge", "stats", "--format", "json").stdout)
    assert (told["uses"], told["useful"]) == (2, 1)


def test_another_projects_knowledge_is_not_found(known: Vault, cru: Cru) -> None:
    seen = json.loads(
        cru("recall", "jitter", "--kind", "knowledge", "--project", "site", "--format", "json").stdout
    )
    assert seen["hits"] == []


def test_everybodys_knowledge_is_found_from_a_project(known: Vault, cru: Cru) -> None:
    told = cru("knowledge", "search", "locks around caches", "--project", "site", "--format", "json").stdout
    assert [hit["id"] for hit in json.loads(told)["hits"]] == ["locks-around-caches"]


def test_a_second_note_of_a_name_makes_the_first_no_less_hidden(known: Vault, cru: Cru) -> None:
    sub = known.root / "knowledge" / "sub"
    sub.mkdir()
    open_to_all = item(known, "locks-around-caches").read_text(encoding="utf-8")
    (sub / "retry-with-jitter.md").write_text(open_to_all, encoding="utf-8")
    told = cru("knowledge", "search", "jitter", "--project", "site", "--format", "json").stdout
    assert json.loads(told)["hits"] == []


def test_a_retired_item_is_not_recalled_until_it_is_back(known: Vault, cru: Cru) -> None:
    search = ("knowledge", "search", "jitter", "--project", "shop", "--format", "json")
    assert json.loads(cru(*search).stdout)["hits"]
    assert cru("knowledge", "retire", "retry-with", "--because", "the client does it").exit_code == 0
    assert json.loads(cru(*search).stdout)["hits"] == []
    assert "the client does it" in cru("knowledge", "show", "retry-with").stdout
    assert cru("knowledge", "retire", "retry-with", "--undo").exit_code == 0
    assert json.loads(cru(*search).stdout)["hits"]


def test_verifying_says_how(known: Vault, cru: Cru) -> None:
    assert cru("knowledge", "verify", "locks", "--how", "pytest -k cache").exit_code == 0
    text = item(known, "locks-around-caches").read_text(encoding="utf-8")
    assert "verified: true" in text
    assert "pytest -k cache" in text


def test_no_secret_is_kept(vault: Vault, cru: Cru) -> None:
    key = "sk-ant-api03-" + "Zx9" * 31 + "AA"
    result = cru("knowledge", "add", "observation", "The key", f"It is {key}.", "--scope", "global")
    assert result.exit_code == 0
    assert "1 secret" in result.stderr
    assert key not in item(vault, "the-key").read_text(encoding="utf-8")


def test_a_broken_note_is_named_never_dropped_in_silence(known: Vault, cru: Cru) -> None:
    item(known, "broken").write_text("---\ntype: [\n---\n\n# Broken\n", encoding="utf-8")
    check = cru("knowledge", "check")
    assert check.exit_code == 3
    assert "knowledge/broken.md:" in check.stdout
    listed = cru("knowledge", "list")
    assert listed.exit_code == 3
    assert "not understood" in listed.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("add", "wisdom", "x"),
        ("add", "decision", "x", "--category", "knowledge_gap"),
        ("add", "decision", "x", "--phase", "phase-1"),
        ("add", "decision", "x", "--scope", "domain"),
        ("add", "decision", "   "),
        ("add", "decision", "x", "--confidence", "2"),
        ("list", "--global", "--project", "shop"),
        ("retire", "nothing"),
        ("retire", "retry", "--because", "x", "--undo"),
        ("verify", "nothing"),
    ],
)
def test_what_makes_no_sense_is_refused(args: tuple[str, ...], known: Vault, cru: Cru) -> None:
    result = cru("knowledge", *args)
    assert result.exit_code == 2, result.stderr
    assert "Traceback" not in result.stderr


def test_standard_input_can_be_the_text(vault: Vault, cru: Cru) -> None:
    write(vault, "2026-11-20-other", note("2026-11-20-other"))
    result = cru("knowledge", "add", "observation", "From a pipe", "-", "--scope", "global")
    assert result.exit_code == 0
