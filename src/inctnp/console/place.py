"""Which rows of an input are new to a state."""

import itertools
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from inctnp.console.memo import Memo, mark_of
from inctnp.errors import StateError
from inctnp.rows import Example
from inctnp.rows.source import STDIN


def new_rows(examples: Iterator[Example], path: str, memo: Memo) -> Iterator[Example]:
    """The rows behind those taken from the same file before; all rows of another file, or of a pipe."""
    source = str(Path(path).resolve()) if path != STDIN and Path(path).is_file() else None
    if source is None or source != memo.source:
        memo.source, memo.place = source, 0
        return examples
    last = deque(itertools.islice(examples, memo.place), maxlen=1) if memo.place else deque[Example]()
    if memo.place and (not last or mark_of(last[0]) != memo.mark):
        raise StateError(
            f"{path} is not the file this state has seen: its first {memo.place} rows have changed. Rows are only "
            "added at the end of a file; to learn this one from its first row, give it as `cat FILE |` and '-'."
        )
    return examples
