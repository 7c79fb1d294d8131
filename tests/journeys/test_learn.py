"""`cru session learn` as a user meets it, on the sessions of real clients."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from crucible.clients.registry import DIALECTS
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.imports import import_transcripts
from crucible.commands.learn import gathering_processes as learning
from crucible.documents.markdown.wikilinks import strip_heading_for_link
from crucible.vault.notes.init_vault import init_vault
from crucible.vault.notes.vault import Vault
from tests.paths import TESTS
from tests.running import Cru, CruProcess
from tests.saying import program

DATA = TESTS / "data" / "transcripts"
ALL = 10
"""Cases of the sessions here."""

KEY = "sk-ant-api03-" + "Zx9" * 31 + "AA"


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both scenarios, played by Claude Code."""
    return _imported(tmp_path_factory.mktemp("real") / "vault", "claude-code")


def _imported(root: Path, *clients: str) -> Path:
    init_vault(root)
    vault = Vault(root)
    for client in clients:
        options = ImportOptions(datetime(2026, 12, 1, tzinfo=UTC))
        import_transcripts(
            vault, DIALECTS[client], [DATA / client / name for name in ("limiter", "retry")], options=options
        )
    for path in vault.session_paths():
        text = path.read_text(encoding="utf-8")
        told = next((told for title, told in TOLD.items() if f"\n# {title}" in text), None)
        if told and "\nparent:" not in text:
            path.write_text(_noted(text, *told), encoding="utf-8")
    return root


TOLD = {
    "Add a rate limiter": (
        "It must be per user, not global",
        """> [!error]
> FAILED test_limiter.py::test_third - AssertionError: the third take is refused
> Cause: last starts at 0
> Resolution: The bucket starts from time.monotonic() in limiter.py

> [!decision]
> a token bucket
> Rationale: it needs constant memory per key
> Alternatives: a sliding log

> [!decision]
> a dict of buckets keyed by user id
> Rationale: each user has a limit of their own
""",
    ),
    "Fix the retry bug": (
        "No, jitter must never be zero. Add a floor.",
        """> [!error]
> retry failed: connection reset
> Resolution: It is tried again with a backoff, in retry.py

> [!decision]
> exponential backoff with jitter
> Rationale: it prevents a thundering herd on recovery
""",
    ),
}
"""What somebody noted in the sessions: a correction's words, and callouts at the end of the first phase."""


def _noted(text: str, words: str, callouts: str) -> str:
    text = text.replace("\n---\n\n## ", f"\n{callouts}\n---\n\n## ", 1)
    if f'correction: "{words}"' in text:
        return text
    head, mark, rest = text.partition("> [!findings]")
    title, _, items = rest.partition("\n")
    return f'{head}{mark}{title}\n> - correction: "{words}"\n{items}'


@pytest.fixture
def vault(real: Path, tmp_path: Path) -> Vault:
    shutil.copytree(real, tmp_path / "vault")
    return Vault(tmp_path / "vault")


def export(cru: Cru, *args: str | Path) -> list[dict[str, Any]]:
    """The rows that go to stdout."""
    result = cru("session", "learn", "--export", "jsonl", *args)
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def counts(result: Result) -> dict[str, int]:
    assert result.exit_code == 0, result.stderr
    return {row["type"]: row["cases"] for row in json.loads(result.stdout)["types"]}


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["metadata"]["id"] for row in rows]


def one_of(vault: Vault, start: str) -> Path:
    """A session's note whose id begins so, the shortest."""
    return min(
        (path for path in vault.session_paths() if path.name.startswith(start)),
        key=lambda path: len(path.name),
    )


def kept(vault: Vault, type_: str) -> Path:
    return min((vault.root / "cases").glob(f"*-{type_}-*.md"))


# --- what there is ---------------------------------------------------------------------------------------------------


def test_without_an_export_cases_are_counted_by_type(cru: Cru) -> None:
    found = counts(cru("session", "learn", "--all", "--format", "json"))
    assert found == {"puzzle": 2, "correction": 2, "decision": 3, "delegation": 2, "workflow": 1, "all": ALL}
    table = cru("session", "learn", "--all")
    assert table.stdout.splitlines()[0].split()[:3] == ["type", "cases", "verified"]
    assert "5 sessions read" in table.stderr
    assert not (cru.vault.root / "cases").exists()  # type: ignore[union-attr]


def test_one_sessions_cases_are_counted_in_numbers(cru: Cru, vault: Vault) -> None:
    for path in vault.session_paths():
        result = cru("session", "learn", path.stem, "--format", "json")
        for row in json.loads(result.stdout)["types"]:
            assert {type(row[key]) for key in ("cases", "verified", "open", "tokens")} == {int}, row


def test_toon_is_a_format_too(cru: Cru) -> None:
    assert cru("session", "learn", "--all", "--format", "toon").stdout.startswith("schema: 1\ntypes[6]{type,")


def test_a_session_comes_with_its_subagents(cru: Cru, vault: Vault) -> None:
    name = one_of(vault, "2026-11-21-add-rate").stem
    rows = export(cru, name)
    sessions = {row["metadata"]["session"] for row in rows}
    assert sessions == {name}
    assert [row["metadata"]["type"] for row in rows].count("puzzle") == 1
    assert "3 sessions read" in cru("session", "learn", name).stderr


