"""A gateway with rows in memory behind a fault proxy, for tests that are not in Python.

Each line of the standard input is a call as JSON, and each line of the output its answer:

    {"on": "gateway", "call": "upsert", "with": ["people", [{"name": "Mei"}]]}
    {"answer": null}

`gateway` is a LocalGateway and `proxy` a FaultProxy, of which all methods can be called; `"named"`
has keyword arguments. `pipeline`, if the options ask for it, is a LocalPipeline. The first line of
the output has the addresses. The program ends with its standard input.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import msgspec

from evergrid.model.control_request import Verdict
from evergrid.model.table import Table
from evergrid.protocol.messages import Live

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))  # `tests` is never installed
from tests.support.fault_proxy import Direction, FaultProxy
from tests.support.local_gateway import LIMITS, LocalGateway
from tests.support.local_pipeline import LocalPipeline

# Arguments that are converted from JSON, by their position.
CONVERTED = {
    "place": (0, Table),
    "say": (1, Live),
    "judge": (2, Verdict),
    "hold": (0, Direction),
    "break_after": (1, Direction),
}


def converted(call: str, arguments: list[object]) -> list[object]:
    at, kind = CONVERTED.get(call, (-1, object))
    return [msgspec.convert(one, kind) if i == at else one for i, one in enumerate(arguments)]


def write(answer: dict[str, object]) -> None:
    print(json.dumps(answer), flush=True)


def answer_calls(parts: dict[str, object]) -> None:
    for line in sys.stdin:
        call = json.loads(line)
        result = getattr(parts[call["on"]], call["call"])
        try:
            if callable(result):
                result = result(*converted(call["call"], call["with"]), **call.get("named", {}))
            write({"answer": msgspec.to_builtins(result)})
        except Exception as error:
            write({"error": repr(error)})


def main() -> None:
    options = json.loads(sys.argv[1])
    limits = msgspec.structs.replace(LIMITS, **options.get("limits", {}))
    origins = tuple(options.get("origins", ()))
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalGateway(Path(folder), limits, origins) as gateway,
        FaultProxy(gateway.port) as proxy,
    ):
        # The gateway accepts the proxy's address as its host, too.
        gateway.stop()
        gateway.settings = msgspec.structs.replace(
            gateway.settings, hosts=(f"127.0.0.1:{proxy.port}",)
        )
        gateway.start()
        write({"address": gateway.address, "secret": gateway.secret, "proxy": proxy.address})
        parts: dict[str, object] = {"gateway": gateway, "proxy": proxy}
        if options.get("pipeline"):
            parts["pipeline"] = LocalPipeline(gateway)
        answer_calls(parts)


if __name__ == "__main__":
    main()
