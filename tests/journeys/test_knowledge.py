"""`cru knowledge` as a user meets it, and feedback on what recall found."""

from __future__ import annotations

import json
import os
import pty
import re
from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.journeys.notes import LIMITER, note, write
from tests.journeys.terminals import on_a_terminal
from tests.running import Cru, CruProcess


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """We are in a folder that is no project's; `enter` makes one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def enter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make it a git repository, and go there."""
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


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
        'session: "[[sessions/2026-11-21-limiter|2026-11-21-limiter]]"',
        'phase: "[[sessions/2026-11-21-limiter#Write the bucket @claude-code@2.1.197 dev|phase-1]]"',
        "category: knowledge_gap",
        "confidence: 0.8",
    ):
        assert line in text
    assert cru("knowledge", "check").exit_code == 0


def test_what_is_known_is_skipped_and_named(known: Vault, cru: Cru) -> None:
    again = cru("knowledge", "add", "decision", "retry with JITTER.", "other words", "--project", "shop")
    assert again.exit_code == 0
    assert again.stderr.startswith("not added: knowledge/retry-with-jitter.md says the same: ")
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
    assert waits.stderr.count("Retry with jitter") == 1
    told = json.loads(cru(*args, "--format", "json").stdout)
    assert told["outcome"] == "alike"
    assert told["alike"][0]["id"] == "retry-with-jitter"
    assert cru(*args, "--if-alike", "skip").exit_code == 0
    assert len(list((known.root / "knowledge").glob("*.md"))) == 2
    assert cru(*args, "--if-alike", "keep_both").exit_code == 0
    assert len(list((known.root / "knowledge").glob("*.md"))) == 3


def test_a_mistyped_choice_is_answered_with_the_words_that_are_taken(known: Vault, cru_process: CruProcess) -> None:
    main, side = pty.openpty()
    os.write(main, b"k\nskip\n")
    args = ("decision", "Jittered retry", "Retry with jitter at most five times.", "--project", "shop")
    done = cru_process(
        "--vault",
        known.root,
        "knowledge",
        "add",
        *args,
        stdin=side,
        stdout=side,
        stderr=side,
        capture_output=False,
    )
    told = os.read(main, 65_536).decode()
    os.close(side)
    os.close(main)
    assert done.returncode == 0, told
    assert "'k' is not one of 'merge', 'keep_both', 'skip'" in told
    assert "not added: " in told


def test_an_event_of_a_session_takes_no_feedback(known: Vault, cru: Cru) -> None:
    refused = cru("knowledge", "feedback", "2026-11-21-limiter#0123abcd", "--useful")
    assert refused.exit_code == 2
    assert "events of sessions take no feedback" in refused.stderr
    item(known, "retry-with-jitter").rename(item(known, "retry-in-c#"))
    assert cru("knowledge", "feedback", "retry-in-c#", "--useful").exit_code == 0


def test_what_is_kept_is_told_by_its_path_and_for_whom(vault: Vault, cru: Cru) -> None:
    kept = cru("knowledge", "add", "pattern", "Look twice", "At locks.")
    assert kept.stdout.strip().endswith("knowledge/look-twice.md")
    assert kept.stderr == "scope: global\n"


def test_lists_are_as_somebody_sees_them(known: Vault, cru: Cru) -> None:
    def ids(*args: str) -> list[str]:
        return [
            row["id"] for row in json.loads(cru("knowledge", "list", "--format", "json", *args).stdout)["knowledge"]
        ]

    assert ids() == ["retry-with-jitter", "locks-around-caches"]
    assert ids("--project", "shop") == ids()
    assert ids("--project", "site") == ids("--global") == ["locks-around-caches"]
    assert ids("--type", "pattern") == ["locks-around-caches"]
    assert cru("knowledge", "list", "--format", "paths").stdout.splitlines()[0].endswith("retry-with-jitter.md")