def test_filters_choose_sessions(bare_cru: Cru, tmp_path: Path) -> None:
    cru = bare_cru / Vault(_imported(tmp_path / "both", "claude-code", "codex"))
    everything = counts(cru("session", "learn", "--all", "--format", "json"))
    claude = counts(cru("session", "learn", "--agent", "claude-code", "--format", "json"))
    codex = counts(cru("session", "learn", "--agent", "codex", "--format", "json"))
    assert {name: claude[name] + codex[name] for name in claude} == everything
    assert claude["all"]
    assert codex["all"]
    assert counts(cru("session", "learn", "--all", "--since", "2030-01-01", "--format", "json"))["all"] == 0


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("--all", "2026-11-21-fix"),
        ("2026-11-21-fix", "--status", "completed"),
        ("--all", "--shape", "messages"),
        ("--all", "--export", "markdown", "-o", "there"),
        ("--all", "--export", "puzzle", "-o", "-"),
        ("--all", "--export", "puzzle", "--split", "train=1"),
        ("--all", "--export", "jsonl", "--split", "train=0.5"),
        ("--all", "--export", "jsonl", "--force"),
        ("--all", "--min-tokens", "5", "--max-tokens", "4"),
        ("--all", "--judge"),
        ("--all", "--export", "jsonl", "-o", "rows.txt"),
        ("--all", "--seed", "3"),
        ("--all", "--export", "jsonl", "--seed", "3"),
        ("--all", "--export", "jsonl", "--format", "json"),
        ("--all", "--export", "jsonl", "-o", "-", "--format", "toon"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_way_out(args: tuple[str, ...], cru: Cru) -> None:
    result = cru("session", "learn", *args)
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 2, result.stderr
    assert result.stdout == ""


# --- which of them ---------------------------------------------------------------------------------------------------


def test_cases_are_chosen_by_type_tokens_and_verification(cru: Cru) -> None:
    rows = export(cru, "--all")
    puzzles = export(cru, "--all", "--type", "puzzle", "--type", "correction")
    assert ids(puzzles) == [
        row["metadata"]["id"] for row in rows if row["metadata"]["type"] in {"puzzle", "correction"}
    ]
    short = export(cru, "--all", "--max-tokens", "200")
    long = export(cru, "--all", "--min-tokens", "201")
    assert short
    assert long
    assert sorted(ids(short) + ids(long)) == sorted(ids(rows))
    verified = export(cru, "--all", "--verified")
    assert ids(verified) == [row["metadata"]["id"] for row in rows if row["metadata"]["verified"]]
    assert 0 < len(verified) < len(rows)


def test_the_same_export_has_the_same_bytes(cru: Cru, tmp_path: Path) -> None:
    once = cru("session", "learn", "--all", "--export", "jsonl").stdout
    again = cru("session", "learn", "--all", "--export", "jsonl").stdout
    filed = cru("session", "learn", "--all", "--export", "jsonl", "-o", tmp_path / "rows.jsonl")
    assert once == again == (tmp_path / "rows.jsonl").read_text(encoding="utf-8")
    assert filed.stdout.splitlines() == [str(tmp_path / "rows.jsonl"), str(tmp_path / "README.md")]


def test_a_limit_takes_the_first_ones_and_with_a_seed_a_sample(cru: Cru) -> None:
    rows = ids(export(cru, "--all"))
    assert ids(export(cru, "--all", "--limit", "3")) == rows[:3]
    sample = ids(export(cru, "--all", "--limit", "5", "--seed", "7"))
    assert len(sample) == 5
    assert sample == [one for one in rows if one in sample]
    assert sample == ids(export(cru, "--all", "--limit", "5", "--seed", "7"))
    drawn = {tuple(ids(export(cru, "--all", "--limit", "5", "--seed", str(seed)))) for seed in range(4)}
    assert len(drawn) > 1
    assert set(sample) < set(ids(export(cru, "--all", "--limit", "9", "--seed", "7")))


def test_duplicates_go_and_are_counted(cru: Cru, vault: Vault) -> None:
    shutil.rmtree(vault.root / ".crucible" / "archive")  # of what only one of them has whole, no two are the same
    path = one_of(vault, "2026-11-21-fix")
    twin = path.with_name("2026-11-22-again.md")
    twin.write_bytes(path.read_bytes().replace(f"session_id: {path.stem}".encode(), b"session_id: 2026-11-22-again"))
    before = ids(export(cru, "--all", "--type", "correction"))
    result = cru("session", "learn", "--all", "--type", "correction", "--export", "jsonl", "--dedupe", "exact")
    left = ids([json.loads(line) for line in result.stdout.splitlines()])
    assert set(left) < set(before)
    assert not any(one.startswith("2026-11-22-again") for one in left)
    assert f"{len(before) - len(left)} duplicate" in result.stderr
    near = ids(export(cru, "--all", "--type", "correction", "--dedupe", "near"))
    assert set(near) <= set(left)


# --- rows ------------------------------------------------------------------------------------------------------------


def test_no_family_of_sessions_stands_in_two_splits(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    sides: dict[str, set[str]] = {}
    parents = {path.stem: vault.read(path).session.parent for path in vault.session_paths()}
    seen = set()
    for seed in range(8):
        out = tmp_path / str(seed)
        done = cru(
            "session",
            "learn",
            "--all",
            "--export",
            "jsonl",
            "--split",
            "train=0.5,test=0.5",
            "--seed",
            str(seed),
            "-o",
            out,
        )
        assert done.exit_code == 0, done.stderr
        sides = {}
        for path in out.glob("*.jsonl"):
            for line in path.read_text(encoding="utf-8").splitlines():
                session = json.loads(line)["metadata"]["session"]
                sides.setdefault(parents[session] or session, set()).add(path.stem)
        assert all(len(splits) == 1 for splits in sides.values()), sides
        seen.add(frozenset(next(iter(splits)) for splits in sides.values()))
    assert frozenset({"train", "test"}) in seen


def test_sessions_that_go_on_with_each_other_stay_together(cru: Cru, vault: Vault) -> None:
    first, second = one_of(vault, "2026-11-21-fix"), one_of(vault, "2026-11-21-add")
    text = second.read_text(encoding="utf-8")
    second.write_text(text.replace("\nstatus:", f'\ncontinues: "[[{first.stem}]]"\nstatus:', 1), encoding="utf-8")
    for seed in range(6):
        rows = export(cru, "--all", "--split", "a=0.5,b=0.5", "--seed", str(seed))
        split = {row["metadata"]["session"]: row["metadata"]["split"] for row in rows}
        assert split[first.stem] == split[second.stem]


def test_licence_and_source_stand_in_every_row_and_on_the_card(cru: Cru, tmp_path: Path) -> None:
    cru("session", "learn", "--all", "--export", "jsonl", "--licence", "cc-by-4.0", "-o", tmp_path / "out")
    rows = [json.loads(line) for line in (tmp_path / "out" / "train.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {(row["metadata"]["licence"], row["metadata"]["source"]) for row in rows} == {("cc-by-4.0", "vault")}
    assert "license: " in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    bare = export(cru, "--all", "--no-metadata")
    assert all("metadata" not in row for row in bare)


@pytest.mark.parametrize(
    ("shape", "columns"),
    [
        ("messages", {"messages"}),
        ("preference", {"prompt", "chosen", "rejected"}),
        ("prompt-completion", {"prompt", "completion"}),
        ("tools", {"messages", "tools"}),
        ("sharegpt", {"conversations"}),
    ],
)
def test_each_shape_has_its_columns(shape: str, columns: set[str], cru: Cru) -> None:
    rows = export(cru, "--all", "--shape", shape)
    assert rows
    assert all(row.keys() == columns | {"metadata"} for row in rows)


def test_files_are_told_as_json(cru: Cru, tmp_path: Path) -> None:
    result = cru("session", "learn", "--all", "--export", "jsonl", "-o", tmp_path / "o.jsonl", "--format", "json")
    told = json.loads(result.stdout)
    assert told["rows"] == told["files"][0]["rows"] == ALL
    assert Path(told["card"]).is_file()


def test_a_pipe_that_closes_early_is_no_failure_of_ours(cru_process: CruProcess, vault: Vault) -> None:
    done = cru_process("--vault", vault.root, "session", "learn", "--all", "--export", "jsonl")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == ALL
    line = shlex.join([sys.executable, "-m", "crucible", "--vault", str(vault.root), "session", "learn", "--all"])
    assert os.system(f"{line} --export jsonl 2>/dev/null | head -n1 >/dev/null") == 0


def test_rows_made_by_many_processes_are_those_of_one(cru: Cru, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    cru("session", "learn", "--all", "--export", "markdown")
    yes, no = kept(vault, "puzzle").stem, kept(vault, "correction").stem
    cru("case", "accept", yes)
    cru("case", "reject", no)
    ways = (("--all",), ("--all", "--accepted"), ("--all", "--split", "a=0.5,b=0.5"))
    alone = [cru("session", "learn", *way, "--export", "jsonl") for way in ways]
    monkeypatch.setattr(learning, "_MANY", 1)
    monkeypatch.setattr(learning, "cores", lambda: 2)
    monkeypatch.setattr(learning, "_CHUNK", 3)
    shared = [cru("session", "learn", *way, "--export", "jsonl") for way in ways]
    assert [one.stdout for one in shared] == [one.stdout for one in alone]
    assert [one.stderr for one in shared] == [one.stderr for one in alone]
    assert ids([json.loads(line) for line in shared[1].stdout.splitlines()]) == [yes]


# --- notes, and what a human says of them ----------------------------------------------------------------------------


def test_notes_are_written_once_and_then_as_they_were(cru: Cru, vault: Vault) -> None:
    first = cru("session", "learn", "--all", "--export", "markdown")
    assert first.exit_code == 0
    assert len(first.stdout.splitlines()) == ALL
    again = cru("session", "learn", "--all", "--export", "markdown", "--format", "json")
    told = json.loads(again.stdout)
    assert {name: len(paths) for name, paths in told.items() if name != "schema"} == {
        "new": 0,
        "replaced": 0,
        "same": ALL,
        "left": 0,
    }
    assert cru("case", "check").exit_code == 0


def test_a_note_links_to_its_session_and_phase(cru: Cru, vault: Vault) -> None:
    cru("session", "learn", "--all", "--type", "puzzle", "--export", "markdown")
    text = kept(vault, "puzzle").read_text(encoding="utf-8")
    link = next(line for line in text.splitlines() if line.startswith("From [["))
    target, _, heading = link.removeprefix("From [[").partition("|")[0].partition("#")
    note = (vault.root / f"{target}.md").read_text(encoding="utf-8")
    headings = [line.lstrip("#").strip() for line in note.splitlines() if line.startswith("##")]
    assert strip_heading_for_link(heading) in map(strip_heading_for_link, headings)


def test_untouched_notes_change_no_byte_of_an_export(cru: Cru) -> None:
    before = cru("session", "learn", "--all", "--export", "jsonl").stdout
    cru("session", "learn", "--all", "--export", "markdown")
    assert cru("session", "learn", "--all", "--export", "jsonl").stdout == before


def test_an_edit_of_a_note_is_what_is_exported(cru: Cru, vault: Vault) -> None:
    before = export(cru, "--all")
    cru("session", "learn", "--all", "--export", "markdown")
    path = kept(vault, "decision")
    text = path.read_text(encoding="utf-8")
    head, section, rest = text.partition("## Choice\n\n")
    path.write_text(f"{head}{section}Take the leaky bucket\n\n{rest.split(chr(10), 2)[2]}", encoding="utf-8")
    after = {row["metadata"]["id"]: row for row in export(cru, "--all")}
    was = {row["metadata"]["id"]: row for row in before}
    changed = [one for one in was if after[one] != was[one]]
    assert changed == [path.stem]
    assert "Take the leaky bucket" in json.dumps(after[path.stem]["messages"])
    cru("session", "learn", "--all", "--export", "markdown")
    assert "Take the leaky bucket" in path.read_text(encoding="utf-8")


def test_rejected_cases_go_nowhere_and_accepted_ones_can_go_alone(cru: Cru, vault: Vault) -> None:
    cru("session", "learn", "--all", "--export", "markdown")
    yes, no = kept(vault, "puzzle").stem, kept(vault, "correction").stem
    cru("case", "accept", yes)
    cru("case", "reject", no)
    rows = export(cru, "--all")
    assert yes in ids(rows)
    assert no not in ids(rows)
    only = export(cru, "--all", "--accepted")
    assert ids(only) == [yes]
    assert only[0]["metadata"]["review"] == "accepted"
    told = json.loads(cru("session", "learn", "--all", "--format", "json").stdout)["types"][-1]
    assert (told["accepted"], told["rejected"]) == (1, 1)


def test_an_accepted_case_outlives_its_session(cru: Cru, vault: Vault) -> None:
    cru("session", "learn", "--all", "--export", "markdown")
    path = kept(vault, "correction")
    cru("case", "accept", path.stem)
    session = next(one for one in vault.session_paths() if path.stem.startswith(f"{one.stem}-correction-"))
    session.unlink()
    assert path.stem in ids(export(cru, "--all"))
    assert ids(export(cru, "--all", "--accepted")) == [path.stem]


def test_a_note_that_got_another_name_still_counts(cru: Cru, vault: Vault) -> None:
    cru("session", "learn", "--all", "--export", "markdown")
    path = kept(vault, "correction")
    cru("case", "accept", path.stem)
    path.rename(path.with_name("The floor of the jitter.md"))
    assert ids(export(cru, "--all", "--accepted")) == [path.stem]


@pytest.mark.parametrize("place", ["read/{}.md", "The floor of the jitter.md", "{}-2.md"])
@pytest.mark.parametrize("review", ["", "accept", "reject"])
def test_a_note_that_was_moved_or_renamed_is_its_case_still(place: str, review: str, cru: Cru, vault: Vault) -> None:
    cru("session", "learn", "--all", "--export", "markdown")
    path = kept(vault, "correction")
    if review:
        cru("case", review, path.stem)
    (path.parent / "read").mkdir()
    path.rename(path.parent / place.format(path.stem))
    before = {one: one.read_bytes() for one in path.parent.rglob("*.md")}
    rows = export(cru, "--all")
    assert len(rows) == (ALL - 1 if review == "reject" else ALL)
    assert sum(row["metadata"]["review"] == "accepted" for row in rows) == (review == "accept")
    cru("session", "learn", "--all", "--export", "markdown")
    assert {one: one.read_bytes() for one in path.parent.rglob("*.md")} == before


def test_a_review_outlives_that_the_session_is_renamed(cru: Cru, vault: Vault) -> None:
    cru("session", "learn", "--all", "--export", "markdown")
    session = one_of(vault, "2026-11-21-fix-retry").stem
    no, yes = (
        next(path.stem for path in sorted((vault.root / "cases").glob(f"{session}-{type_}-*.md")))
        for type_ in ("correction", "decision")
    )
    cru("case", "reject", no)
    cru("case", "accept", yes)
    before = export(cru, "--all")
    assert cru("session", "rename", session, "2026-11-21-backoff").exit_code == 0
    after = export(cru, "--all")
    assert sorted(ids(after)) == sorted(ids(before))
    assert "2026-11-21-backoff" in {row["metadata"]["session"] for row in after}
    assert yes in ids(export(cru, "2026-11-21-backoff", "--accepted"))
    result = cru("session", "learn", "--all", "--export", "markdown")
    assert "0 cases new, 0 replaced" in result.stderr


def test_a_note_that_is_not_understood_is_named_and_the_rest_exported(cru: Cru, vault: Vault) -> None:
    cru("session", "learn", "--all", "--export", "markdown")
    path = kept(vault, "puzzle")
    path.write_text(
        path.read_text(encoding="utf-8").replace("case_type: puzzle", "case_type: riddle"), encoding="utf-8"
    )
    result = cru("session", "learn", "--all", "--export", "jsonl")
    assert result.exit_code == 3
    assert path.name in result.stderr
    assert "skipped" in result.stderr
    # What a human made of it is not known, so what its session tells is not taken instead.
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(rows) == ALL - 1
    assert path.stem not in ids(rows)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("status: proposed", "status: rejcted"),
        ("status: proposed", "status: [rejected]"),
        ("status: proposed", 'status: "rejected'),
        ("type: case\n", ""),
        ("---\n\n#", "\n#"),
    ],
)
@pytest.mark.parametrize("renamed", [False, True])
def test_a_case_whose_note_is_broken_goes_nowhere(old: str, new: str, cru: Cru, vault: Vault, *, renamed: bool) -> None:
    cru("session", "learn", "--all", "--export", "markdown")
    path = kept(vault, "correction")
    text = path.read_text(encoding="utf-8")
    assert old in text
    named = path.with_name("my note.md") if renamed else path
    path.rename(named)
    named.write_text(text.replace(old, new, 1), encoding="utf-8")
    result = cru("session", "learn", "--all", "--export", "jsonl")
    told = result.exit_code == 3 and named.name in result.stderr
    if renamed and old != "status: proposed":  # it may be any note of the user's now
        assert not told
        return
    assert told
    assert path.stem not in ids([json.loads(line) for line in result.stdout.splitlines()])
    assert cru("session", "learn", "--all", "--export", "markdown").exit_code == 3
    assert named.read_text(encoding="utf-8") == text.replace(old, new, 1)


def test_of_two_sessions_of_one_name_the_first_counts_and_the_other_is_named(cru: Cru, vault: Vault) -> None:
    before = export(cru, "--all")
    path = one_of(vault, "2026-11-21-fix-retry")
    other = path.parent / "zz" / path.name
    other.parent.mkdir()
    other.write_text(
        path.read_text(encoding="utf-8").replace("jitter must never be zero", "jitter is wanted"),
        encoding="utf-8",
    )
    result = cru("session", "learn", "--all", "--export", "jsonl")
    assert result.exit_code == 3
    assert f"zz/{path.name}" in result.stderr
    assert [json.loads(line) for line in result.stdout.splitlines()] == before
    for word in (f"{ALL} cases new", "0 cases new, 0 replaced"):
        assert word in cru("session", "learn", "--all", "--export", "markdown").stderr


def test_a_session_that_cannot_be_read_is_named_and_the_rest_exported(cru: Cru, vault: Vault) -> None:
    os.mkfifo(vault.root / "sessions" / "2026-11-23-broken.md")
    result = cru("session", "learn", "--all", "--export", "jsonl")
    assert result.exit_code == 3
    assert "2026-11-23-broken" in result.stderr
    assert len(result.stdout.splitlines()) == ALL


def test_what_is_no_note_does_not_stop_the_rest(cru: Cru, vault: Vault) -> None:
    cru("session", "learn", "--all", "--export", "markdown")
    path, other = kept(vault, "correction"), kept(vault, "puzzle")
    path.unlink()
    path.mkdir()
    gone = max((vault.root / "cases").glob("*.md"))
    gone.unlink()
    result = cru("session", "learn", "--all", "--export", "markdown")
    assert result.exit_code == 3
    assert path.name in result.stderr
    assert gone.is_file()
    assert other.is_file()


@pytest.mark.parametrize("name", ["My own note", "2026-11-20-ünï", "2026-11-21-renamed", "x" * 200])
def test_a_session_has_its_files_name_whatever_it_tells(name: str, cru: Cru, vault: Vault) -> None:
    path = one_of(vault, "2026-11-21-fix-retry")
    text = path.read_text(encoding="utf-8").replace(f"session_id: {path.stem}", "session_id: ../../../x")
    assert "../../../x" in text
    path.unlink()
    path.with_name(f"{name}.md").write_text(text, encoding="utf-8")
    rows = [row for row in export(cru, "--all") if row["metadata"]["session"] == name]
    assert rows
    assert not any("/" in row["metadata"]["id"] for row in rows)
    assert cru("session", "learn", "--all", "--export", "markdown").exit_code == 0
    assert cru("case", "reject", rows[0]["metadata"]["id"]).exit_code == 0
    again = [row["metadata"]["id"] for row in export(cru, "--all") if row["metadata"]["session"] == name]
    assert again == ids(rows)[1:]


def test_sessions_without_a_parent_or_in_a_ring_are_learnt_from_too(cru: Cru, vault: Vault) -> None:
    before = len(export(cru, "--all"))
    one, other = one_of(vault, "2026-11-21-fix-retry"), one_of(vault, "2026-11-21-add-rate")
    for path, parent in ((one, other.stem), (other, one.stem)):
        text = path.read_text(encoding="utf-8")
        path.write_text(
            text.replace("type: session\n", f'type: session\nparent: "[[{parent}]]"\n', 1), encoding="utf-8"
        )
    assert len(export(cru, "--all")) == before
    other.unlink()
    assert one.stem in {row["metadata"]["session"] for row in export(cru, "--since", "2020-01-01")}


def test_no_secret_in_a_name_goes_out(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fJ2kL5"
    path = one_of(vault, "2026-11-21-fix-retry")
    path.rename(path.with_name(f"2026-11-21-{token}.md"))
    vault.root.rename(vault.root.with_name(f"vault-{token}"))
    where = ("--vault", str(vault.root.with_name(f"vault-{token}")), "session", "learn", "--all", "--export")
    rows, puzzles = tmp_path / "rows", tmp_path / "puzzles"
    assert cru(*where, "jsonl", "-o", rows, "--licence", f"of {token}").exit_code == 0
    assert cru(*where, "puzzle", "-o", puzzles).exit_code == 0
    out = [*rows.iterdir(), *puzzles.iterdir()]
    assert len(out) > 4
    assert not any(token in one.name or token in one.read_text(encoding="utf-8") for one in out)


# --- puzzles ---------------------------------------------------------------------------------------------------------


def test_puzzles_go_into_the_vault_s_exports_and_not_the_working_directory(
    vault: Vault, cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    monkeypatch.chdir(repository)
    result = cru("session", "learn", "--all", "--export", "puzzle")
    assert result.exit_code == 0
    assert list(repository.iterdir()) == []
    exports = vault.root / "exports"
    assert [*(exports / "puzzles").glob("*.puzzle.md")]
    assert (exports / ".gitignore").read_text().endswith("\n*\n")
    # An existing .gitignore is kept.
    (exports / ".gitignore").write_text("")
    assert cru("session", "learn", "--all", "--export", "puzzle").exit_code == 0
    assert (exports / ".gitignore").read_text() == ""


def test_exports_that_lead_out_of_the_vault_are_refused(vault: Vault, cru: Cru, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (vault.root / "exports").symlink_to(tmp_path / "elsewhere")
    assert cru("session", "learn", "--all", "--export", "puzzle").exit_code == 1
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_puzzles_come_with_solutions_and_can_be_played(cru: Cru, tmp_path: Path) -> None:
    result = cru("session", "learn", "--all", "--export", "puzzle", "-o", tmp_path / "p")
    files = [Path(line) for line in result.stdout.splitlines()]
    assert len(files) == 4
    puzzle = next(path for path in files if path.name.endswith(".puzzle.md"))
    solution = puzzle.with_name(puzzle.name.replace(".puzzle.", ".solution."))
    assert solution in files
    answer = tmp_path / "answer.md"
    answer.write_text(solution.read_text(encoding="utf-8").split("## Rubric")[0], encoding="utf-8")
    assert cru("case", "play", puzzle, "--answer", answer).exit_code == 0


def test_a_puzzle_that_somebody_changed_stays(cru: Cru, tmp_path: Path) -> None:
    args = ("session", "learn", "--all", "--export", "puzzle", "-o", tmp_path / "p")
    files = [Path(line) for line in cru(*args).stdout.splitlines()]
    files[1].write_text("mine\n", encoding="utf-8")
    again = cru(*args)
    assert files[1].read_text(encoding="utf-8") == "mine\n"
    assert "2 files kept" in again.stderr
    lines = [line for line in again.stderr.splitlines() if line.startswith("  ")]
    assert [line.endswith("was changed") for line in lines] == [str(files[1]) in line for line in lines]
    assert any(str(files[1]) in line for line in lines)
    assert cru(*args, "--force").exit_code == 0
    assert files[1].read_text(encoding="utf-8") != "mine\n"


@pytest.mark.parametrize("way", ["jsonl", "puzzle"])
@pytest.mark.parametrize("name", ["sessions", "sessions/x.jsonl", "cases/new", ".crucible"])
def test_nothing_goes_out_into_the_vaults_own_folders(way: str, name: str, cru: Cru, vault: Vault) -> None:
    before = sorted(vault.root.rglob("*"))
    result = cru("session", "learn", "--all", "--export", way, "-o", vault.root / name)
    assert result.exit_code == 2
    assert "is inside the vault's" in result.stderr
    assert {one for one in vault.root.rglob("*") if one.suffix in {".jsonl", ".md"}} <= {*before}


def test_an_export_into_the_vaults_root_says_what_is_cleaner(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    for way in ("jsonl", "puzzle"):
        args = ("session", "learn", "--all", "--export", way, "-o")
        inside = cru(*args, vault.root / "out")
        assert inside.exit_code == 0
        assert inside.stderr.count("another folder") == 1
        assert "another folder" not in cru(*args, tmp_path / way).stderr


def test_a_symlink_is_not_replaced_by_rows(cru: Cru, tmp_path: Path) -> None:
    (tmp_path / "precious.jsonl").write_text("precious", encoding="utf-8")
    (tmp_path / "rows.jsonl").symlink_to(tmp_path / "precious.jsonl")
    result = cru("session", "learn", "--all", "--export", "jsonl", "-o", tmp_path / "rows.jsonl")
    assert result.exit_code == 1
    assert "a symlink" in result.stderr
    assert (tmp_path / "rows.jsonl").is_symlink()
    assert sorted(one.name for one in tmp_path.glob("*.jsonl")) == ["precious.jsonl", "rows.jsonl"]
    assert (tmp_path / "precious.jsonl").read_text(encoding="utf-8") == "precious"


def test_a_symlink_is_not_written_through(cru: Cru, tmp_path: Path) -> None:
    args = ("session", "learn", "--all", "--export", "puzzle", "-o", tmp_path / "p")
    first = Path(cru(*args).stdout.splitlines()[0])
    first.unlink()
    (tmp_path / "precious").write_text("precious", encoding="utf-8")
    first.symlink_to(tmp_path / "precious")
    assert cru(*args, "--force").exit_code == 1
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "precious"


def test_what_wrote_nothing_says_why(cru: Cru, tmp_path: Path) -> None:
    none = cru("session", "learn", "--all", "--type", "decision", "--export", "puzzle", "-o", tmp_path / "p")
    assert none.exit_code == 0
    assert "no puzzle" in none.stderr
    for args in ((), ("--export", "jsonl", "-o", tmp_path / "r"), ("--export", "markdown")):
        assert "cru case accept" in cru("session", "learn", "--all", "--accepted", *args).stderr
    assert "cru case accept" not in cru("session", "learn", "--all").stderr


def test_a_side_that_got_no_row_is_named(cru: Cru, tmp_path: Path) -> None:
    args = ("session", "learn", "--all", "--type", "decision", "--export", "jsonl", "--split")
    result = cru(*args, "train=0.998,test=0.001,dev=0.001", "-o", tmp_path / "r")
    assert "no rows in test, dev" in result.stderr
    assert "no rows in" not in cru(*args, "train=0.5,test=0.5", "-o", tmp_path / "s").stderr
    assert "no rows in test, dev" in cru(*args, "train=0.998,test=0.001,dev=0.001").stderr


# --- what must not leave ---------------------------------------------------------------------------------------------


def test_no_secret_and_no_name_of_a_person_leaves_the_vault(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    path = one_of(vault, "2026-11-21-fix")
    text = path.read_text(encoding="utf-8")
    planted = f"Use {KEY} from /home/maria/keys, ask maria.lopez@corp.io."
    path.write_text(
        text.replace("jitter must never be zero", f"jitter must never be zero. {planted}"), encoding="utf-8"
    )
    told = cru("session", "learn", "--all", "--export", "jsonl", "-o", tmp_path / "rows")
    cru("session", "learn", "--all", "--export", "puzzle", "-o", tmp_path / "puzzles")
    cru("session", "learn", "--all", "--export", "markdown")
    files = [one for folder in (tmp_path / "rows", tmp_path / "puzzles") for one in folder.iterdir()]
    left = "".join(one.read_text(encoding="utf-8") for one in files)
    assert "jitter must never be zero" in left
    for word in (KEY, "maria", "corp.io"):
        assert word not in left
    kept_notes = "".join(one.read_text(encoding="utf-8") for one in (vault.root / "cases").iterdir())
    assert KEY not in kept_notes
    assert "anthropic-key" in told.stderr
    assert "home-path" in told.stderr
    assert "email" in told.stderr
    assert "home-path" in (tmp_path / "rows" / "README.md").read_text(encoding="utf-8")


# --- judgement -------------------------------------------------------------------------------------------------------


def test_without_an_agent_a_failure_has_a_category_only_where_its_facts_suffice(cru: Cru, vault: Vault) -> None:
    result = cru("session", "learn", "--all", "--type", "puzzle", "--export", "markdown", "--judge")
    assert "no agent is configured" in result.stderr
    text = kept(vault, "puzzle").read_text(encoding="utf-8")
    assert "AssertionError" in text
    assert "category:" not in text


def test_an_agent_judges_once_and_its_word_stays(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    told = {
        "category": "external_dep",
        "root_cause": "The server reset it.",
        "preventable_with": "",
        "confidence": 0.8,
    }
    judge = program(tmp_path, f"open({str(tmp_path / 'asked')!r}, 'a').write('x'); print(json.dumps({told!r}))")
    args = (
        "session",
        "learn",
        "--all",
        "--type",
        "puzzle",
        "--export",
        "markdown",
        "--judge",
        "--with",
        judge,
    )
    assert cru(*args).exit_code == 0
    assert "category: external_dep" in kept(vault, "puzzle").read_text(encoding="utf-8")
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    assert len(asked) == 2
    assert cru(*args).exit_code == 0
    cru("session", "learn", "--all", "--export", "markdown")
    assert (tmp_path / "asked").read_text(encoding="utf-8") == asked
    assert "category: external_dep" in kept(vault, "puzzle").read_text(encoding="utf-8")


def test_no_agent_is_asked_about_what_a_human_edited(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    args = ("session", "learn", "--all", "--type", "puzzle", "--export", "markdown")
    cru(*args)
    paths = sorted((vault.root / "cases").glob("*-puzzle-*.md"))
    for path in paths[:1]:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("## Goal\n", "## Goal\n\nMine.\n", 1), encoding="utf-8")
    asked = tmp_path / "asked"
    said = {"category": "external_dep", "root_cause": "It.", "preventable_with": "", "confidence": 0.8}
    agent = program(tmp_path, f"open({str(asked)!r}, 'a').write('x'); print(json.dumps({said!r}))")
    told = cru(*args, "--judge", "--with", agent)
    assert asked.read_text(encoding="utf-8") == "x"
    assert "1 kept" in told.stderr


def test_an_agent_that_never_answers_is_left_alone_soon(cru: Cru) -> None:
    result = cru("session", "learn", "--all", "--export", "jsonl", "--judge", "--with", "/nowhere/agent")
    assert result.exit_code == 3
    assert "judged by rules" in result.stderr
    assert "will not be asked again" in result.stderr
    assert len(result.stdout.splitlines()) == ALL


def test_a_note_of_whole_events_outlives_them(cru: Cru, vault: Vault) -> None:
    cru("session", "learn", "--all", "--export", "markdown")
    before = {path: path.read_bytes() for path in (vault.root / "cases").iterdir()}
    shutil.rmtree(vault.root / ".crucible" / "flight")
    again = cru("session", "learn", "--all", "--export", "markdown", "--format", "json")
    assert json.loads(again.stdout)["replaced"] == []
    assert {path: path.read_bytes() for path in (vault.root / "cases").iterdir()} == before


def test_a_subagent_is_looked_for_when_that_is_asked_for(cru: Cru) -> None:
    asked = ("session", "learn", "--agent", "general-purpose")
    assert "0 sessions read" in cru(*asked).stderr
    assert "3 sessions read" in cru(*asked, "--children").stderr


# --- rules ---------------------------------------------------------------------------------------------------------


def _corrected_again(vault: Vault) -> list[str]:
    """Two sessions that were corrected in the same way, in words that try to be more than text."""
    names = [path.stem for path in vault.session_paths() if "\nparent:" not in path.read_text()][:2]
    for name in names:
        path = vault.sessions / f"{name}.md"
        head, mark, rest = path.read_text().partition("> [!findings]")
        title, _, items = rest.partition("\n")
        path.write_text(f'{head}{mark}{title}\n> - correction: "never push --> # to main {KEY}"\n{items}')
    return names


def test_a_correction_that_recurs_is_proposed_as_a_diff_and_not_written(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    names = _corrected_again(vault)
    place = tmp_path / "AGENTS.md"
    place.write_text("# Shop\n\nUse tabs.\n")
    result = cru("session", "learn", *names, "--rules", place)
    assert result.exit_code == 0, result.stderr
    added = [line for line in result.stdout.splitlines() if line.startswith("+") and "never push" in line]
    assert len(added) == 1
    named = added[0].partition("<!-- ")[2].removesuffix(" -->").split(", ")
    assert sorted(named) == sorted(names)
    assert added[0].count("-->") == 1
    assert KEY not in result.stdout
    assert place.read_text() == "# Shop\n\nUse tabs.\n"


def test_rules_are_written_when_that_is_asked_for_and_never_twice(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    names = _corrected_again(vault)
    place = tmp_path / "AGENTS.md"
    assert cru("session", "learn", *names, "--rules", place, "--write").exit_code == 2
    assert not place.exists()
    assert cru("session", "learn", *names, "--rules", place, "--write", "--yes").exit_code == 0
    written = place.read_text()
    assert written.count("never push") == 1
    assert cru("session", "learn", *names, "--rules", place, "--write", "--yes").stdout == ""
    assert place.read_text() == written


def test_what_was_corrected_once_is_no_rule_but_can_be_listed(cru: Cru, tmp_path: Path) -> None:
    place = tmp_path / "CLAUDE.md"
    assert "+-" not in cru("session", "learn", "--agent", "claude-code", "--rules", place).stdout
    rows = json.loads(cru("session", "learn", "--agent", "claude-code", "--rules", place, "--json").stdout)["rules"]
    assert rows
    assert not any(row["recurs"] for row in rows)


def test_rules_are_looked_for_in_all_sessions_when_none_is_named(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    _corrected_again(vault)
    result = cru("session", "learn", "--rules", tmp_path / "AGENTS.md")
    assert result.exit_code == 0, result.stderr
    assert "never push" in result.stdout


def test_rules_are_for_the_file_that_the_project_has(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    names = _corrected_again(vault)
    (tmp_path / "CLAUDE.md").write_text("# Shop\n")
    assert "+++ b/CLAUDE.md" in cru("session", "learn", *names, "--rules", tmp_path).stdout


@pytest.mark.parametrize("options", [("--write",), ("--rules", ".", "--yes"), ("--rules", ".", "--export", "markdown")])
def test_options_of_rules_go_together(cru: Cru, options: tuple[str, ...]) -> None:
    assert cru("session", "learn", "--all", *options).exit_code == 2
