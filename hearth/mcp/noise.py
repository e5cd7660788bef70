"""What the libraries of the server log goes into hearth's own log: bounded, without secrets, never to a stream."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hearth.logs import Log

LIBRARIES = ("uvicorn", "mcp", "asyncio")


class ToLog(logging.Handler):
    """Takes records of other libraries. What a client did wrong is one of their warnings, and no news."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.INFO)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        text = f"{record.name}: {record.getMessage()}"
        if record.exc_info and record.exc_info[1] is not None:
            text += f": {record.exc_info[1]!r}"
        if record.levelno >= logging.ERROR:
            self._log.warning(text)
        else:
            self._log.info(text)


def send_to(log: Log) -> None:
    """From now on the libraries log there."""
    for name in LIBRARIES:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [ToLog(log)], False
