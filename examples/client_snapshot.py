"""Save a table as a Parquet file: client_snapshot.py http://127.0.0.1:8080 users_ui users.parquet

The key is taken from EVERGRID_KEY.
"""

import sys

import pyarrow.parquet

import evergrid
from evergrid.model.errors import EvergridError


def main(url: str, table: str, path: str) -> None:
    with evergrid.connect(url) as client:
        rows = client.snapshot(table)
    pyarrow.parquet.write_table(rows, path)
    print(f"{rows.num_rows} rows of {table} are in {path}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:4])
    except EvergridError as error:
        sys.exit(str(error))
