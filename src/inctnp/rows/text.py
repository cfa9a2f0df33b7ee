"""Lines of text with their numbers, however long the stream is."""

import io

from inctnp.errors import DataError

LONGEST = 1 << 24
"""Bytes of a line: longer ones are not text."""
BOM = b"\xef\xbb\xbf"
WIDE = (b"\xff\xfe", b"\xfe\xff")


class Lines:
    """Each line as it stands, its end included; one that cannot be decoded raises, and the next can be asked for."""

    def __init__(self, source: io.BufferedReader, encoding: str, name: str) -> None:
        self._source, self._encoding, self._name = source, encoding, name
        self.number = 0

    def __iter__(self) -> "Lines":
        return self

    def __next__(self) -> str:
        raw = self._source.readline(LONGEST)
        if not raw:
            raise StopIteration
        self.number += 1
        if self.number == 1:
            raw = self._start(raw)
        if len(raw) == LONGEST:
            self._source = io.BufferedReader(io.BytesIO())  # nothing after it makes sense
            raise DataError(f"Line {self.number} of {self._name} is longer than {LONGEST >> 20} MB: this is no table.")
        try:
            return raw.decode(self._encoding)
        except UnicodeDecodeError as error:
            raise DataError(
                f"Line {self.number} of {self._name} is not {self._encoding}: byte 0x{raw[error.start]:02x} at place "
                f"{error.start + 1}. If it comes from an older program, try --encoding latin-1."
            ) from error

    def _start(self, raw: bytes) -> bytes:
        """The first line without its mark; what is not text is refused here."""
        if raw.startswith(WIDE):
            raise DataError(f"{self._name} is UTF-16: convert it first, as with `iconv -f utf-16 -t utf-8`.")
        if b"\0" in raw:
            raise DataError(f"{self._name} is not text: its first line holds zero bytes.")
        return raw.removeprefix(BOM)
