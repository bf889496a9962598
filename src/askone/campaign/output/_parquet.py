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
    """A Parquet file of columns (name, "int", "float", "bool" or "text"), in row groups of ``group`` records."""

    def __init__(self, out: BinaryIO | Any, columns: Sequence[tuple[str, str]], group: int) -> None:
        if parquet is None:
            raise MissingExtra("Parquet files need pyarrow: pip install 'askone[server]'")
        types = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(), "text": pa.string()}
        self._schema = pa.schema([(name, types[kind]) for name, kind in columns])
        self._writer = parquet.ParquetWriter(out, self._schema, compression="zstd")
        self._group, self._kept = group, list[Any]()

    def write(self, records: list[dict[str, Any]]) -> None:
        """Write a page of records."""
        self._kept.append(pa.RecordBatch.from_pylist(records, schema=self._schema))
        if sum(page.num_rows for page in self._kept) >= self._group:
            self._flush()

    def close(self) -> None:
        """Write the end of the file, without which it cannot be read."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._kept:
            self._writer.write_table(pa.Table.from_batches(self._kept, self._schema))
            self._kept = []
