"""Where the traceback of a bug goes."""

from __future__ import annotations

import os
import tempfile
import time
import traceback

from hearth.errors import InternalError


def internal(data_dir: str | None, error: Exception) -> InternalError:
    """A bug: the traceback goes to a file in the data directory, its name to the user."""
    where = write_traceback(data_dir, error)
    return InternalError(f"a bug in hearth: {type(error).__name__}: {error}; the traceback is in {where}", file=where)


def write_traceback(data_dir: str | None, error: BaseException) -> str:
    """Write the traceback to a new private file in the data directory, else in the temporary one; its path."""
    text = "".join(traceback.format_exception(error))
    private = (os.path.join(data_dir, "crashes"),) if data_dir else ()
    for directory in (*private, tempfile.gettempdir()):
        try:
            os.makedirs(directory, mode=0o700, exist_ok=True)
            descriptor, path = tempfile.mkstemp(".txt", f"hearth-{time.strftime('%Y%m%d-%H%M%S')}-", directory)
        except OSError:
            continue
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        return path
    return "(nowhere: no directory can be written)"
