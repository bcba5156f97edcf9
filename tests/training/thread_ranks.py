"""Ranks of a training as threads of one process."""

import queue
import threading
from collections import defaultdict

import numpy as np

from training.engine.communicator import SingleRank


class ThreadRanks:
    """Communicators of so many ranks, each in a thread of this process; counts what travels."""

    def __init__(self, size):
        self.size, self.sent = size, []
        self._rows = defaultdict(queue.Queue)
        self._barrier = threading.Barrier(size)
        self._values = [np.zeros(0)] * size

    def of(self, rank):
        class Rank:
            def __init__(self, ranks):
                self.rank, self.size, self._ranks = rank, ranks.size, ranks

            def exchange(self, sends, receives, width):
                for peer, silo, row in sends:
                    self._ranks.sent.append((rank, peer, silo))
                    self._ranks._rows[rank, peer, silo].put(row.clone())
                for peer, silo, row in receives:
                    row.copy_(self._ranks._rows[peer, rank, silo].get(timeout=20))
                yield from SingleRank().exchange([], [], width)

            def sum(self, values):
                return self._ranks.sum(rank, values)

        return Rank(self)

    def sum(self, rank, values):
        self._values[rank] = values
        self._barrier.wait(timeout=60)
        total = sum(self._values[1:], self._values[0].copy())
        self._barrier.wait(timeout=60)
        return total

    def run(self, work):
        """Call a function of the communicator on each rank, and return the results."""
        results, errors = [None] * self.size, []

        def one(rank):
            try:
                results[rank] = work(self.of(rank))
            except BaseException as error:
                errors.append(error)
                self._barrier.abort()

        threads = [threading.Thread(target=one, args=(rank,)) for rank in range(self.size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return results
