"""Bytes from a file, a pipe or the standard input, unpacked as they come."""

import io
import os
import select
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from inctnp.errors import DataError, MissingDataError, StorageError

STDIN = "-"
CHUNK = 1 << 16
PATIENCE = 0.1
"""Seconds between two looks at whether the waiting should end."""
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"

Chunks = Iterator[bytes]
Stopped = Callable[[], bool]


class InterruptedReading(Exception):  # noqa: N818  # no error: someone asked to stop
    """The wait for more input was ended from outside."""


class Bytes(io.RawIOBase):
    """Chunks as a file that is read from the front."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks, self._rest = chunks, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = next(self._chunks, b"")
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


def open_bytes(path: str, stopped: Stopped) -> io.BufferedReader:
    """The content, without the gzip or zstandard around it, told by its first bytes and not by its name."""
    chunks = _stdin(stopped) if path == STDIN else _file(path, stopped)
    first = b""
    while len(first) < len(ZSTD) and (more := next(chunks, b"")):
        first += more
    rest = _chain(first, chunks)
    if first.startswith(GZIP):
        rest = _unpacked(rest, lambda: zlib.decompressobj(wbits=31), path)
    elif first.startswith(ZSTD):
        rest = _unpacked(rest, _zstd(path), path)
    return io.BufferedReader(Bytes(rest), CHUNK)


def _chain(first: bytes, rest: Chunks) -> Chunks:
    # Empty chunks would look like the end.
    if first:
        yield first
    yield from rest


def _file(path: str, stopped: Stopped) -> Chunks:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError as error:
        raise MissingDataError(f"There is no file {path}. To read the standard input, give '-'.") from error
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.") from error
    if Path(path).is_dir():
        os.close(descriptor)
        raise MissingDataError(f"{path} is a folder: give one of the files in it.")
    return _closing(descriptor, _read(descriptor, stopped))


def _closing(descriptor: int, chunks: Chunks) -> Chunks:
    try:
        yield from chunks
    finally:
        os.close(descriptor)


def _stdin(stopped: Stopped) -> Chunks:
    try:
        return _read(sys.stdin.fileno(), stopped)
    except io.UnsupportedOperation:
        # No real standard input, as in a notebook or a test.
        return iter(lambda: sys.stdin.buffer.read(CHUNK), b"")


def _read(descriptor: int, stopped: Stopped) -> Chunks:
    """What is there, as soon as it is there."""
    waits = not stat.S_ISREG(os.fstat(descriptor).st_mode) and os.name == "posix"
    while True:
        # A signal does not end a read that waits, so the wait is in short pieces.
        there = not waits or bool(select.select([descriptor], [], [], PATIENCE)[0])
        if stopped():
            raise InterruptedReading
        if not there:
            continue
        try:
            chunk = os.read(descriptor, CHUNK)
        except OSError as error:
            raise StorageError(f"The input cannot be read any further: {error.strerror}.") from error
        if not chunk:
            return
        yield chunk


def _unpacked(chunks: Chunks, start: Callable[[], Any], path: str) -> Chunks:
    """Packed pieces one after the other, as `cat a.gz b.gz` makes them."""
    unpacker, begun = start(), False
    for chunk in chunks:
        rest = chunk
        while rest:
            try:
                content = unpacker.decompress(rest)
            except Exception as error:
                raise DataError(f"{path} is packed and damaged: {error}. Get another copy.") from error
            begun, rest = True, unpacker.unused_data if unpacker.eof else b""
            if content:
                yield content
            if unpacker.eof:
                unpacker, begun = start(), False
                rest = rest.lstrip(b"\0")  # padding
    if begun:
        raise DataError(f"{path} is packed and ends too early: it was cut off. Get another copy.")


def _zstd(path: str) -> Callable[[], Any]:
    try:
        import zstandard
    except ImportError as error:
        raise DataError(f"{path} is packed with zstandard: `pip install inctnp[zstd]`, or unpack it first.") from error
    return lambda: zstandard.ZstdDecompressor().decompressobj()
