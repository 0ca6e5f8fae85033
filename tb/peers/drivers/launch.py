# SPDX-License-Identifier: Apache-2.0
"""Runs one command under limits and says what it took: ``python launch.py JOB.json``.

A process's peak memory begins with that of the process which started it, so this one imports next to nothing: what it
measures is the command's own. The job has `command`, `folder`, `log`, `seconds` (of the wall clock), `bytes` (of
address space) and `out`, where the answer goes.
"""

import json
import os
import resource
import signal
import sys
import time

NICENESS = 5
"""Other work on the machine goes first."""


def _become(job):
    """In the child: own session, limits, output to the log, then the command."""
    os.setsid()
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_AS, (job["bytes"], job["bytes"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    log = os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(job["folder"])
    os.execvp(job["command"][0], job["command"])


def main(path):
    """Run the job of a file."""
    with open(path) as file:
        job = json.load(file)
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        try:
            _become(job)
        finally:
            os._exit(127)  # only if the command could not be started
    late = []

    def stop(number, frame):
        late.append(number)
        os.killpg(child, signal.SIGKILL)

    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    signal.alarm(job["seconds"])
    _, status, used = os.wait4(child, 0)
    signal.alarm(0)
    answer = {
        "exit": os.waitstatus_to_exitcode(status),
        "late": bool(late),
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "wall_seconds": time.monotonic() - began,
        "peak_bytes": used.ru_maxrss * 1024,
    }
    with open(job["out"], "w") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main(sys.argv[1])
