"""What a note says once its client has ended, and what time, later rows and unknowing imports make of it."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.idle.idle_timeout import pause_idle
from crucible.commands.imports.import_result import ImportReport
from crucible.documents.session.session import Intervention, Session
from crucible.documents.session.status_rules import CLOSED_REASON, DIED_REASON, IDLE_REASON, Client
from crucible.documents.session.task_edits import set_field
from tests.cases import fewer
from tests.unit.clients.building import Row, assistant, result, text, use, user
from tests.unit.commands.imports.places import (
    LATER,
    bytes_of,
    make_vault,
    notes_of,
    run_import,
    session_file,
    write_rows,
)

MINUTE = timedelta(minutes=1)


class Place:
    """A vault and one transcript; its clock is that of the notes' files, too."""

    def __init__(self, folder: Path) -> None:
        self.vault = make_vault(folder / "vault")
        self.file = session_file(folder / "logs")
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.rows: list[Row] = []
        self.now = LATER

    def say(self, *rows: Row) -> None:
        for row in rows:
            at = self.now.strftime("%Y-%m-%dT%H:%M:%S.000Z")
            self.rows.append({**row, "uuid": f"{len(self.rows):08x}-row", "timestamp": at})
        write_rows(self.file, self.rows)

    def run(self, client: Client = Client.UNKNOWN) -> ImportReport:
        before = bytes_of(self.vault)
        report = run_import(self.vault, self.file, now=self.now, client=client)
        for path in self.vault.session_paths():
            if before.get(self.vault.relative(path)) != path.read_bytes():
                os.utime(path, (self.now.timestamp(),) * 2)
        return report

    def end(self) -> None:
        self.run(Client.ENDED)

    def standing(self) -> tuple[str, str | None, str | None]:
        session = self.session()
        return str(session.status), session.pause_reason, session.resume_point

    def session(self) -> Session:
        return next(n.session for n in notes_of(self.vault).values() if n.session.parent is None)

    def path(self) -> Path:
        return self.vault.session_paths()[0]

    def write(self, old: str, new: str) -> None:
        found = self.path().read_text()
        assert old in found
        self.path().write_text(found.replace(old, new))
        os.utime(self.path(), (self.now.timestamp(),) * 2)


ANSWERED = (user("Fix it"), assistant(text("Fixed."), stop="end_turn"))
ASKED = (user("Fix it"), assistant(text("Fixed. Commit?"), stop="end_turn"))
ASKING = ("paused", "asked: Commit?", "phase-1")
TO_DO = ("paused", "1 open task: Write it", "phase-1")
DONE = ("completed", None, None)


def task(ident: str, status: str = "pending") -> tuple[Row, Row]:
    call = f"t{ident}{status}"
    todos = [{"content": "Write it", "status": status, "activeForm": "Writing"}]
    return assistant(use("TodoWrite", call=call, todos=todos)), result("ok", call=call)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_clients_end_completes_what_is_answered_however_long_ago(place: Place) -> None:
    for minutes in (0, 120):
        place.say(*ANSWERED)
        place.now += minutes * MINUTE
        place.end()
        assert place.standing() == DONE
        assert place.session().ended == place.session().phases[-1].ended


def test_what_the_agent_asked_last_keeps_it_paused_until_it_is_answered(place: Place) -> None:
    place.say(*ASKED)
    place.end()
    assert place.standing() == ASKING
    place.now += 600 * MINUTE
    place.run()
    assert place.standing() == ASKING
    place.say(user("Yes"), assistant(text("Committed."), stop="end_turn"))
    place.end()
    assert place.standing() == DONE


def test_a_plain_import_and_hooks_say_the_same(tmp_path: Path) -> None:
    ends = [ANSWERED, ASKED, ANSWERED[:1], (*ANSWERED, *ASKED), (*task("1"), *ANSWERED)]
    for number, rows in enumerate(ends):
        told = []
        for client in (Client.ENDED, Client.DIED, Client.UNKNOWN):
            place = Place(tmp_path / f"{number}-{client.name}")
            place.say(*rows)
            place.now += 61 * MINUTE
            place.run(client)
            told.append((place.standing(), place.session().ended))
        assert told[0] == told[1] == told[2]


