"""Which resamples keep their draws.

The draws of a model take some 20 MB, and are the same whenever they are made again. So only the
resamples that drew last keep them.
"""

from __future__ import annotations

import weakref
from collections import deque
from threading import Lock
from typing import Any

# Resamples that keep their draws.
MOST_KEPT = 4

_recent: deque[weakref.ref[Any]] = deque()
_lock = Lock()


def keep_draws(resamples: Any, names: tuple[str, ...]) -> None:
    """Note that resamples have drawn, and let others forget their draws.

    ``names`` are the cached properties that depend on draws.
    """
    with _lock:
        _recent.append(weakref.ref(resamples))
        while len(_recent) > MOST_KEPT:
            oldest = _recent.popleft()()
            if oldest is not None and oldest is not resamples:
                for name in names:
                    vars(oldest).pop(name, None)
