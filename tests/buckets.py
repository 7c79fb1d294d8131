"""S3 buckets of moto's server on loopback."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

_BUCKETS = count()
SECRET = "hush-hush"


@contextmanager
def s3_server() -> Iterator[str]:
    """Run a server; yields its address."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def new_bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make a bucket, and set what its users need; returns its name."""
    from pyarrow import fs

    settings = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_EC2_METADATA_DISABLED": "true"}
    for name, value in {**settings, "AWS_ENDPOINT_URL": endpoint, "AWS_DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(name, value)
    bucket = f"lake{next(_BUCKETS)}"
    address = endpoint.removeprefix("http://")
    fs.S3FileSystem(
        endpoint_override=address, scheme="http", region="us-east-1", allow_bucket_creation=True
    ).create_dir(bucket)
    return bucket


def copy_to_bucket(root: Path, bucket: str) -> str:
    """Copy a folder to a bucket, as a tool of the store's vendor does; returns the address."""
    from pyarrow import fs

    fs.copy_files(str(root), f"{bucket}/vault", fs.LocalFileSystem(), fs.FileSystem.from_uri(f"s3://{bucket}")[0])
    return f"s3://{bucket}/vault"
