"""The list of sessions: filters as in `cru session list`, and recall for words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from markupsafe import Markup, escape

from crucible.core.errors import CrucibleError, UsageError
from crucible.core.text import dollars, short_duration
from crucible.core.zones import in_zone
from crucible.search.recall import Hit
from crucible.vault.index.costs import select_priced
from crucible.vault.index.query import (
    COST,
    PRICED,
    STATUSES,
    UNPRICED,
    SessionQuery,
    check_column,
    named_column,
    parse_condition,
)
from crucible.vault.index.schema import Row, View, split_list
from crucible.vault.index.time_filters import parse_when, time_of
from crucible.web.web_vault import SESSION_PAGES, WebVault, page_address

_PAGE = 100
TEXTS = ("project", "agent", "channel", "model")
FIELDS = ("status", *TEXTS, "since", "until", "sort", "where", "children", "archived")
SORTS = ("", "-cost", "-tokens", "-duration_s", "-failures", "title", "started")
"""Orders that the page offers; any column works in the address."""


class SessionLine(NamedTuple):
    """A session in a list."""

    href: str
    id: str
    title: str
    project: str
    status: str
    started: str
    duration: str
    tokens: str
    cost: str
    agents: str
    calls: str
    failures: int


def session_line(row: Row, web: WebVault) -> SessionLine:
    """Return a row of the index as a line."""
    tokens, calls, seconds, failures = (row[name] for name in ("tokens", "tool_calls", "duration_s", "failures"))
    name = str(row["id"])
    return SessionLine(
        SESSION_PAGES + quote(name),
        name,
        str(row["title"] or name),
        str(row["project"] or ""),
        str(row["status"] or "unknown"),
        show_cell_time(row["started"], web.zone),
        short_duration(seconds) if isinstance(seconds, int) else "",
        f"{tokens:,}" if isinstance(tokens, int) else "",
        _cost(row),
        ", ".join(agent.partition("@")[0] for agent in split_list(str(row["participants"] or ""))),
        f"{calls:,}" if isinstance(calls, int) else "",
        failures if isinstance(failures, int) else 0,
    )


def _cost(row: Row) -> str:
    """Return the cost in a row of `select_priced`; "" if nothing was used."""
    micros = row.get(COST)
    return dollars(micros) if isinstance(micros, int) else "unpriced" if row.get(UNPRICED) else ""


def show_cell_time(cell: object, zone: tzinfo | None) -> str:
    """Return a cell's time in the user's zone; "" if it is unknown."""
    moment = time_of(cell)
    return f"{in_zone(moment, zone):%Y-%m-%d %H:%M}" if moment else ""


class FoundLine(NamedTuple):
    """A hit of recall: where it leads, its phase, session, kind and time, and its line with marked words."""

    href: str
    phase: str
    title: str
    kind: str
    at: str
    text: Markup


def list_values(web: WebVault, given: Mapping[str, str]) -> Mapping[str, object]:
    """Return what the template shows.  An invalid filter becomes a message."""
    values: dict[str, Any] = {
        "given": {name: given.get(name, "") for name in FIELDS},
        "query": given.get("q", ""),
        "statuses": STATUSES,
        "sorts": SORTS,
        "lines": [],
        "hits": [],
        "error": "",
        "more": "",
    }
    try:
        if values["query"].strip():
            values |= _found(web, given)
        else:
            values |= _listed(web, given)
    except CrucibleError as error:
        values["error"] = f"{error}{f': {error.hint}' if error.hint else ''}"
    return values


def _listed(web: WebVault, given: Mapping[str, str]) -> Mapping[str, object]:
    query = query_of(given, web.now())
    start = _number(given.get("start", ""))
    asked, by_cost = query._replace(limit=start + _PAGE + 1), _names_cost(given, query)
    rows = web.ask(lambda view: select_priced(view, web.prices, asked, by_cost=by_cost))
    more = urlencode({**given, "start": start + _PAGE}) if len(rows) > start + _PAGE else ""
    return {"lines": [session_line(row, web) for row in rows[start : start + _PAGE]], "more": more}


def query_of(given: Mapping[str, str], now: datetime) -> SessionQuery:
    """Build the query from an address.  Raises `UsageError`, as the options of `cru session list` do."""
    texts = {name: given[name].strip() for name in ("status", *TEXTS) if given.get(name, "").strip()}
    if texts.get("status", STATUSES[0]) not in STATUSES:
        raise UsageError(f"{texts['status']!r} is not a status", f"one of {', '.join(STATUSES)}")
    sort = given.get("sort", "").strip()
    column = check_column(sort.removeprefix("-"), PRICED) if sort else ""
    column = COST if column == "cost" else column
    return SessionQuery(
        **texts,  # type: ignore[arg-type]  # all of them are texts
        since=parse_when(given["since"], now) if given.get("since") else None,
        until=parse_when(given["until"], now, end=True) if given.get("until") else None,
        children=bool(given.get("children")),
        archived=bool(given.get("archived")),
        where=(parse_condition(given["where"], now, PRICED),) if given.get("where", "").strip() else (),
        sort=f"-{column}" if sort.startswith("-") else column or None,
    )


def _names_cost(given: Mapping[str, str], query: SessionQuery) -> bool:
    """Return whether the order or a condition depends on the cost."""
    named = {(query.sort or "").removeprefix("-")}
    if given.get("where", "").strip():
        named.add(named_column(given["where"], PRICED))
    return not named.isdisjoint(("cost", COST, UNPRICED))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else 0


# --- recall ----------------------------------------------------------------------------------------------------------


def _found(web: WebVault, given: Mapping[str, str]) -> Mapping[str, object]:
    """Search by recall.  Sessions found come first, with the filters applied; then the events."""
    answer = web.recall(given["q"])
    names = {one.session for one in answer.sessions} | {hit.event.session for hit in answer.hits}
    allowed = web.ask(lambda view: _rows_of(view, names, given, web))
    lines = [session_line(allowed[one.session], web) for one in answer.sessions if one.session in allowed]
    is_filtered = any(given.get(name) for name in FIELDS)
    hits = [
        line
        for hit in answer.hits
        if hit.event.session in allowed or (hit.event.title and not is_filtered)  # knowledge has a title
        for line in _hit(hit, allowed.get(hit.event.session), web)
    ]
    return {"lines": lines, "hits": hits}


def _rows_of(view: View, names: set[str], given: Mapping[str, str], web: WebVault) -> dict[str, Row]:
    query = query_of(given, web.now())
    wanted = query._replace(children=True, sort=None, where=(*query.where, lambda row: row["id"] in names))
    rows = select_priced(view, web.prices, wanted, by_cost=_names_cost(given, query))
    return {str(row["id"]): row for row in rows}


def _hit(hit: Hit, row: Row | None, web: WebVault) -> Iterator[FoundLine]:
    event = hit.event
    href = page_address(hit.path, web.vault.settings.sessions) if hit.path else None
    if href is None:
        return
    at = f"{in_zone(event.at, web.zone):%Y-%m-%d %H:%M}" if event.at else ""
    place = f"?line={event.line}" if event.line and href.startswith(SESSION_PAGES) else ""
    name = event.title or (str(row["title"] or "") if row else "") or event.session
    yield FoundLine(href + place, event.phase_name, name, event.kind.value.replace("_", " "), at, _marked(hit))


def _marked(hit: Hit) -> Markup:
    """Return the line of a hit with the question's words as `mark`."""
    text, parts, last = hit.snippet.text, [], 0
    for start, end in hit.snippet.marks:
        parts += [escape(text[last:start]), Markup("<mark>"), escape(text[start:end]), Markup("</mark>")]
        last = end
    return Markup().join((*parts, escape(text[last:])))