@fewer(4)
@given(st.integers(0, 59), st.integers(0, 59), st.sampled_from([ANSWERED, ASKED]))
def test_an_unknowing_import_within_the_idle_time_changes_no_byte(
    tmp_path_factory: pytest.TempPathFactory, a: int, b: int, rows: tuple[Row, ...]
) -> None:
    place = Place(tmp_path_factory.mktemp("p"))
    place.say(*rows)
    place.now += a * MINUTE
    place.end()
    before = bytes_of(place.vault)
    place.now += b * MINUTE
    report = place.run()
    assert bytes_of(place.vault) == before
    assert (report.created, report.updated) == ((), ())


def test_a_task_that_is_open_keeps_it_paused(place: Place) -> None:
    place.say(user("Fix it"), *task("1"), assistant(text("Half."), stop="end_turn"))
    place.end()
    place.now += 600 * MINUTE
    place.run()
    assert place.standing() == TO_DO
    before = bytes_of(place.vault)
    place.run()
    assert bytes_of(place.vault) == before


def test_a_task_that_a_human_ticked_is_not_open(place: Place) -> None:
    place.say(user("Fix it"), *task("1"), assistant(text("Half."), stop="end_turn"))
    place.end()
    place.write("- [ ] ", "- [x] ")
    place.now += 61 * MINUTE
    place.run()
    assert place.standing() == DONE


def test_a_task_that_a_human_added_is_open(place: Place) -> None:
    place.say(user("Fix it"), *task("1", "completed"), assistant(text("Half."), stop="end_turn"))
    place.end()
    place.write("### Tasks\n", "### Tasks\n\n- [ ] Mine (low)")
    place.now += 61 * MINUTE
    place.run()
    assert place.standing() == DONE  # it was said to be done, and a human may mean the next one


@pytest.mark.parametrize("reason", ["asked: Commit?", CLOSED_REASON, DIED_REASON, IDLE_REASON])
def test_what_we_paused_is_active_again_when_a_running_client_says_more(place: Place, reason: str) -> None:
    place.say(*ASKED)
    place.end()
    place.write('"asked: Commit?"', f'"{reason}"')
    place.now += 5 * MINUTE
    place.say(user("More"), assistant(text("More."), stop="end_turn"))
    place.run(Client.RUNNING)
    assert place.standing() == ("active", None, None)
    assert len(place.session().phases) == 2


def test_what_a_human_paused_stays_paused_at_its_end_when_it_grows(place: Place) -> None:
    place.say(*ASKED)
    place.end()
    place.write('"asked: Commit?"', "lunch")
    place.now += 5 * MINUTE
    place.say(user("More"), assistant(text("More."), stop="end_turn"))
    place.run(Client.RUNNING)
    assert place.standing() == ("paused", "lunch", "phase-2")
    place.now += 100 * MINUTE
    place.run()
    assert place.standing() == ("paused", "lunch", "phase-2")


def test_an_idle_pause_is_no_knowledge_of_the_client(place: Place) -> None:
    """A plain import ends a finished, quiet transcript, as it does where nobody looked in between."""
    place.say(*ANSWERED)
    place.run()
    place.write("status: active", f"status: paused\nresume_point: phase-1\npause_reason: {IDLE_REASON}")
    place.now += 61 * MINUTE
    place.run(Client.RUNNING)
    assert place.standing()[0] == "paused"
    place.run()
    assert place.standing() == DONE
    before = bytes_of(place.vault)
    place.run()
    assert bytes_of(place.vault) == before


def test_a_pause_for_idleness_in_the_middle_of_a_turn_stays_one(place: Place) -> None:
    place.say(user("Fix it"))
    place.say(assistant(use("Bash", call="c", command="make")))
    place.run()
    place.write("status: active", f"status: paused\nresume_point: phase-1\npause_reason: {IDLE_REASON}")
    place.now += 61 * MINUTE
    place.run()
    assert place.standing() == ("paused", "no result of Bash make", "phase-1")


