# SPDX-License-Identifier: Apache-2.0
"""From a network to its cycles, why there are so many, and what would help: the steps of docs/tutorial_networks.md.

    python docs/examples/network_tour.py [FOLDER]

writes the page, the table and the trace to FOLDER (default: network_tour).
"""

import sys
from pathlib import Path

from rich.console import Console

from beatmatch import Config, preset
from beatmatch.networks.advice import advice
from beatmatch.networks.proof import proofs
from beatmatch.networks.read import read_network
from beatmatch.networks.report import compare, comparison_view, view, write_csv, write_page, write_trace
from beatmatch.networks.timing import time_network

# A block of MobileNetV2 at 56 x 56, and the same block with its first two layers fused into one plain convolution.
# Inputs are stated with their padding: 58 for a 3 x 3 window that gives 56. DP is depthwise.
SEPARATE = """layer, input height, input width, filter height, filter width, channels, filters, stride,
expand, 56, 56, 1, 1, 24, 144, 1,
DP, 58, 58, 3, 3, 144, 1, 1,
project, 56, 56, 1, 1, 144, 24, 1,
"""
FUSED = """layer, input height, input width, filter height, filter width, channels, filters, stride,
fused, 58, 58, 3, 3, 24, 144, 1,
project, 56, 56, 1, 1, 144, 24, 1,
"""


def main(folder: Path) -> None:
    """All steps."""
    out = Console(width=132)
    folder.mkdir(parents=True, exist_ok=True)

    # 1. Cycles, and where they went.
    graph = read_network("mobilenet_v2")
    result = time_network(graph, preset("mxu128"))
    out.print(view(result))

    # 2. Why: the worst cause, and its worst layer.
    worst = advice(result)[0]
    out.print(f"\n{worst.cause} takes {worst.share:.0%} of the cycles, most of it {worst.layers[0]}.\n")

    # 3. One field of the configuration: half of the rows, so half of the array.
    half = time_network(graph, Config.from_dict({**preset("mxu128").to_dict(), "rows": 64, "name": "half"}))
    out.print(comparison_view(compare(result, half)))
    out.print(f"Half of the array takes {half.cycles / result.cycles:.2f} times the cycles.\n")

    # 4. Another model: more multiply-accumulates, fewer cycles.
    for name, table in (("separate", SEPARATE), ("fused", FUSED)):
        path = folder / f"{name}.csv"
        path.write_text(table)
        block = time_network(read_network(str(path)), preset("mxu128"))
        out.print(f"{name}: {block.macs:,} multiply-accumulates, {block.cycles:,} cycles, {block.utilization:.1%} used")

    # 5. To look at, to share, to go on with: the page opens in any browser, the trace in Perfetto.
    write_page(folder / "mobilenet_v2.html", result, half)
    write_csv(folder / "mobilenet_v2.csv", result)
    write_trace(folder / "mobilenet_v2.perfetto.json", result, half)
    out.print(f"\nSee {folder}/mobilenet_v2.html.")

    # 6. Proof: small programs of every kind of layer, for the RTL to run beside the model.
    found = proofs(graph, preset("small"))
    out.print(f"{len(found)} programs stand for the core's layers; `beatmatch network mobilenet_v2 --prove` runs them.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "network_tour"))
