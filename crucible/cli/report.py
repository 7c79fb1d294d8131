"""`cru report`: outcomes, decisions and open ends since a day, across projects."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import click

from crucible.cli.command_agent import ask_first, with_option
from crucible.cli.index_access import open_index, query_index
from crucible.cli.options import BEGIN, Door, format_option, is_data, until_option, user_zone
from crucible.cli.output import PROBLEMS_FOUND, say, warn, write_data, write_document
from crucible.cli.vault_access import folders_of, open_vault
from crucible.core.errors import CrucibleError
from crucible.core.secrets.redaction import caching_redact, redact_of
from crucible.memory.history.history_update import compose_from_note
from crucible.memory.history.standup import Reported, is_within, render_report, reported
from crucible.vault.index.later_sessions import ProjectWork, work_in
from crucible.vault.index.query import SessionQuery, select
from crucible.vault.index.schema import Row, View, path_of_cell
from crucible.vault.index.time_filters import begun, utc
from crucible.vault.notes.vault import Vault


@click.command
@click.option(
    "--since",
    type=BEGIN,
    metavar="WHEN",
    default="yesterday",
    show_default=True,
    help="Only sessions with work since this time.",
)
@until_option("Only sessions started until this time.")
@click.option("--project", metavar="NAME", default=None, help="Only sessions of this project.")
@with_option
@format_option("markdown")
@click.pass_obj
def report(
    door: Door,
    /,
    since: datetime,
    until: datetime | None,
    project: str | None,
    named: str | None,
    format_: str,
) -> int:
    """Report outcomes, decisions and open ends by project, for a stand-up.

    \b
    - Shows at most four outcomes, two decisions and two open ends of each
      session, and counts the rest; "cru history show" shows all.
    - Outcomes with a commit or pull request come first.
    - "Open then" marks open ends that a later session may have closed.
    - Phases that ended before the report's start are ignored. Days are
      local.

    \b
      cru report --since yesterday
      cru report --since 7d --project shop --format markdown
      cru report --since 2026-11-01 --until 2026-11-30 --format json
    """
    vault = open_vault(door)
    query = SessionQuery(project=project, until=until, archived=True)

    def answer(view: View) -> tuple[list[Row], ProjectWork]:
        rows = [row for row in select(view, query) if str(row["ended"] or utc(since)) >= utc(since)]
        return rows, work_in(view, min(map(begun, rows), default=""))

    (rows, work), now = query_index(open_index(door), answer)
    if rows:
        ask_first(vault, [vault.root / path_of_cell(str(row["path"])) for row in rows], named)
    wrong: list[CrucibleError] = []
    found = [*_reported(vault, rows, (since, until), work, wrong)]
    warn(*wrong)
    if untimed := sum(not row["started"] for row in rows):
        say(f'skipped without a start time: {untimed}; see "cru session check"', style="yellow")
    if is_data(format_):
        write_data({"sessions": [_facts(one) for one in found]}, format_)
    elif found:
        write_document(render_report(found, user_zone(), markdown=format_ == "markdown"), door)
    else:
        say('Nothing to report. Run "cru session list" to see the sessions.')
    return PROBLEMS_FOUND if wrong or untimed or now.unwalked else 0


def _reported(
    vault: Vault,
    rows: list[Row],
    span: tuple[datetime, datetime | None],
    work: ProjectWork,
    wrong: list[CrucibleError],
) -> Iterator[Reported]:
    """Yield the sessions' results, oldest first."""
    redact, (since, until) = caching_redact(redact_of(vault.settings.secrets)), span
    for row in reversed(rows):
        try:
            note = vault.read(vault.root / path_of_cell(str(row["path"])))
            session = note.session
            if is_within(session, since, until):
                _, roots = folders_of(vault.root, session.project or "")
                following = work.after(str(row["project"] or ""), begun(row))
                entry = compose_from_note(vault, note, redact=redact, roots=roots, following=following)
                one = reported(session, entry, since)
                yield from [one] if one else []
        except CrucibleError as error:
            wrong.append(error)


def _facts(one: Reported) -> dict[str, object]:
    return {
        "project": one.entry.project or None,
        "session": one.entry.session_id,
        "title": one.entry.title or one.entry.session_id,
        "status": one.status or None,
        "at": utc(one.at),
        **{
            kind: [{"text": line.text, "finding": line.finding or None} for line in lines]
            for kind, lines in one.lines.items()
        },
        "left_out": one.left_out,
    }
