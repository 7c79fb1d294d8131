"""Zstandard compression: the standard library's from Python 3.14 on, before that its backport.

Import it late: few files are compressed, and it loads a C library.
"""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import CompressionParameter, ZstdError, ZstdFile, compress, decompress
else:
    from backports.zstd import CompressionParameter, ZstdError, ZstdFile, compress, decompress

__all__ = ["CompressionParameter", "ZstdError", "ZstdFile", "compress", "decompress"]
