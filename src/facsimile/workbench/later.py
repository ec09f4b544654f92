"""Later: what a page shows as soon as it is known, worked out once beside the page."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")
KEPT = 8


class Later(Generic[T]):
    """Results by key: asked for, they are begun; the latest ones are kept."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(1)
        self.known: OrderedDict[Hashable, Future[T]] = OrderedDict()
        self.lock = threading.Lock()

    @property
    def busy(self) -> bool:
        """Whether something is being worked out."""
        return any(not future.done() for future in list(self.known.values()))

    def begun(self, key: Hashable, work: Callable[[], T]) -> Future[T]:
        """The work of this key, begun now or before."""
        with self.lock:
            if key not in self.known:
                self.known[key] = self.pool.submit(work)
                while len(self.known) > KEPT:
                    self.known.popitem(last=False)[1].cancel()
            self.known.move_to_end(key)
            return self.known[key]
