"""What the demo's processes say, as the board shows it."""

from __future__ import annotations

from evergrid.demo.board import Board


class PipelineWatch:
    """The pipeline's steps; its progress in rows comes through the manifest."""

    def __init__(self, board: Board) -> None:
        self._board = board

    def started(self) -> None:
        self._board.pipeline_started()
        self._board.step("Starting the pipeline.")

    def says(self, words: str) -> None:
        if not words.startswith(" "):
            self._board.step("Waiting for live rows." if " is live: " in words else words)

    def ended(self, trouble: str) -> None:
        self._board.pipeline_ended(trouble)


class GatewayWatch:
    """The gateway's address, once it serves there."""

    def __init__(self, board: Board, address: str) -> None:
        self._board = board
        self._address = address

    def started(self) -> None:
        self._board.gateway("")

    def says(self, words: str) -> None:
        self._board.gateway(self._address)

    def ended(self, trouble: str) -> None:
        self._board.gateway("")
        self._board.step(trouble)
