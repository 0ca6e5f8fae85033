# SPDX-License-Identifier: Apache-2.0
"""Faults planted in the RTL to see the proofs fail: a proof that can't fail proves nothing."""

from dataclasses import dataclass
from pathlib import Path

from tb import toolchain
from tb.formal.run import Result, prove_all
from tb.formal.units import UNITS, Unit, sources


@dataclass(frozen=True)
class Fault:
    """One edit of the RTL and the check that must then fail, with a counterexample."""

    name: str
    unit: str
    file: str
    old: str
    new: str
    check: str


FAULTS = (
    Fault("a list's pointer wraps to the wrong entry", "bm_fifo", "rtl/lib/bm_fifo.sv",
          "write_q <= write_q == LAST ? '0 :", "write_q <= write_q == LAST ? PTR_W'(1) :", "order"),
    Fault("a pop in the cycle of a push is not counted", "bm_fifo", "rtl/lib/bm_fifo.sv",
          "if (push_i && !pop_i) count_q", "if (push_i) count_q", "ledger"),
    Fault("weights is granted behind matmul", "bm_scratchpad", "rtl/scratchpad/bm_scratchpad_bank.sv",
          "rgrant_o = read_i & (~read_i + 4'd1)", "rgrant_o = read_i & {3'b111, 1'b1}", "exclusive"),
    Fault("a write enables its neighbour's byte", "bm_scratchpad", "rtl/scratchpad/bm_scratchpad_bank.sv",
          "write_i[0] ? wenable_i[0+:LANES] :", "write_i[0] ? wenable_i[0+:LANES] << 1 :", "matmul_data"),
    Fault("a burst may cross 4 KiB", "bm_row_bursts", "rtl/lib/bm_row_bursts.sv",
          "if (beats > boundary) beats = boundary;", "", "boundary"),
    Fault("an address moves while memory stalls", "bm_row_bursts", "rtl/lib/bm_row_bursts.sv",
          "(!ax_valid_q || ax_ready_i)\n", "(!ax_valid_q || !ax_ready_i)\n", "stable"),
    Fault("answers in the cycle of a new burst are lost", "bm_row_bursts", "rtl/lib/bm_row_bursts.sv",
          "inflight_q + 7'(put) - 7'(answered_i)", "inflight_q + 7'(put) - 7'(answered_i && !put)", "counted"),
    Fault("the port forgets what it has shown", "bm_port", "rtl/host/bm_port.sv",
          "kept_q <= m_axi_arvalid_o && !m_axi_arready_i;", "kept_q <= 1'b0;", "ar_stable"),
    Fault("a write answer is dropped by the next write", "bm_axil", "rtl/host/bm_axil.sv",
          "aw_valid_q && w_valid_q && !b_valid_q", "aw_valid_q && w_valid_q", "b_stable"),
    Fault("the product is unsigned", "bm_matmul_row", "rtl/matmul/bm_matmul_row.sv",
          "16'($signed(activation_q[8*c+:8]) * $signed(weight_q[8*c+:8]))",
          "16'(activation_q[8*c+:8] * weight_q[8*c+:8])", "multiplier"),
    Fault("lane delays are mirrored", "bm_matmul_skew", "rtl/matmul/bm_matmul_skew.sv",
          "stage_q <= FALLING ?", "stage_q <= !FALLING ?", "every_lane"),
    Fault("the second error overwrites the first", "bm_monitor", "rtl/frontend/bm_monitor.sv",
          "if (raised && !halt_q) begin", "if (raised) begin", "first_stays"),
)  # fmt: skip


def replaced(fault: Fault, folder: Path):
    """The sources of a unit with the fault in them, as `run.prove_all` asks for them."""
    original = toolchain.ROOT / fault.file
    text = original.read_text()
    if text.count(fault.old) != 1:
        raise ValueError(f"The fault '{fault.name}' finds its line {text.count(fault.old)} times in {fault.file}.")
    folder.mkdir(parents=True, exist_ok=True)
    broken = folder / original.name
    broken.write_text(text.replace(fault.old, fault.new))

    def files(unit: Unit) -> list[Path]:
        return [broken if path == original else path for path in sources(unit)]

    return files


def plant(fault: Fault, folder: Path, limit: int) -> list[Result]:
    """Ask about the one check that must fail, at the unit's first parameters."""
    unit = next(unit for unit in UNITS if unit.name == fault.unit)
    first = Unit(unit.name, unit.title, unit.variants[:1], unit.engine, unit.engines)
    return prove_all([first], folder, 1, limit, replaced(fault, folder / "rtl"), fault.check)
