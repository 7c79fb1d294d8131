"""Generated sessions written into a vault, with the truth beside them in `planted.jsonl`."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

import orjson

from crucible.vault.init import init_vault
from crucible.vault.store import Vault
from tests.cases.planted import generate_many, write

__all__ = ["main"]


def main(arguments: list[str]) -> None:
    """Write `--count` sessions into `--vault`, which is made where it is missing."""
    parser = argparse.ArgumentParser(prog="python -m tests.cases.planted", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--vault", type=Path, required=True)
    given = parser.parse_args(arguments)
    init_vault(given.vault)
    vault = Vault(given.vault)
    with (given.vault / "planted.jsonl").open("wb") as truth:
        for generated in generate_many(given.seed, given.count):
            write(vault, generated)
            rows = [
                *({"is": "planted", **dataclasses.asdict(one)} for one in generated.planted),
                *({"is": "noise", **dataclasses.asdict(one)} for one in generated.noise),
            ]
            truth.writelines(orjson.dumps(row) + b"\n" for row in rows)


if __name__ == "__main__":
    main(sys.argv[1:])
