"""The parts of `make soak`: what each does, how long it takes, and what it must have counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tests.support.soak import Counted


class SoakPart(NamedTuple):
    """`minutes` are those of two cores that are otherwise idle."""

    what: str
    minutes: int
    goals: Mapping[Counted, int]


PARTS = {
    "sequences": SoakPart(
        "random operations on stores, views and windows, compared with a naive model",
        30,
        {Counted.RANDOM_SEQUENCES: 70_000},
    ),
    "frames": SoakPart(
        "hostile and malformed client frames in any order, each with its exact error code",
        5,
        {Counted.HOSTILE_FRAMES: 3_000},
    ),
    "inputs": SoakPart(
        "bad source, control and client messages and HTTP queries, judged by the oracle or by code",
        60,
        {Counted.BAD_INPUTS: 1_000_000},
    ),
    "network": SoakPart(
        "cut, reset, held, slow and thin connections: the windows are right after each",
        30,
        {Counted.NETWORK_FAULTS: 240},
    ),
    "viewers": SoakPart(
        "viewers of shared views held while networks, gateway and broker fail under them",
        40,
        {Counted.VIEWERS: 4_000, Counted.KILLS: 6, Counted.NETWORK_FAULTS: 6},
    ),
    "slow-readers": SoakPart(
        "readers that are slow or never read among healthy ones, who notice nothing",
        30,
        {Counted.SLOW_READERS: 200},
    ),
    "kills": SoakPart(
        "kill -9 of broker, Spark driver and gateway at random moments under viewers",
        90,
        {Counted.KILLS: 100},
    ),
    "join-kills": SoakPart(
        "kill -9 of the Spark driver inside and between batches of three joins",
        90,
        {Counted.KILLS: 100},
    ),
    "stream-kills": SoakPart(
        "kill -9 while the joins catch up, at the hand-over and in real time",
        90,
        {Counted.KILLS: 60},
    ),
    "swaps": SoakPart(
        "topics and join types changed under load, with viewers at two gateways",
        80,
        {Counted.SWAPS: 120},
    ),
    "swap-kills": SoakPart(
        "each swap under load with a kill at one of its steps, with viewers: the first half",
        75,
        {Counted.SWAPS: 50, Counted.KILLS: 50},
    ),
    "swap-kills-again": SoakPart(
        "each swap under load with a kill at one of its steps, with viewers: the second half",
        75,
        {Counted.SWAPS: 50, Counted.KILLS: 50},
    ),
    "streams": SoakPart(
        "streams of any kind, some of them as a backlog, compared row by row",
        60,
        {Counted.TESTS: 1},
    ),
    "millions": SoakPart(
        "ten million messages with kills, compared by digests",
        110,
        {Counted.MESSAGES: 10_000_000, Counted.KILLS: 3},
    ),
    "million-keys": SoakPart(
        "four million messages of a million keys with kills, compared by digests",
        60,
        {Counted.MESSAGES: 4_000_000, Counted.KILLS: 3},
    ),
    "one-key": SoakPart(
        "two million messages of one key with kills, compared by digests",
        45,
        {Counted.MESSAGES: 2_000_000, Counted.KILLS: 3},
    ),
    "checkpoints": SoakPart(
        "damaged checkpoints never give wrong rows, and checkpoints stop growing",
        60,
        {Counted.DAMAGED_CHECKPOINTS: 1},
    ),
    "cluster": SoakPart("a cluster of Spark that loses an executor", 10, {Counted.KILLS: 1}),
    "secured": SoakPart(
        "the whole way by every listener of a secured broker", 40, {Counted.TESTS: 1}
    ),
    "demo": SoakPart(
        "the demo behind secured brokers and with its parts killed; the long examples",
        45,
        {Counted.KILLS: 6},
    ),
}
