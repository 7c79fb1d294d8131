"""A lake's manifests and lists of deletions.

A vault has one manifest, which names the files of its partitions.  A file that no manifest names does not belong to the
lake.  Lists of deletions apply to every vault, and hold only hashes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from crucible.commands.lake.lake_store import LakeStore
from crucible.commands.lake.lake_tables import PARTITION, TABLES, VERSION, check_version, key_of
from crucible.core.errors import VaultError

LAKE = "lake.json"
_MANIFESTS, _DELETIONS = "manifests", "deletions"


class LakeFile(NamedTuple):
    """A Parquet file: its name in the lake, its rows and its size in bytes."""

    name: str
    rows: int
    size: int


class Partition(NamedTuple):
    """The files of one month and project, by table.

    `inputs` is the digest of everything that they were made from.  `problems` is the number of event logs that could
    not be read whole: such a partition is written again by the next export.
    """

    inputs: str
    files: Mapping[str, LakeFile]
    problems: int = 0


class LakeManifest(NamedTuple):
    """A vault's part of a lake.  The keys of `partitions` are `month/project`."""

    vault: str
    partitions: Mapping[str, Partition]


def load_manifest(store: LakeStore, vault: str) -> tuple[LakeManifest, bytes | None]:
    """Return a vault's manifest and its bytes; an empty one if there is none."""
    data = store.read(_name_of(vault))
    return (LakeManifest(vault, {}) if data is None else _parsed(data, vault, store)), data


def all_manifests(store: LakeStore) -> list[LakeManifest]:
    """Return the manifests of all vaults.  Raises `VaultError` if there is no lake."""
    check_lake(store)
    found = []
    for name in store.names(_MANIFESTS):
        data = store.read(name)
        if name.endswith(".json") and data is not None:
            found.append(_parsed(data, name.rpartition("/")[2].removesuffix(".json"), store))
    if not found:
        raise VaultError(f"{store.place}: not a lake", 'run "cru lake export" first')
    return found


def save_manifest(store: LakeStore, manifest: LakeManifest, known: bytes | None) -> bytes:
    """Replace a manifest and return its bytes.  `known` are those that it had.

    Raises `VaultError` if another export has replaced it.
    """
    store.settle()
    name = _name_of(manifest.vault)
    if store.read(name) != known:
        raise VaultError(f"{store.place}: another export changed the lake in the meantime", "run the export again")
    rows = {key: _dumped(one) for key, one in sorted(manifest.partitions.items())}
    data = orjson.dumps({"lake": VERSION, "partitions": rows}, option=orjson.OPT_INDENT_2)
    if data != known:
        store.write(name, data)
    return data


def begin_lake(store: LakeStore) -> None:
    """Create a lake in an empty place.  Raises `VaultError` if other files are there, or a lake of another version."""
    if store.read(LAKE) is not None:
        check_lake(store)
        return
    others = [name for name in store.names("") if not name.startswith(".")]
    if others:
        raise VaultError(f"{store.place}: not empty, and not a lake ({others[0]})", "choose an empty or new folder")
    store.write(LAKE, orjson.dumps({"lake": VERSION}))


def check_lake(store: LakeStore) -> None:
    """Raise `VaultError` if the place has no lake, or one of another version."""
    data = store.read(LAKE)
    if data is None:
        raise VaultError(f"{store.place}: not a lake", 'run "cru lake export" first')
    check_version(_mapping(_loaded(data)).get("lake"), store.place)


def remember_deletions(store: LakeStore, names: Iterable[str]) -> None:
    """Add a list of session ids and native ids to the lake, as hashes."""
    hashes = sorted({deletion_hash(name) for name in names})
    if hashes:
        store.write(f"{_DELETIONS}/{key_of(*hashes)}.json", orjson.dumps(hashes))


def load_deletions(store: LakeStore) -> frozenset[str]:
    """Return the hashes of all deleted sessions."""
    found: set[str] = set()
    for name in store.names(_DELETIONS):
        hashes = _loaded(store.read(name) or b"[]") if name.endswith(".json") else []
        if not isinstance(hashes, list):
            raise VaultError(f"{store.place}/{name}: damaged", "restore it, or export to a new folder with the lists")
        found.update(map(str, hashes))
    return frozenset(found)


def deletion_hash(name: str) -> str:
    """Return the hash that stands for a session id or native id in a list of deletions."""
    return key_of("deleted", name)


def lake_files(manifests: Iterable[LakeManifest]) -> dict[str, list[tuple[tuple[str, str], LakeFile]]]:
    """Return the files by table, each with its month and project."""
    found: dict[str, list[tuple[tuple[str, str], LakeFile]]] = {table: [] for table in TABLES}
    for manifest in manifests:
        for key, partition in manifest.partitions.items():
            month, _, project = key.partition("/")
            for table, file in partition.files.items():
                found[table].append(((month, project), file))
    return found


def file_name(table: str, key: str, vault: str, inputs: str) -> str:
    """Return a file's name in the lake."""
    folders = "/".join(f"{name}={value}" for name, value in zip(PARTITION, key.split("/"), strict=True))
    return f"{table}/{folders}/{vault}-{inputs}.parquet"


def sweep(store: LakeStore, manifest: LakeManifest) -> int:
    """Remove the files of this vault that its manifest does not name, and return their number."""
    named = {file.name for partition in manifest.partitions.values() for file in partition.files.values()}
    removed = 0
    for table in TABLES:
        for name in store.names(table):
            if name not in named and _is_of(manifest.vault, name.rpartition("/")[2]):
                store.remove(name)
                removed += 1
    return removed


def _is_of(vault: str, name: str) -> bool:
    return name.lstrip(".").startswith(f"{vault}-") and name.endswith((".parquet", ".tmp"))


def _name_of(vault: str) -> str:
    return f"{_MANIFESTS}/{vault}.json"


def _dumped(partition: Partition) -> dict[str, object]:
    return {**partition._asdict(), "files": {table: file._asdict() for table, file in partition.files.items()}}


def _parsed(data: bytes, vault: str, store: LakeStore) -> LakeManifest:
    found = _mapping(_loaded(data))
    check_version(found.get("lake"), store.place)
    try:
        partitions = {key: _partition(one) for key, one in found["partitions"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise VaultError(
            f"{store.place}/{_name_of(vault)}: damaged", "remove it, and export again: all files are written again"
        ) from error
    return LakeManifest(vault, partitions)


def _partition(one: Mapping[str, Any]) -> Partition:
    files = {table: LakeFile(str(f["name"]), int(f["rows"]), int(f["size"])) for table, f in one["files"].items()}
    _check_names(files.keys(), [file.name for file in files.values()])
    return Partition(str(one["inputs"]), files, int(one["problems"]))


def _check_names(tables: Collection[str], names: Iterable[str]) -> None:
    """Refuse files outside the lake: a manifest may have been edited."""
    for table, name in zip(tables, names, strict=True):
        if table not in TABLES or not name.startswith(f"{table}/") or ".." in name.split("/"):
            raise ValueError(name)


def _loaded(data: bytes) -> object:
    try:
        return orjson.loads(data)
    except ValueError:
        return None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
