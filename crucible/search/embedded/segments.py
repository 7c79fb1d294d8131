"""The schema of the index, and everything that writes with tantivy.

Each part is written as an index of its own, and its segments are then named in the meta file of the whole. tantivy's
own writer would merge segments at any time, and offers no way to prevent it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crucible.search.embedded.recall_manifest import SIDES, IndexedNote, IndexPart

if TYPE_CHECKING:
    import tantivy

    from crucible.search.embedded.documents import Derived, Indexed


_LONGEST_WORD = 72
"""Bytes: a hash of 64 digits is found, a line of base64 is not kept."""
_HEAP = 30_000_000
_LARGE_HEAP = 200_000_000
"""Bytes of memory for a writer; with less than a batch needs it begins a new segment."""
_MANY = 2_000
"""Events of a batch from which on it gets the larger one."""


class WrittenPart(NamedTuple):
    """A part in a folder: its segments and heads by side; files lie in `folder/side`."""

    folder: Path
    documents: int
    members: Mapping[str, int]
    segments: Mapping[str, list[dict[str, Any]]]
    heads: Mapping[str, dict[str, Any]]


@contextmanager
def refusals(kind: Callable[[str], Exception]) -> Iterator[None]:
    """Turn tantivy's errors into one exception.

    A full disk and a damaged file are a `ValueError`, or a panic that is no `Exception`.
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
    """The engine and its version: another may not read what this one wrote."""
    return f"tantivy {_tantivy().__version__}"


def _tantivy() -> Any:
    # 17 MB that only a search needs: every other command would load them.
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
    """The words of a text as the index has them: lower case, without accents, stemmed."""
    return _analyzer().analyze(text)


@cache
def schema_of(side: str) -> tantivy.Schema:
    """The schema.  Positions of words are not stored: they would take a fifth of the text.

    `note` is the number in the note's row, `event` says which of its card's; `first` and `last` are when it was.
    """
    found: tantivy.SchemaBuilder = _tantivy().SchemaBuilder()
    found.add_text_field("text", tokenizer_name="said", index_option="freq")
    found.add_text_field("names", tokenizer_name="named", index_option="basic")
    found.add_text_field("facts", tokenizer_name="raw", index_option="basic")
    found.add_unsigned_field("note", indexed=True, fast=True)
    found.add_integer_field("first", fast=True)
    if side == "events":
        found.add_unsigned_field("event", fast=True)
    else:
        found.add_integer_field("last", fast=True)
        found.add_bytes_field("card", stored=True)
    return found.build()


def _registered(index: tantivy.Index) -> tantivy.Index:
    module = _tantivy()
    named = module.TextAnalyzerBuilder(module.Tokenizer.whitespace()).build()
    # Its own way is a thread that opens whatever is there when a meta file changes, in the middle of a writing.
    index.config_reader("manual")
    index.register_tokenizer("said", _analyzer())
    index.register_tokenizer("named", named)
    return index


def open_side(folder: Path) -> tantivy.Searcher:
    """A searcher over what the meta file in a folder names at this moment."""
    return _registered(_tantivy().Index.open(str(folder))).searcher()


def write_part(folder: Path, derived: Mapping[int, Derived]) -> WrittenPart:
    """Index some notes, by their numbers, in an empty folder."""
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
            document = _document(event, number)
            document.add_unsigned("event", event.number)
            yield document
        return
    document = _document(derived.whole, number)
    if derived.whole:
        document.add_integer("last", derived.whole.last)
    document.add_bytes("card", derived.card)
    yield document


def _document(said: Indexed | None, number: int) -> tantivy.Document:
    document: tantivy.Document = _tantivy().Document()
    document.add_unsigned("note", number)
    if said:
        document.add_text("text", said.text)
        document.add_text("names", said.names)
        for fact in said.facts:
            document.add_text("facts", fact)
        document.add_integer("first", said.first)
    return document


def join_parts(
    folder: Path,
    parts: Sequence[IndexPart],
    store: Path,
    heads: Mapping[str, dict[str, Any]],
    rows: Mapping[str, IndexedNote],
) -> WrittenPart:
    """Make one part of several small ones, in an empty folder, without what `rows` say is dead."""
    import shutil  # noqa: PLC0415  hardly anybody joins parts

    members = [(path, at) for part in parts for path, at in part.members.items()]
    live = {path: at for path, at in members if path in rows and rows[path].number == at}
    dead = [at for path, at in members if live.get(path) != at]
    for side in SIDES:
        (folder / side).mkdir(parents=True)
        for name in (name for part in parts for name in part.files if name.startswith(f"{side}/")):
            # Copied: a second name for a file would change its stamp.
            shutil.copyfile(store / name, folder / name)
        segments = [one for part in parts for one in part.segments.get(side, ())]
        told = {**heads[side], "segments": segments, "opstamp": _last_stamp(segments)}
        (folder / side / "meta.json").write_text(json.dumps(told))
        _merge(folder / side, dead)
    return _written(folder, sum(rows[path].events for path in live), live)


def _last_stamp(segments: Iterable[dict[str, Any]]) -> int:
    return max([(one.get("deletes") or {}).get("opstamp", 0) for one in segments], default=0)


def _merge(folder: Path, dead: Iterable[int]) -> None:
    """Its own rule merges eight and more segments of up to 10,000 documents into one when it commits."""
    module = _tantivy()
    writer = _registered(module.Index.open(str(folder))).writer(_HEAP, 1)
    for number in dead:
        writer.delete_documents_by_term("note", number)
    writer.commit()
    writer.wait_merging_threads()


def _written(folder: Path, documents: int, members: Mapping[str, int]) -> WrittenPart:
    segments, heads = {}, {}
    for side in SIDES:
        told = json.loads((folder / side / "meta.json").read_text())
        segments[side] = told.pop("segments")
        told.pop("opstamp")
        told.pop("payload", None)
        heads[side] = told
    return WrittenPart(folder, documents, members, segments, heads)
