# SPDX-License-Identifier: Apache-2.0
"""Where timings run: in this process, in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

from beatmatch.explore.errors import ExploreError

Submit = Callable[..., Future]
"""A function and its arguments to a future, as `concurrent.futures.Executor.submit` does."""


@contextmanager
def local(workers: int) -> Iterator[Submit]:
    """Processes of this machine; one worker is this process itself."""
    if workers == 1:
        yield _now
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy threads of numpy and numba in any state
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_ctrl_c)
    try:
        yield pool.submit
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _now(function: Callable, *arguments: Any) -> Future:
    future: Future = Future()
    future.set_result(function(*arguments))
    return future


def _leave_ctrl_c() -> None:
    """Ctrl-C is for the parent, which lets running timings finish and takes no new ones."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def ray(address: str) -> Iterator[tuple[Submit, int]]:
    """The workers of a Ray cluster, and how many there are; each needs this package.

    Parameters
    ----------
    address : str
        Of the cluster (``auto``: the one that this machine belongs to; ``local``: a new one on this machine).

    Raises
    ------
    ExploreError
        If Ray is not installed, or nobody answers.
    """
    try:
        import ray as engine
    except ImportError:
        raise ExploreError("--ray needs Ray: pip install 'beatmatch[ray]'.") from None
    try:
        engine.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ExploreError(f"No Ray cluster answers at {address}: {error}.") from None
    try:
        workers = int(engine.cluster_resources().get("CPU", 0))
        if not workers:
            raise ExploreError(f"The Ray cluster at {address} has no processors: start `ray start` on its machines.")
        remotes: dict[Callable, Any] = {}

        def submit(function: Callable, *arguments: Any) -> Future:
            if function not in remotes:
                remotes[function] = engine.remote(function)
            return remotes[function].remote(*arguments).future()

        yield submit, workers
    finally:
        engine.shutdown()
