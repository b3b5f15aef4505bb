"""Print what happens to the last rows of two tables: client_changes.py http://127.0.0.1:8080 a b

The key is taken from EVERGRID_KEY. Both tables share one connection. Ctrl-C ends it.
"""

import asyncio
import sys

import evergrid
from evergrid.client import AsyncClient
from evergrid.model.errors import EvergridError


async def follow(client: AsyncClient, table: str) -> None:
    async for change in client.changes(table, offset=-300):
        print(f"{table} {change.kind.value} {change.id} {change.row or ''}", flush=True)


async def main(url: str, *tables: str) -> None:
    async with evergrid.connect_async(url) as client:
        await asyncio.gather(*(follow(client, table) for table in tables))


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:]))
    except EvergridError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        print("bye")
