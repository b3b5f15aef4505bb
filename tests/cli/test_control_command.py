"""`evergrid control`: asks by Kafka, shows what becomes of it, and says what runs."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.running_command import LIMIT, Running
from tests.handwritten_pipeline import HandwrittenPipeline

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.control_message import BY_HEADER
from evergrid.changelog.reader import Record, TopicReader
from evergrid.cli.exit_codes import TEMPORARY_FAILURE
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.model.control_request import Verdict
from evergrid.model.generation import Progress
from evergrid.model.source import TopicEnd

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Start = Callable[..., Running]

PLACE = re.compile(r"\(message (\d+):(\d+) on ")
PAST = Progress("catching up with the past of final_ui", 12_000, 100_000)


@pytest.fixture
def settings(broker: EmbeddedBroker, tmp_path: Path) -> Settings:
    """Those of evergrid.yaml in the folder where commands run, with topics of their own."""
    name = f"c{uuid.uuid4().hex[:8]}"
    file = tmp_path / "evergrid.yaml"
    file.write_text(
        f"kafka: {{bootstrap: '{broker.bootstrap}'}}\n"
        f"internal_topics: {{prefix: {name}}}\n"
        f"control: {{topic: {name}-control}}\n"
    )
    return load(file, {})


@pytest.fixture
def pipeline(settings: Settings) -> HandwrittenPipeline:
    """One that runs, with generation 1 on screens."""
    running = HandwrittenPipeline(settings)
    running.take_control(["accounts", "users", "users_v2"])
    running.switch(running.prepare(1))
    running.beat(ago_seconds=-LIMIT)  # the machine may be slow to look
    return running


@pytest.fixture
def control(tmp_path: Path, environ: dict[str, str]) -> Iterator[Start]:
    started: list[Running] = []

    def start(*arguments: str) -> Running:
        started.append(Running(tmp_path, environ, "control", *arguments))
        return started[-1]

    yield start
    for one in started:
        one.kill()


def place(asking: Running) -> tuple[int, int]:
    """Where its message is, once it has said so."""
    asking.until(lambda out, _: PLACE.search(out) is not None)
    found = PLACE.search(asking.out)
    assert found is not None
    return int(found[1]), int(found[2])


def ended(asking: Running) -> tuple[int, list[str], str]:
    """Exit code, lines and errors."""
    code = asking.process.wait(LIMIT)
    return code, asking.out.splitlines(), asking.err


def messages(settings: Settings) -> list[Record]:
    """What is on the control topic."""
    connection, topic = settings.kafka.control, settings.control.topic
    if topic not in topics.describe(connection, [topic]):
        return []
    ends = topics.offsets(connection, topic, TopicEnd.LATEST)
    reader = TopicReader(connection, {topic: dict.fromkeys(ends, 0)}, headers=True)
    found: list[Record] = []
    try:
        while not reader.reached(topic, ends):
            found += reader.read()
    finally:
        reader.close()
    return found


def test_it_shows_what_happens_until_it_is_live(
    control: Start, pipeline: HandwrittenPipeline, settings: Settings
) -> None:
    asking = control("--users-topic", "users_v2", "--join", "asof")
    at = place(asking)
    asking.until(lambda out, _: "Waiting for the pipeline to read it." in out)
    pipeline.judge(at, Verdict.WAITING)
    pipeline.judge(at, Verdict.PREPARING, generation=2)
    coming = pipeline.prepare(2)
    pipeline.tell(coming, PAST)
    asking.until(lambda out, _: "(12%)" in out)
    pipeline.switch(coming)
    pipeline.judge(at, Verdict.APPLIED, generation=2)
    code, lines, err = ended(asking)
    assert (code, err) == (0, "")
    assert lines[0].startswith('Sent {"usersTopic": "users_v2", "joinType": "asof"} (message')
    assert (
        "Preparing generation 2: catching up with the past of final_ui: "
        "12,000 of 100,000 rows (12%)"
    ) in lines
    live = re.compile(
        r"Generation 2 is live after \d+\.\d s: users: users, accounts: accounts, final: left\."
    )
    assert live.fullmatch(lines[-1])
    (message,) = messages(settings)
    assert json.loads(message.value or b"") == {"usersTopic": "users_v2", "joinType": "asof"}
    assert re.fullmatch(rb".+@.+", message.headers[BY_HEADER])


@pytest.mark.parametrize(
    ("verdict", "code", "words"),
    [
        (Verdict.IGNORED, 0, "Nothing to do. Because.\n"),
        (Verdict.INVALID, 1, "evergrid: rejected by the pipeline: Because.\n"),
        (Verdict.FAILED, 1, "evergrid: failed: Because.\n"),
        (Verdict.SUPERSEDED, 1, "evergrid: superseded by a later message: Because.\n"),
    ],
)
def test_every_end_has_its_words_and_its_exit_code(
    control: Start, pipeline: HandwrittenPipeline, verdict: Verdict, code: int, words: str
) -> None:
    asking = control("--topic", "users=users.new")
    pipeline.judge(place(asking), verdict, reason="Because.", generation=1)
    assert asking.process.wait(LIMIT) == code
    assert (asking.err if code else asking.out).endswith(words)


def test_a_verdict_on_a_message_of_another_time_is_not_its_own(
    control: Start, pipeline: HandwrittenPipeline
) -> None:
    """The control topic was made anew: offsets begin again, and control_raw goes on."""
    pipeline.judge((0, 0), Verdict.FAILED, reason="Long ago.")
    asking = control("--join", "inner")
    assert place(asking) == (0, 0)
    asking.until(lambda out, _: "Waiting for the pipeline" in out)
    pipeline.judge((0, 0), Verdict.IGNORED, reason="It runs.")
    assert ended(asking)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--join", "outer"], 'joinType is "outer", expected one of asof, left, inner'),
        (["--join", "finl=left"], "there is no 'finlJoinType' to set; it can be one of"),
        (["--topic", "user=users"], "there is no 'userTopic' to set; it can be one of"),
        (["--users-topic", "salaries"], "usersTopic: topic salaries is not allowed"),
        (["--users-topic", ""], "expected the name of a Kafka topic"),
        (
            ["--users-topic", "users", "--topic", "users=users.2"],
            "duplicate option. Name each source and join once.",
        ),
    ],
)
def test_what_cannot_be_asked_for_is_said_and_not_sent(
    run: Run, settings: Settings, arguments: list[str], sentence: str
) -> None:
    done = run("control", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert messages(settings) == []


def test_without_a_pipeline_it_says_so_and_goes_on_when_one_starts(
    control: Start, settings: Settings
) -> None:
    asking = control("--join", "inner")
    at = place(asking)
    later = "The message stays on its topic, and the next pipeline reads it."
    asking.until(lambda out, _: f"No pipeline has run yet. {later}" in out)
    pipeline = HandwrittenPipeline(settings)
    pipeline.take_control()
    asking.until(lambda out, _: "Waiting for the pipeline to read it." in out)
    pipeline.judge(at, Verdict.APPLIED, generation=1)
    code, lines, _ = ended(asking)
    assert code == 0
    assert re.fullmatch(r"Generation 1 is live after [\d.]+ s\.", lines[-1])


def test_it_need_not_wait(run: Run, settings: Settings, pipeline: HandwrittenPipeline) -> None:
    done = run("control", "--join", "inner", "--no-wait")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1
    pipeline.beat(ago_seconds=60)
    done = run("control", "--join", "left", "--no-wait")
    assert re.search(r"No pipeline runs since .+ the next pipeline reads it\.\n$", done.stdout)
    assert [json.loads(m.value or b"") for m in messages(settings)] == [
        {"joinType": "inner"},
        {"joinType": "left"},
    ]


def test_watching_ends_with_the_time_or_ctrl_c_and_the_message_stays(
    run: Run, control: Start, pipeline: HandwrittenPipeline, settings: Settings
) -> None:
    done = run("control", "--join", "inner", "--timeout", "1s")
    assert done.returncode == 3
    assert done.stdout.splitlines()[-1].startswith(
        "Timed out after 1 s without a verdict. The message"
    )
    asking = control("--join", "left")
    asking.until(lambda out, _: "Waiting for the pipeline" in out)
    asking.process.send_signal(signal.SIGINT)
    code, lines, err = ended(asking)
    assert (code, err) == (3, "")
    assert lines[-1].startswith("Stopped waiting. The message stays sent.")
    assert len(messages(settings)) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_stops_before_it_is_sent_is_not_told_that_it_is_live(
    control: Start, environ: dict[str, str], number: signal.Signals
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        environ["EVERGRID_KAFKA__BOOTSTRAP"] = f"127.0.0.1:{silent.getsockname()[1]}"
        asking = control("--join", "left")
        caller, _ = silent.accept()
        with caller:
            asking.process.send_signal(number)
            code, lines, _ = ended(asking)
    assert (code, lines[-1]) == (3, "Stopped before anything was sent.")


def test_a_broker_that_goes_away_is_waited_for(
    control: Start, pipeline: HandwrittenPipeline, broker: EmbeddedBroker, settings: Settings
) -> None:
    asking = control("--join", "inner")
    at = place(asking)
    asking.until(lambda out, _: "Waiting for the pipeline" in out)
    broker.kill()
    asking.until(lambda out, _: f"({broker.bootstrap}) does not answer. Retrying." in out)
    broker.start()
    again = HandwrittenPipeline(settings)
    again.take_control()
    again.judge(at, Verdict.APPLIED, generation=1)
    assert ended(asking)[0] == 0


def test_on_a_terminal_one_line_changes_in_place(
    environ: dict[str, str], tmp_path: Path, pipeline: HandwrittenPipeline
) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "evergrid", "control", "--join", "inner"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environ,
        cwd=tmp_path,
    )
    os.close(theirs)
    seen = ""

    def see(words: str) -> None:
        nonlocal seen
        while words not in seen:
            seen += os.read(ours, 4096).decode()

    try:
        see("Waiting for the pipeline")
        pipeline.tell(pipeline.prepare(2), PAST)
        pipeline.judge((0, 0), Verdict.PREPARING, generation=2)
        see("\r\x1b[2KPreparing generation 2: catching up")
        pipeline.judge((0, 0), Verdict.APPLIED, generation=2)
        see("\r\x1b[2KGeneration 2 is live after")
        assert process.wait(LIMIT) == 0
        assert seen.count("\n") <= 2, "only what stays has a line of its own"
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_without_options_it_shows_what_runs_what_may_be_and_what_was(
    run: Run, pipeline: HandwrittenPipeline
) -> None:
    for offset in range(6):
        pipeline.judge(
            (0, offset),
            Verdict.FAILED if offset == 5 else Verdict.IGNORED,
            reason="Topic users_v9 does not exist." if offset == 5 else "",
            message=f'{{"usersTopic": "users_v{offset}\x1b[2J"}}',
            by="key ops" if offset == 5 else "",
        )
    for bad in ({}, {"ts": "tomorrow"}):  # not rows of this table
        pipeline.write(pipeline.control_raw, "0:9", bad)
    pipeline.tell(pipeline.prepare(2), PAST)
    done = run("control")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "The pipeline runs."
    assert re.fullmatch(
        r"Generation 1 is current since .+: users: users, accounts: accounts, final: left\.",
        lines[1],
    )
    assert lines[2].startswith("Preparing generation 2: catching up with the past of final_ui: 12")
    assert "  --users-topic TOPIC     now users" in lines
    assert "  --join TYPE             now left; or asof, inner" in lines
    assert "  topics: accounts, users, users_v2" in lines
    shown = [line for line in lines if "usersTopic" in line]
    assert len(shown) == 5
    assert re.search(r"failed +key ops +\{", shown[-1])
    assert re.search(r"ignored +unknown +\{", shown[0])
    assert lines[-1] == "    Topic users_v9 does not exist."
    assert "\x1b" not in done.stdout


def test_before_any_pipeline_there_is_nothing_to_show(run: Run, settings: Settings) -> None:
    done = run("control")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "No pipeline has run yet.",
        "",
        f"No control message on {settings.control.topic} has been read yet.",
    ]


def test_help_names_the_sources_of_the_configuration(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(
        "sources:\n"
        "  customers: {topic: c, key: k, fields: {k: text}}\n"
        "  orders: {topic: o, key: k, fields: {k: text}}\n"
        "joins: {sales: {left: customers, right: orders}}\n"
    )
    shown = run("control", "-c", file, "--help").stdout
    assert "--customers-topic TOPIC" in shown
    assert "--orders-topic TOPIC" in shown
    assert "--users-topic" not in shown
    file.write_text("sources: nonsense\n")
    helped = run("control", "--help", "-c", file)
    assert (helped.returncode, helped.stderr) == (0, "")
    assert "--topic SOURCE=TOPIC" in helped.stdout
    broken = run("control", "-c", file, "--customers-topic", "c2")
    assert broken.returncode == 1
    assert "shop.yaml" in broken.stderr


def test_without_kafka_it_says_so(run: Run, environ: dict[str, str]) -> None:
    environ["EVERGRID_KAFKA__BOOTSTRAP"] = "127.0.0.1:1"
    done = run("control", "--join", "left")
    assert (done.returncode, done.stdout) == (TEMPORARY_FAILURE, "")
    assert "Kafka connection internal (127.0.0.1:1): could not connect" in done.stderr
