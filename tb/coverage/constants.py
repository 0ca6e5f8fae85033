# SPDX-License-Identifier: Apache-2.0
"""Port bits that are constant by contract: derived from the declarations, not listed.

What the layout of the trace record leaves empty; what is zero in every instruction that the decoder lets through; bits
of error codes and engine numbers that no declared value has that can come there; bit 0 of the host's responses, which
are OKAY or SLVERR: all of them are zero. What a configuration fixes holds its value. Whoever counts coverage checks
that none of them ever toggled: a wrong exclusion is an error.
"""

from __future__ import annotations

from collections.abc import Iterable

from beatmatch.config import Config
from beatmatch.isa import ENGINE_OF, Engine, Error, Opcode
from beatmatch.isa.encode import positions
from beatmatch.stations.weights import WEIGHTS
from beatmatch.trace import STATIONS, layout
from tb.coverage.arch_errors import RAISED

INSTRUCTION_BITS = 256
Bits = set[int]

TRACE_PORTS: dict[str, tuple[str, ...]] = {
    "bm_core.sv": tuple(STATIONS),
    "host/bm_host.sv": ("host",),
    "frontend/bm_frontend.sv": ("frontend",),
    "host/bm_port.sv": ("port",),
    "host/bm_weight_port.sv": ("weight_port",),
    "load/bm_load.sv": ("load",),
    "weights/bm_weights.sv": ("weights",),
    "matmul/bm_matmul.sv": ("matmul",),
    "accumulator/bm_accumulator.sv": ("accumulator",),
    "vector/bm_vector.sv": ("vector",),
    "vector/bm_vector_trace.sv": ("vector",),
    "store/bm_store.sv": ("store",),
}
"""Files whose `trace_o` is the record of these stations, as far as a configuration has them."""

INSTRUCTION_PORTS: dict[tuple[str, str], tuple[Engine, ...]] = {
    ("load/bm_load.sv", "instr_i"): (Engine.LOAD,),
    ("weights/bm_weights.sv", "instr_i"): (Engine.WEIGHTS,),
    ("weights/bm_weights_rows.sv", "instr_i"): (Engine.WEIGHTS,),
    ("matmul/bm_matmul.sv", "instr_i"): (Engine.MATMUL,),
    ("matmul/bm_matmul_sequencer.sv", "instr_i"): (Engine.MATMUL,),
    ("vector/bm_vector.sv", "instr_i"): (Engine.VECTOR,),
    ("vector/bm_vector_sequencer.sv", "instr_i"): (Engine.VECTOR,),
    ("vector/bm_vector_sequencer.sv", "current_o"): (Engine.VECTOR,),
    ("vector/bm_vector_context.sv", "current_i"): (Engine.VECTOR,),
    ("vector/bm_vector_address.sv", "instr_i"): (Engine.VECTOR,),
    ("vector/bm_vector_address.sv", "current_i"): (Engine.VECTOR,),
    ("store/bm_store.sv", "instr_i"): (Engine.STORE,),
    ("lib/bm_transfer_rows.sv", "instr_i"): (Engine.STORE,),  # load's, too, without its space
    ("frontend/bm_frontend.sv", "instr_o"): tuple(Engine)[1:],
    ("frontend/bm_dispatch.sv", "instr_o"): tuple(Engine)[1:],
}
"""Ports that carry queue heads or what was taken from them: of one engine, or of all five side by side."""

ENGINES = tuple(engine for engine in Engine if engine is not Engine.FRONTEND)
CODES: dict[Engine, int] = {
    engine: sum({1 << bit for code, who in RAISED.items() if engine.name in who and code is not Error.DEADLOCK
                 for bit in range(8) if int(code) >> bit & 1})
    for engine in Engine
}  # fmt: skip
"""Bits that the codes of an engine's own errors use; it is the frontend that raises a deadlock."""
ANY_CODE = (1 << max(Error).bit_length()) - 1
ANY_ENGINE = (1 << max(Engine).bit_length()) - 1
REFUSED = Error.ILLEGAL_OPCODE | Error.ILLEGAL_FIELD | Error.ZERO_SIZE
RESPONSE = 2  # OKAY is 0, SLVERR is 2

USED_BITS: dict[tuple[str, str], tuple[int, tuple[int, ...]]] = {
    ("load/bm_load.sv", "err_code_o"): (8, (CODES[Engine.LOAD],)),
    ("weights/bm_weights.sv", "err_code_o"): (8, (CODES[Engine.WEIGHTS],)),
    ("matmul/bm_matmul.sv", "err_code_o"): (8, (CODES[Engine.MATMUL],)),
    ("vector/bm_vector.sv", "err_code_o"): (8, (CODES[Engine.VECTOR],)),
    ("vector/bm_vector_sequencer.sv", "err_code_o"): (8, (CODES[Engine.VECTOR],)),
    ("store/bm_store.sv", "err_code_o"): (8, (CODES[Engine.STORE],)),
    **{(f"frontend/{name}.sv", "err_code_i"): (8, tuple(CODES[e] for e in ENGINES)) for name in ("bm_frontend",
        "bm_monitor")},
    **{(f"frontend/{name}.sv", "error_code_o"): (8, (ANY_CODE,)) for name in ("bm_frontend", "bm_monitor")},
    **{(f"frontend/{name}.sv", "error_engine_o"): (4, (ANY_ENGINE,)) for name in ("bm_frontend", "bm_monitor")},
    **{(f"host/{name}.sv", "error_code_i"): (8, (ANY_CODE,)) for name in ("bm_host", "bm_csr")},
    **{(f"host/{name}.sv", "error_engine_i"): (4, (ANY_ENGINE,)) for name in ("bm_host", "bm_csr")},
    ("frontend/bm_monitor.sv", "decode_code_i"): (8, (REFUSED,)),
    ("frontend/bm_decode.sv", "code_o"): (8, (REFUSED,)),
    ("frontend/bm_legality.sv", "code_o"): (8, (REFUSED,)),
    **{(file, f"s_axil_{name}_o"): (2, (RESPONSE,)) for file in ("bm_core.sv", "host/bm_host.sv", "host/bm_axil.sv")
       for name in ("bresp", "rresp")},
    **{(file, f"m_axi_weights_{name}"): (width, (used,)) for file in ("bm_core.sv", "host/bm_weight_port.sv")
       for name, width, used in (("rid_i", 2, WEIGHTS),)},
}  # fmt: skip
"""Ports of values with bits that are never used: width of a value, and a mask of used bits per value side by side."""

