"""kill -9 at many random moments while sessions are captured: `make kills`.

`tests/clients/killing.py` and `killed_watcher.py` say what is killed and what must be in the notes; the tests
themselves kill ten times.  A failure prints the seed, the session, its spool and the log.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from random import SystemRandom

from tests.clients.killed_watcher import kill_watchers
from tests.clients.killing import kill_at_random


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill what captures sessions, and look for what is missing.")
    parser.add_argument("kills", nargs="?", type=int, default=500)
    parser.add_argument("--watchers", type=int, default=100, help="kills of a watcher of all clients' logs")
    parser.add_argument("--seed", type=int, default=SystemRandom().getrandbits(32))
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}", flush=True)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        toll = kill_at_random(Path(folder), chosen.kills, chosen.seed, lambda toll: print(toll, flush=True))
        watched = kill_watchers(
            Path(folder, "watched"), chosen.watchers, chosen.seed, lambda toll: print(toll, flush=True)
        )
    print(f"{toll}; {watched}: nothing lost, nothing doubled, in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
