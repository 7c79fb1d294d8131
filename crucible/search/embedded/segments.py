"""The tantivy schema of the index, and all code that writes with tantivy.

Parts are written as separate indexes, and their segments are then listed in the main meta file: a tantivy writer on the
main index could merge segments at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from crucible.core.named_tuples import NamedTuple
from crucible.core.quick_imports import parse_json
from crucible.search.embedded.index_format import SIDES, IndexedNote, IndexPart

if TYPE_CHECKING:
    import tantivy

    from crucible.search.embedded.documents import Derived, Indexed


_LONGEST_WORD = 72
"""Maximum bytes of a word: keeps 64-digit hashes, but not lines of base64."""
_HEAP = 30_000_000
_LARGE_HEAP = 200_000_000
"""Bytes of memory for a writer.  With too little memory, it splits a batch into several segments."""
_MANY = 2_000
"""Batches with more events get the larger heap."""


class WrittenPart(NamedTuple):
    """A part written to a folder: its segments and heads by side.  The files are in `folder/side`."""

    folder: Path
    documents: int
    members: Mapping[str, int]
    segments: Mapping[str, list[dict[str, Any]]]
    heads: Mapping[str, dict[str, Any]]


@contextmanager
def refusals(kind: Callable[[str], Exception]) -> Iterator[None]:
    """Convert tantivy's errors to one exception.

    A full disk or a damaged file raises `ValueError`, or a panic that is not an `Exception`.
    """
    try:
        yield
    except (ValueError, SystemError) as error:
        raise kind(str(error)) from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise kind(str(error)) from error
        raise


def engine() -> str:
    """Return the name and version of the engine: another version may be unable to read the index."""
    return f"tantivy {_tantivy().__version__}"


def _tantivy() -> Any:
    # Late: 17 MB that are needed for searches only.
    import tantivy  # noqa: PLC0415

    return tantivy


@cache
def _analyzer() -> tantivy.TextAnalyzer:
    module = _tantivy()
    given = module.Filter
    found: tantivy.TextAnalyzer = (
        module.TextAnalyzerBuilder(module.Tokenizer.simple())
        .filter(given.remove_long(_LONGEST_WORD))
        .filter(given.lowercase())
        .filter(given.ascii_fold())
        .filter(given.stemmer("english"))
        .build()
    )
    return found


def analyze(text: str) -> list[str]:
    """Split text into stems, as in the index: lower case, without accents, stemmed."""
    return _analyzer().analyze(text)


@cache
def schema_of(side: str) -> tantivy.Schema:
    """Return the schema of a side.  Word positions are not stored: they would add a fifth of the text's size.

    `note` is the note's number, `event` and `reply` are positions in the card, `kind` one in `KINDS`; `first` and `last` are times.
    """
    found: tantivy.SchemaBuilder = _tantivy().SchemaBuilder()
    found.add_text_field("text", tokenizer_name="said", index_option="freq")
    found.add_text_field("names", tokenizer_name="named", index_option="basic")
    found.add_text_field("facts", tokenizer_name="raw", index_option="basic")
    found.add_unsigned_field("note", indexed=True, fast=True)
    found.add_integer_field("first", fast=True)
    if side == "events":
        found.add_unsigned_field("event", fast=True)
        found.add_unsigned_field("reply", fast=True)
        found.add_unsigned_field("kind", fast=True)
    else:
        found.add_integer_field("last", fast=True)
        found.add_bytes_field("card", stored=True)
    return found.build()


def _registered(index: tantivy.Index) -> tantivy.Index:
    module = _tantivy()
    named = module.TextAnalyzerBuilder(module.Tokenizer.whitespace()).build()
    # By default, a thread reopens the index when a meta file changes, even during an update.
    index.config_reader("manual")
    index.register_tokenizer("said", _analyzer())
    index.register_tokenizer("named", named)
    return index


def open_side(folder: Path) -> tantivy.Searcher:
    """Open a searcher for the segments currently listed in a folder's meta file."""
    return _registered(_tantivy().Index.open(str(folder))).searcher()


