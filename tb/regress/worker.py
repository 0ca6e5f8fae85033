# SPDX-License-Identifier: Apache-2.0
"""The process that builds and runs one piece: ``python -m tb.regress.worker FOLDER`` (started by `execute`).

It is a process of its own so that a simulator that crashes or hangs takes nothing else with it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from beatmatch.config import Config
from tb.lockstep import runner
from tb.lockstep.job import Item
from tb.sim import SimulationError
from tb.toolchain import ToolError

TASK, BUILT, ERROR = "task.json", "built.json", "error.txt"
SIDE = "tb.regress.workloads:make"


def main(argv: list[str]) -> int:
    """Run the task of a folder; 0 if all its programs ran, 1 if the simulator failed (`ERROR` says how)."""
    folder = Path(argv[0])
    task = json.loads((folder / TASK).read_text())
    config = Config.from_dict(task["config"])
    try:
        built = runner.build(config, task["sim"])
        (folder / BUILT).write_text(json.dumps({"seconds": built.seconds}))
        items = [Item(**item) for item in task["items"]]
        if items:
            runner.run(built, config, items, side=SIDE, patches=task["patches"], folder=folder)
    except (SimulationError, ToolError) as error:
        (folder / ERROR).write_text(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
