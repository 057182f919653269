"""Threads and memory: a map that runs on all cores, and memory kept for temporary arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
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

    Give ``most_threads`` if items take a millisecond or less: more threads wait for each other.
    """
    return list(iterate_in_threads(function, items, most_threads))


def iterate_in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], most_threads: int | None = None
) -> Iterator[Result]:
    """Apply ``function`` likewise and yield the results in order, as soon as they are ready."""
    items = list(items)
    workers = min(len(items), available_cores(), most_threads or len(items))
    if workers < 2:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(function, items)


def keep_memory() -> None:
    """Make the C library keep freed memory for the many temporary arrays that follow.

    By default glibc returns large arrays to the system, which hands them out again slowly, page by
    page. It keeps up to twice the largest array freed so far, within a limit just above the size
    of this one. Other C libraries are not affected.
    """
    np.empty(LARGEST_KEPT - 2**20, dtype=np.uint8)
