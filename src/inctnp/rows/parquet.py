"""Parquet files, a batch of rows at a time."""

from collections.abc import Iterator
from typing import Any

from inctnp.errors import ConfigError, DataError
from inctnp.rows.delimited import Numbered
from inctnp.rows.json_lines import plain
from inctnp.rows.reading import Reading
from inctnp.rows.refusals import Refuse
from inctnp.rows.source import STDIN

BATCH = 1024
"""Rows held at a time."""
MAGIC = b"PAR1"


def read_parquet(path: str, reading: Reading, refuse: Refuse) -> tuple[list[str], Iterator[Numbered]]:
    """The columns, and the rows with their numbers counted from 1."""
    if path == STDIN:
        raise DataError(
            "Parquet cannot be read from a pipe, because its table of contents is at its end: give the file."
        )
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ConfigError("Parquet takes pyarrow: `pip install inctnp[data]`, or save the table as CSV.") from error
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} is not a Parquet file, or is damaged: {error}") from error
    schema = file.schema_arrow
    columns = [name for name in schema.names if name not in reading.drop]
    nested = [name for name in columns if pa.types.is_nested(schema.field(name).type)]
    if nested:
        raise DataError(
            f"Column {nested[0]!r} of {path} holds lists or structures, which are no values: --drop {nested[0]}."
        )
    return list(schema.names), _rows(file, columns, reading, refuse)


def _rows(file: Any, columns: list[str], reading: Reading, refuse: Refuse) -> Iterator[Numbered]:
    number = 0
    for batch in file.iter_batches(batch_size=BATCH, columns=columns):
        converted = [_column(batch.column(place)) for place in range(len(columns))]
        for values in zip(*converted, strict=True) if columns else ():
            number += 1
            try:
                row = {name: plain(name, value, reading) for name, value in zip(columns, values, strict=True)}
            except (ValueError, OverflowError) as error:
                refuse(DataError(f"Row {number}: {error}"))
                continue
            yield number, row


def _column(array: Any) -> list[Any]:
    """Python values; moments to the microsecond, because Python has no finer ones."""
    import pyarrow as pa

    if pa.types.is_timestamp(array.type):
        array = array.cast(pa.timestamp("us", tz=array.type.tz), safe=False)
    if pa.types.is_duration(array.type):
        array = array.cast(pa.duration("us"), safe=False)
    values: list[Any] = array.to_pylist()
    return values