def write_part(folder: Path, derived: Mapping[int, Derived]) -> WrittenPart:
    """Index notes, given by number, in an empty folder."""
    given = derived.values()
    documents = sum(len(one.events) for one in given)
    heap = _LARGE_HEAP if documents > _MANY else _HEAP
    for side in SIDES:
        (folder / side).mkdir(parents=True)
        index = _registered(_tantivy().Index(schema_of(side), path=str(folder / side)))
        writer = index.writer(heap, 1)
        for number, one in derived.items():
            for document in _documents(one, side, number):
                writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
    return _written(folder, documents, {one.path: number for number, one in derived.items()})


def _documents(derived: Derived, side: str, number: int) -> Iterable[tantivy.Document]:
    if side == "events":
        for event in derived.events:
            document = _document(event, number, f"{event.text}\n{event.heading}")
            document.add_unsigned("event", event.number)
            document.add_unsigned("reply", event.reply)
            document.add_unsigned("kind", event.kind)
            yield document
        return
    document = _document(derived.whole, number, derived.text())
    if derived.whole:
        document.add_integer("last", derived.whole.last)
    document.add_bytes("card", derived.card)
    yield document


def _document(indexed: Indexed | None, number: int, text: str) -> tantivy.Document:
    document: tantivy.Document = _tantivy().Document()
    document.add_unsigned("note", number)
    if indexed:
        document.add_text("text", text)
        document.add_text("names", indexed.names)
        for fact in indexed.facts:
            document.add_text("facts", fact)
        document.add_integer("first", indexed.first)
    return document


def join_parts(
    folder: Path,
    parts: Sequence[IndexPart],
    store: Path,
    heads: Mapping[str, dict[str, Any]],
    rows: Mapping[str, IndexedNote],
) -> WrittenPart:
    """Merge small parts into one, in an empty folder, dropping documents that are outdated according to `rows`."""
    import shutil  # rarely needed  # noqa: PLC0415

    members = [(path, at) for part in parts for path, at in part.members.items()]
    live = {path: at for path, at in members if path in rows and rows[path].number == at}
    outdated = [at for path, at in members if live.get(path) != at]
    for side in SIDES:
        (folder / side).mkdir(parents=True)
        for name in (name for part in parts for name in part.files if name.startswith(f"{side}/")):
            # Copy instead of linking: a hard link would change the original's stamp.
            shutil.copyfile(store / name, folder / name)
        segments = [one for part in parts for one in part.segments.get(side, ())]
        meta = {**heads[side], "segments": segments, "opstamp": _last_stamp(segments)}
        (folder / side / "meta.json").write_bytes(orjson.dumps(meta))
        _merge(folder / side, outdated)
    return _written(folder, sum(rows[path].events for path in live), live)


def _last_stamp(segments: Iterable[dict[str, Any]]) -> int:
    return max([(one.get("deletes") or {}).get("opstamp", 0) for one in segments], default=0)


def _merge(folder: Path, outdated: Iterable[int]) -> None:
    """Merge segments: on commit, tantivy merges eight or more segments of up to 10,000 documents into one."""
    module = _tantivy()
    writer = _registered(module.Index.open(str(folder))).writer(_HEAP, 1)
    for number in outdated:
        writer.delete_documents_by_term("note", number)
    writer.commit()
    writer.wait_merging_threads()


def _written(folder: Path, documents: int, members: Mapping[str, int]) -> WrittenPart:
    segments, heads = {}, {}
    for side in SIDES:
        meta = parse_json((folder / side / "meta.json").read_bytes())
        segments[side] = meta.pop("segments")
        meta.pop("opstamp")
        meta.pop("payload", None)
        heads[side] = meta
    return WrittenPart(folder, documents, members, segments, heads)
