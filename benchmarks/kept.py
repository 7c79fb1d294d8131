"""Generated vaults that stay between runs, and `cru` upon them.

Owns what of a vault is kept: its notes, as long as the generator is the same.  Every run makes its own index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path

from benchmarks.measuring import environment
from samples import vaults

_CRU = Path(sys.executable).with_name("cru")
_PATIENCE = 120.0


def cru(vault: Path, *arguments: str) -> list[str | Path]:
    """The installed command upon a vault."""
    return [_CRU, "--vault", vault, *arguments]


def kept_vault(within: Path, count: int) -> Path:
    """A vault of `count` sessions in one folder, without an index; made when the generator has never made it so."""
    vault = within.resolve() / f"{count}-{_version(count)}"
    if not vault.exists():
        within.mkdir(parents=True, exist_ok=True)
        for old in within.glob(f"{count}-*"):
            shutil.rmtree(old)
        print(f"writing a vault of {count:,} sessions …", flush=True)
        half = Path(tempfile.mkdtemp(prefix="half-", dir=within))
        vaults.generated_vault(half, count)
        half.rename(vault)
        os.sync()  # the disk shall be quiet when the clock starts
    forget_index(vault)
    return vault


def _version(count: int) -> str:
    """Another one when the generator writes other notes, of which the first hundred tell."""
    sample = "".join(f"{name}\n{text}" for name, text in islice(vaults.session_texts(count), 100))
    return sha256(sample.encode()).hexdigest()[:12]


def forget_index(vault: Path) -> None:
    shutil.rmtree(vault / ".crucible/index", ignore_errors=True)


def index_files(vault: Path, *tables: str) -> list[Path]:
    """Where the index keeps these tables, by its own manifest."""
    import toons  # noqa: PLC0415  not in the processes whose memory is inherited

    folder = vault / ".crucible/index"
    manifest = toons.loads((folder / "manifest.toon").read_text(encoding="utf-8"))
    return [folder / one["file"] for one in manifest["shards"] if one["table"] in tables]


@contextmanager
def watched(vault: Path, home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """While `cru watch` runs upon the vault, from when it says that it watches."""
    log = home / f"watch-{vault.name}.log"
    command = list(map(str, cru(vault, "watch")))
    with log.open("wb") as out:
        env = environment(home)
        watcher = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env, cwd=home)
        try:
            _await_watching(watcher, log)
            yield watcher
            assert watcher.poll() is None, f"cru watch ended: {log.read_text(errors='replace')}"
        finally:
            watcher.terminate()
            watcher.wait(_PATIENCE)


def _await_watching(watcher: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while "atching" not in (said := log.read_text(errors="replace")):
        assert watcher.poll() is None, f"cru watch ended: {said}"
        assert time.monotonic() < end, f"cru watch does not say that it watches: {said}"
        time.sleep(0.05)
