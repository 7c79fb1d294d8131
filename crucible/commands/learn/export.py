"""Write cases as rows of training data, with a dataset card.

The same cases in the same order give the same bytes. Files are staged and moved into place at the end, all or none.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

import orjson

from crucible.commands.learn.case import (
    Case,
    Puzzle,
)
from crucible.commands.learn.lessons import lesson_of
from crucible.commands.learn.rubric import rubric_json, rubric_of
from crucible.commands.learn.scrubbing import Scrubber
from crucible.commands.learn.selection import Families, Splits
from crucible.commands.learn.training_rows import ROW_OF_SHAPE, Row, Shape, without_marks
from crucible.core.errors import UsageError, VaultError, reason_of
from crucible.core.patterns import late_pattern
from crucible.core.templates import render_template

CARD_MARK = "<!-- written by cru session learn -->"
"""The line that identifies a README as our dataset card."""

_TABLES = ("type", "split", "agent", "model", "difficulty", "project", "fault", "category", "review")
_MOST = 40
"""Maximum rows of a table; the rest is summed in one row."""
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass(slots=True)
class Tally:
    """Counts of an export: rows `by` metadata, cases `left_out` by type, and redactions by rule."""

    rows: int = 0
    tokens: int = 0
    by: defaultdict[str, Counter[object]] = field(default_factory=lambda: defaultdict(Counter))
    left_out: Counter[str] = field(default_factory=Counter)
    redactions: Counter[str] = field(default_factory=Counter)

    def add(self, metadata: Row) -> None:
        """Count a row."""
        self.rows += 1
        self.tokens += int(str(metadata["tokens"]))
        for name in (*_TABLES, "session", "verified", "complete", "problems"):
            self.by[name][metadata[name]] += 1


class ExportedFile(NamedTuple):
    """An exported file and its split."""

    path: Path
    split: str
    rows: int
    size: int


def render_card(shape: Shape, tally: Tally, files: Sequence[ExportedFile], provenance: Provenance) -> str:
    """Render the dataset card."""
    return render_template(
        "dataset-card.md.j2",
        mark=CARD_MARK,
        shape=shape.value,
        licence=_licence(provenance.licence),
        licence_name=_code(provenance.licence),
        source=_code(provenance.source),
        size=next((name for most, name in _SIZES if tally.rows < most), "1M<n<10M"),
        files=[(_yaml(one.path.name), _yaml(one.split or "train"), _code(one.path.name), one.rows) for one in files],
        tally=tally,
        tables=[(name.capitalize(), _table(tally.by[name])) for name in _TABLES if tally.by[name].keys() - {""}],
        left_out=_table(tally.left_out),
        redactions=_table(tally.redactions),
    )


def _table(counts: Counter[Any]) -> list[tuple[str, int]]:
    """Return counts, most frequent first, with the sum of the rest at the end."""
    found = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    rows = [(_code(name), count) for name, count in found[:_MOST]]
    rest = sum(count for _, count in found[_MOST:])
    return [*rows, (f"{len(found) - _MOST} others", rest)] if rest else rows


_UNSAFE = late_pattern(r"[`|\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def _code(text: str) -> str:
    """Return a name as a code span in a table. Characters that would end the span or the cell become spaces."""
    clean = _UNSAFE.sub(" ", text).strip()[:120]
    return f"`{clean}`" if clean else "(none)"


_UNREADABLE = late_pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_KNOWN = late_pattern(r"[a-z0-9][a-z0-9.+-]{1,40}")


def _licence(licence: str) -> list[tuple[str, str]]:
    """Return the license fields for the Hugging Face Hub: a known identifier, or any other text as a name."""
    name = licence.lower()
    if name == "unspecified":
        return [("license", "unknown")]
    if _KNOWN.fullmatch(name):
        return [("license", _yaml(name))]
    return [("license", "other"), ("license_name", _yaml(licence))]


def _yaml(text: str) -> str:
    """Quote text for YAML, as in JSON. Characters that YAML forbids become spaces."""
    return orjson.dumps(_UNREADABLE.sub(" ", text)).decode()


_KINDS = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


def with_tool_schemas(rows: Iterable[Row]) -> Iterator[Row]:
    """Add `tools` to rows with `messages`. Reads all rows before it yields the first one."""
    calls: Counter[str] = Counter()
    known: dict[str, dict[str, set[str]]] = {}
    with tempfile.TemporaryFile() as spool:
        for row in rows:
            for function in _functions(row):
                calls[function["name"]] += 1
                own = known.setdefault(function["name"], {})
                for argument, value in orjson.loads(function["arguments"]).items():
                    own.setdefault(argument, set()).add(_KINDS.get(type(value), "null"))
            spool.write(orjson.dumps(row) + b"\n")
        spool.seek(0)
        often = sorted(known, key=lambda name: (-calls[name], name))
        for row in map(orjson.loads, spool):
            names = sorted({function["name"] for function in _functions(row)})
            if len({frozenset(known[name]) for name in names}) == 1:
                names += [one for one in often if known[one].keys() != known[names[0]].keys()][:1]
            tools = [_schema(name, known[name]) for name in names]
            yield {"messages": row.pop("messages"), "tools": tools, **row}


def _schema(name: str, arguments: Mapping[str, set[str]]) -> Row:
    properties = {argument: _typed(arguments[argument]) for argument in sorted(arguments)}
    parameters = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def _typed(kinds: set[str]) -> Row:
    names = sorted(kinds - {"integer"} if "number" in kinds else kinds)
    items: Row = {"items": {}} if "array" in names else {}
    return {"type": names[0] if len(names) == 1 else names, **items}


def _functions(row: Row) -> Iterator[Row]:
    return (call["function"] for message in row["messages"] for call in message.get("tool_calls", ()))


class Provenance(NamedTuple):
    """The origin recorded in every row: the data's licence, the vault's name, and the split ("" for none)."""

    licence: str = "unspecified"
    source: str = "crucible"
    split: str = ""


_NO_PROVENANCE = Provenance()


def row_of(case: Case, shape: Shape, provenance: Provenance = _NO_PROVENANCE) -> Row | None:
    """Return the row of a case in a shape, with `metadata` last, or None if the shape has no row for the case."""
    lesson = lesson_of(case)
    # The arguments of an incomplete case are unknown, so a tool schema would be made up.
    if lesson is None or (shape is Shape.TOOLS and not case.complete):
        return None
    columns = ROW_OF_SHAPE[shape](lesson)
    return {**columns, "metadata": metadata_of(case, provenance)} if columns else None


_COPIED = (
    "id", "type", "title", "finding", "agent", "model", "channel", "project", "difficulty", "tokens", "fault", "review", "complete", "digest"
)  # fmt: skip


def metadata_of(case: Case, provenance: Provenance) -> Row:
    """Return values for filtering rows: strings, numbers and booleans, with the same keys and types in all rows.

    Readers infer types from the first rows, so no value is null, no string looks like a time, and lists are
    comma-separated strings.
    """
    why = case.body.attribution if isinstance(case.body, Puzzle) else None
    row: Row = {name: getattr(case, name) for name in _COPIED}
    row |= case.place._asdict()
    row |= {name: ",".join(one.replace(",", " ") for one in getattr(case, name)) for name in ("tools", "tags")}
    row |= {
        "rubric": rubric_json(rubric_of(case.body)),
        "verified": bool(case.verification),
        "category": why.category if why else "",
        "problems": "; ".join(case.problems),
        "redactions": sum(case.redactions.values()),
    }
    row |= provenance._asdict()
    return {name: without_marks(one) if isinstance(one, str) else one for name, one in row.items()}


_Line: TypeAlias = tuple[str, bytes]
"""The split of a row ("" for none), and the row as a line of JSON."""


@dataclass(frozen=True, slots=True)
class Export:
    """The options of an export. If `metadata` is False, that column is omitted."""

    shape: Shape
    splits: Splits | None = None
    families: Families = field(default_factory=Families)
    licence: str = "unspecified"
    source: str = "crucible"
    metadata: bool = True


class Exported(NamedTuple):
    """The result of an export: the files, the card (None for a stream), and the counts."""

    files: tuple[ExportedFile, ...]
    card: Path | None
    tally: Tally


# --- rows ------------------------------------------------------------------------------------------------------------


def _lines(cases: Iterable[Case], export: Export, scrubber: Scrubber, tally: Tally) -> Iterator[_Line]:
    """Yield the rows of cases and count them in `tally`. Raises `SecretsError` if the secret scanner fails."""
    rows = _rows(cases, export, scrubber, tally)
    for row in with_tool_schemas(rows) if export.shape is Shape.TOOLS else rows:
        metadata = row["metadata"]
        tally.add(metadata)
        if not export.metadata:
            del row["metadata"]
        yield metadata["split"], orjson.dumps(row, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE)


def _rows(cases: Iterable[Case], export: Export, scrubber: Scrubber, tally: Tally) -> Iterator[dict[str, Any]]:
    for case in cases:
        split = export.splits.side(export.families.of(case.place.session)) if export.splits else ""
        clean = scrubber.clean_with_id(case)
        row = row_of(clean, export.shape, Provenance(export.licence, export.source, split))
        if row is None:
            tally.left_out[case.type.value] += 1
        else:
            tally.redactions.update(clean.redactions)
            yield row


# --- files -----------------------------------------------------------------------------------------------------------


def export_stream(
    cases: Iterable[Case], export: Export, scrubber: Scrubber, write: Callable[[Iterable[bytes]], None]
) -> Exported:
    """Write all rows with `write`. There is no card, and only the rows' `metadata` names the split."""
    tally = Tally()
    write(data for _, data in _lines(cases, export, scrubber, tally))
    return Exported((), None, tally)


