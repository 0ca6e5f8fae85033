# SPDX-License-Identifier: Apache-2.0
"""Where pieces run: on this machine, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager

from tb.regress.execute import STOP


class ClusterError(RuntimeError):
    """The cluster cannot be used; the text says what to do."""


@contextmanager
def local(workers: int) -> Iterator[Executor]:
    """Threads of this process; each waits for a process of its own."""
    STOP.clear()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="piece")
    try:
        yield pool
    except BaseException:
        STOP.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """The workers of a Dask scheduler, and how many there are; each needs this checkout and its tools.

    Raises ClusterError if `distributed` is not installed, nobody answers, or there are no workers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError("--cluster needs Dask: pip install 'beatmatch[cluster]'.") from None
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise ClusterError(f"No Dask scheduler answers at {address}: {error}.") from None
    with client:
        workers = sum(client.nthreads().values())
        if not workers:
            raise ClusterError(f"The Dask scheduler at {address} has no workers: start `dask worker {address}`.")
        pool = client.get_executor(pure=False, retries=2)
        try:
            yield pool, workers
        finally:
            pool.shutdown(wait=False)
