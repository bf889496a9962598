"""The process that works on people's files: jobs come in as lines of JSON, results go out as lines of JSON.

``python -m askone.server.heavy.child BYTES PARENT`` is started by ``work``.  It takes no more memory than BYTES,
gives way to everybody else on the machine, and ends when its parent is gone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO, Any

from askone import errors
from askone.encoding.embedders import name_embedder
from askone.server.heavy.jobs import READING, STORED
from askone.store.open import open_store

if sys.platform != "win32":  # there the limits of tables and of time alone hold
    import resource

TOO_LARGE = "this file takes more memory than a file may take here: make the campaign on the server with `askone new`"


def main() -> None:
    """Do jobs until there are no more."""
    most = int(sys.argv[1])  # sys.argv[2] is who started it, and may be gone by now
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    if sys.platform != "win32":
        os.nice(10)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=_end_with, args=[int(sys.argv[2])], daemon=True).start()
    # Whatever prints something must not print into the results.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)
        serve(sys.stdin, out, most)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def serve(jobs: IO[str], out: IO[str], most: int) -> None:
    """Answer each job in its line; the last one is a job after which much memory is in use."""
    much = max(_most_memory(), most // 2)  # at its start a process has the mark of whoever started it
    for line in jobs:
        reply = done(**json.loads(line))
        last = reply["last"] = _most_memory() > much
        out.write(json.dumps(reply) + "\n")
        out.flush()
        if last:
            return


def _most_memory() -> int:
    """Return the bytes that this process had at most."""
    return 0 if sys.platform == "win32" else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def done(job: str, store: str | None, values: dict[str, Any], embedders: Sequence[str] = ()) -> dict[str, Any]:
    """Return the result of a job, or its error by name; one that is not askone's ends the process."""
    try:
        for embedder in embedders if store is not None else ():
            name_embedder(embedder)
        if store is None:
            return {"result": READING[job](None, **values)}
        with open_store(store) as opened:
            return {"result": STORED[job](opened, **values)}
    except errors.AskoneError as error:
        return {"error": type(error).__name__, "args": [_plain(one) for one in error.args]}
    except MemoryError:
        return {"error": "InvalidFile", "args": [TOO_LARGE]}


def _plain(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else repr(value)


if __name__ == "__main__":
    main()