def export_files(cases: Iterable[Case], export: Export, scrubber: Scrubber, target: Path) -> Exported:
    """Write a file for each split to the path from `target_of`, and the card next to them.

    Raises `UsageError` for an invalid target, and `VaultError` if writing fails.
    """
    places = {split: target_of(target, split) for split in (export.splits.shares if export.splits else [""])}
    folder = next(iter(places.values())).parent
    tally = Tally()
    try:
        existing = next(one for one in (folder, *folder.parents) if one.exists())
        with TemporaryDirectory(prefix=".cru-", dir=existing) as stage:
            drafts = {split: Path(stage, path.name) for split, path in places.items()}
            rows = _write(_lines(cases, export, scrubber, tally), drafts)
            files = tuple(
                ExportedFile(places[split], split, rows[split], draft.stat().st_size)
                for split, draft in drafts.items()
                if rows[split]
            )
            if not files:
                return Exported((), None, tally)
            _check_others(path for split, path in places.items() if not rows[split])
            card = _card_beside(files[0].path)
            text = render_card(export.shape, tally, files, Provenance(export.licence, export.source))
            Path(stage, card.name).write_text(text, encoding="utf-8")
            folder.mkdir(parents=True, exist_ok=True)
            for path in (*places.values(), card):
                _put(Path(stage, path.name), path)
    except OSError as error:
        raise VaultError(f"{target}: {reason_of(error)}", "nothing was exported") from error
    return Exported(files, card, tally)


