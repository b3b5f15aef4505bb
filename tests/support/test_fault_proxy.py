"""The fault proxy is a good way until it is told otherwise, and then exactly as bad."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from tests.support.fault_proxy import Direction, FaultProxy

LIMIT = 60.0


class Echo:
    """Says back what it hears, to everybody."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                talk, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=_say_back, args=(talk,), daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def _say_back(talk: socket.socket) -> None:
    with talk:
        try:
            while words := talk.recv(65_536):
                talk.sendall(words)
        except OSError:
            return


@pytest.fixture
def echo() -> Iterator[Echo]:
    server = Echo()
    yield server
    server.close()


@pytest.fixture
def way(echo: Echo) -> Iterator[FaultProxy]:
    with FaultProxy(echo.port) as proxy:
        yield proxy


def caller(way: FaultProxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", way.port), LIMIT)


def take(talk: socket.socket, count: int) -> bytes:
    heard = b""
    while len(heard) < count and (part := talk.recv(65_536)):
        heard += part
    return heard


def says_back(talk: socket.socket, words: bytes = b"hello") -> bool:
    talk.sendall(words)
    return take(talk, len(words)) == words


def is_silent(talk: socket.socket, seconds: float = 0.3) -> bool:
    talk.settimeout(seconds)
    try:
        talk.recv(1)
    except TimeoutError:
        return True
    finally:
        talk.settimeout(LIMIT)
    return False


def test_everything_passes_and_an_end_passes_too(way: FaultProxy) -> None:
    words = bytes(range(256)) * 4096
    with caller(way) as talk:
        sender = threading.Thread(target=talk.sendall, args=(words,))
        sender.start()
        assert take(talk, len(words)) == words
        sender.join()
        talk.shutdown(socket.SHUT_WR)
        assert talk.recv(1) == b""
    assert way.connections == 1
    wait_for_none_open(way)


def wait_for_none_open(way: FaultProxy) -> None:
    deadline = time.monotonic() + LIMIT
    while way.open:
        assert time.monotonic() < deadline, "a connection is left"
        time.sleep(0.01)


def test_a_cut_is_an_end_and_a_reset_an_error(way: FaultProxy) -> None:
    with caller(way) as talk:
        assert says_back(talk)
        way.cut()
        assert talk.recv(1) == b""
    with caller(way) as talk:
        assert says_back(talk)
        way.reset()
        with pytest.raises(ConnectionResetError):
            talk.recv(1)
    with caller(way) as talk:
        assert says_back(talk), "the way itself is good"


@pytest.mark.parametrize("direction", [Direction.UP, Direction.DOWN, Direction.BOTH])
def test_a_held_way_says_nothing_and_loses_nothing(way: FaultProxy, direction: Direction) -> None:
    with caller(way) as talk:
        assert says_back(talk)
        way.hold(direction)
        talk.sendall(b"anyone?")
        assert is_silent(talk)
        with caller(way) as later:
            later.sendall(b"me too")
            assert is_silent(later)
            way.heal()
            assert take(later, 6) == b"me too"
        assert take(talk, 7) == b"anyone?"


def test_a_delay_comes_once_to_each_direction_and_keeps_the_order(way: FaultProxy) -> None:
    with caller(way) as talk:
        way.delay(0.2)
        began = time.monotonic()
        for word in (b"one ", b"two ", b"three"):
            talk.sendall(word)
        assert take(talk, 13) == b"one two three"
        assert time.monotonic() - began >= 0.4
        way.heal()
        assert says_back(talk)


@pytest.mark.parametrize("direction", [Direction.UP, Direction.DOWN])
def test_a_limited_way_lets_so_many_bytes_through(way: FaultProxy, direction: Direction) -> None:
    with caller(way) as talk:
        way.limit(20_000, direction)
        began = time.monotonic()
        assert says_back(talk, b"x" * 10_000)
        assert time.monotonic() - began >= 0.4


@pytest.mark.parametrize("reset", [True, False])
def test_a_connection_breaks_after_exactly_so_many_bytes(way: FaultProxy, reset: bool) -> None:
    with caller(way) as talk:
        way.break_after(7, Direction.UP, reset=reset)
        talk.sendall(b"0123456789")
        heard = b""
        try:
            while part := talk.recv(100):
                heard += part
            assert not reset
        except ConnectionResetError:
            assert reset
        assert b"0123456".startswith(heard)
    with caller(way) as talk:
        assert says_back(talk, b"0123456789"), "once is enough"


def test_who_is_refused_is_told_so_and_others_go_on(way: FaultProxy) -> None:
    with caller(way) as talk:
        assert says_back(talk)
        way.refuse()
        with pytest.raises(ConnectionResetError), caller(way) as other:
            other.recv(1)
        assert says_back(talk)
        way.heal()
        with caller(way) as other:
            assert says_back(other)


def test_without_a_server_the_way_ends_and_comes_back_with_it() -> None:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    with FaultProxy(port) as way:
        with pytest.raises(ConnectionResetError), caller(way) as talk:
            talk.recv(1)
        with socket.create_server(("127.0.0.1", port)) as server, caller(way) as talk:
            there, _ = server.accept()
            with there:
                there.sendall(b"back")
                assert take(talk, 4) == b"back"


def test_connections_that_said_a_word_are_held_and_the_others_are_not(way: FaultProxy) -> None:
    way.mark(b"accounts")
    way.mark(b"users")
    with caller(way) as one, caller(way) as other, caller(way) as later:
        for talk, words in ((one, b"my accounts"), (other, b"my users"), (later, b"hello")):
            talk.settimeout(LIMIT)
            talk.sendall(words)
            assert talk.recv(100) == words
        way.hold_marked(b"accounts")
        one.sendall(b"1")
        other.sendall(b"2")
        later.sendall(b"accounts")
        assert other.recv(100) == b"2"
        for held in (one, later):
            held.settimeout(0.3)
            with pytest.raises(TimeoutError):
                held.recv(100)
            held.settimeout(LIMIT)
        way.heal()
        assert one.recv(100) == b"1"
        assert later.recv(100) == b"accounts"
