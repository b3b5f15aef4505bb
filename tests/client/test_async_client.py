"""Tables, snapshots and live windows of a real gateway, on an event loop."""

from __future__ import annotations

import asyncio
import random
import threading

import msgspec
import pytest

from evergrid.client import AsyncClient, ChangeKind, Live, col
from evergrid.client.client_errors import Rejected
from evergrid.model.table import Table
from tests.client.people import LIMIT, TIME, column, connected, ids, person, until_async
from tests.support.local_gateway import LocalGateway

SEED = 20_261_116


def test_tables_tell_columns_rows_and_state(gateway: LocalGateway, users: Table) -> None:
    async def scene() -> None:
        async with connected(gateway) as client:
            [described] = await client.tables()
            assert described == await client.table("users_ui")
        assert (described.name, described.rows, described.state) == ("users_ui", 10, Live.LIVE)
        assert described.columns == users.columns
        assert described.newest == TIME + 9
        assert described.newest_time is not None

    asyncio.run(scene())


def test_a_snapshot_has_every_row_with_the_schema_that_was_told(gateway: LocalGateway) -> None:
    many = [person(number, email="ä" * (number % 50)) for number in range(25_000)]
    gateway.upsert("users_ui", many)

    async def scene() -> None:
        async with connected(gateway) as client:
            rows = await client.snapshot("users_ui")
            told = await client.table("users_ui")
        assert rows.schema.equals(told.schema)
        assert rows.num_rows == 25_000
        assert rows["age"].to_pylist() == list(range(25_000))
        assert rows["email"].to_pylist() == [row["email"] for row in many]

    asyncio.run(scene())


def test_a_snapshot_of_some(gateway: LocalGateway) -> None:
    gateway.upsert("users_ui", [person(3, name="Ann, Lee & Söhne"), person(4, name=None)])

    async def scene() -> None:
        async with connected(gateway) as client:
            rows = await client.snapshot(
                "users_ui",
                columns="name,age",
                where=(col("age") >= 3) & (col("age") < 8),
                order="-age",
                offset=1,
                limit=3,
            )
            assert rows.column_names == ["_id", "name", "age"]
            assert rows["age"].to_pylist() == [6, 5, 4]
            named = await client.snapshot("users_ui", where={"name": "Ann, Lee & Söhne"})
            assert named["_id"].to_pylist() == ["0:3"]
            nameless = await client.snapshot("users_ui", where={"name": None})
            assert nameless["_id"].to_pylist() == ["0:4"]
            found = await client.snapshot("users_ui", search="söhne")
            assert found["_id"].to_pylist() == ["0:3"]
            first = await client.snapshot("users_ui", order=["name:first"], limit=1)
            assert first["_id"].to_pylist() == ["0:4"]
            rest = await client.snapshot("users_ui", offset=7)
            assert rest["age"].to_pylist() == [7, 8, 9]
            none = await client.snapshot("users_ui", where=col("age") > 99)
            assert (none.num_rows, none.schema) == (0, rest.schema)

    asyncio.run(scene())


def test_a_window_follows_its_table(gateway: LocalGateway) -> None:
    async def scene() -> None:
        async with connected(gateway) as client:
            windows = client.windows("users_ui", order="-age", limit=3)
            window = await until_async(windows, lambda window: window.live)
            assert ids(window) == ["0:9", "0:8", "0:7"]
            assert (window.total, window.offset, window.generation) == (10, 0, 1)
            gateway.upsert("users_ui", [person(10)])
            window = await until_async(windows, lambda window: window.total == 11)
            assert ids(window) == ["0:10", "0:9", "0:8"]
            gateway.delete("users_ui", ["0:9"])
            window = await until_async(windows, lambda window: window.total == 10)
            assert ids(window) == ["0:10", "0:8", "0:7"]
            gateway.say("users_ui", Live.STALE, "Kafka is away.", TIME)
            window = await until_async(windows, lambda window: not window.live)
            assert window.message == "Kafka is away."
            assert window.stale_since is not None
            assert window.stale_since.timestamp() == pytest.approx(TIME / 1e6)
            assert ids(window) == ["0:10", "0:8", "0:7"]

    asyncio.run(scene())


def test_a_window_moves_and_the_end_moves_with_it(gateway: LocalGateway) -> None:
    async def scene() -> None:
        async with connected(gateway) as client:
            windows = client.windows("users_ui", limit=2)
            await until_async(windows, lambda window: ids(window) == ["0:0", "0:1"])
            await windows.move(4, 3)
            window = await until_async(windows, lambda window: window.offset == 4)
            assert ids(window) == ["0:4", "0:5", "0:6"]
            await windows.move(-2, 2)
            await until_async(windows, lambda window: ids(window) == ["0:8", "0:9"])
            gateway.upsert("users_ui", [person(10)])
            await until_async(windows, lambda window: ids(window) == ["0:9", "0:10"])
            await windows.move(0, 2)
            await until_async(windows, lambda window: ids(window) == ["0:0", "0:1"])

    asyncio.run(scene())


