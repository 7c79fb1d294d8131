"""Files of compressed blocks of lines, which can be read one by one, in Zstandard's seekable format.

Each block is a frame with a checksum.  Two frames that decompressors skip follow: the keys of all lines, and a table of
the blocks' sizes.  So `zstd -d` prints the lines.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from crucible.core.named_tuples import NamedTuple
from crucible.core.quick_imports import blake2b

KEY = 8
"""Length of a line's key in bytes."""

_BLOCK = 1 << 18
"""Least size of a block before compression.  Larger blocks compress better: whole files take 6 percent less."""

_LEVEL = 3
"""One of Zstandard's 22 levels.  Level 9 takes 10 percent less space and four times as long."""

_SKIPPED = struct.Struct("<II")
_KEYS, _SEEK = 0x184D2A51, 0x184D2A5E
"""The marks of the skipped frames."""
_ENTRY = struct.Struct("<II")
_END = struct.Struct("<IBI")
_END_MARK = 0x8F92EAB1
_COUNT = 4
_DIGEST = 16


class Block(NamedTuple):
    """A compressed block: its data, its size before compression, and its lines' keys.

    `crc` is that of the content; None for a block that was copied from another file.
    """

    data: bytes
    length: int
    keys: bytes = b""
    crc: int | None = None


class Place(NamedTuple):
    """Where a block is in its file, its size before compression, and its lines' keys."""

    start: int
    size: int
    length: int
    keys: bytes


class Packer:
    """Compresses lines as they come.  `blocks` holds the finished blocks, all of them after `close`."""

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self.blocks = list(blocks)
        self._lines = bytearray()
        self._keys = bytearray()

    def add(self, lines: bytes, keys: bytes) -> None:
        """Add a line, or several with their keys."""
        self._lines += lines
        self._keys += keys
        if len(self._lines) >= _BLOCK:
            self.close()

    def close(self) -> None:
        """Finish the current block."""
        if self._lines:
            self.blocks.append(compress_block(bytes(self._lines), bytes(self._keys)))
            self._lines.clear()
            self._keys.clear()


def compress_block(data: bytes, keys: bytes = b"") -> Block:
    """Return a compressed block."""
    from crucible.core.zstd import CompressionParameter, compress  # noqa: PLC0415  loads a C library

    options: dict[int, int] = {CompressionParameter.compression_level: _LEVEL, CompressionParameter.checksum_flag: 1}
    return Block(compress(data, options=options), len(data), keys, zlib.crc32(data))


def is_small(place: Place) -> bool:
    """Return whether a block should be joined with the lines after it."""
    return place.length < _BLOCK


def write_blocks(path: Path, blocks: Sequence[Block], *, sync: bool) -> None:
    """Write a new file.  With `sync` it is on disk when this returns."""
    counts = b"".join(struct.pack("<I", len(block.keys) // KEY) for block in blocks)
    keys = counts + b"".join(block.keys for block in blocks)
    keys += _digest(keys)
    table = b"".join(_ENTRY.pack(len(block.data), block.length) for block in blocks)
    table += _END.pack(len(blocks), 0, _END_MARK)
    with path.open("xb") as file:
        file.writelines(block.data for block in blocks)
        file.write(_SKIPPED.pack(_KEYS, len(keys)) + keys + _SKIPPED.pack(_SEEK, len(table)) + table)
        file.flush()
        if sync:
            os.fsync(file.fileno())


def load_places(file: IO[bytes]) -> list[Place]:
    """Return the places of the blocks; none if the file has no valid tables, like the archives of earlier versions."""
    try:
        end = file.seek(-_END.size, os.SEEK_END)
        count, _, mark = _END.unpack(file.read(_END.size))
        start = end - count * _ENTRY.size
        file.seek(start)
        entries = list(_ENTRY.iter_unpack(file.read(count * _ENTRY.size)))
        first = sum(size for size, _ in entries)
        file.seek(first)
        keys = _frame(file, _KEYS)
        is_valid = (
            mark == _END_MARK and file.tell() == start - _SKIPPED.size and keys[-_DIGEST:] == _digest(keys[:-_DIGEST])
        )
        return list(_placed(entries, keys[:-_DIGEST])) if is_valid else []
    except (OSError, ValueError, struct.error):
        return []


def _frame(file: IO[bytes], mark: int) -> bytes:
    found, size = _SKIPPED.unpack(file.read(_SKIPPED.size))
    if found != mark:
        raise ValueError
    return file.read(size)


def _placed(entries: Sequence[tuple[int, ...]], table: bytes) -> Iterator[Place]:
    start, at = 0, _COUNT * len(entries)
    counts = struct.unpack_from(f"<{len(entries)}I", table)
    for (size, length), count in zip(entries, counts, strict=True):
        yield Place(start, size, length, table[at : at + count * KEY])
        start += size
        at += count * KEY


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST).digest()


def read_block(file: IO[bytes], place: Place) -> bytes:
    """Return a block's content.  Raises `ZstdError` if it is damaged."""
    from crucible.core.zstd import ZstdError, decompress  # noqa: PLC0415  as above

    file.seek(place.start)
    data = decompress(file.read(place.size))
    if len(data) != place.length:
        raise ZstdError(f"a block has {len(data)} bytes, not {place.length}")
    return data


def copy_blocks(file: IO[bytes], places: Iterable[Place]) -> Iterator[Block]:
    """Yield blocks as they are, without decompressing them."""
    for place in places:
        file.seek(place.start)
        yield Block(file.read(place.size), place.length, place.keys)
