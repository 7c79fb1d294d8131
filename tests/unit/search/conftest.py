"""A PostgreSQL server, started once for each process that needs it, and a database for each test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from crucible.search.postgres.address import Server
from crucible.search.postgres.server_tables import set_up
from crucible.vault.notes.vault import Vault
from samples.postgres_server import GUARDED, NoServer, Running, Team, running_server
from samples.recall_eval.vault import build_vault

_numbers = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Running]:
    try:
        with running_server() as running:
            admin = Server(running.address())
            for role in ("owner", "anna", "ben", GUARDED):
                admin.run(f"CREATE ROLE {role} LOGIN")
            admin.run("CREATE DATABASE pattern OWNER owner")
            made = Server(running.address("owner", "pattern"))
            set_up(made)
            made.close()
            admin.close()
            yield running
    except NoServer as error:
        # `pytest -ra` prints this reason.
        pytest.skip(f"no PostgreSQL server: {error}")


@contextmanager
def database(postgres: Running) -> Iterator[Team]:
    """A database with our tables, all empty."""
    name = f"team{next(_numbers)}"
    admin = Server(postgres.address())
    admin.run(f"CREATE DATABASE {name} TEMPLATE pattern OWNER owner")
    team = Team(postgres, name)
    yield team
    team.close()
    admin.run(f"DROP DATABASE {name} WITH (FORCE)")
    admin.close()


@pytest.fixture
def team(postgres: Running) -> Iterator[Team]:
    with database(postgres) as made:
        yield made


@pytest.fixture(scope="session")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Vault:
    """The vault of `samples/recall_eval`; nobody writes its notes."""
    return build_vault(tmp_path_factory.mktemp("recall-eval") / "vault")
