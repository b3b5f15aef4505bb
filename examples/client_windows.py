"""Show the newest rows of a table as they come: client_windows.py http://127.0.0.1:8080 users_ui

The key is taken from EVERGRID_KEY. Ctrl-C ends it.
"""

import sys

import evergrid
from evergrid.model.errors import EvergridError


def main(url: str, table: str) -> None:
    with evergrid.connect(url) as client:
        for window in client.windows(table, order="-ts", limit=5):
            since = f" since {window.stale_since}" if window.stale_since else ""
            print(f"{table}: {window.total} rows, {window.state.value}{since} {window.message}")
            for row in window.rows.to_pylist():
                print("   ", row)
            sys.stdout.flush()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:3])
    except EvergridError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        print("bye")
