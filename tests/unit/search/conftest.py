"""A PostgreSQL server, started once for each process that needs it, and a database for each test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from crucible.search.postgres.address import Server
from crucible.search.postgres.server_tables import set_up
from crucible.search.team_servers import set_up_server
from crucible.vault.notes.vault import Vault
from samples.clickhouse_engine import DATABASE, Engine, NoEngine, running_clickhouse
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


@pytest.fixture(scope="session")
def clickhouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, str]]:
    """ClickHouse's engine behind a stub of its server, with our tables; and its address."""
    try:
        with running_clickhouse(tmp_path_factory.mktemp("clickhouse")) as (engine, address):
            set_up_server(address)
            yield engine, address
    except NoEngine as error:
        # `pytest -ra` prints this reason.
        pytest.skip(f"no ClickHouse engine: {error}")


@pytest.fixture
def emptied(clickhouse: tuple[Engine, str]) -> str:
    """The address of the server, with empty tables."""
    engine, address = clickhouse
    for table in ("sessions", "events", "kept"):
        engine.query(f"TRUNCATE TABLE {DATABASE}.{table}", {})
    return address
