"""What `cru doctor --formats` says of logs that a newer client wrote."""

from __future__ import annotations

import json
from pathlib import Path

from crucible.clients.registry import DIALECTS
from crucible.clients.row_shapes import KNOWN_FIELDS
from crucible.core.settings.settings import SecretSettings
from crucible.integrations.doctor import CheckResult, CheckState
from crucible.integrations.doctor.client_checks import check_formats, check_tested
from crucible.integrations.doctor.transcript_checks import ClientSession
from docs import formats
from tests.clients.secrets_made import make_secrets
from tests.unit.clients.building import DATA
from tests.unit.clients.test_untested_clients import cursor_rows, write_cursor


def results(client: str, path: Path) -> list[CheckResult]:
    dialect = DIALECTS[client]
    natives = [ClientSession(dialect, transcript, None) for transcript in dialect.find(path)]
    return list(check_formats(natives, SecretSettings(), lambda _done, _all: None))


def test_the_fields_of_all_recordings_are_written_down() -> None:
    assert KNOWN_FIELDS.read_text(encoding="utf-8") == formats.text()


def test_nothing_in_a_recording_is_unknown() -> None:
    (found,) = results("copilot", DATA / "copilot" / "limiter")
    assert (found.state, found.items) == (CheckState.GOOD, ())
    assert "GitHub Copilot CLI 1.0.102 (1 session, tested with 1.0.102)" in found.text


def test_new_rows_and_fields_are_listed_with_their_counts(tmp_path: Path) -> None:
    log = next((DATA / "copilot" / "limiter").rglob("events.jsonl"))
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    rows[0]["data"]["copilotVersion"] = "9.0.0"
    rows[1]["data"]["mood"] = "good"
    rows += [{**rows[1], "type": "assistant.dream", "id": f"new-{number}"} for number in range(3)]
    path = tmp_path / "session-state" / "one" / "events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (found,) = results("copilot", tmp_path)
    assert found.state is CheckState.NOTE
    assert "9.0.0" in found.text
    assert found.items == ("row assistant.dream: 3", "field data.mood in user.message: 1")


def test_names_from_a_log_are_redacted_cut_and_limited(tmp_path: Path) -> None:
    log = next((DATA / "copilot" / "limiter").rglob("events.jsonl"))
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    token = make_secrets()["github"]
    rows[0]["data"]["copilotVersion"] = f"9.0.0-{token}\u202e"
    rows[1]["data"][token] = 1
    rows += [{**rows[1], "type": f"kind {number} {token} {'x' * 5000}", "id": f"new-{number}"} for number in range(300)]
    path = tmp_path / "session-state" / "one" / "events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (found,) = results("copilot", tmp_path)
    told = " ".join((found.text, *found.items))
    assert "9.0.0" in told
    assert (token in told, "\u202e" in told) == (False, False)
    assert len(found.items) <= 101
    assert len(told) < 20_000


def test_a_reader_that_was_not_tested_says_so(tmp_path: Path) -> None:
    write_cursor(tmp_path, [*cursor_rows(), {"type": "new"}])
    dialect = DIALECTS["cursor"]
    natives = [ClientSession(dialect, transcript, None) for transcript in dialect.find(tmp_path)]
    (untested,) = check_tested(natives)
    assert "Cursor" in untested.text
    (found,) = results("cursor", tmp_path)
    assert ("not tested" in found.text, found.items) == (True, ("row new: 1",))
