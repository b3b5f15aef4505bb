"""The states of a window that the hub itself finds out; the others are its table's."""

from __future__ import annotations

import msgspec

from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import Live, WindowState

BUILDING = WindowState(Live.LOADING, "The rows are being filtered and sorted.")


def no_such_table(name: str) -> WindowState:
    return WindowState(
        Live.WAITING, f"There is no table {name} now. This window comes alive when it appears."
    )


def cut_state(state: WindowState, missing: int, most: int) -> WindowState:
    """`state` of a window that lacks so many of its rows, because a frame has `most` bytes."""
    text = (
        f"window too large: {missing} of its rows are not shown, since a frame has at most {most} "
        "bytes. Ask for fewer rows or columns."
    )
    message = f"{state.message} {text}" if state.message else text
    return msgspec.structs.replace(state, message=message, code=Code.WINDOW_TOO_LARGE.value)
