"""Threads and memory: maps and tasks on other cores, and memory kept for temporary arrays."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import TypeVar

import numpy as np

# The C library never keeps blocks of more than this many bytes.
LARGEST_KEPT = 32 * 2**20

Item = TypeVar("Item")
Result = TypeVar("Result")


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on every platform
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], most_threads: int | None = None
) -> list[Result]:
    """Apply ``function`` to every item, on all cores; NumPy sorts and searches without the GIL.

    The calling thread and helpers take the next item in turn. Helpers are kept for later calls,
    since starting a thread takes as long as a short item. If all are busy, as in a map within a
    map, the calling thread does the work alone. The error of the first item that fails is raised.

    Give ``most_threads`` if items take a millisecond or less: more threads wait for each other.
    """
    items = list(items)
    workers = min(len(items), available_cores(), most_threads or len(items))
    if workers < 2:
        return [function(item) for item in items]
    results: dict[int, Result] = {}
    errors: dict[int, BaseException] = {}
    remaining = deque(range(len(items)))

    def work() -> None:
        while remaining and not errors:
            try:
                index = remaining.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                results[index] = function(items[index])
            except BaseException as error:  # noqa: BLE001 - raised below
                errors[index] = error

    helpers = [_submit(work) for _ in range(workers - 1)]
    try:
        work()
        for helper in helpers:
            if helper is not None and not helper.cancel():  # it has begun
                helper.result()
    finally:
        remaining.clear()  # after an interrupt, helpers stop after their current item
    if errors:
        raise errors[min(errors)]
    return [results[index] for index in range(len(items))]


def start_in_thread(function: Callable[[], Result]) -> Callable[[], Result]:
    """Start a function in a helper thread; return a function that waits for its result.

    If there is one core, or all helpers are busy, it runs when its result is wanted.
    """
    if available_cores() < 2:
        return function
    helper = _submit(function)
    return lambda: function() if helper is None or helper.cancel() else helper.result()


def _submit(function: Callable[[], Result]) -> Future[Result] | None:
    """Hand a function to a helper; None where no thread can start, as when Python exits."""
    try:
        return _helpers().submit(function)
    except RuntimeError:
        return None


@cache
def _helpers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="pueval")


if hasattr(os, "register_at_fork"):  # not on every platform
    # Threads do not exist in a forked process; it starts its own.
    os.register_at_fork(after_in_child=_helpers.cache_clear)


def iterate_in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], most_threads: int | None = None
) -> Iterator[Result]:
    """Apply ``function`` to every item on all cores; yield results in order, as they are ready."""
    items = list(items)
    workers = min(len(items), available_cores(), most_threads or len(items))
    if workers < 2:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(workers) as pool:
        try:
            results = pool.map(function, items)
        except RuntimeError:  # no thread can start
            results = map(function, items)
        yield from results


def keep_memory() -> None:
    """Make the C library keep freed memory for the many temporary arrays that follow.

    By default glibc returns large arrays to the system, which hands them out again slowly, page by
    page. It keeps up to twice the largest array freed so far, within a limit just above the size
    of this one. Other C libraries are not affected.
    """
    np.empty(LARGEST_KEPT - 2**20, dtype=np.uint8)
