# SPDX-License-Identifier: Apache-2.0
"""Runs the pieces of a regression on a pool: builds beside runs, longest first, and a crash costs one program."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field

from beatmatch.config import Config
from tb.regress.chunks import Chunk
from tb.regress.execute import Outcome, execute
from tb.regress.store import Store

Progress = Callable[[Chunk, Outcome], None]


@dataclass
class _Queue:
    """What is left to start."""

    builds: list[Config]
    waiting: dict[Config, list[Chunk]]
    ready: list[Chunk] = field(default_factory=list)

    def next(self, workers: int) -> Chunk | None:
        """A piece to start now: a build (a piece without items) while few pieces are ready, else the longest."""
        if self.builds and len(self.ready) <= workers:
            config = self.builds.pop(0)
            return Chunk(config, self.waiting[config][0].sim, ())
        if self.ready:
            self.ready.sort(key=lambda chunk: -chunk.seconds)
            return self.ready.pop(0)
        return None

    def built(self, config: Config) -> None:
        """The pieces of a configuration may run."""
        self.ready += self.waiting.pop(config, [])


def run(
    chunks: Sequence[Chunk],
    pool: Executor,
    workers: int,
    store: Store,
    *,
    shared_builds: bool = True,
    patches: Sequence[str] = (),
    progress: Progress | None = None,
) -> None:
    """Run pieces until all their programs have a result, or a crash on record, in the store.

    Parameters
    ----------
    chunks : sequence of Chunk
        Without the programs that the store already has.
    workers : int
        Pieces at a time.
    shared_builds : bool
        Build each configuration once, before its pieces run. False where workers share no disk: each builds its own.
    patches : sequence of str
        Planted faults of the model, as in `tb.lockstep.job.Job`.
    """
    waiting: dict[Config, list[Chunk]] = {}
    for chunk in chunks:
        waiting.setdefault(chunk.config, []).append(chunk)
    order = sorted(waiting, key=lambda config: -config.rows * config.cols)
    queue = _Queue(order if shared_builds else [], waiting)
    if not shared_builds:
        queue.ready = [chunk for group in waiting.values() for chunk in group]
    running: dict[Future[Outcome], Chunk] = {}
    last = time.monotonic()
    while True:
        while len(running) < workers and (chunk := queue.next(workers)) is not None:
            running[pool.submit(execute, chunk, tuple(patches))] = chunk
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED, timeout=1.0)  # a timeout lets Ctrl-C through
        for future in done:
            chunk, outcome = running.pop(future), future.result()
            _finish(chunk, outcome, queue, store)
            now = time.monotonic()
            store.spent(now - last, outcome.build_seconds)
            last = now
            if progress is not None:
                progress(chunk, outcome)


def _finish(chunk: Chunk, outcome: Outcome, queue: _Queue, store: Store) -> None:
    """Take the results; what a crash kept from running goes back into the queue."""
    for result in outcome.results:
        store.add(result)
    if not chunk.items:
        if outcome.kind in ("build", "timeout"):
            _give_up(queue.waiting.pop(chunk.config, []), outcome, store)
        else:
            queue.built(chunk.config)
        return
    left = chunk.without({result.index for result in outcome.results})
    if left is None or outcome.kind == "stopped":
        return
    if outcome.kind == "build":
        _give_up([left], outcome, store)
        return
    store.crash(left.items[0].index, outcome.kind, outcome.error)
    rest = left.without({left.items[0].index})
    if rest is not None:
        queue.ready.append(rest)


def _give_up(chunks: Sequence[Chunk], outcome: Outcome, store: Store) -> None:
    """A configuration that cannot be built: all of its programs count as failed."""
    for chunk in chunks:
        for item in chunk.items:
            store.crash(item.index, "build", outcome.error)