def test_two_windows_share_a_connection_and_neither_disturbs_the_other(
    gateway: LocalGateway,
) -> None:
    async def scene() -> None:
        async with connected(gateway) as client:
            top, wrong, end = (
                client.windows("users_ui", limit=1),
                client.windows("users_ui", columns=["agee"]),
                client.windows("users_ui", offset=-1, limit=1),
            )
            await until_async(top, lambda window: ids(window) == ["0:0"])
            with pytest.raises(Rejected) as rejected:
                await until_async(wrong, lambda _: False)
            assert rejected.value.code == "unknown_column"
            await until_async(end, lambda window: ids(window) == ["0:9"])
            await top.close()
            with pytest.raises(StopAsyncIteration):
                await anext(top)
            gateway.upsert("users_ui", [person(10)])
            await until_async(end, lambda window: ids(window) == ["0:10"])

    asyncio.run(scene())


def test_a_table_that_appears_later_comes_alive(gateway: LocalGateway, users: Table) -> None:
    async def scene() -> None:
        async with connected(gateway) as client:
            windows = client.windows("later_ui")
            window = await until_async(windows, lambda _: True)
            assert window.state is Live.WAITING
            assert "later_ui" in window.message
            with pytest.raises(Rejected, match=r"tables\(\)") as rejected:
                await client.snapshot("later_ui")
            assert rejected.value.code == "no_such_table"
            gateway.place(msgspec.structs.replace(users, name="later_ui"), [person(1)])
            window = await until_async(windows, lambda window: window.live)
            assert ids(window) == ["0:1"]
            gateway.withdraw("later_ui")
            await until_async(windows, lambda window: window.state is Live.WAITING)
            gateway.place(msgspec.structs.replace(users, name="later_ui"), [person(2)], 2)
            window = await until_async(windows, lambda window: window.live)
            assert (ids(window), window.generation) == (["0:2"], 2)

    asyncio.run(scene())


def test_another_generation_with_other_columns_comes_under_the_same_window(
    gateway: LocalGateway, users: Table
) -> None:
    async def scene() -> None:
        async with connected(gateway) as client:
            windows = client.windows("users_ui", limit=2)
            await until_async(windows, lambda window: window.live)
            narrow = msgspec.structs.replace(users, columns=users.columns[1:])
            gateway.place(narrow, [person(5)], 2)
            window = await until_async(windows, lambda window: window.generation == 2)
            assert ids(window) == ["0:5"]
            assert "userId" not in window.rows.column_names
            assert window.columns == narrow.columns

    asyncio.run(scene())


def test_changes_applied_give_the_window_whatever_happens(gateway: LocalGateway) -> None:
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    held: dict[str, dict[str, object]] = {}

    def disturb(live: set[int]) -> set[int]:
        chosen = rng.sample(range(40), rng.randrange(1, 12))
        gone = {number for number in live if rng.random() < 0.1}
        gateway.upsert("users_ui", [person(n, age=rng.randrange(5)) for n in chosen])
        if gone:
            gateway.delete("users_ui", [f"0:{number}" for number in gone])
        return (live | set(chosen)) - gone

    async def follow(client: AsyncClient) -> None:
        async for change in client.changes("users_ui", where=col("age") != 2, limit=100):
            if change.row is None:
                del held[change.id]
            else:
                assert (change.kind is ChangeKind.UPDATED) == (change.id in held)
                held[change.id] = change.row

    async def scene() -> None:
        async with connected(gateway) as client:
            following = asyncio.create_task(follow(client))
            live = set(range(10))
            for _ in range(60):
                live = await asyncio.to_thread(disturb, live)
            rows = await client.snapshot("users_ui", where=col("age") != 2)
            expected = {row.pop("_id"): row for row in rows.to_pylist()}
            async with asyncio.timeout(LIMIT):
                while held != expected:
                    assert not following.done(), following.exception()
                    await asyncio.sleep(0.01)
            following.cancel()

    asyncio.run(scene())


def test_a_slow_consumer_gets_the_newest_and_numbers_only_grow(gateway: LocalGateway) -> None:
    async def scene() -> None:
        async with connected(gateway) as client:
            windows = client.windows("users_ui", limit=1)
            first = await until_async(windows, lambda window: window.live)
            for age in range(200):
                await asyncio.to_thread(gateway.upsert, "users_ui", [person(0, age=1000 + age)])
            seen = [first.sequence]
            async with asyncio.timeout(LIMIT):
                async for window in windows:
                    seen.append(window.sequence)
                    if column(window, "age") == [1199]:
                        break
                    await asyncio.sleep(0.01)
            assert seen == sorted(set(seen))
            assert len(seen) < 100, "it got every state in between"

    asyncio.run(scene())


def test_more_windows_than_the_gateway_allows_fail_alone(gateway: LocalGateway) -> None:
    async def scene() -> None:
        async with connected(gateway) as client:
            most = gateway.settings.limits.windows_per_connection
            windows = [client.windows("users_ui", offset=i) for i in range(most + 1)]
            for one in windows[:-1]:
                await until_async(one, lambda window: window.live)
            with pytest.raises(Rejected) as rejected:
                await until_async(windows[-1], lambda _: False)
            assert rejected.value.code == "too_many_windows"

    asyncio.run(scene())


def test_nothing_is_left_behind(gateway: LocalGateway) -> None:
    async def scene() -> None:
        before = asyncio.all_tasks()
        async with connected(gateway) as client:
            first, second = client.windows("users_ui"), client.windows("later_ui")
            await until_async(first, lambda window: window.live)
            await until_async(second, lambda _: True)
        left = asyncio.all_tasks() - before
        assert not {task for task in left if not task.done()}

    threads = set(threading.enumerate())
    asyncio.run(scene())
    assert set(threading.enumerate()) <= threads