def test_recall_finds_knowledge_by_weight_and_feedback_counts(known: Vault, cru: Cru) -> None:
    def score() -> float:
        answer = json.loads(
            cru(
                "recall",
                "jitter",
                "--type",
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
    assert cru("knowledge", "feedback", "retry-with", "--not-useful").exit_code == 0
    after = item(known, "retry-with-jitter").read_text(encoding="utf-8").split("\n")
    changed = {line.partition(":")[0] for line in {*after} ^ {*bytes_before}}
    assert changed <= {"use_count", "useful_count", "last_used"}
    assert score() < before
    assert "neither --useful nor --not-useful" in cru("knowledge", "feedback", "retry-with").stderr
    cru("knowledge", "feedback", "retry-with", "--useful")
    told = json.loads(cru("knowledge", "stats", "--format", "json").stdout)
    assert (told["uses"], told["useful"]) == (2, 1)


def test_another_projects_knowledge_is_not_found(known: Vault, cru: Cru) -> None:
    seen = json.loads(cru("recall", "jitter", "--type", "knowledge", "--project", "site", "--format", "json").stdout)
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
    assert cru("knowledge", "retire", "retry-with", "--reason", "the client does it").exit_code == 0
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
    assert "not valid" in listed.stderr


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
        ("retire", "retry", "--reason", "x", "--undo"),
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


# --- for whom ---------------------------------------------------------------------------------------------------------


def ids(cru: Cru, *args: str) -> list[str]:
    told = json.loads(cru("knowledge", *args, "--format", "json").stdout)
    return [row["id"] for row in told["hits" if "hits" in told else "knowledge"]]


def test_what_is_kept_in_a_projects_folder_is_seen_there_and_nowhere_else(
    known: Vault, cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(tmp_path / "site", monkeypatch)
    added = cru("knowledge", "add", "pattern", "Static pages first")
    assert "scope: project site" in added.stderr
    for sub in ("", "deep"):
        (tmp_path / "site" / sub).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / "site" / sub)
        assert sorted(ids(cru, "list")) == ["locks-around-caches", "static-pages-first"]
        assert ids(cru, "search", "static", "pages") == ["static-pages-first"]
    enter(tmp_path / "shop", monkeypatch)
    assert "static-pages-first" not in ids(cru, "list")
    assert ids(cru, "search", "static", "pages") == []
    assert ids(cru, "search", "static", "pages", "--all-projects") == ["static-pages-first"]
    assert "Static pages first" in cru("recall", "static", "pages", "--all-projects").stdout
    assert len(ids(cru, "list", "--all-projects")) == 3
    assert cru("knowledge", "show", "static").exit_code == 0


def test_the_vaults_own_folder_sees_everything_and_keeps_for_everybody(
    known: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(known.root, monkeypatch)
    assert len(ids(cru, "list")) == 2
    assert "scope: global" in cru("knowledge", "add", "pattern", "Small commits").stderr
    assert "scope: global" in item(known, "small-commits").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("args", "whom", "lines"),
    [
        ((), "global", ["scope: global"]),
        (("--project", "shop"), "project shop", ["scope: project", "project: shop"]),
        (("--scope", "project"), "project here", ["scope: project", "project: here"]),
        (("--domain", "css"), "domain css", ["scope: domain", "domain: css"]),
        (("--project", "shop", "--domain", "css"), "project shop", ["project: shop", "domain: css"]),
        (("--scope", "global", "--project", "shop"), "global", ["scope: global", "project: shop"]),
    ],
)
def test_adding_says_for_whom_it_is_kept(
    args: tuple[str, ...],
    whom: str,
    lines: list[str],
    vault: Vault,
    cru: Cru,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    added = cru("knowledge", "add", "pattern", "Grids", *args)
    assert f"scope: {whom}\n" in added.stderr
    assert {*lines} <= {*item(vault, "grids").read_text(encoding="utf-8").split("\n")}
    scope = lines[0].partition(" ")[2] if "scope" in lines[0] else "project"
    assert json.loads(cru("knowledge", "add", "pattern", "Rows", *args, "--format", "json").stdout)["scope"] == scope


def test_where_others_are_hidden_it_is_said_how_to_see_them(
    known: Vault, cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(tmp_path / "site", monkeypatch)
    assert "visible to project site; 1 from other projects hidden (--all-projects)" in cru("knowledge", "list").stderr
    none = cru("knowledge", "list", "--type", "decision").stderr
    assert "no items visible to project site; 1 from other projects hidden (--all-projects)" in none
    assert "no matching items" in cru("knowledge", "list", "--type", "evidence").stderr
    for command in (("knowledge", "search", "jitter"), ("recall", "jitter", "--type", "knowledge")):
        told = cru(*command).stderr
        assert "project site" in told
        assert "--all-projects" in told
        assert cru(*command, "--project", "site").stderr.startswith("nothing found for project site;")
        assert cru(*command, "--all-projects").stderr == ""
    everything = cru("recall", "zzzqqq").stderr
    assert "knowledge limited to project site; --all-projects shows all" in everything
    assert "project" not in cru("recall", "zzzqqq", "--session", "2026").stderr


@pytest.mark.parametrize(
    "args",
    [
        ("recall", "x", "--project", "a"),
        ("knowledge", "search", "x", "--project", "a"),
        ("knowledge", "list", "--project", "a"),
        ("knowledge", "list", "--domain", "a"),
        ("knowledge", "list", "--global"),
    ],
)
def test_all_projects_and_one_exclude_each_other(args: tuple[str, ...], vault: Vault, cru: Cru) -> None:
    refused = cru(*args, "--all-projects")
    assert refused.exit_code == 2
    assert "cannot be used" in refused.stderr


def test_what_did_not_hold_is_in_the_note_and_listed_until_it_does(known: Vault, cru: Cru) -> None:
    assert ids(cru, "list", "--to-verify") == []
    done = cru("knowledge", "verify", "locks", "--failed", "--how", "two threads wrote", "--agent", "ann")
    assert "failed verification" in done.stderr
    assert "by ann: two threads wrote" in item(known, "locks-around-caches").read_text(encoding="utf-8")
    assert ids(cru, "list", "--to-verify") == ["locks-around-caches"]
    assert cru("knowledge", "check").exit_code == 0
    cru("knowledge", "verify", "locks")
    assert ids(cru, "list", "--to-verify") == []
    assert "by ann: two threads wrote" in item(known, "locks-around-caches").read_text(encoding="utf-8")


def test_an_old_item_is_listed_to_be_verified(known: Vault, cru: Cru) -> None:
    path = item(known, "locks-around-caches")
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r'(created|updated): "\d{4}', r'\1: "2020', text), encoding="utf-8")
    assert ids(cru, "list", "--to-verify") == ["locks-around-caches"]


def test_an_item_of_a_title_alone_is_found(vault: Vault, cru: Cru) -> None:
    cru("knowledge", "add", "decision", "Use a ring buffer")
    for asked in (("ring", "buffer"), ("--type", "knowledge")):
        shown = cru("recall", *asked)
        assert "Use a ring buffer" in shown.stdout, shown.stderr


@pytest.mark.parametrize("columns", [40, 50])
def test_a_list_fits_a_narrow_terminal(columns: int, known: Vault, cru_process: CruProcess) -> None:
    lines = on_a_terminal(cru_process, known, columns, "knowledge", "list", "--all-projects")
    assert max(map(len, lines)) <= columns
    assert " ".join(lines).split()[-1] == "locks-around-caches"
    assert {"id", "retry-with-jitter"} <= {*" ".join(lines).split()}


def test_two_items_become_one_and_the_other_leads_there(known: Vault, cru: Cru) -> None:
    assert (
        cru("knowledge", "add", "decision", "Wait longer each time", "Twice as long.", "--project", "shop").exit_code
        == 0
    )
    merged = cru("knowledge", "merge", "retry-with", "wait-longer")
    assert merged.exit_code == 0, merged.stderr
    assert "Twice as long." in item(known, "retry-with-jitter").read_text(encoding="utf-8")
    gone = item(known, "wait-longer-each-time").read_text(encoding="utf-8")
    assert "status: retired" in gone
    assert "merged into [[knowledge/retry-with-jitter|retry-with-jitter]]" in gone
    assert cru("knowledge", "merge", "retry-with", "retry-with").exit_code == 2
    assert cru("knowledge", "check").exit_code == 0