@pytest.mark.parametrize("rows", [(user("Fix it"),), (user("Fix it"), assistant(text("I")))])
def test_an_unfinished_turn_is_paused_for_its_own_reason_and_stays_so(place: Place, rows: tuple[Row, ...]) -> None:
    place.say(*rows)
    place.end()
    status, reason, _ = place.standing()
    assert (status, reason and reason[:6]) in (("paused", "the pr"), ("paused", "stoppe"))
    place.now += 600 * MINUTE
    place.run()
    assert place.standing()[:2] == (status, reason)


def test_every_other_byte_of_the_note_stays(place: Place) -> None:
    place.say(*ASKED)
    place.run(Client.RUNNING)
    place.write("status: active", "status: active # mine\nmood:   'good'")
    before = place.path().read_text()
    place.end()
    now = place.path().read_text()
    added = [line for line in now.split("\n") if line not in before.split("\n")]
    assert added == [
        "status: paused # mine",
        "resume_point: phase-1",
        'pause_reason: "asked: Commit?"',
    ]
    assert [line for line in before.split("\n") if line not in now.split("\n")] == ["status: active # mine"]


STEPS = st.lists(
    st.sampled_from(["say", "ask", "task", "done", "run", "end", "die", "look", "import", "hour", "lunch"]),
    min_size=2,
    max_size=9,
)


@given(STEPS)
def test_whatever_happens_a_note_is_of_one_piece_and_a_second_look_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    place = Place(tmp_path_factory.mktemp("p"))
    place.say(*ANSWERED)
    place.run(Client.RUNNING)
    human = False
    for step in steps:
        last = _take(place, step)
        human = human or step == "lunch"
        session = place.session()
        assert (session.status == "paused") == bool(session.pause_reason and session.resume_point)
        assert (session.status in ("completed", "failed")) == (session.ended is not None)
        assert not human or (session.status, session.pause_reason) == ("paused", "lunch")
        if last is not None:
            before = bytes_of(place.vault)
            place.run(last)
            assert bytes_of(place.vault) == before, steps
    assert _prompts(place) == ["Fix it", *["More"] * _said(steps)]


def _take(place: Place, step: str) -> Client | None:
    """Let it happen; what an import was told, when one was made."""
    turns = {
        "say": (user("More"), assistant(text(f"More {len(place.rows)}."), stop="end_turn")),
        "ask": (user("More"),),
        "task": (*task("1"), assistant(text("Half."), stop="end_turn")),
        "done": (*task("1", "completed"), assistant(text("Whole."), stop="end_turn")),
    }
    runs = {"run": Client.RUNNING, "end": Client.ENDED, "die": Client.DIED, "import": Client.UNKNOWN}
    if step in turns:
        place.say(*turns[step])
    elif step == "hour":
        place.now += 61 * MINUTE
    elif step == "look":
        pause_idle(str(place.vault.root), place.vault.settings, ["/".join(place.path().parts[-2:])], place.now)
    elif step == "lunch":
        _pause_by_hand(place)
    else:
        place.run(runs[step])
        return runs[step]
    return None


def _pause_by_hand(place: Place) -> None:
    session = place.session()
    keys = {"status": "paused", "ended": None, "resume_point": "phase-1", "pause_reason": "lunch"}
    note = place.vault.read(place.path())
    edits = [edit for key, value in keys.items() for edit in set_field(note.source, session, key, value)]
    place.vault.save(note, edits)
    os.utime(place.path(), (place.now.timestamp(),) * 2)


def _prompts(place: Place) -> list[str]:
    place.run()
    entries = place.session().all_entries()
    return [entry.words for entry in entries if isinstance(entry, Intervention)]


def _said(steps: list[str]) -> int:
    return sum(step in ("say", "ask") for step in steps)
