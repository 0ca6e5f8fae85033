# SPDX-License-Identifier: Apache-2.0
"""Runs ZigZag 3.9.1: ``python run_zigzag.py JOB.json``.

A script of ZigZag's environment, which has nothing of Beatmatch. The machine is ZigZag's own model of a TPU with four
sizes changed to the job's: array, on-chip memory, memory port, and weights per multiplier; sums are 32 bits wide. Its
search is left at its defaults, for least latency.
"""

import json
import sys
import tempfile
from pathlib import Path

import yaml
import zigzag
from zigzag.api import get_hardware_performance_zigzag

INPUTS = Path(zigzag.__file__).parent / "inputs"
SUM_BITS = 32


def accelerator(job):
    """ZigZag's `tpu_like` in the job's sizes."""
    found = yaml.safe_load((INPUTS / "hardware/tpu_like.yaml").read_text())
    weights, sums, sram, dram = (found["memories"][name] for name in ("rf_128B", "rf_2B", "sram_2MB", "dram"))
    found["operational_array"]["sizes"] = [job["cols"], job["rows"]]
    weights["size"] = 8 * job["weights_per_multiplier"]
    sums["size"] = SUM_BITS
    for port in sums["ports"]:
        port["bandwidth_min"] = port["bandwidth_max"] = SUM_BITS
    sram["size"] = 8 * job["sram_bytes"]
    for port in sram["ports"]:
        port["bandwidth_max"] = SUM_BITS * job["cols"]
    for port in dram["ports"]:
        port["bandwidth_min"] = port["bandwidth_max"] = job["port_bits"]
    return found


def mapping(job):
    """Output channels across the columns, input channels down the rows: weights stay."""
    found = yaml.safe_load((INPUTS / "mapping/tpu_like.yaml").read_text())
    default = next(item for item in found if item["name"] == "default")
    default["spatial_mapping"] = {"D1": [f"K, {job['cols']}"], "D2": [f"C, {job['rows']}"]}
    return [default]


def layer(number, found):
    """A layer of the job in ZigZag's terms: a convolution with its windows, or a product of matrices."""
    common = {
        "id": number,
        "name": f"layer{number}",
        "operand_precision": {"W": 8, "I": 8, "O": SUM_BITS, "O_final": 8},
        "operand_source": {"W": number, "I": number},
        "dimension_relations": [],
    }
    if "kernel" not in found:
        sizes = {"C": found["length"], "D": found["rows"], "K": found["columns"]}
        equation = "O[d][k]+=I[d][c]*W[c][k]"
        return {**common, "operator_type": "Gemm", "equation": equation, **_loops(sizes)}
    (fy, fx), (oy, ox), (iy, ix) = found["kernel"], found["pixels"], found["input"]
    (sy, sx), (dy, dx) = found["strides"], found["dilations"]
    top, left, bottom, right = found["pads"]
    sizes = {"B": 1, "K": found["columns"], "G": found["count"], "C": found["channels"]}
    sizes |= {"OX": ox, "OY": oy, "FX": fx, "FY": fy}
    return {
        **common,
        **_loops(sizes),
        "operator_type": "Conv",
        "equation": "O[b][g][k][oy][ox]+=W[g][k][c][fy][fx]*I[b][g][c][iy][ix]",
        "dimension_relations": [f"ix={sx}*ox+{dx}*fx", f"iy={sy}*oy+{dy}*fy"],
        "pr_loop_dims": ["IX", "IY"],
        "pr_loop_sizes": [ix, iy],
        "padding": [[left, right], [top, bottom]],
    }


def _loops(sizes):
    return {"loop_dims": list(sizes), "loop_sizes": list(sizes.values())}


def main(path):
    """Run the job of a file; per layer its cycles go to the job's `out`."""
    job = json.loads(Path(path).read_text())
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder) / f"{name}.yaml" for name in ("accelerator", "mapping", "workload")}
        layers = [layer(number, found) for number, found in enumerate(job["layers"])]
        for name, data in zip(files, (accelerator(job), mapping(job), layers), strict=True):
            files[name].write_text(yaml.safe_dump(data, sort_keys=False))  # memories from the lowest level up
        _, _, results = get_hardware_performance_zigzag(
            str(files["workload"]), str(files["accelerator"]), str(files["mapping"]),
            opt="latency", dump_folder=folder, loma_show_progress_bar=False,
        )  # fmt: skip
    rows = [
        {
            "layer": job["layers"][cost.layer.id]["layer"],
            "cycles": int(cost.latency_total2),
            "mapped": int(cost.ideal_temporal_cycle),
            "macs": int(cost.layer.total_mac_count),
        }
        for cost, _ in results[0][1]
    ]
    Path(job["out"]).write_text(json.dumps(rows))


if __name__ == "__main__":
    main(sys.argv[1])
