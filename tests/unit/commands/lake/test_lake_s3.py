"""A lake in S3, spoken to through moto's server on loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crucible.commands.lake.lake_query import query_lake
from crucible.commands.lake.lake_store import S3Store, open_store
from crucible.core.errors import CrucibleError, LockTimeout, UsageError, VaultError
from crucible.vault.notes.vault import Vault
from tests.buckets import new_bucket, s3_server
from tests.unit.commands.lake.exported_vaults import SAID, export, write_session


@pytest.fixture(scope="module")
def _endpoint() -> Iterator[str]:
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture
def place(_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    return f"s3://{new_bucket(_endpoint, monkeypatch)}/team?region=us-east-1"


def _objects(place: str) -> dict[str, bytes]:
    store = open_store(place)
    return {name: store.read(name) or b"" for name in store.names("") if name.endswith(".parquet")}


def test_a_lake_in_s3_is_exported_queried_and_updated(vault: Vault, place: str) -> None:
    write_session(vault, "a", SAID)
    write_session(vault, "b", SAID, project="ledger")
    assert export(vault, open_store(place)).written == 2
    assert query_lake(open_store(place), "SELECT count(*) AS n FROM calls").rows == [{"n": 2}]
    write_session(vault, "b", [*SAID, *SAID], project="ledger")
    report = export(vault, open_store(place))
    assert (report.written, report.unchanged, report.removed) == (1, 1, 5)
    assert query_lake(open_store(place), "SELECT count(*) AS n FROM calls").rows == [{"n": 3}]


def test_a_session_on_the_list_is_in_no_object_afterwards(vault: Vault, place: str) -> None:
    write_session(vault, "gone-session", SAID)
    write_session(vault, "kept-session", SAID)
    export(vault, open_store(place))
    export(vault, open_store(place), delete=["gone-session"])
    assert [name for name, data in _objects(place).items() if b"gone-session" in data] == []
    assert query_lake(open_store(place), "SELECT id FROM sessions").rows == [{"id": "kept-session"}]


def test_a_second_export_of_this_vault_is_refused(vault: Vault, place: str) -> None:
    store = open_store(place)
    with store.hold(vault.root, "lake-aaaaaaaaaaaa", 0.0), pytest.raises(LockTimeout):
        export(vault, store)


def test_an_export_of_another_copy_meanwhile_is_noticed(vault: Vault, place: str) -> None:
    write_session(vault, "a", SAID)
    export(vault, open_store(place))
    write_session(vault, "a", [*SAID, *SAID])

    class Slow(S3Store):
        def put(self, temporary: object, name: str) -> None:
            self.write("manifests/aaaaaaaaaaaa.json", b'{"lake": 1, "partitions": {}}')
            super().put(temporary, name)  # type: ignore[arg-type]

    with pytest.raises(VaultError, match="another export"):
        export(vault, Slow(place))


def test_a_missing_bucket_is_named_without_the_credentials(vault: Vault, place: str) -> None:
    del place
    with pytest.raises(CrucibleError) as error:
        export(vault, open_store("s3://no-such-bucket/x?region=us-east-1"))
    assert "no-such-bucket" in str(error.value)
    assert "hush" not in str(error.value)


def test_credentials_in_the_address_are_refused() -> None:
    with pytest.raises(UsageError, match="credentials") as error:
        open_store("s3://key:hush@bucket/x")
    assert "hush" not in str(error.value)
