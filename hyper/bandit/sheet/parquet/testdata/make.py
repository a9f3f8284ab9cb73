"""Makes the files of this folder: tables as other programs write them (pyarrow 26.0.1, polars 2.1.0, duckdb 2.0.0)."""
from pathlib import Path

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent
ROWS = 5
FLOWERS = pa.table({
    "length": pa.array([1.5, 2.25, -3.0, 1e-7, 4.0], pa.float64()),
    "half": pa.array([0.5, 1.5, 2.5, 3.5, 0.1], pa.float32()),
    "count": pa.array([1, -2, 3, 2**40, 5], pa.int64()),
    "small": pa.array([200, 1, 255, 0, 7], pa.uint8()),
    "large": pa.array([2**32 - 1, 1, 2, 3, 4], pa.uint32()),
    "wild": pa.array([True, False, True, True, False]),
    "colour": pa.array(["red", "blue", "red", "green", "blue"]),
    "kind": pa.array(["iris", "poppy", "iris", "daisy", "iris"]),
})
category = FLOWERS.column("kind").dictionary_encode()

flowers = FLOWERS.set_column(7, "kind", category)
pq.write_table(flowers, HERE / "pyarrow.parquet")
pq.write_table(flowers, HERE / "groups.parquet", compression="zstd", row_group_size=2, data_page_version="2.0")
pq.write_table(flowers, HERE / "plain.parquet", compression="gzip", use_dictionary=False)
required = pa.schema([f.with_nullable(False) for f in FLOWERS.schema])
pq.write_table(FLOWERS.cast(required), HERE / "required.parquet", compression="none", use_dictionary=False,
               column_encoding={"colour": "DELTA_BYTE_ARRAY", "kind": "DELTA_LENGTH_BYTE_ARRAY",
                                "count": "DELTA_BINARY_PACKED", "length": "BYTE_STREAM_SPLIT"})
polars.from_arrow(FLOWERS).write_parquet(HERE / "polars.parquet")
duckdb.sql(f"copy FLOWERS to '{HERE}/duckdb.parquet' (format parquet)")

pq.write_table(FLOWERS.set_column(2, "count", pa.array([1, None, 3, None, 5])), HERE / "nulls.parquet")
pq.write_table(FLOWERS.set_column(0, "day", pa.array([1, 2, 3, 4, 5], pa.date32()))
               .set_column(1, "pair", pa.array([[1, 2]] * ROWS)), HERE / "types.parquet")
