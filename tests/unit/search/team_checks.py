"""What the tests of both kinds of team servers share: a service of another kind, and what a user may see."""

from __future__ import annotations

import socket
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from crucible.search.recall import Document, Question
from crucible.search.team.team_recall import TeamRecall
from tests.unit.search.vaults import NOW

SECRET = "hunter2-hunter2"


@contextmanager
def listening(scheme: str, reply: bytes | None) -> Iterator[str]:
    """The address of a service that accepts connections, sends `reply` and closes; None keeps it silent."""
    kept = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            with suppress(OSError):
                while True:
                    line, _ = listener.accept()
                    kept.append(line)
                    if reply is not None:
                        line.recv(100_000)
                        line.sendall(reply)
                        # Closing before everything is read would reset the connection, and the reply could be lost.
                        line.shutdown(socket.SHUT_WR)
                        line.settimeout(1)
                        with suppress(OSError):
                            while line.recv(100_000):
                                pass
                        line.close()

        threading.Thread(target=answer, daemon=True).start()
        yield f"{scheme}://me:{SECRET}@127.0.0.1:{listener.getsockname()[1]}/team"
        listener.shutdown(socket.SHUT_RDWR)
    for line in kept:
        line.close()


def check_sees(asked: TeamRecall, seen: Collection[str], said: Mapping[str, Document]) -> None:
    """Check that every query finds the sessions of the projects that a user sees, and no other; `said` is by project."""
    sessions = {said[project].session for project in seen}
    for question in (
        Question("plans rocket thunder"),
        Question("thundr rokcet"),
        Question('"plans"'),
        Question("project:zeus project:apollo"),
        Question("", session="s-0"),
        Question("", until=NOW),
        Question("plans", since=datetime(2026, 1, 1, tzinfo=UTC)),
    ):
        answer = asked.ask(question._replace(limit=20), NOW)
        found = {event.session for hit in answer.hits for event in (hit.event, *hit.before, *hit.after)}
        assert found | {one.session for one in answer.sessions} == sessions, question
    ids = [one.events[0].id for one in said.values()]
    assert {event.session for event in asked.get(ids)} == sessions
    assert {event.session for one in ids for event in asked.around(one, 1, 1)} == sessions
