"""`cru lake export` and `cru lake query`: a vault's sessions as Parquet files, and questions to them in SQL."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crucible.cli.environment import user_settings
from crucible.cli.index_access import query_index
from crucible.cli.options import WORKERS, Door, flag, format_option, is_data, limit_option, with_options, workers_of
from crucible.cli.output import PROBLEMS_FOUND, bar, say, warn, write_data, write_document
from crucible.cli.table_output import write_rows
from crucible.cli.vault_access import index_of, open_vault
from crucible.commands.learn.case import Case
from crucible.commands.learn.case_folder import load_cases
from crucible.core.command_lines import install_command
from crucible.core.errors import CrucibleError, UsageError, reason_of
from crucible.core.prices.price_list import load_prices
from crucible.core.text import counted
from crucible.search.team.vault_rows import identities
from crucible.vault.notes.vault import Vault

if TYPE_CHECKING:  # loading these needs the extra
    from crucible.commands.lake.lake_export import ExportReport
    from crucible.commands.lake.lake_inputs import CaseFacts

_QUESTIONS = sorted(
    one.name.removesuffix(".sql")
    for one in resources.files("crucible.commands.lake").joinpath("questions").iterdir()
    if one.name.endswith(".sql")
)


@click.command("export")
@click.argument("place", metavar="DIR|s3://BUCKET/PREFIX")
@flag("--contents", "Also export texts: prompts, answers, arguments and results of calls, findings.")
@flag("--no-names", "Omit the names of sessions and projects; only their keys remain.", "no_names")
@click.option(
    "--delete-list",
    "delete_list",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Remove these sessions and their subagents, now and later: one id per line, the session's or the client's.",
)
@with_options(WORKERS)
@format_option()
@click.pass_obj
def export(
    door: Door,
    /,
    *,
    place: str,
    contents: bool,
    no_names: bool,
    delete_list: str | None,
    jobs: int | None,
    scheduler: str | None,
    copy: str | None,
    format_: str,
) -> int:
    """Export the vault's sessions as Parquet files for analysis: a lake.

    \b
    - Tables: sessions, messages, calls, findings, costs, cases (docs/lake.md).
    - Only months of projects that changed since the last export are
      written. An interrupted export can be repeated.
    - Texts are exported only with --contents, redacted again.
    - Sessions that were deleted in the vault are removed from the lake, too.
    - S3 takes credentials from AWS_ACCESS_KEY_ID … or ~/.aws, and another
      server from AWS_ENDPOINT_URL.

    Exit code: 3 if an event log could not be read whole.

    \b
      cru lake export ~/lake
      cru lake export s3://team-lake/crucible --no-names
      cru lake export ~/lake --delete-list deleted.txt
      cru lake export ~/lake --on tls://scheduler:8786
    """
    _check_libraries()
    from crucible.commands.lake.lake_export import export_lake  # noqa: PLC0415  an optional dependency
    from crucible.commands.lake.lake_inputs import ExportOptions, VaultSource  # noqa: PLC0415  as above
    from crucible.commands.lake.lake_store import open_store  # noqa: PLC0415  as above

    delete, workers = _listed(delete_list) if delete_list else (), workers_of(jobs, scheduler, copy)
    vault = open_vault(door)
    source = VaultSource(
        str(vault.root),
        identities(vault.root).vault,
        vault.settings,
        load_prices(user_settings().prices),
        tuple(_case_facts(vault)),
    )
    with bar("exporting") as show:
        report = export_lake(
            source,
            lambda question: query_index(index_of(vault), question)[0],
            open_store(place),
            ExportOptions(contents=contents, names=not no_names),
            delete=delete,
            progress=show,
            workers=workers,
        )
    _write_report(report, format_)
    return PROBLEMS_FOUND if report.problems else 0


def _listed(path: str) -> list[str]:
    """Return the ids in a list; empty lines and lines that begin with `#` are skipped."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig", errors="surrogateescape").split("\n")
    except OSError as error:
        raise UsageError(f"{path}: {reason_of(error)}") from error
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _case_facts(vault: Vault) -> Iterator[CaseFacts]:
    from crucible.commands.lake.lake_inputs import CaseFacts  # noqa: PLC0415  as above

    for one in load_cases(vault, warn):
        if one.read.case:
            yield CaseFacts(one.read.case.place.session, {"id": one.note.name, **_facts(one.read.case)})


def _facts(case: Case) -> dict[str, object]:
    why = getattr(case.body, "attribution", None)
    return {
        "type": case.type.value,
        "status": case.review.value,
        "difficulty": case.difficulty.value,
        "fault": case.fault.value,
        "category": why.category.value if why else None,
        "agent": case.agent.partition("@")[0],
        "model": case.model,
        "tokens": case.tokens,
        "verified": bool(case.verification),
        "about": case.title,
    }


def _write_report(report: ExportReport, format_: str) -> None:
    for problem in report.problems:
        say(problem, style="yellow")
    if is_data(format_):
        write_data({**report._asdict(), "rows": dict(report.rows), "problems": list(report.problems)}, format_)
        return
    parts = f"{counted(report.written, 'partition')} written, {report.unchanged} unchanged"
    say(f"{report.place}: {counted(report.sessions, 'session')}, {parts}, {report.size / 1e6:,.2f} MB")
    say(", ".join(f"{count:,} {table}" for table, count in report.rows.items()))


@click.command("query")
@click.argument("sql", metavar="[SQL]", required=False)
@click.option(
    "--lake",
    "place",
    metavar="DIR|s3://BUCKET/PREFIX",
    envvar="CRUCIBLE_LAKE",
    required=True,
    help="The lake; without it, the one in CRUCIBLE_LAKE.",
)
@click.option("--question", type=click.Choice(_QUESTIONS), metavar="NAME", help="Ask one of the questions below.")
@limit_option("Only the first N rows.")
@format_option("csv")
@click.pass_obj
def query(door: Door, /, *, sql: str | None, place: str, question: str | None, limit: int | None, format_: str) -> None:
    """Ask a lake a question in SQL (DuckDB), or one of the questions below.

    \b
    - Tables: sessions, messages, calls, findings, costs, cases. DESCRIBE
      calls lists a table's columns; docs/lake.md has their meaning.
    - A query reads the lake and nothing else: no other file, no network.

    \b
      cru lake query --lake ~/lake --question failures-by-tool
      cru lake query --lake ~/lake 'SELECT tool, count(*) FROM calls GROUP BY 1'
      cru lake query --lake ~/lake 'DESCRIBE calls' --format csv
    """
    if bool(sql) == bool(question):
        raise UsageError("give a query in SQL, or --question NAME", f"questions: {', '.join(_QUESTIONS)}")
    _check_libraries()
    from crucible.commands.lake.lake_query import query_lake, question_sql  # noqa: PLC0415  an optional dependency
    from crucible.commands.lake.lake_store import open_store  # noqa: PLC0415  as above

    found = query_lake(open_store(place), question_sql(question) if question else str(sql), limit)
    if format_ == "csv":
        write_document(_csv(found.columns, found.rows), door)
        return
    write_rows(found.rows, found.columns, format_, "rows", door)
    if format_ == "text" and not found.rows:
        say("no rows")


query.epilog = f"Questions: {', '.join(_QUESTIONS)}"


def _csv(columns: Sequence[str], rows: Sequence[Mapping[str, object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([row[column] for column in columns] for row in rows)
    return out.getvalue()


def _check_libraries() -> None:
    if not (find_spec("pyarrow") and find_spec("duckdb")):
        raise CrucibleError(
            '"cru lake" needs the extra "lake", which is not installed', f"Run: {install_command('lake')}"
        )
