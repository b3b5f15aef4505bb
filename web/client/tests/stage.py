"""A gateway on rows in memory and a bad network before it, for tests that are not Python.

One JSON object a line says what to do, one answers it:

    {"on": "gateway", "call": "upsert", "with": ["people", [{"name": "Mei"}]]}
    {"answer": null}

`gateway` is a LocalGateway and `way` a FaultProxy: everything that they can do can be called,
`"named"` has arguments by their names. `pipeline`, where it is wished for, is a LocalPipeline.
The first line out says where they are. All ends with the standard input.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import msgspec

from evergrid.model.control import Verdict
from evergrid.model.table import Table
from evergrid.protocol.messages import Live
from evergrid.testing.gateway import LIMITS, LocalGateway
from evergrid.testing.pipeline import LocalPipeline
from evergrid.testing.proxy import FaultProxy, Way

# Which argument of a call is more than JSON.
SPECIAL = {
    "place": (0, Table),
    "say": (1, Live),
    "judge": (2, Verdict),
    "hold": (0, Way),
    "break_after": (1, Way),
}


def given(call: str, arguments: list[object]) -> list[object]:
    at, kind = SPECIAL.get(call, (-1, object))
    return [msgspec.convert(one, kind) if i == at else one for i, one in enumerate(arguments)]


def say(words: dict[str, object]) -> None:
    print(json.dumps(words), flush=True)


def obey(parts: dict[str, object]) -> None:
    for line in sys.stdin:
        wish = json.loads(line)
        found = getattr(parts[wish["on"]], wish["call"])
        try:
            if callable(found):
                found = found(*given(wish["call"], wish["with"]), **wish.get("named", {}))
            say({"answer": msgspec.to_builtins(found)})
        except Exception as error:
            say({"error": repr(error)})


def main() -> None:
    wishes = json.loads(sys.argv[1])
    limits = msgspec.structs.replace(LIMITS, **wishes.get("limits", {}))
    origins = tuple(wishes.get("origins", ()))
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalGateway(Path(folder), limits, origins) as gateway,
        FaultProxy(gateway.port) as way,
    ):
        # The gateway goes by the address of the way to it, too.
        gateway.stop()
        gateway.settings = msgspec.structs.replace(
            gateway.settings, hosts=(f"127.0.0.1:{way.port}",)
        )
        gateway.start()
        say({"address": gateway.address, "secret": gateway.secret, "way": way.address})
        parts: dict[str, object] = {"gateway": gateway, "way": way}
        if wishes.get("pipeline"):
            parts["pipeline"] = LocalPipeline(gateway)
        obey(parts)


if __name__ == "__main__":
    main()
