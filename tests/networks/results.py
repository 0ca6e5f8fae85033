# SPDX-License-Identifier: Apache-2.0
"""Results that were made up: of chosen layers, or of random ones from a seed."""

from beatmatch.accounting import Accounting
from beatmatch.config import preset
from beatmatch.memory import MemoryTiming
from beatmatch.networks.result import LayerResult, NetworkResult, Traffic
from tb.lockstep.streams import stream

CONFIG = preset("base")
MEMORY = MemoryTiming(read_latency=50).to_dict()


def layer(name, start=0, op="conv", shape=(1, 16, 8, 8), rows=0, fill=(1.0, 1.0), **counts):
    """A layer on the core: `rows` enter the array, `counts` are the other cycles and any field."""
    kinds = ("weight_shift", "weight_stall", "raw_stall", "input_stall", "other")
    shift, stall, raw, waits, other = (counts.pop(kind, 0) for kind in kinds)
    non_matrix = raw + waits + other
    cycles = rows + shift + stall + non_matrix
    macs = round(rows * CONFIG.peak_macs * fill[0] * fill[1])
    found = Accounting(cycles, rows, shift, stall, non_matrix, raw, waits, macs, CONFIG.peak_macs)
    fields = {"read_bytes": 4096, "written_bytes": 512, "minimum_bytes": 4608, "fidelity": "exact", **counts}
    fills = {"fill_rows": fill[0], "fill_cols": fill[1]} if rows else {}
    return LayerResult(
        name, op, "core", shape, macs, start, start + cycles, found, **fields, **fills, window_macs=float(macs)
    )


def priced(name, cycles, start=0, op="softmax"):
    """An estimate."""
    sizes = {"read_bytes": 100, "written_bytes": 100, "minimum_bytes": 0}
    return LayerResult(name, op, "estimate", (1, 10), 0, start, start + cycles, None, **sizes, fidelity="estimate")


def network(*makers, **fields):
    """A network of layers one after another; each maker takes the cycle at which its layer starts."""
    layers = []
    for make in makers:
        layers.append(make(layers[-1].end if layers else 0))
    traffic = [
        Traffic(f"w of {one.name}", "weights", one.name, one.read_bytes, one.written_bytes, one.minimum_bytes)
        for one in layers
    ]
    values = {
        "name": "made up",
        "memory": MEMORY,
        "options": {"host": {"elements_per_cycle": 16}},
        "reason": "Made up.",
        **fields,
    }
    return NetworkResult(
        source="", config=CONFIG, layers=layers, traffic=traffic, cpu_seconds=0.25, peak_rss_mb=99.5, **values
    )


def random_network(count: int, seed: int = 1) -> NetworkResult:
    """Layers of all kinds, from the seed."""
    rng = stream(seed, "results", count)

    def maker(number):
        kind = rng.choice(("conv", "dense", "add", "estimate", "free"))
        name = f"layer {number}"
        if kind == "free":
            return lambda start: LayerResult(name, "reshape", "free", (1,), 0, start, start, None, 0, 0, 0, "free")
        if kind == "estimate":
            cycles = rng.randrange(1, 4000)
            return lambda start: priced(name, cycles, start)
        counts = {cause: rng.randrange(500) for cause in ("weight_shift", "weight_stall", "raw_stall", "input_stall")}
        counts |= {"other": rng.randrange(1, 50), "groups": rng.choice((1, 1, 4)), "op": kind}
        if kind != "add":
            counts |= {"rows": rng.randrange(1, 5000), "fill": (rng.randrange(1, 9) / 8, rng.randrange(1, 9) / 8)}
        return lambda start: layer(name, start, **counts)

    return network(*(maker(number) for number in range(count)))