HELD = {
    (file, f"m_axi_weights_{name}_o")
    for file in ("bm_core.sv", "host/bm_weight_port.sv")
    for name in ("arid", "arsize", "arburst")
}
"""Ports that hold one value for ever, which the configuration chooses: a bit of them rises once at power-up, or never,
and never falls."""

ZERO = ("instance", "act_format", "weight_format", "transpose")
"""Fields that a legal instruction has at zero."""


def _empty_trace(stations: Iterable[str], config: Config) -> tuple[Bits, int]:
    """Bits of a record of these stations that the layout leaves empty, and how many bits it has."""
    record = layout(config)
    empty: Bits = set()
    width = 0
    for station in stations:
        start, words = record.stations[station]
        for placed in record.slots:
            if placed.station == station and placed.slot.kind != "digest":
                first = width + 32 * (placed.offset - start)
                used = sum(bits for _, bits in placed.slot.fields)
                top = 31 if placed.slot.kind == "event" else 32
                empty |= set(range(first + used, first + top))
                empty |= {first + bit for bit in _unused_codes(placed.slot.fields)}
        width += 32 * words
    return empty, width


def _unused_codes(fields: Iterable[tuple[str, int]]) -> Bits:
    """Bits of a header's fields that no declared value has: codes, engines, the host's responses."""
    found: Bits = set()
    shift = 0
    for name, width in fields:
        used = {"code": ANY_CODE, "engine": ANY_ENGINE, "bresp": RESPONSE, "rresp": RESPONSE}.get(name)
        if used is not None:
            found |= {shift + bit for bit in range(width) if not used >> bit & 1}
        shift += width
    return found


def _enable_padding(station: str, config: Config) -> Bits:
    """Bits of enables and strobes past the lanes or the bytes of a beat, within a station's record."""
    record = layout(config)
    sizes = {("load", "write", "enable"): config.lanes, ("port", "w", "strobe"): config.mem_bytes}
    found: Bits = set()
    for (where, slot, name), used in sizes.items():
        if where == station:
            first, words = record.slot(where, slot).data[name]
            low = 32 * (first - record.stations[station][0])
            found |= set(range(low + used, low + 32 * words))
    return found


def _zero(engine: Engine, config: Config) -> Bits:
    """Bits that are zero in all legal instructions of an engine."""
    zero = set(range(INSTRUCTION_BITS))
    for opcode in (opcode for opcode in Opcode if ENGINE_OF[opcode] is engine):
        zero -= {bit for bit in range(5) if int(opcode) >> bit & 1}
        for name, (shift, field) in positions(opcode).items():
            free = field.width
            if name == "opcode" or name in ZERO:
                continue
            if name in ("k_rows", "k_lanes"):
                free = min(free, (config.rows - 1).bit_length())
            elif name == "n_lanes":
                free = min(free, (config.cols - 1).bit_length())
            elif name in ("dst_space", "src_format", "dst_format"):
                free = 1
            zero -= set(range(shift, shift + free))
            if name == "src_space":  # scratchpad 0, accumulators 2
                zero.add(shift)
    return zero


def constant_bits(config: Config) -> dict[tuple[str, str], tuple[Bits, int]]:
    """Bits that never toggle in a configuration, and the port's width, by (file, port)."""
    found: dict[tuple[str, str], tuple[Bits, int]] = {}
    for file, listed in TRACE_PORTS.items():
        stations = [name for name in listed if name in layout(config).stations]
        bits, width = _empty_trace(stations, config)
        offset = 0
        for station in stations:
            bits |= {offset + bit for bit in _enable_padding(station, config)}
            offset += 32 * layout(config).stations[station][1]
        found[file, "trace_o"] = (bits, width)
    for key, engines in INSTRUCTION_PORTS.items():
        bits = {INSTRUCTION_BITS * n + bit for n, engine in enumerate(engines) for bit in _zero(engine, config)}
        found[key] = (bits, INSTRUCTION_BITS * len(engines))
    for key, (width, masks) in USED_BITS.items():
        free = {width * lane + bit for lane, mask in enumerate(masks) for bit in range(width) if not mask >> bit & 1}
        found[key] = (free, width * len(masks))
    return found


def constant_everywhere(configs: Iterable[Config]) -> dict[tuple[str, str], Bits]:
    """Bits that are constant in every one of the configurations that has them, by (file, port)."""
    seen: dict[tuple[str, str], list[tuple[Bits, int]]] = {}
    for config in configs:
        for key, value in constant_bits(config).items():
            seen.setdefault(key, []).append(value)
    found: dict[tuple[str, str], Bits] = {}
    for key, parts in seen.items():
        widest = max(width for _, width in parts)
        found[key] = {bit for bit in range(widest) if all(bit >= width or bit in bits for bits, width in parts)}
    return found
