"""Pages of rows predicted by a thread for each core, in order: most of it is arithmetic that lets others go on."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from threadpoolctl import threadpool_limits

from askone._common.types import Array

Told = dict[str, list[Any]]
_AHEAD = 2  # pages in work for each thread


def predicted_pages(
    pages: Iterable[tuple[list[str], Array]], predict: Callable[[Array], Told]
) -> Iterator[tuple[list[str], Told]]:
    """Yield the keys of each page and what is said of its rows.

    >>> pages = [(["a"], [1.0]), (["b"], [2.0])]
    >>> list(predicted_pages(pages, lambda X: {"prediction": X}))
    [(['a'], {'prediction': [1.0]}), (['b'], {'prediction': [2.0]})]
    """
    threads, waiting = os.cpu_count() or 1, deque[tuple[list[str], Future[Told]]]()
    # BLAS's own threads would wait for each other and take half as much time again.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads, thread_name_prefix="predict") as executor:
        for keys, X in pages:
            waiting.append((keys, executor.submit(predict, X)))
            while len(waiting) > _AHEAD * threads:
                done, told = waiting.popleft()
                yield done, told.result()
        for done, told in waiting:
            yield done, told.result()
