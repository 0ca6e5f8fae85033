# SPDX-License-Identifier: Apache-2.0
"""Runs SCALE-Sim 3.0.0: ``python run_scale_sim.py JOBS.json``.

A script of SCALE-Sim's environment, which has nothing of Beatmatch. A job names a topology table, the array and the
dataflow; the report's rows go to the job's `out`. SCALE-Sim is asked for no traces and no progress, which is the least
that it can do: its command line writes traces always.
"""

import contextlib
import csv
import json
import os
import sys
import tempfile
from pathlib import Path

CONFIG = """[general]
run_name = peer

[architecture_presets]
ArrayHeight: {rows}
ArrayWidth: {cols}
IfmapSramSzkB: {ifmap_kb}
FilterSramSzkB: {filter_kb}
OfmapSramSzkB: {ofmap_kb}
IfmapOffset: 0
FilterOffset: 100000000
OfmapOffset: 200000000
Dataflow: {dataflow}
ReadRequestBuffer: 32
WriteRequestBuffer: 32

[layout]
IfmapCustomLayout: False
FilterCustomLayout: False
IfmapSRAMBankBandwidth: 10
IfmapSRAMBankNum: 10
IfmapSRAMBankPort: 2
FilterSRAMBankBandwidth: 10
FilterSRAMBankNum: 10
FilterSRAMBankPort: 2

[sparsity]
SparsitySupport: false

[run_presets]
InterfaceBandwidth: CALC
UseRamulatorTrace: False
"""
"""Interface bandwidth CALC: memory never stalls the array, and the report is compute time."""


def run(job):
    """One topology table; returns the rows of the compute report as texts, as they were written."""
    from scalesim.scale_sim import scalesim

    with tempfile.TemporaryDirectory() as folder:
        config, layout = Path(folder) / "peer.cfg", Path(folder) / "layout.csv"
        config.write_text(CONFIG.format(**job))
        layout.write_text("Layer\n")  # custom layouts are off, but the file must be there
        simulator = scalesim(
            save_disk_space=True, verbose=False, config=str(config), topology=job["topology"], layout=str(layout),
            input_type_gemm=job["gemm"],
        )  # fmt: skip
        simulator.run_scale(top_path=folder)
        with open(Path(folder) / "peer" / "COMPUTE_REPORT.csv") as file:
            header, *rows = ([cell.strip() for cell in row if cell.strip()] for row in csv.reader(file))
    names = [str(name) for name in simulator.topo.get_layer_names()]
    return [dict(zip(header, row, strict=True), layer=name) for row, name in zip(rows, names, strict=True)]


def main(path):
    """Run the jobs of a file, each into its `out`."""
    for job in json.loads(Path(path).read_text()):
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            rows = run(job)
        Path(job["out"]).write_text(json.dumps(rows))


if __name__ == "__main__":
    main(sys.argv[1])
