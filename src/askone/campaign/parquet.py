"""Parquet files written a page at a time.  A door to pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO, final

from askone.errors import MissingExtra

try:
    import pyarrow as pa
    from pyarrow import parquet
except ImportError:  # only Parquet files need it, and their writer says so
    pa = parquet = None


@final
class ParquetPages:
    """A Parquet file of columns (name, "int", "float", "bool" or "text"), one row group per page written."""

    def __init__(self, out: BinaryIO | Any, columns: Sequence[tuple[str, str]]) -> None:
        if parquet is None:
            raise MissingExtra("Parquet files need pyarrow: pip install 'askone[server]'")
        types = {
            "int": pa.int64(),
            "float": pa.float64(),
            "bool": pa.bool_(),
            "text": pa.string(),
        }
        self._schema = pa.schema([(name, types[kind]) for name, kind in columns])
        self._writer = parquet.ParquetWriter(out, self._schema, compression="zstd")

    def write(self, records: list[dict[str, Any]]) -> None:
        """A row group."""
        self._writer.write_table(pa.Table.from_pylist(records, schema=self._schema))

    def close(self) -> None:
        """The end of the file, without which it cannot be read."""
        self._writer.close()
