"""Ranks of a training as threads of one process, of which one runs at a time."""

import queue
import threading
from collections import defaultdict
from contextlib import contextmanager

import numpy as np

from training.engine.communicator import SingleRank
from training.engine.device import reproducible

WAIT_S = 60


class ThreadRanks:
    """Communicators of so many ranks; records what travels.

    A rank runs until it waits for another one: torch's random state and settings belong to the process.
    """

    def __init__(self, size):
        self.size, self.sent = size, []
        self._rows = defaultdict(queue.Queue)
        self._barrier = threading.Barrier(size)
        self._values = [np.zeros(0)] * size
        self._turn = threading.Lock()

    def run(self, work):
        """Call a function of the communicator on each rank, and return the results."""
        results, errors = [None] * self.size, []

        def one(rank):
            try:
                with self._turn:
                    results[rank] = work(_Rank(self, rank))
            except BaseException as error:
                errors.append(error)
                self._barrier.abort()

        threads = [threading.Thread(target=one, args=(rank,)) for rank in range(self.size)]
        with reproducible():
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        if errors:
            raise errors[0]
        return results

    @contextmanager
    def waiting(self):
        """Let other ranks run within it."""
        self._turn.release()
        try:
            yield
        finally:
            self._turn.acquire()

    def send(self, sender, receiver, silo, row):
        self.sent.append((sender, receiver, silo))
        self._rows[sender, receiver, silo].put(row.clone())

    def receive(self, sender, receiver, silo, row):
        rows = self._rows[sender, receiver, silo]
        with self.waiting():
            found = rows.get(timeout=WAIT_S)
        row.copy_(found)

    def sum(self, rank, values):
        self._values[rank] = values
        with self.waiting():
            self._barrier.wait(timeout=WAIT_S)
        total = sum(self._values[1:], self._values[0].copy())
        with self.waiting():
            self._barrier.wait(timeout=WAIT_S)
        return total


class _Rank:
    """The communicator of one rank."""

    def __init__(self, ranks, rank):
        self.rank, self.size, self._ranks = rank, ranks.size, ranks

    def exchange(self, sends, receives, width):
        for peer, silo, row in sends:
            self._ranks.send(self.rank, peer, silo, row)
        for peer, silo, row in receives:
            self._ranks.receive(peer, self.rank, silo, row)
        yield from SingleRank().exchange([], [], width)

    def sum(self, values):
        return self._ranks.sum(self.rank, values)
