"""Whatever a gateway or the way to it does, windows come back, or say why they cannot."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable

import pyarrow as pa
import pytest
from aiohttp import web

from evergrid.client import AsyncWindows, LiveWindow, Patience, Timeouts, connect_async
from evergrid.client.client_errors import Closed, Denied, Rejected, Unreachable
from evergrid.client.live_connection import RateLimiter
from evergrid.model.errors import BrokenPromise
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import PATH, Close, Live, encode, failed
from tests.client.fake_gateway import KEY, Talk, fake_gateway
from tests.client.gateway_messages import difference, full, row, state

LIMIT = 60.0
QUICK = Timeouts(connect=5, silence=0.2, first_wait=0.01, longest_wait=0.05)


async def until(windows: AsyncWindows, condition: Callable[[LiveWindow], bool]) -> LiveWindow:
    async with asyncio.timeout(LIMIT):
        async for window in windows:
            if condition(window):
                return window
    raise AssertionError("the windows ended")


def sequence(number: int) -> Callable[[LiveWindow], bool]:
    return lambda window: window.live and window.sequence >= number


def test_a_difference_that_does_not_fit_is_repaired_by_opening_anew() -> None:
    async def script(talk: Talk) -> None:
        await talk.log_in()
        first = await talk.opened()
        await talk.show(full(first.sub, 1, [row(1)]))
        await talk.show(difference(first.sub, 9, 8, ((0, 1),), []))
        assert await talk.hear() == Close(first.sub)
        second = await talk.opened()
        assert second.sub != first.sub
        assert second.resume is not None
        assert second.resume.sequence == 0
        await talk.show(full(first.sub, 10, [row(3)]))  # late, for nobody
        await talk.show(full(second.sub, 9, [row(2)]))
        await talk.until_gone()

    async def scene() -> None:
        async with fake_gateway(script) as url, connect_async(url, KEY) as client:
            window = await until(client.windows("users_ui"), sequence(9))
            assert window.rows["_id"].to_pylist() == ["0:2"]

    asyncio.run(scene())


def test_who_slept_hears_first_what_was_said_meanwhile() -> None:
    """As on a computer whose lid was shut, or one that has too much to do."""

    async def script(talk: Talk) -> None:
        assert talk.number == 0, "it gave a good connection up"
        await talk.log_in(heart_seconds=0.01)
        opening = await talk.opened()
        for number in range(1, 1000):
            await talk.show(full(opening.sub, number, [row(number)]))
            await asyncio.sleep(0.05)

    async def scene() -> None:
        timeouts = Timeouts(silence=4.0)
        async with (
            fake_gateway(script) as url,
            connect_async(url, KEY, timeouts=timeouts) as client,
        ):
            windows = client.windows("users_ui")
            before = await until(windows, sequence(2))
            time.sleep(timeouts.silence + 2.0)  # the whole loop stands still
            async with asyncio.timeout(LIMIT):
                async for window in windows:
                    assert window.live, window.message
                    if window.sequence > before.sequence + 10:
                        return

    asyncio.run(scene())


def test_silence_is_not_taken_for_peace() -> None:
    was_stale = False

    async def script(talk: Talk) -> None:
        await talk.log_in(heart_seconds=0.01)
        opening = await talk.opened()
        if was_stale and opening.resume is not None:
            seen = opening.resume.sequence
            change = difference(opening.sub, seen + 1, seen, ((0, 1), (-1, 1)), [row(2)])
            await talk.show(change)
        else:
            await talk.show(full(opening.sub, 1, [row(1)]))
        await talk.until_gone()  # and not a word more

    def is_stale(window: LiveWindow) -> bool:
        return (
            window.state is Live.STALE and "no message from the gateway for 0.2 s" in window.message
        )

    async def scene() -> None:
        nonlocal was_stale
        async with fake_gateway(script) as url, connect_async(url, KEY, timeouts=QUICK) as client:
            windows = client.windows("users_ui")
            await until(windows, sequence(1))
            stale = await until(windows, is_stale)
            assert stale.stale_since is not None
            assert stale.rows.num_rows == 1
            was_stale = True
            assert (await until(windows, sequence(2))).rows.num_rows == 2

    asyncio.run(scene())


@pytest.mark.parametrize("with_words", [True, False])
@pytest.mark.parametrize("code", [code for code in Code if code.fatal])
def test_each_fatal_code_ends_the_windows_or_is_tried_again(code: Code, with_words: bool) -> None:
    async def script(talk: Talk) -> None:
        await talk.log_in()
        opening = await talk.opened()
        if talk.number == 0:
            if with_words:
                await talk.say(encode(failed(code, "as the test wants")))
            await talk.socket.close(code=code.close)
        else:
            await talk.show(full(opening.sub, 1, [row(1)]))
            await talk.until_gone()

    async def scene() -> None:
        async with fake_gateway(script) as url, connect_async(url, KEY, timeouts=QUICK) as client:
            windows = client.windows("users_ui")
            if code.retry:
                await until(windows, sequence(1))
                return
            with pytest.raises((Denied, Rejected)) as ended:
                await until(windows, sequence(1))
            assert ended.value.code == code.value
            with pytest.raises(type(ended.value)):
                await windows.next()

    asyncio.run(scene())


def test_two_windows_on_one_connection_and_one_is_refused() -> None:
    connections = set()

    async def script(talk: Talk) -> None:
        connections.add(talk.number)
        await talk.log_in()
        for opening in [await talk.opened(), await talk.opened()]:
            if opening.table == "final_ui":
                await talk.say(encode(failed(Code.NO_RIGHTS, "not yours", opening.sub)))
            else:
                await talk.show(full(opening.sub, 1, [row(1)]))
        await talk.until_gone()

    async def scene() -> None:
        async with fake_gateway(script) as url, connect_async(url, KEY) as client:
            good, bad = client.windows("users_ui"), client.windows("final_ui")
            with pytest.raises(Denied, match="final_ui: not yours"):
                await until(bad, sequence(1))
            await until(good, sequence(1))

    asyncio.run(scene())
    assert connections == {0}


def test_a_gateway_that_never_keeps_its_promise_is_given_up() -> None:
    async def script(talk: Talk) -> None:
        await talk.log_in()
        while True:
            message = await talk.hear()
            if not isinstance(message, Close):
                await talk.show(difference(getattr(message, "sub", 0), 2, 1, (), []))

    async def scene() -> None:
        async with fake_gateway(script) as url, connect_async(url, KEY) as client:
            with pytest.raises(BrokenPromise):
                await until(client.windows("users_ui"), sequence(1))

    asyncio.run(scene())


def test_a_frame_that_is_none_costs_the_connection_not_the_window() -> None:
    async def script(talk: Talk) -> None:
        await talk.log_in()
        opening = await talk.opened()
        if talk.number == 0:
            await talk.show(b"what?")
        else:
            await talk.show(full(opening.sub, 1, [row(1)]))
        await talk.until_gone()

    async def scene() -> None:
        async with fake_gateway(script) as url, connect_async(url, KEY, timeouts=QUICK) as client:
            await until(client.windows("users_ui"), sequence(1))

    asyncio.run(scene())


def test_what_speaks_another_protocol_is_named() -> None:
    async def script(talk: Talk) -> None:
        await talk.until_gone()

    async def scene() -> None:
        async with (
            fake_gateway(script, protocols=("chat",)) as url,
            connect_async(url, KEY) as client,
        ):
            with pytest.raises(Rejected, match=r"unsupported protocol: .* evergrid\.v1"):
                await client.windows("users_ui").next()

    asyncio.run(scene())


def test_giving_up_is_possible_and_says_what_was_wrong() -> None:
    async def script(talk: Talk) -> None:
        await talk.socket.close()

    async def scene() -> None:
        brief = Timeouts(first_wait=0.01, longest_wait=0.02, give_up=0.1)
        async with fake_gateway(script) as url, connect_async(url, KEY, timeouts=brief) as client:
            with pytest.raises(Unreachable, match="connection to the gateway lost"):
                await until(client.windows("users_ui"), sequence(1))

    asyncio.run(scene())


def test_a_thousand_moves_do_not_flood_the_gateway() -> None:
    heard: list[object] = []

    async def script(talk: Talk) -> None:
        await talk.log_in()
        opening = await talk.opened()
        await talk.show(full(opening.sub, 1, [row(1)]))
        while True:
            move = await talk.hear()
            heard.append(move)
            await talk.show(full(opening.sub, 2, [row(2)], offset=getattr(move, "offset", 0)))

    async def scene() -> None:
        async with fake_gateway(script) as url, connect_async(url, KEY) as client:
            windows = client.windows("users_ui")
            await until(windows, sequence(1))
            for offset in range(1, 1001):
                await windows.move(offset)
                if offset % 10 == 0:
                    await asyncio.sleep(0)
            await until(windows, lambda window: window.offset == 1000)

    asyncio.run(scene())
    assert len(heard) <= 101


def test_a_window_that_nobody_holds_is_closed() -> None:
    closed: asyncio.Queue[object] = asyncio.Queue()

    async def script(talk: Talk) -> None:
        await talk.log_in()
        opening = await talk.opened()
        await talk.show(full(opening.sub, 1, [row(1)]))
        closed.put_nowait(await talk.hear())
        await talk.until_gone()

    async def scene() -> None:
        async with fake_gateway(script) as url, connect_async(url, KEY) as client:
            async for window in client.windows("users_ui"):
                assert window.sequence == 1
                break
            async with asyncio.timeout(LIMIT):
                assert isinstance(await closed.get(), Close)

    asyncio.run(scene())


def test_closing_a_client_ends_those_who_wait_and_leaves_no_task() -> None:
    async def script(talk: Talk) -> None:
        await talk.log_in()
        opening = await talk.opened()
        await talk.say(state(opening.sub, Live.WAITING, "not yet"))
        await talk.until_gone()

    async def scene() -> None:
        async with fake_gateway(script) as url:
            before = asyncio.all_tasks()
            client = await connect_async(url, KEY)
            windows = client.windows("users_ui")
            assert (await anext(windows)).message == "not yet"
            waiting = asyncio.create_task(windows.next())
            await asyncio.sleep(0)
            await client.close()
            await client.close()
            with pytest.raises(Closed):
                await waiting
            with pytest.raises(Closed):
                await client.tables()
            left = {task for task in asyncio.all_tasks() - before if "evergrid" in task.get_name()}
            assert not left

    asyncio.run(scene())


async def _silent(talk: Talk) -> None:
    await talk.until_gone()


@pytest.mark.parametrize(
    ("status", "expected"),
    [(401, Denied), (403, Denied), (404, Rejected), (302, Rejected), (500, Unreachable)],
)
def test_answers_of_something_that_is_no_gateway(status: int, expected: type[Exception]) -> None:
    async def tables(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text="<html>", headers={"Location": "http://evil.test"})

    async def scene() -> None:
        async with fake_gateway(_silent, tables=tables) as url:
            with pytest.raises(expected):
                await connect_async(url, KEY)

    asyncio.run(scene())


def test_a_redirected_websocket_is_an_error_and_the_key_stays_here() -> None:
    seen: list[str] = []

    async def other_host(request: web.Request) -> web.StreamResponse:
        seen.append(str(request.headers))
        return web.Response()

    async def scene() -> None:
        async with fake_gateway(_silent, live=other_host) as other:

            async def redirect(_: web.Request) -> web.StreamResponse:
                raise web.HTTPTemporaryRedirect(other + PATH)

            async with (
                fake_gateway(_silent, live=redirect) as url,
                connect_async(url, KEY, timeouts=QUICK) as client,
            ):
                with pytest.raises(Rejected, match=r"redirect \(HTTP status 307\) not followed"):
                    await client.windows("users_ui").next()

    asyncio.run(scene())
    assert not seen


@pytest.mark.parametrize("cut", [1, 8, 100])
def test_a_snapshot_that_ends_early_is_never_taken_for_a_small_table(cut: int) -> None:
    sink = pa.BufferOutputStream()
    whole = pa.table({"_id": ["0:1", "0:2"]})
    with pa.ipc.new_stream(sink, whole.schema) as writer:
        writer.write_table(whole)
    body = sink.getvalue().to_pybytes()

    async def rows(request: web.Request) -> web.StreamResponse:
        return web.Response(body=body[:-cut] if request.query["limit"] == "all" else body)

    async def scene() -> None:
        async with fake_gateway(_silent, rows=rows) as url, connect_async(url, KEY) as client:
            assert (await client.snapshot("users_ui", limit=5)).equals(whole)
            with pytest.raises(Unreachable, match="incomplete answer"):
                await client.snapshot("users_ui")

    asyncio.run(scene())


def test_nobody_there() -> None:
    async def scene() -> None:
        with socket.socket() as deaf:  # holds a port that it does not listen on
            deaf.bind(("127.0.0.1", 0))
            with pytest.raises(Unreachable, match=r"\(Connection refused\)\. Check the address"):
                await connect_async(f"http://127.0.0.1:{deaf.getsockname()[1]}", KEY)
        with pytest.raises(Unreachable, match="connection to the gateway failed") as refused:
            await connect_async("http://no-such-host.invalid:1", KEY)
        assert KEY not in str(refused.value)

    asyncio.run(scene())


def test_one_who_accepts_and_says_nothing_takes_too_long() -> None:
    async def scene() -> None:
        with socket.socket() as mute:
            mute.bind(("127.0.0.1", 0))
            mute.listen()
            url = f"http://127.0.0.1:{mute.getsockname()[1]}"
            with pytest.raises(Unreachable, match=r"\(timed out\)"):
                await connect_async(url, KEY, timeouts=Timeouts(answer=0.1))
            with pytest.raises(Unreachable, match=r"\(timed out\)"):  # by the earlier names
                await connect_async(url, KEY, patience=Patience(answer=0.1))

    asyncio.run(scene())


def test_pace_lets_some_through_at_once_and_then_so_many_a_second() -> None:
    limiter = RateLimiter(rate=10, burst=5)
    now, sent = 100.0, []
    for _ in range(25):
        now += limiter.wait(now)
        sent.append(now)
    assert sent[4] == 100.0
    assert sent[5] > 100.0
    assert abs(sent[24] - 102.0) < 1e-6
