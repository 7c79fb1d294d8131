"""Generated sessions written into a vault, with the truth beside them in `planted.jsonl`."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

import orjson

from crucible.vault.init import init_vault
from crucible.vault.store import Vault
from tests.capture.planted import Noise, Planted, generate_many, write

__all__ = ["main"]


def main(arguments: list[str]) -> None:
    """Write `--count` sessions into `--vault`, which is made where it is missing."""
    parser = argparse.ArgumentParser(prog="python -m tests.capture.planted", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--half", type=int, choices=range(5), help="0 and 1 together without it")
    parser.add_argument("--vault", type=Path, required=True)
    given = parser.parse_args(arguments)
    init_vault(given.vault)
    vault = Vault(given.vault)
    with (given.vault / "planted.jsonl").open("wb") as truth:
        for generated in generate_many(given.seed, given.count, given.half):
            write(vault, generated)
            about = {"session": generated.session.id}
            rows = [
                *({"is": "planted", **about, **_row(one)} for one in generated.planted),
                *({"is": "noise", **about, **_row(one)} for one in generated.noise),
            ]
            truth.writelines(orjson.dumps(row) + b"\n" for row in rows)


def _row(one: Planted | Noise) -> dict[str, object]:
    """Its fields; `spans` as in the truth: lines from 0, the last one not included."""
    values = {each.name: getattr(one, each.name) for each in dataclasses.fields(one)}
    twins = {"twins": sorted(values["twins"])} if "twins" in values else {}
    return {**values, "spans": [[*span] for span in values["spans"]], **twins}


if __name__ == "__main__":
    main(sys.argv[1:])