def target_of(target: Path, split: str) -> Path:
    """Return the file for a split: `TARGET/train.jsonl` for a folder, `cases.train.jsonl` for `cases.jsonl`."""
    if target.is_dir() or not target.suffix:
        if target.exists() and not target.is_dir():
            raise UsageError(f"{target}: not a folder", "choose another folder, or a file: -o cases.jsonl")
        path = target / f"{split or 'train'}.jsonl"
    elif target.suffix in {".jsonl", ".json", ".ndjson"}:
        path = target.with_suffix(f".{split}{target.suffix}") if split else target
    else:
        raise UsageError(f"{target}: not a folder or a .jsonl file", "for example -o cases.jsonl")
    if path.is_symlink():
        raise VaultError(f"{path}: a symlink; exports never write through links", "choose another path")
    return path


def _write(lines: Iterable[_Line], drafts: dict[str, Path]) -> Counter[str]:
    """Write each row to its split's draft; returns the number of rows by split."""
    rows: Counter[str] = Counter()
    with ExitStack() as stack:
        files = {split: stack.enter_context(draft.open("wb")) for split, draft in drafts.items()}
        for split, data in lines:
            files[split].write(data)
            rows[split] += 1
    return rows


def _put(draft: Path, path: Path) -> None:
    """Move a draft into place. If it is empty, remove the file from an earlier export, which would be stale."""
    if draft.stat().st_size:
        draft.replace(path)
    else:
        path.unlink(missing_ok=True)


def _card_beside(first: Path) -> Path:
    """Return the card's path: `README.md` or, if another file has that name, `cases.README.md`, numbered if needed."""
    names = ["README", f"{first.stem}.README"]
    numbered = (f"{first.stem}.README-{number}" for number in count(2))
    paths = (first.with_name(f"{name}.md") for some in (names, numbered) for name in some)
    return next(path for path in paths if not os.path.lexists(path) or CARD_MARK in _card_at(path))


def _card_at(path: Path) -> str:
    is_file = path.is_file() and not path.is_symlink()
    return path.read_text(encoding="utf-8", errors="replace") if is_file else ""


def _check_others(paths: Iterable[Path]) -> None:
    """Raise `VaultError` if a file to be removed was not written by an earlier export: no card next to it lists it."""
    for path in paths:
        cards = map(_card_at, [path.with_name("README.md"), *path.parent.glob("*.README*.md")])
        name = orjson.dumps(path.name).decode()
        if os.path.lexists(path) and not any(CARD_MARK in card and name in card for card in cards):
            raise VaultError(
                f"{path}: this export has no rows for it, and it was not written by an export",
                "move it, or choose another folder",
            )
