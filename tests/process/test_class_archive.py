"""An archive of classes: written once, used by all later starts, and never in the way."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from evergrid.broker import jars
from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.broker.jars import Jars
from evergrid.process.class_archive import ClassArchive
from evergrid.process.java import java_command

# Java ends at once when it has a file of classes and cannot use it.
ONLY_WITH_IT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:on"


@pytest.fixture
def own(tmp_path: Path) -> Jars:
    """The same jars in a folder where nobody has run a broker yet."""
    (tmp_path / "jars").mkdir()
    links = []
    for jar in (found := jars.fetch()).broker:
        links.append(tmp_path / "jars" / jar.name)
        links[-1].symlink_to(jar)
    return msgspec.structs.replace(found, broker=tuple(links))


def prepared(own: Jars) -> list[Path]:
    names = own.broker[0].parent.glob("classes-*")
    return [file for file in names if file.suffix != ".lock"]


def test_the_first_that_stops_in_order_prepares_what_the_next_start_with(
    own: Jars, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = EmbeddedBroker(tmp_path / "kafka", jars=own)
    broker.start()
    broker.kill()
    assert prepared(own) == [], "nobody knows how much of it was written"
    broker.start()
    broker.stop()
    (file,) = prepared(own)
    monkeypatch.setenv("KAFKA_JVM_PERFORMANCE_OPTS", ONLY_WITH_IT)
    with broker:
        assert broker.pid
    assert prepared(own) == [file]

    # One that was cut short would crash Java.
    whole = file.stat().st_size
    file.chmod(0o600)
    os.truncate(file, whole // 2)
    monkeypatch.delenv("KAFKA_JVM_PERFORMANCE_OPTS")
    with broker:
        assert prepared(own) == []
    (again,) = prepared(own)
    assert again.stat().st_size > whole // 2


def test_what_java_does_not_understand_hinders_nobody(own: Jars, tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path / "kafka", jars=own):
        pass
    (file,) = prepared(own)
    size = file.stat().st_size
    file.unlink()
    file.write_bytes(bytes(size))
    with EmbeddedBroker(tmp_path / "kafka", jars=own) as broker:
        assert broker.pid


def test_an_archive_is_written_from_the_list_of_a_process_that_runs(own: Jars) -> None:
    class_path = os.pathsep.join(map(str, own.broker))
    first = ClassArchive(java_command(), own.broker)
    assert not first.is_there
    print_usage(class_path, *first.listing())
    other = ClassArchive(java_command(), own.broker)
    writer = first.write_listed(class_path, ())
    session = Path(f"/proc/{writer.pid}/autogroup")
    assert not session.exists() or session.read_text().endswith("nice 19\n")
    with pytest.raises(BlockingIOError):  # one is enough
        other.write_listed(class_path, ())
    assert writer.wait(900) == 0  # at the lowest priority, beside other tests
    first.keep(complete=True)
    with pytest.raises(FileExistsError):
        other.write_listed(class_path, ())
    other.keep(complete=False)

    second = ClassArchive(java_command(), own.broker)
    assert second.is_there
    assert second.listing() == second.writing() == ()
    print_usage(class_path, "-Xshare:on", *second.reading())
    assert len(prepared(own)) == 1, "the list is gone"

    assert not ClassArchive(java_command(), own.broker[:-1]).is_there, "it is for other jars"


def print_usage(class_path: str, *options: str) -> None:
    """Runs a class of the broker's that ends by itself."""
    command = [str(java_command()), *options, "-cp", class_path, "kafka.tools.StorageTool", "-h"]
    subprocess.run(command, check=True, timeout=300, stdout=subprocess.DEVNULL)
