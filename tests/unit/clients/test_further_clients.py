"""Clients read from recordings of their real programs: golden events, tokens, damage, and logs that grow.

`CRUCIBLE_GOLDEN=1` updates the golden events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible.clients.events import Prompted, Replied, ToolUsed, Unknown, Unreadable, UsageCounted
from crucible.clients.gemini.texts import row_id
from crucible.clients.registry import DIALECTS
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.imports import import_transcripts
from tests.golden import check_file
from tests.unit.clients.building import DATA, only
from tests.unit.clients.further_clients import IDS, RECORDED, Recorded, Row, golden, leaves, rows_of, write_rows
from tests.unit.commands.imports.places import LATER, make_vault, notes_of

EACH = pytest.mark.parametrize("recorded", RECORDED, ids=IDS)
Counted = tuple[int, int, int]
"""Tokens that the client counts: fresh, cached, said."""


@EACH
def test_a_recording_gives_the_events_that_are_written_down(recorded: Recorded) -> None:
    check_file(DATA / recorded.client / "golden" / f"{recorded.name}.txt", golden(recorded))


@EACH
def test_no_row_of_a_recording_is_unknown_or_unreadable(recorded: Recorded) -> None:
    assert not [event for event in recorded.events() if isinstance(event, Unknown | Unreadable)]


@EACH
def test_a_recording_is_of_its_client_only(recorded: Recorded) -> None:
    path = recorded.transcript().path
    assert [name for name, dialect in DIALECTS.items() if dialect.sniff(path)] == [recorded.client]


@EACH
def test_a_client_knows_no_recording_of_another(recorded: Recorded) -> None:
    for path in (DATA / "claude-code", DATA / "codex", DATA / "gemini"):
        log = next(path.glob("limiter/**/*.jsonl"))
        assert not DIALECTS[recorded.client].sniff(log)


# --- tokens ----------------------------------------------------------------------------------------------------------


def _of_copilot(row: Row) -> Counted | None:
    usage = row["data"].get("usage")
    if row["type"] != "session.usage_record" or "agentId" in row:
        return None
    return usage["inputTokens"] - usage["cacheReadTokens"], usage["cacheReadTokens"], usage["outputTokens"]


def _of_pi(row: Row) -> Counted | None:
    usage = row.get("message", {}).get("usage")
    return usage and (usage["input"] + usage["cacheWrite"], usage["cacheRead"], usage["output"])


def _of_qwen(row: Row) -> Counted | None:
    usage = row.get("usageMetadata")
    if not usage:
        return None
    cached = usage["cachedContentTokenCount"]
    return usage["promptTokenCount"] - cached, cached, usage["candidatesTokenCount"]


def _of_cline(row: Row) -> Counted | None:
    metrics = row.get("metrics")
    if not metrics:
        return None
    return metrics["inputTokens"] - metrics["cacheReadTokens"], metrics["cacheReadTokens"], metrics["outputTokens"]


OWN: Mapping[str, Callable[[Row], Counted | None]] = {
    "copilot": _of_copilot,
    "pi": _of_pi,
    "qwen-code": _of_qwen,
    "cline": _of_cline,
}


@EACH
def test_tokens_are_those_of_the_clients_own_usage_rows(recorded: Recorded) -> None:
    own = [each for row in rows_of(recorded.transcript().path) if (each := OWN[recorded.client](row))]
    counted = only(recorded.events(), UsageCounted)
    assert [(event.fresh, event.cached, event.said) for event in counted] == own
    assert len({event.message for event in counted}) == len(own) > 0


# --- damage ----------------------------------------------------------------------------------------------------------


def _words(log: Path, client: str) -> set[tuple[str, str]]:
    """What each row says: its id and text, for the prompts, answers and calls of the trunk."""
    dialect = DIALECTS[client]
    found = list(dialect.find(log))
    events = [event for transcript in found for event in dialect.read(transcript)]
    said = {(event.at.row, event.text.strip()) for event in events if isinstance(event, Prompted | Replied)}
    return said | {(event.at.row, event.call) for event in events if isinstance(event, ToolUsed)}


def _damage(data: st.DataObject, rows: list[Row]) -> tuple[list[Any], int]:
    """Drop, rename, retype or truncate something of one row; the rows, and which one it was."""
    number = data.draw(st.integers(0, len(rows) - 1))
    row: Any = deepcopy(rows[number])
    how = data.draw(st.sampled_from(["drop", "rename", "retype", "cut"]))
    *above, key = data.draw(st.sampled_from(list(leaves(row))))
    inside = row
    for each in above:
        inside = inside[each]
    match how:
        case "drop":
            return [*rows[:number], *rows[number + 1 :]], number
        case "cut":
            return rows[:number], number
        case "rename" if isinstance(inside, dict):
            inside[f"{key}New"] = inside.pop(key)
        case _:
            inside[key] = data.draw(st.sampled_from([None, 7, -1.5, True, "", "other", [], {}, [None], {"x": [1]}]))
    return [*rows[:number], row, *rows[number + 1 :]], number


@cache
def _whole(recorded: Recorded) -> tuple[list[Row], set[tuple[str, str]]]:
    log = recorded.transcript().path
    return rows_of(log), _words(log, recorded.client)


@EACH
@given(data=st.data())
@settings(max_examples=15)
def test_damage_to_a_row_never_raises_and_never_loses_another(
    recorded: Recorded, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows, whole = _whole(recorded)
    damaged, number = _damage(data, rows)
    log = recorded.copied(tmp_path_factory)
    write_rows(log, damaged)
    kept = _words(log, recorded.client)
    spared = rows[:number] if len(damaged) == number else [*rows[:number], *rows[number + 1 :]]
    ids = tuple(_own_ids(spared))
    assert not {(row, text) for row, text in whole - kept if row.startswith(ids)}


def _own_ids(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        ident = row.get("id") or row.get("uuid") or "-"
        yield from (ident, row_id(ident))


@EACH
@given(data=st.data())
@settings(max_examples=8)
def test_a_log_cut_anywhere_can_be_read(
    recorded: Recorded, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = recorded.transcript().path.read_bytes()
    log = recorded.copied(tmp_path_factory)
    log.write_bytes(whole[: data.draw(st.integers(0, len(whole)))] + data.draw(st.binary(max_size=8)))
    _words(log, recorded.client)


# --- growing ---------------------------------------------------------------------------------------------------------


@EACH
def test_a_log_that_grows_gives_the_note_of_the_whole(recorded: Recorded, tmp_path: Path) -> None:
    log = recorded.copy(tmp_path / "grown")
    rows = rows_of(log)
    vault, whole = make_vault(tmp_path / "vault"), make_vault(tmp_path / "whole")
    for end in (len(rows) // 3, len(rows) // 2, len(rows)):
        write_rows(log, rows[:end])
        import_transcripts(vault, DIALECTS[recorded.client], [log], options=ImportOptions(LATER))
    import_transcripts(whole, DIALECTS[recorded.client], [recorded.folder], options=ImportOptions(LATER))
    told = [
        sorted(note.source.text.partition("\n---\n")[2] for note in notes_of(each).values()) for each in (vault, whole)
    ]
    assert told[0] == told[1]
