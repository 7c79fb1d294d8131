"""Read objects of an S3 bucket.  Credentials and the endpoint come from the environment or from `~/.aws`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from crucible.core.command_lines import install_command
from crucible.core.errors import CrucibleError, UsageError
from crucible.core.patterns import late_pattern

S3 = "s3://"
_SIGN = r"(?:[\w.~!$&'()*+,;=:/-]|%[0-9A-Fa-f]{2})*"
_ADDRESS = late_pattern(rf"s3://[A-Za-z0-9][\w.-]*(?:/{_SIGN})?(?:\?{_SIGN})?", re.ASCII)
"""The S3 client shows the whole of an address that it cannot parse."""


def check_bucket(address: str) -> str:
    """Return the address of a folder in a bucket.  Raises `UsageError` for any other address, and for one with credentials."""
    if not _ADDRESS.fullmatch(address):
        raise UsageError(
            "not the address of a bucket, or it contains credentials",
            "write s3://BUCKET/PREFIX, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        )
    return address


class Bucket:
    """A folder in a bucket; `place` is its address, as shown to the user."""

    def __init__(self, address: str) -> None:
        self.place = check_bucket(address).partition("?")[0].rstrip("/")
        with bucket_errors(self.place):
            self.filesystem, self._prefix = _library().fs.FileSystem.from_uri(address)

    def path(self, name: str) -> str:
        """Return a file's path in `filesystem`."""
        return f"{self._prefix.rstrip('/')}/{name}"

    def read(self, name: str, most: int | None = None) -> bytes | None:
        """Return the first `most` bytes of an object; None if it does not exist."""
        with bucket_errors(self.place):
            try:
                # By default, a name such as `a.zst` is decompressed.
                with self.filesystem.open_input_stream(self.path(name), compression=None) as stream:
                    data: bytes = stream.read(most)
                    return data
            except FileNotFoundError:
                return None


@contextmanager
def bucket_errors(place: str) -> Iterator[None]:
    """Convert the errors of the S3 client, whose messages may contain an address with credentials."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, _library().ArrowException) as error:
        reason = " ".join(str(error).split())[:300]
        raise CrucibleError(
            f"{place}: {reason}", "check the address and the credentials (AWS_ACCESS_KEY_ID …, AWS_ENDPOINT_URL)"
        ) from error


def _library() -> Any:
    """Import the library with the S3 client.  Raises `CrucibleError` if it is not installed."""
    try:
        import pyarrow as pa  # noqa: PLC0415  an extra, and slow
        import pyarrow.fs  # noqa: PLC0415  as above
    except ImportError:
        raise CrucibleError("S3 needs pyarrow, which is not installed", f"Run: {install_command('lake')}") from None
    return pa
